import dataclasses
import json

import numpy as np
import pytest
from small import SMALL_ABSTAIN

from loci.data.degrees import GIVEN, degree_id
from loci.data.prompts import NOT_TOLD, UNKNOWN
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row, read_rows
from loci.experiments.abstain.other_ways import (
    SURE,
    UNSURE,
    fit_probe,
    if_sure,
    misread,
    probed,
    sure_or_unsure,
    with_taught,
)
from loci.experiments.abstain.result import (
    EVERYTHING,
    PROBE,
    R_TUNING,
    RUN,
    SILENCE,
    THRESHOLD,
    Scored,
    SeedRows,
    score,
)
from loci.experiments.abstain.run import QUICK_WORLD, WORLD, parts, recipe_of, run
from loci.experiments.trials import Hooks, Settings
from loci.pipeline.labels_file import read_labels
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import Vocab
from loci.text.world import people
from loci.training.checkpoint import load_model
from loci.training.sources import TrainingData


def small_self_training(shape):
    """Self-training on a model of a few thousand parameters, three steps a stage."""
    recipe = recipe_of(shape).with_stages(lambda s: dataclasses.replace(s.with_budget(steps=3), batch_size=4, pool=2))
    return dataclasses.replace(recipe, model={**recipe.model, "n_layer": 1, "n_head": 2, "n_embd": 16})


