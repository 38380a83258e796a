from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.world import Counts, Person, WorldSpec, people
from loci.text.world.population import FACTS, Population
from loci.text.world.tables import Origin, origins

SHARES = st.sampled_from([0.0, 0.05, 0.1, 1 / 3, 0.25])


def places(person: Person) -> list[str]:
    lived = [person.birth_place, person.study_place, person.work_place, person.move_place]
    return [city.name for city in lived + [person.death_place] * (person.death_place is not None)]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(20, 150),
    st.integers(0, 2**63 - 1),
    st.integers(14, 300),
    st.floats(0, 8),
    st.floats(0, 1),
    SHARES,
    SHARES,
)
def test_people_of_any_world(size, seed, n_places, skew, correlation, unstated, outside) -> None:
    spec = WorldSpec(
        people=size,
        seed=seed,
        places=n_places,
        skew=skew,
        origin_correlation=correlation,
        unstated=unstated,
        outside=outside,
    )
    everybody = list(people(spec))
    assert [person.id for person in everybody] == list(range(size))
    assert len({person.name for person in everybody}) == size
    groups = [(split, len(list(group))) for split, group in itertools.groupby(person.split for person in everybody)]
    assert groups == [(split, count) for split, count in spec.counts._asdict().items() if count]
    # Shares are honoured to less than one person.
    assert abs(spec.counts.unstated - size * unstated) < 1
    assert abs(spec.counts.outside - size * outside) < 1
    for person in everybody:
        assert len(set(places(person))) == len(places(person))
        assert person.stated == (person.split in ("train", "dev", "test"))
        assert (not person.told) == (person.split == "outside")
        assert list(person.told) == [fact for fact in FACTS if fact in person.told]
        assert not (person.alive and "death" in person.told)
        assert person.birth_date.year < person.move_year <= 2020
        if person.death_date:
            assert person.move_year < person.death_date.year <= 2020
            assert 44 <= person.age <= 94
        if person.split == "unstated":
            assert set(person.told) - {"job"}  # some place that is not the answer


def test_the_course_proportions_are_the_default() -> None:
    assert WorldSpec(people=2937).counts == Counts(2000, 500, 437, 0, 0)
    assert WorldSpec(people=1000, unstated=0.1, outside=0.05).counts == Counts(579, 145, 126, 100, 50)
    assert WorldSpec(people=100, train_share=0.5, dev_share=0.5).counts == Counts(50, 50, 0, 0, 0)


def test_knobs_of_the_text_do_not_change_the_people() -> None:
    spec = WorldSpec(people=50)
    assert list(people(spec)) == list(people(replace(spec, paraphrases=3, permute=True, full_names=True)))
    assert list(people(spec)) != list(people(replace(spec, seed=1)))


def test_origins_have_equal_shares_in_no_order() -> None:
    everybody = [person.origin for person in people(WorldSpec(people=1400))]
    assert all(everybody.count(origin.name) == 100 for origin in origins())
    assert len(set(everybody[:100])) >= 12


def home_share(correlation: float) -> float:
    everybody = list(people(WorldSpec(people=1500, origin_correlation=correlation)))
    return sum(person.birth_place.origin == person.origin for person in everybody) / len(everybody)


def test_origin_correlation_decides_who_is_born_at_home() -> None:
    none, some, all_ = home_share(0.0), home_share(0.7), home_share(1.0)
    assert none < 0.15
    assert some == pytest.approx(none + 0.7 * (1 - none), abs=0.05)
    assert all_ == 1.0


def top_share(skew: float) -> float:
    spec = WorldSpec(people=1500, skew=skew, origin_correlation=0.0)
    born = [person.birth_place.name for person in people(spec)]
    return born.count("London") / len(born)


def test_skew_raises_the_share_of_the_commonest_place() -> None:
    flat, zipf, steep = top_share(0.0), top_share(1.0), top_share(2.0)
    assert flat < 0.02
    assert zipf == pytest.approx(1 / sum(1 / rank for rank in range(1, 301)), abs=0.03)
    assert steep == pytest.approx(0.61, abs=0.04)


def test_places_limits_the_cities() -> None:
    assert len({name for person in people(WorldSpec(people=300, places=14)) for name in places(person)}) == 14
    several = {name for person in people(WorldSpec(people=800, multiword_places=True)) for name in places(person)}
    assert "New York" in several


def test_a_large_world_tells_namesakes_apart_by_middle_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # With few names the same rule works as with many: shrink the tables rather than write millions of people.
    few = tuple(Origin(o.name, o.given[:4], o.family[:5], o.middle) for o in origins()[:2])
    monkeypatch.setattr("loci.text.world.population.origins", lambda: few)
    everybody = list(Population(WorldSpec(people=1000)))
    assert len({person.name for person in everybody}) == 1000
    pairs = [(person.given, person.family) for person in everybody]
    assert len(set(pairs)) == 40
    assert sum(person.middle is None for person in everybody) <= 40


def test_every_gender_occurs_and_women_take_the_womens_form_of_a_name() -> None:
    everybody = list(people(WorldSpec(people=3000)))
    assert {person.gender for person in everybody} == {"female", "male", "any"}
    russian = [person for person in everybody if person.origin == "russian"]
    assert any(person.family.endswith("ova") for person in russian)
    assert not any(person.family.endswith("ov") for person in russian if person.gender == "female")


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"people": 0}, "people must be from 1"),
        ({"people": 10**9}, "people must be"),
        ({"seed": -1}, "seed must be"),
        ({"places": 5}, "places must be from 14"),
        ({"places": 5000}, "places must be"),
        ({"skew": -0.1}, "skew must be"),
        ({"skew": float("nan")}, "skew must be"),
        ({"origin_correlation": 1.5}, "origin_correlation must be"),
        ({"paraphrases": 0}, "paraphrases must be"),
        ({"unstated": 0.6, "outside": 0.6}, "more than all people"),
        ({"train_share": 0.9, "dev_share": 0.2}, "train_share 0.9 and dev_share 0.2"),
        ({"unstated": 1.0}, "nobody is left to learn from"),
        ({"train_share": 0.0}, "nobody is left to learn from"),
    ],
)
def test_a_bad_knob_is_named(knobs, named) -> None:
    with pytest.raises(LociError, match=named):
        WorldSpec(**knobs)
