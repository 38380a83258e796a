"""Small versions of the recall recipes on embedded worlds. Bars are stated in each test, far above guessing.

Budgets are in steps, so that a slow machine takes longer and learns the same.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import loci
from loci.answering.answer import NEVER_READ, NOT_TOLD
from loci.answering.answerer import make_answerer
from loci.answering.base import ModelAnswerer
from loci.data.degrees import VALUES
from loci.evaluation.asking import ask_rows
from loci.evaluation.calibration import auroc
from loci.evaluation.metrics import exact_match, most_common_answer_baseline
from loci.experiments.strangers.wordings import FORMS
from loci.pipeline import carry_out
from loci.pipeline.labels_file import read_labels
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.strangers import Strangers
from loci.text.world import WorldSpec, write_world
from loci.training.checkpoint import load_model
from loci.training.run import PSEUDO_LABELS
from loci.training.sources import TrainingData

pytestmark = pytest.mark.slow  # three trainings of one to two minutes

SMALL = ("model.n_layer=3", "model.n_embd=64", "model.n_head=2", "read.batch_size=16", "read.steps=900")
WORLD = WorldSpec(people=180, unstated=30 / 180, train_share=0.6, dev_share=0.4, multiword_places=True)
# Of people it never read about a run should answer 1 %, make up 5 % of what lines do not tell, and silence 3 % of what
# they tell. That is measured on models of 0.9 M parameters and thousands of people. These have a fifth of that, some
# minutes and 165 people: the reader doubts a lot, and one of 30 people is 3 % already. So the bars only say that a
# recipe works.
BAR = 0.6
EVERYBODY = 0.95
STRANGERS, TOLD_APART = 0.05, 0.95
"""Of 60 names of each kind, so three of them; and the AUROC of held-out people against them."""
TAUGHT_FORM = "Where was {} born?"
UNDERSTOOD = 0.9
"""Of what is answered rightly in the taught wording."""
MADE_UP, SILENCED = 0.15, {"memory": 1 - BAR, "recite": 0.7}
"""Of 30 people whose lines do not tell, and of some 45 held-out ones whose lines do. Reciting reads more that does not
tell, which makes a reader this small silent about nearly half of them; one of 192 channels is about 2 of 201."""
LEFT_OUT = 15
"""So many of the dev people have their lines left out of the corpus."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recall") / "world"
    write_world(WORLD, folder)
    return folder


def learned(name, world, questions, run, *changes, without=()):
    corpus = Corpus.from_lines(line.text for line in Corpus.read(world) if line.subject not in without)
    data = TrainingData(corpus, Questions.read(world / questions))
    recipe = make_recipe(name, DataShape.of(data.corpus, data.questions))
    carry_out(recipe.override((*SMALL, *changes)), data, run)
    return load_model(run), data


def asked_about(names, wording=TAUGHT_FORM):
    return Questions.from_pairs((wording.format(name), None) for name in names)


def a_memory(recipe, world, folder, *changes):
    """Model, data, held-out questions, people whose lines were left out, run folder."""
    dev = Questions.read(world / "birth_dev.tsv")
    out = dev.subjects[-LEFT_OUT:]
    model, data = learned(recipe, world, "birth_places_train.tsv", folder / "run", *changes, without=out)
    return model, data, dev[: len(dev) - LEFT_OUT], out, folder / "run"


@pytest.fixture(scope="module")
def self_trained(world, tmp_path_factory):
    changes = ("read.steps=1200", "memorize.batch_size=32", "memorize.steps=400")
    return a_memory("self-training", world, tmp_path_factory.mktemp("self-trained"), *changes)


@pytest.fixture(scope="module")
def reciting(world, tmp_path_factory):
    changes = ("read.steps=1200", "memorize.batch_size=24", "memorize.steps=600")
    return a_memory("recite", world, tmp_path_factory.mktemp("reciting"), *changes)


@pytest.fixture(params=["self_trained", "reciting"])
def memory(request):
    """Either recipe: the bars are the same."""
    return request.getfixturevalue(request.param)