def subjects(parts_of):
    return {name: set(questions.subjects) for name, questions in parts_of.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("abstain") / "out"
    run(out, Settings(seeds=1), world=SMALL_ABSTAIN, recipe=small_self_training)
    return out


@pytest.mark.parametrize("spec", [WORLD, QUICK_WORLD, SMALL_ABSTAIN])
def test_nobody_of_the_test_teaches_or_chooses_a_threshold(spec):
    everybody = {person.name: person for person in people(spec)}
    divided = parts(list(everybody.values()))
    validation, test = subjects(divided.validation), subjects(divided.test)
    silent = set(divided.silence.subjects)
    tested = set().union(*test.values())
    assert not tested & (set(divided.plain.subjects) | silent)
    assert not tested & set().union(*validation.values())
    # The people who teach silence are exactly the unknowable ones of the validation slice.
    assert silent == validation[UNSTATED] | validation[NEVER_READ] == set(divided.unknown.subjects)
    said = {question.subject: question.answer for question in divided.silence}
    assert {name for name, answer in said.items() if answer == NOT_TOLD} == validation[UNSTATED]
    assert {name for name, answer in said.items() if answer == UNKNOWN} == validation[NEVER_READ]
    assert all(question.answer == everybody[question.subject].birth_place.name for question in divided.unknown)
    for split, told in ((HELD_OUT, "test"), (UNSTATED, "unstated"), (NEVER_READ, "outside")):
        assert {everybody[name].split for name in test[split]} == {told}
    assert abs(len(test[NEVER_READ]) - len(validation[NEVER_READ])) <= 1
    assert abs(len(test[UNSTATED]) - len(validation[UNSTATED])) <= 1
    assert all(q.answers == (everybody[q.subject].birth_place.name,) for q in divided.test[HELD_OUT])
    assert not any(q.answers for split in (UNSTATED, NEVER_READ) for q in divided.test[split])


def test_the_files_of_training_hold_nothing_of_the_test(folder):
    seed = folder / "seed-0"
    divided = parts(list(people(SMALL_ABSTAIN)))
    corpus = Corpus.read(seed / "world")
    tested = {question.text for questions in divided.test.values() for question in questions}
    assert not tested & {question.text for question in Questions.read(seed / "train.tsv")}
    labels = {name: read_labels(seed / name / "pseudo_labels.tsv") for name in ("run", "silence", "r-tuning")}
    told = {question.text for question in divided.test[HELD_OUT]} | {q.text for q in divided.test[UNSTATED]}
    for own in labels.values():
        # What is memorized about the people of the test is what the reader read, and only where there is a line.
        assert {row.text for row in own} & tested == told
    read = {row.text: row.answer for row in labels["run"]}
    assert all(row.answer == read[row.text] for own in labels.values() for row in own if row.text in tested)
    for split, has_lines in ((HELD_OUT, True), (UNSTATED, True), (NEVER_READ, False)):
        assert all(bool(corpus.about(name)) == has_lines for name in divided.test[split].subjects)
    for name in divided.test[UNSTATED].subjects:
        person = next(p for p in people(SMALL_ABSTAIN) if p.name == name)
        assert not any(person.birth_place.name in line.text for line in corpus.about(name))


def test_three_memories_begin_with_one_reader_and_everybody_asked_is_the_same(folder):
    seed = folder / "seed-0"
    divided = parts(list(people(SMALL_ABSTAIN)))
    silent = {row.text: row.answer for row in divided.silence}
    taught = {row.text: row for row in read_labels(seed / "silence" / "pseudo_labels.tsv")}
    assert all(taught[text].answer == answer and taught[text].degree == GIVEN for text, answer in silent.items())
    tuned = {row.text: row for row in read_labels(seed / "r-tuning" / "pseudo_labels.tsv")}
    assert {row.degree for row in tuned.values()} <= {SURE, UNSURE}
    assert all(tuned[row.text].answer == row.answer and tuned[row.text].degree == UNSURE for row in divided.unknown)
    assert load_model(seed / "run").config["familiarity"]
    assert load_model(seed / "silence").config.get("familiarity") is None
    files = sorted(file.stem for file in (seed / "predictions").iterdir())
    rows = {name: read_rows(seed / "predictions" / f"{name}.jsonl") for name in files}
    validation = {name for name in files if name.endswith("validation")}
    assert (len(files), len(validation)) == (8, 2)
    asked = [question.text for questions in (divided.plain, *divided.test.values()) for question in questions]
    assert all([row.question for row in rows[name]] == asked for name in set(files) - validation)
    assert not any(row.abstained for row in rows["answers-all"] if row.prediction)


@pytest.mark.slow
def test_the_page_and_the_numbers_are_written_and_nothing_is_trained_twice(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "threshold 0.5" in page
    assert page.count('class="plot"') == 2
    numbers = json.loads((folder / "results.json").read_text())
    names = [system["name"] for system in numbers["systems"]]
    assert names == [
        EVERYTHING,
        *(f"{name} {level}" for name in (THRESHOLD, PROBE) for level in (0.5, 0.75, 0.9)),
        *(SILENCE, R_TUNING, RUN),
    ]
    assert numbers["people"]["test_outside"] == 5
    said = []
    run(folder, Settings(seeds=2), Hooks(say=said.append), world=SMALL_ABSTAIN, recipe=small_self_training)
    assert said == [f"training: seed 1, {name}" for name in ("reader", "run", "silence", "r-tuning")]
    assert json.loads((folder / "results.json").read_text())["seeds"] == 2


def test_labels_of_the_other_ways():
    questions = [("Where was a born?", "Oslo"), ("Where was b born?", "Rome"), ("Where was c born?", "Lima")]
    made = Questions.from_pairs(questions)
    degrees = (GIVEN, 2, 3)  # given; read with a chance of 0.4; of 0.6
    labels = dataclasses.replace(
        made, rows=tuple(dataclasses.replace(row, degree=d) for row, d in zip(made, degrees, strict=True))
    )
    assert [row.degree for row in sure_or_unsure(labels, ())] == [SURE, UNSURE, SURE]
    assert [row.degree for row in sure_or_unsure(labels, {"Where was a born?"})] == [UNSURE, UNSURE, SURE]
    vocab = Vocab.from_text("Where was abcd born? Oslo Rome Lima unknown")
    new = Questions.from_pairs([(f"Where was {name} born?", UNKNOWN) for name in "cdé"])
    taught = with_taught(labels, new, vocab, GIVEN)
    assert [(row.text[10], row.answer, row.degree) for row in taught] == [
        ("a", "Oslo", GIVEN),
        ("b", "Rome", 2),
        ("c", UNKNOWN, GIVEN),
        ("d", UNKNOWN, GIVEN),  # é cannot be spelled
    ]


def test_an_answer_is_given_if_sure_follows_it(folder, monkeypatch):
    loaded = load_model(folder / "seed-0" / "r-tuning")
    rows = [
        *(Row(f"Where was {name} born?", "Paris", probability=0.9) for name in ("Ada", "Ana")),
        Row("Where was Ann born?", "Paris", probability=0.9, abstained=True),
        Row("Where?", "", abstained=True),
    ]
    sure, unsure = (degree_id(loaded.vocab, degree) for degree in (SURE, UNSURE))

    def next_symbols(model, prompts):
        logs = np.full((len(prompts), len(loaded.vocab)), -9.0)
        logs[:, sure], logs[:, unsure] = np.log([0.6, 0.1, 0.6]), np.log([0.2, 0.3, 0.2])
        assert all(prompt[-1] == 1 for prompt in prompts)
        return logs

    monkeypatch.setattr("loci.experiments.abstain.other_ways.next_log_probabilities", next_symbols)
    found = if_sure(loaded, rows)
    assert [row.probability for row in found] == [pytest.approx(0.75), pytest.approx(0.25), pytest.approx(0.75), None]
    assert [row.abstained for row in found] == [False, True, True, True]


def test_a_probe_tells_names_apart_that_the_states_tell_apart(folder):
    seed = folder / "seed-0"
    loaded = load_model(seed / "run")
    data = TrainingData.read(corpus=seed / "world", questions=seed / "train.tsv")
    weights = fit_probe(loaded, data, np.random.default_rng(0))
    assert weights.shape == (loaded.model.config.n_layer * loaded.model.config.n_embd + 1,)
    rows = [Row(data.template.ask(name), "Oslo", subject=name, probability=0.5) for name in data.subjects[:3]]
    silent = Row("Where was ☃ born?", "", abstained=True, probability=0.0)
    found = probed(loaded, weights, [rows[0], silent, *rows[1:]])
    assert found[1] == silent
    assert [row.prediction for row in found] == ["Oslo", "", "Oslo", "Oslo"]
    assert all(0 < row.probability < 1 and row.probability != 0.5 for row in (found[0], *found[2:]))
    assert probed(loaded, weights, [silent]) == [silent]


def test_the_reader_is_asked_about_train_questions_that_it_was_not_taught_with(folder, monkeypatch):
    seed = folder / "seed-0"
    data = TrainingData.read(corpus=seed / "world", questions=seed / "train.tsv")
    reader = load_model(seed / "reader")
    assert misread(reader, data) == set()  # too few questions to keep any back
    monkeypatch.setattr("loci.training.sources.FEWEST_CALIBRATING", 1)
    data = TrainingData.read(corpus=seed / "world", questions=seed / "train.tsv")
    assert data.calibrating
    assert misread(reader, data) <= {question.text for question in data.calibrating}


def made_up_seed():
    """One taught person, two held-out ones, one not told of, one never read about."""

    def row(name, split, said, p, abstained=False):
        answers = ("Oslo",) if split in (HELD_OUT, TAUGHT) else ()
        return Row(f"q {name}", said, answers, name, p, abstained=abstained, split=split)

    best = [
        row("k", TAUGHT, "Oslo", 0.9),
        row("a", HELD_OUT, "Oslo", 0.9),
        row("b", HELD_OUT, "Rome", 0.2),
        row("c", UNSTATED, "Rome", 0.3),
        row("d", NEVER_READ, "Lima", 0.8),
    ]
    own = [
        row("k", TAUGHT, "Rome", 0.9),
        row("a", HELD_OUT, "Oslo", 0.9),
        row("b", HELD_OUT, "Oslo", 0.4, abstained=True),
        row("c", UNSTATED, "Rome", 0.3, abstained=True),
        row("d", NEVER_READ, "Lima", 0.1, abstained=True),
    ]
    validation = [row("v", HELD_OUT, "Oslo", 0.6), row("w", NEVER_READ, "Rome", 0.5)]
    strange = [row("v", HELD_OUT, "Oslo", 0.6), row("w", NEVER_READ, "Rome", 0.7)]
    corpus = Corpus.from_lines(["a. Oslo .", "b. Oslo and Rome ."])
    return SeedRows(
        said={EVERYTHING: best, SILENCE: best, R_TUNING: own, RUN: own},
        scored={THRESHOLD: Scored(validation, best), PROBE: Scored(strange, best)},
        known={"k": "Rome", "l": "Lima"},
        corpus=corpus,
    )


def test_figures_by_hand():
    result = score([made_up_seed()], np.random.default_rng(0), people={}, quick=True)
    systems = {system.name: system for system in result.systems}
    everything, half, run = (systems[name] for name in (EVERYTHING, f"{THRESHOLD} 0.5", RUN))
    assert (everything.taught.value, run.taught.value) == (1.0, 0.0)
    assert (everything.accuracy.value, everything.withheld.value) == (0.5, 0.0)
    assert (everything.fabricated[NEVER_READ].value, everything.fabricated[UNSTATED].value) == (1.0, 1.0)
    # The validation slice says: answer from 0.6 on. The person never read about at 0.8 slips through.
    assert result.costs[0].thresholds[THRESHOLD] == (0.6,)
    assert (half.accuracy.value, half.withheld.value, half.right_if_said.value) == (0.5, 0.5, 1.0)
    assert (half.fabricated[NEVER_READ].value, half.fabricated[UNSTATED].value) == (1.0, 0.0)
    # By the probe's validation slice no answer is worth giving.
    assert result.costs[0].thresholds[PROBE] == (np.inf,)
    assert systems[f"{PROBE} 0.5"].withheld.value == 1.0
    assert (run.accuracy.value, run.withheld.value) == (0.5, 0.5)
    assert (run.fabricated[NEVER_READ].value, run.fabricated[UNSTATED].value) == (0.0, 0.0)
    costs = {row.level: row for row in result.costs}
    assert costs[0.5].scores[EVERYTHING].value == pytest.approx((1 - 1 - 1 - 1) / 4)
    assert costs[0.75].scores[THRESHOLD].value == pytest.approx((1 - 3) / 4)
    assert costs[0.9].scores[PROBE].value == 0
    assert costs[0.9].scores[RUN].value == pytest.approx(1 / 4)
    assert costs[0.9].differences[THRESHOLD].value == pytest.approx((1 - (1 - 9)) / 4)
    assert RUN not in costs[0.9].differences
    confidence = {one.name: one for one in result.confidence}
    plain, model = confidence[THRESHOLD], confidence[RUN]
    # Surest first: right, wrong, wrong, wrong.
    assert plain.aurc.value == pytest.approx(np.mean([0, 1 / 2, 2 / 3, 3 / 4]))
    # Probabilities 0.9 and 0.4 (right) stand above 0.3 and 0.1: no mistake comes too early.
    assert model.aurc.value == pytest.approx(np.mean([0, 0, 1 / 3, 2 / 4]))
    assert (plain.auroc_knowable.value, model.auroc_knowable.value) == (0.5, 1.0)
