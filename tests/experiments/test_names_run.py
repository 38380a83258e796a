import json

import numpy as np
import pytest
from small import SMALL_NAMES, small_recipe

from loci.evaluation.rows import HELD_OUT, NEVER_READ, Row, read_rows
from loci.experiments.names.result import ModelRows, score
from loci.experiments.names.run import CORRELATIONS, WORLD, cast, cities_of, run
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
    assert len(parts.pairs) >= len(parts.never_read) - 2
    names = [
        [p.name for p in part] for part in (parts.train, parts.held_out, [t for _, t in parts.pairs], parts.never_read)
    ]
    assert sum(map(len, names)) == len(set().union(*names))
    for person, twin in parts.pairs:
        assert person.origin != twin.origin
        assert (person.gender, person.birth_place, person.told) == (twin.gender, twin.birth_place, twin.told)
        for own, other in zip(lines_about(person, spec), lines_about(twin, spec), strict=True):
            renamed = own.text.replace(person.name, twin.name).replace(person.family, twin.family)
            assert renamed == other.text


def test_training_holds_nobody_of_the_test_and_the_text_nobody_never_read(folder):
    parts = cast(list(people(SMALL_NAMES)))
    for correlation in CORRELATIONS:
        place = folder / "seed-0" / f"correlation-{correlation:g}"
        corpus, taught = Corpus.read(place / "wiki.txt"), set(Questions.read(place / "train.tsv").subjects)
        twins = {twin.name for _, twin in parts.pairs}
        assert taught == {person.name for person in parts.train}
        assert not taught & (twins | {p.name for p in (*parts.held_out, *parts.never_read)})
        assert all(corpus.about(name) for name in twins)
        assert not any(corpus.about(person.name) for person in parts.never_read)
        rows = read_rows(place / "run" / "predictions" / "never-read.jsonl")
        assert {row.subject: row.group for row in rows} == {p.name: p.origin for p in parts.never_read}
        assert not any(row.answers for row in rows)


def test_the_two_worlds_differ_in_places_and_not_in_people(folder):
    worlds = []
    for correlation in CORRELATIONS:
        lines = (folder / "seed-0" / f"correlation-{correlation:g}" / "world" / "people.jsonl").read_text().splitlines()
        worlds.append([json.loads(line) for line in lines])
    weak, strong = worlds
    assert [p["name"] for p in weak] == [p["name"] for p in strong]
    home = cities_of(SMALL_NAMES)
    shares = [np.mean([p["birth"]["place"] in home[p["origin"]] for p in world]) for world in worlds]
    assert shares[0] < 0.4
    assert shares[1] > 0.8


def test_the_page_and_the_numbers_are_written_and_nothing_is_trained_twice(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "correlation 0.95" in page
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
        held_out, originals, twins, never_read = [], [], [], []
        for group in home:
            own = rows("held-out", HELD_OUT, group, truth[group], truth[group])
            held_out += own
            originals += own
            # The twin's name is of the other origin, its truth the original's.
            new = other[group]
            twins += rows("twin", HELD_OUT, new, truth[new] if from_name else truth[group], truth[group])
            never_read += rows("never read", NEVER_READ, group, truth[group] if from_name else "Rome", None)
        return ModelRows(held_out, held_out, originals, twins, never_read)

    found = {0.0: [system(False)], 0.95: [system(True)]}
    result = score(found, home, np.random.default_rng(0), people={"train": 1})
    weak, strong = result.conditions
    assert (weak.held_out.value, strong.held_out.value) == (1.0, 1.0)
    assert (weak.twins.changed.value, strong.twins.changed.value) == (0.0, 1.0)
    assert (weak.twins.right_after.value, strong.twins.right_after.value) == (1.0, 0.0)
    assert strong.twins.follows_name.value == 1.0
    assert strong.twins.test.p_value < 0.001
    assert (weak.never_read.share.value, strong.never_read.share.value) == (0.5, 1.0)
    assert weak.never_read.p_value > 0.5
    assert strong.never_read.p_value < 0.001
    assert (weak.twins_match.share.n, strong.twins_match.share.value) == (0, 1.0)
    assert strong.by_seed[0] == {
        "taught right": 1.0,
        "held-out right": 1.0,
        "originals right": 1.0,
        "twins right": 0.0,
        "never read about: match the origin": 1.0,
    }
    tests = {contrast.what: contrast.test.p_value for contrast in result.contrasts}
    assert tests["twins right"] < 0.001
    assert tests["held-out people right"] == 1.0