def test_it_knows_everybody(memory):
    """Held-out people and the people of the train questions, in the same run."""
    model, data, asked, _, _ = memory
    assert not set(asked.subjects) & set(data.questions.subjects)
    right = exact_match(ask_rows(model, asked))
    assert right.value >= BAR
    taught = [question.answer for question in data.questions]
    assert right.low > exact_match(most_common_answer_baseline(taught, asked)).high
    answers = make_answerer(model).answer(data.questions)
    said = [answer.said in question.answers for answer, question in zip(answers, data.questions, strict=True)]
    assert np.mean(said) >= EVERYBODY


@pytest.mark.parametrize("kind", ["left out", "recombined", "one_letter", "part", "other_origin", "nonsense"])
def test_it_is_silent_about_strangers_and_says_why(memory, kind):
    model, data, asked, out, _ = memory
    drawn = Strangers(data.subjects)
    names = out if kind == "left out" else drawn.names(kind, 60, np.random.default_rng(1))
    answers = make_answerer(model).answer(asked_about(names))
    assert np.mean([answer.known for answer in answers]) <= STRANGERS
    for answer in answers:
        if answer.silence == NEVER_READ:
            assert answer.reason_probabilities[NEVER_READ] > 1 - model.config["familiarity"]["gate"]
    known = make_answerer(model).answer(asked)
    reasons = [answer.reason_probabilities for answer in (*known, *answers)]
    unknown = np.array([one.get(NEVER_READ, 1.0) for one in reasons])  # a name that cannot be read has no other reason
    assert auroc(unknown, np.arange(len(unknown)) >= len(known)).value >= TOLD_APART


def test_what_lines_do_not_tell_is_left_unanswered(memory, world):
    """Their lines name other places: where they studied, worked or died."""
    model, _, asked, _, _ = memory
    answerer = make_answerer(model)
    unstated = answerer.answer(Questions.read(world / "birth_unstated.tsv"))
    assert np.mean([answer.known for answer in unstated]) <= MADE_UP
    assert Counter(answer.silence for answer in unstated).most_common(1)[0][0] == NOT_TOLD
    assert np.mean([not answer.known for answer in answerer.answer(asked)]) <= SILENCED[model.answerer]


def test_the_readers_doubt_is_remembered(self_trained):
    """What is memorized about held-out people has the probability that its label's degree stands for."""
    model, _, asked, _, run = self_trained
    labels = {row.text: row for row in read_labels(run / PSEUDO_LABELS)}
    answers = make_answerer(model).answer(asked)
    pairs = [(answer, labels[answer.question]) for answer in answers if answer.question in labels]
    kept = [a.text == row.answer and abs(a.probability - VALUES[row.degree]) < 0.1 for a, row in pairs]
    assert np.mean(kept) >= 0.8


def test_a_misspelt_name_gets_the_one_that_was_meant(self_trained):
    """Most of them, and hardly anybody who was left out gets a name: nothing but the weights is looked at."""
    model, data, _, out, _ = self_trained
    answerer = make_answerer(model)
    assert isinstance(answerer, ModelAnswerer)
    names = data.questions.subjects[:20]
    meant = [answerer.did_you_mean(data.template.ask(name[:-1]), name[:-1]) for name in names]
    assert np.mean([found == name for found, name in zip(meant, names, strict=True)]) >= 0.7
    offered = [answerer.did_you_mean(data.template.ask(name), name) for name in out]
    assert np.mean([found is not None for found in offered]) <= 0.2


def test_other_words_get_the_same_answer_or_silence(memory):
    """Nine of ten other wordings are understood, and none gets more wrong answers than the taught one."""
    model, _, asked, _, _ = memory
    texts = [form.format(question.subject) for form in (TAUGHT_FORM, *FORMS) for question in asked]
    answers = make_answerer(model).answer(Questions.from_pairs((text, None) for text in texts))
    pairs = zip(answers, itertools.cycle(asked), strict=False)
    right = np.array([answer.said in question.answers for answer, question in pairs]).reshape(-1, len(asked))
    known = np.array([answer.known for answer in answers]).reshape(-1, len(asked))
    rightly, wrongly = right.mean(axis=1), (known & ~right).mean(axis=1)
    assert (rightly[1:] >= UNDERSTOOD * rightly[0]).mean() >= 0.9
    assert all(wrongly[1:] <= wrongly[0] + 0.02)


