from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.strangers import KINDS, Strangers
from loci.text.world import WorldSpec, people
from loci.text.world.tables import origins

SUBJECTS = tuple(person.name for person in people(WorldSpec(people=300)))
KNOWN = Strangers(SUBJECTS)


@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_different_strangers_of_every_kind(kind: str) -> None:
    names = KNOWN.names(kind, 2000, np.random.default_rng(0))
    assert len(set(names)) == 2000
    assert not {name.casefold() for name in names} & {subject.casefold() for subject in SUBJECTS}
    assert set("".join(names)) <= set("".join(SUBJECTS))
    assert names == KNOWN.names(kind, 2000, np.random.default_rng(0))
    assert names != KNOWN.names(kind, 2000, np.random.default_rng(1))
    assert KNOWN.name(kind, np.random.default_rng(0)) == names[0]


def test_recombined_names_are_parts_of_two_subjects() -> None:
    befores = {subject.rpartition(" ")[0] for subject in SUBJECTS}
    lasts = {subject.rpartition(" ")[2] for subject in SUBJECTS}
    for name in KNOWN.names("recombined", 200, np.random.default_rng(0)):
        before, _, last = name.rpartition(" ")
        assert before in befores
        assert last in lasts


def test_one_letter_differs_and_keeps_its_case() -> None:
    for name in KNOWN.names("one_letter", 200, np.random.default_rng(0)):
        near = [s for s in SUBJECTS if len(s) == len(name) and sum(a != b for a, b in zip(s, name, strict=True)) == 1]
        assert near
        assert any(s.istitle() == name.istitle() for s in near)


def test_nonsense_keeps_the_shape_of_a_name() -> None:
    shapes = {tuple(map(len, subject.split())) for subject in SUBJECTS}
    for name in KNOWN.names("nonsense", 200, np.random.default_rng(0)):
        assert tuple(map(len, name.split())) in shapes
        assert name[0].isupper()


def test_origins_can_be_chosen() -> None:
    chosen = Strangers(SUBJECTS, origins=["japanese"]).names("other_origin", 50, np.random.default_rng(0))
    japanese = next(origin for origin in origins() if origin.name == "japanese")
    assert {name.split()[0] for name in chosen} <= {name.name for name in japanese.given}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("abAB é陈王.-7()", min_size=1, max_size=8), min_size=1, max_size=6), st.integers(0, 2**32))
def test_any_subjects_give_strangers_or_one_line(subjects: list[str], seed: int) -> None:
    for kind in KINDS:
        try:
            name = Strangers(subjects).name(kind, np.random.default_rng(seed))
        except LociError:
            continue
        assert name.casefold() not in {subject.casefold() for subject in subjects}


def test_a_bracket_tells_namesakes_apart_and_is_no_last_name() -> None:
    strangers = Strangers(["Jan Bell (painter)", "Ada Moss (chemist)"])
    assert set(strangers.names("recombined", 2, np.random.default_rng(0))) == {"Jan Moss", "Ada Bell"}


def test_what_cannot_be_drawn_is_one_line() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(LociError, match="2 names of the kind recombined were found"):
        Strangers(["Ada Moss", "Jan Bell"]).names("recombined", 3, rng)
    with pytest.raises(LociError, match="0 names of the kind recombined"):
        Strangers(["Cher", "Madonna"]).name("recombined", rng)
    with pytest.raises(LociError, match="unknown kind of stranger 'foreign'"):
        KNOWN.name("foreign", rng)
    with pytest.raises(LociError, match="no subjects"):
        Strangers([])
    with pytest.raises(LociError, match="no names of origin 'martian'"):
        Strangers(SUBJECTS, origins=["martian"])
