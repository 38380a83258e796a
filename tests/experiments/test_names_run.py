import json

import numpy as np
import pytest
from small import SMALL_NAMES, small_recipe

from loci.evaluation.rows import HELD_OUT, NEVER_READ, Row, read_rows
from loci.experiments.names.run import CORRELATIONS, WORLD, Rows, cast, home_cities, run, score
from loci.experiments.trials import Hooks, Settings
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import lines_about, people


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("names") / "out"
    run(out, Settings(seeds=1), world=SMALL_NAMES, recipe=small_recipe)
    return out


@pytest.mark.parametrize("spec", [WORLD, SMALL_NAMES])
def test_a_twin_has_the_same_life_and_the_same_words_under_a_name_of_another_origin(spec):
    parts = cast(list(people(spec)))
    assert len(parts.pairs) >= len(parts.unseen) - 2
    names = [
        [p.name for p in part] for part in (parts.train, parts.held_out, [t for _, t in parts.pairs], parts.unseen)
    ]
    assert sum(map(len, names)) == len(set().union(*names))
    for person, twin in parts.pairs:
        assert person.origin != twin.origin
        assert (person.gender, person.birth_place, person.told) == (twin.gender, twin.birth_place, twin.told)
        for own, other in zip(lines_about(person, spec), lines_about(twin, spec), strict=True):
            renamed = own.text.replace(person.name, twin.name).replace(person.family, twin.family)
            assert renamed == other.text


def test_training_holds_nobody_of_the_test_and_the_text_nobody_unseen(folder):
    parts = cast(list(people(SMALL_NAMES)))
    for correlation in CORRELATIONS:
        place = folder / "seed-0" / f"bond-{correlation:g}"
        corpus, taught = Corpus.read(place / "wiki.txt"), set(Questions.read(place / "train.tsv").subjects)
        twins = {twin.name for _, twin in parts.pairs}
        assert taught == {person.name for person in parts.train}
        assert not taught & (twins | {p.name for p in (*parts.held_out, *parts.unseen)})
        assert all(corpus.about(name) for name in twins)
        assert not any(corpus.about(person.name) for person in parts.unseen)
        rows = read_rows(place / "run" / "predictions" / "unseen.jsonl")
        assert {row.subject: row.group for row in rows} == {p.name: p.origin for p in parts.unseen}
        assert not any(row.answers for row in rows)


def test_the_two_worlds_differ_in_places_and_not_in_people(folder):
    worlds = []
    for correlation in CORRELATIONS:
        lines = (folder / "seed-0" / f"bond-{correlation:g}" / "world" / "people.jsonl").read_text().splitlines()
        worlds.append([json.loads(line) for line in lines])
    weak, strong = worlds
    assert [p["name"] for p in weak] == [p["name"] for p in strong]
    home = home_cities(SMALL_NAMES)
    shares = [np.mean([p["birth"]["place"] in home[p["origin"]] for p in world]) for world in worlds]
    assert shares[0] < 0.4
    assert shares[1] > 0.8


def test_the_page_and_the_numbers_are_written_and_nothing_is_trained_twice(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "bond 0.95" in page
    numbers = json.loads((folder / "results.json").read_text())
    assert [condition["correlation"] for condition in numbers["conditions"]] == list(CORRELATIONS)
    said = []
    run(folder, Settings(seeds=1), Hooks(say=said.append), world=SMALL_NAMES, recipe=small_recipe)
    assert said == []


def test_figures_of_a_model_that_answers_from_the_name():
    home = {"nordic": frozenset({"Oslo", "Bergen"}), "italian": frozenset({"Rome", "Milan"})}
    truth = {"nordic": "Oslo", "italian": "Rome"}
    other = {"nordic": "italian", "italian": "nordic"}

    def rows(kind, split, group, said, answer):
        return [
            Row(f"{kind} {group} {i}", said, (answer,) if answer else (), f"{kind} {i}", 0.5, group=group, split=split)
            for i in range(10)
        ]

    def system(from_name):
        held_out, originals, twins, unseen = [], [], [], []
        for group in home:
            own = rows("held-out", HELD_OUT, group, truth[group], truth[group])
            held_out += own
            originals += own
            # The twin's name is of the other origin, its truth the original's.
            new = other[group]
            twins += rows("twin", HELD_OUT, new, truth[new] if from_name else truth[group], truth[group])
            unseen += rows("unseen", NEVER_READ, group, truth[group] if from_name else "Rome", None)
        return Rows(held_out, originals, twins, unseen)

    found = {0.0: [system(False)], 0.95: [system(True)]}
    result = score(found, home, np.random.default_rng(0), people={"train": 1})
    weak, strong = result.conditions
    assert (weak.accuracy.value, strong.accuracy.value) == (1.0, 1.0)
    assert (weak.twins.changed.value, strong.twins.changed.value) == (0.0, 1.0)
    assert (weak.twins.right_after.value, strong.twins.right_after.value) == (1.0, 0.0)
    assert strong.twins.follows_name.value == 1.0
    assert strong.twins.test.p_value < 0.001
    assert (weak.unseen.share.value, strong.unseen.share.value) == (0.5, 1.0)
    assert weak.unseen.p_value > 0.5
    assert strong.unseen.p_value < 0.001
    assert (weak.twins_at_home.share.n, strong.twins_at_home.share.value) == (0, 1.0)
    assert strong.by_seed[0] == {
        "held-out right": 1.0,
        "originals right": 1.0,
        "twins right": 0.0,
        "unseen at home": 1.0,
    }
    tests = {contrast.what: contrast.test.p_value for contrast in result.contrasts}
    assert tests["twins right"] < 0.001
    assert tests["held-out people right"] == 1.0