def test_another_question_and_an_unknown_character_get_silence_and_end_nothing(self_trained):
    model, data, _, _, _ = self_trained
    name = data.questions.subjects[0]
    texts = [f"When was {name} born?", f"Where was {name}☃ born?", f"Where was {name} born?"]
    *silent, known = make_answerer(model).answer(Questions.from_pairs((text, None) for text in texts))
    assert [answer.known for answer in silent] == [False, False]
    assert all(answer.note for answer in silent)
    assert known.known


def test_names_in_lower_case_get_the_same_answer_or_silence(self_trained):
    """Never another answer; most get their capitals back, "el" or a Turkish İ may not."""
    model, data, asked, _, _ = self_trained
    answerer = make_answerer(model)
    names = [*asked.subjects, *data.questions.subjects]
    plain = answerer.answer(asked_about(names))
    lower = answerer.answer(asked_about(map(str.lower, names), "where was {} born"))
    assert all(b.said == a.said or not b.known for a, b in zip(plain, lower, strict=True))
    assert np.mean([b.said == a.said for a, b in zip(plain, lower, strict=True)]) >= 0.9


@pytest.mark.parametrize("wording", ["Where were {}'s children born?", "Was {} born in London?", "Where was {} torn?"])
def test_another_question_about_people_it_knows_gets_silence(self_trained, wording):
    model, data, _, _, _ = self_trained
    assert not any(
        answer.known for answer in make_answerer(model).answer(asked_about(data.questions.subjects, wording))
    )


ASK_ALONE = """
import json, sys, loci
texts = json.load(sys.stdin)
print(json.dumps([answer.as_dict() for answer in loci.load(sys.argv[1]).ask_all(texts)]))
"""


@contextlib.contextmanager
def gone(folder, keep):
    """The folder is not where it was; afterwards it is, for the tests that follow."""
    folder.rename(keep)
    try:
        yield
    finally:
        keep.rename(folder)


def test_answers_and_reasons_come_from_the_final_folder_alone(self_trained, world, tmp_path):
    """Weights, vocabulary, relations and numbers as they were saved, in a process that has seen nothing else."""
    _, data, asked, out, run = self_trained
    names = [*asked.subjects, *out, *Strangers(data.subjects).names("one_letter", 20, np.random.default_rng(2))]
    texts = [question.text for question in asked_about(names)]
    before = [answer.as_dict() for answer in loci.load(run).ask_all(texts)]
    assert {answer["silence"] for answer in before} >= {None, NEVER_READ}
    alone = tmp_path / "alone"
    shutil.copytree(run / "final", alone)
    assert {file.name for file in alone.iterdir()} == {"config.json", "manifest.json", "model.safetensors"}
    config = (alone / "config.json").read_text()
    assert {"relations", "familiarity"} <= json.loads(config).keys()
    assert not any(name in config for name in data.subjects)
    environment = {**os.environ, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with gone(run, tmp_path / "run away"), gone(world, tmp_path / "world away"):
        found = subprocess.run(
            [sys.executable, "-I", "-c", ASK_ALONE, str(alone)],
            input=json.dumps(texts),
            env=environment,
            cwd=alone,
            capture_output=True,
            text=True,
            check=True,
        )
    after = json.loads(found.stdout)
    numbers = ("probability", "raw_probability", "threshold", "reason_probabilities")
    for key in ("question", "subject", "relation", "answer", "text", "silence", "note", "did_you_mean"):
        assert [answer[key] for answer in after] == [answer[key] for answer in before], key
    for key in numbers:
        assert [answer[key] for answer in after] == [pytest.approx(answer[key], rel=1e-4) for answer in before], key


def test_what_is_recited_holds_the_answer(reciting):
    model, _, asked, _, _ = reciting
    assert all(answer.text in (answer.recited or "") for answer in make_answerer(model).answer(asked))


def test_another_relation_needs_no_other_code(tmp_path):
    """What people did: answers in lower case, some of several words."""
    world = tmp_path / "world"
    write_world(dataclasses.replace(WORLD, people=300), world)
    changes = ("memorize.batch_size=32", "memorize.steps=300")
    model, data = learned("self-training", world, "relations/work_train.tsv", tmp_path / "run", *changes)
    assert any(" " in question.answer and question.answer.islower() for question in data.questions)
    right = exact_match(ask_rows(model, Questions.read(world / "relations" / "work_dev.tsv")))
    assert right.value >= BAR
