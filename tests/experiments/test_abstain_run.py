import json

import numpy as np
import pytest
from small import SMALL_ABSTAIN, small_recipe

from loci.data.prompts import I_DONT_KNOW
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row, read_rows
from loci.experiments.abstain.result import SeedRows, score
from loci.experiments.abstain.run import WORLD, parts, run
from loci.experiments.trials import Hooks, Settings
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import people


def subjects(parts_of):
    return {name: set(questions.subjects) for name, questions in parts_of.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("abstain") / "out"
    run(out, Settings(seeds=1), world=SMALL_ABSTAIN, recipe=small_recipe)
    return out


@pytest.mark.parametrize("spec", [WORLD, SMALL_ABSTAIN])
def test_nobody_of_the_test_teaches_or_chooses_a_threshold(spec):
    everybody = {person.name: person for person in people(spec)}
    divided = parts(list(everybody.values()))
    validation, test = subjects(divided.validation), subjects(divided.test)
    taught = set(divided.silence.subjects)
    tested = set().union(*test.values())
    assert not tested & taught
    assert not tested & set().union(*validation.values())
    # The people who teach silence are exactly the unknowable ones of the validation slice.
    silent = {question.subject for question in divided.silence if question.answer == I_DONT_KNOW}
    assert silent == validation[UNSTATED] | validation[NEVER_READ]
    assert taught == set(divided.plain.subjects) | silent
    for split, told in ((HELD_OUT, "test"), (UNSTATED, "unstated"), (NEVER_READ, "outside")):
        assert {everybody[name].split for name in test[split]} == {told}
    assert abs(len(test[NEVER_READ]) - len(validation[NEVER_READ])) <= 1
    assert abs(len(test[UNSTATED]) - len(validation[UNSTATED])) <= 1
    assert all(q.answers == (everybody[q.subject].birth_place.name,) for q in divided.test[HELD_OUT])
    assert not any(q.answers for split in (UNSTATED, NEVER_READ) for q in divided.test[split])


def test_the_files_of_training_hold_nothing_of_the_test(folder):
    divided = parts(list(people(SMALL_ABSTAIN)))
    corpus = Corpus.read(folder / "seed-0" / "world")
    tested = {question.text for questions in divided.test.values() for question in questions}
    for name in ("plain", "silence"):
        asked = Questions.read(folder / "seed-0" / f"{name}.tsv")
        assert not tested & {question.text for question in asked}
        assert (folder / "seed-0" / name / "final" / "model.safetensors").is_file()
    for split, has_lines in ((HELD_OUT, True), (UNSTATED, True), (NEVER_READ, False)):
        assert all(bool(corpus.about(name)) == has_lines for name in divided.test[split].subjects)
        rows = read_rows(folder / "seed-0" / "silence" / "predictions" / f"{split}.jsonl")
        assert [row.question for row in rows] == [question.text for question in divided.test[split]]
        assert all(row.split == split and row.probability is not None for row in rows)
    for name in divided.test[UNSTATED].subjects:
        person = next(p for p in people(SMALL_ABSTAIN) if p.name == name)
        assert not any(person.birth_place.name in line.text for line in corpus.about(name))


def test_the_page_and_the_numbers_are_written_and_nothing_is_trained_twice(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "threshold 0.5" in page
    assert page.count('class="plot"') == 2
    numbers = json.loads((folder / "results.json").read_text())
    assert [system["name"] for system in numbers["systems"]][-1] == "taught silence"
    assert numbers["people"]["test_outside"] == 5
    said = []
    run(folder, Settings(seeds=2), Hooks(say=said.append), world=SMALL_ABSTAIN, recipe=small_recipe)
    assert said == ["training: seed 1, plain", "training: seed 1, silence"]
    assert json.loads((folder / "results.json").read_text())["seeds"] == 2


def made_up_seed():
    """One taught person, two held-out ones, one not told of, one never read about; one model is taught silence."""

    def row(name, split, said, p, abstained=False):
        answers = ("Oslo",) if split in (HELD_OUT, TAUGHT) else ()
        return Row(f"q {name}", said, answers, name, p, abstained=abstained, split=split)

    plain = [
        row("k", TAUGHT, "Oslo", 0.9),
        row("a", HELD_OUT, "Oslo", 0.9),
        row("b", HELD_OUT, "Rome", 0.2),
        row("c", UNSTATED, "Rome", 0.3),
        row("d", NEVER_READ, "Lima", 0.8),
    ]
    silence = [
        row("k", TAUGHT, "Rome", 0.9),
        row("a", HELD_OUT, "Oslo", 0.9),
        row("b", HELD_OUT, "Oslo", 0.4, abstained=True),
        row("c", UNSTATED, "Rome", 0.3, abstained=True),
        row("d", NEVER_READ, "Lima", 0.1, abstained=True),
    ]
    validation = [row("v", HELD_OUT, "Oslo", 0.6), row("w", NEVER_READ, "Rome", 0.5)]
    corpus = Corpus.from_lines(["a. Oslo .", "b. Oslo and Rome ."])
    return SeedRows(validation, plain, silence, {"k": "Rome", "l": "Lima"}, corpus)


def test_figures_by_hand():
    result = score([made_up_seed()], np.random.default_rng(0), people={}, quick=True)
    everything, half, *_, silence = result.systems
    assert (everything.taught.value, silence.taught.value) == (1.0, 0.0)
    assert (everything.accuracy.value, everything.withheld.value) == (0.5, 0.0)
    assert (everything.fabricated[NEVER_READ].value, everything.fabricated[UNSTATED].value) == (1.0, 1.0)
    # The validation slice says: answer from 0.6 on. The person never read about at 0.8 slips through.
    assert result.costs[0].thresholds == (0.6,)
    assert (half.accuracy.value, half.withheld.value, half.right_if_said.value) == (0.5, 0.5, 1.0)
    assert (half.fabricated[NEVER_READ].value, half.fabricated[UNSTATED].value) == (1.0, 0.0)
    assert (silence.accuracy.value, silence.withheld.value) == (0.5, 0.5)
    assert (silence.fabricated[NEVER_READ].value, silence.fabricated[UNSTATED].value) == (0.0, 0.0)
    costs = {row.level: row for row in result.costs}
    assert costs[0.5].everything.value == pytest.approx((1 - 1 - 1 - 1) / 4)
    assert costs[0.75].threshold.value == pytest.approx((1 - 3) / 4)
    assert costs[0.9].silence.value == pytest.approx(1 / 4)
    assert costs[0.9].difference.value == pytest.approx((1 - (1 - 9)) / 4)
    plain, model = result.confidence
    # Surest first: right, wrong, wrong, wrong.
    assert plain.aurc.value == pytest.approx(np.mean([0, 1 / 2, 2 / 3, 3 / 4]))
    # Probabilities 0.9 and 0.4 (right) stand above 0.3 and 0.1: no mistake comes too early.
    assert model.aurc.value == pytest.approx(np.mean([0, 0, 1 / 3, 2 / 4]))
    assert (plain.auroc_knowable.value, model.auroc_knowable.value) == (0.5, 1.0)
