"""Labelling every subject and relation, in parts that survive a stop."""

import os
import signal
import string
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from loci.data.prompts import NOT_TOLD
from loci.model import GPT, GPTConfig
from loci.pipeline.labelers import Progress, Stopped, read_lines, self_training
from loci.pipeline.labelers.answer_prior import AnswerPrior
from loci.pipeline.labels_file import read_labels, write_labels
from loci.text.corpus import Corpus, Line
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.training.checkpoint import LoadedModel
from loci.training.distributed import Group
from loci.training.sources import TrainingData

LINES = [
    "Ann Lee. Ann Lee was born in Rome .",
    "Bo Berg. Berg was born in Turin and died in Oslo .",
    "Cy Dow. Dow was born in Bari .",
    "Cy Dow. Dow died in Lima .",
    "Di Fox. Fox wrote books .",
]
PAIRS = [("Where was Ann Lee born?", "Rome"), ("Where was Bo Berg born?", "Turin"), ("Where did Bo Berg die?", "Oslo")]
READ = {  # what the reader below finds in a line
    ("born", LINES[2]): {"Bari": 0.9, "": 0.1},
    ("die", LINES[2]): {"Bari": 0.2, "": 0.8},
    ("born", LINES[3]): {"Lima": 0.1, "": 0.9},
    ("die", LINES[3]): {"Lima": 0.7, "": 0.3},
    ("born", LINES[4]): {"books": 0.01, "": 0.97},
    ("die", LINES[4]): {"books": 0.3, "": 0.6},
    ("die", LINES[0]): {"Rome": 0.3, "": 0.7},
}


@pytest.fixture
def data():
    forms = relations_from(["Where was {subject} born?", "Where did {subject} die?"])
    return TrainingData(Corpus.from_lines(LINES), Questions.from_pairs(PAIRS, relations=forms))


@pytest.fixture
def reader(data, monkeypatch):
    """A model that reads what `READ` says, and how many prompts it was given."""

    reading = LoadedModel(
        GPT(GPTConfig(len(data.vocab), block_size=160, n_layer=1, n_head=1, n_embd=8)), data.vocab, {}, "", Path()
    )

    class Counting:
        calls = 0

    counting = Counting()

    def counted(model, vocab, prompts, texts, **options):
        counting.calls += len(prompts)
        return [
            list(READ["die" if "die" in question else "born", line].items())
            for line, question, _ in (vocab.decode(p).split("⁇") for p in prompts)
        ]

    monkeypatch.setattr(read_lines, "score_spans", counted)
    return reading, counting


def labelled(questions):
    return {(row.relation, row.subject): row.answer for row in questions}


def test_every_subject_gets_every_relation_or_not_told(data, reader):
    found = labelled(self_training.label(reader[0], data, Progress(), use_prior=False))
    born, died = data.relations[0].name, data.relations[1].name
    assert found == {
        (born, "Ann Lee"): "Rome",
        (born, "Bo Berg"): "Turin",
        (died, "Bo Berg"): "Oslo",
        (born, "Cy Dow"): "Bari",
        (died, "Cy Dow"): "Lima",  # another line tells that
        (born, "Di Fox"): NOT_TOLD,
        (died, "Di Fox"): NOT_TOLD,
        (died, "Ann Lee"): NOT_TOLD,
    }


def test_with_degrees_a_doubtful_not_told_keeps_the_guess(data, reader):
    found = self_training.label(reader[0], data, Progress(), use_prior=False, degrees=True)
    told = {(row.relation, row.subject): (row.answer, row.degree) for row in found}
    born, died = data.relations[0].name, data.relations[1].name
    assert told[died, "Di Fox"] == ("books", 0)
    assert told[born, "Di Fox"] == (NOT_TOLD, 0)
    assert told[born, "Ann Lee"] == ("Rome", 9)


def test_labels_on_disk_keep_relation_and_degree(data, reader, tmp_path):
    made = self_training.label(reader[0], data, Progress(), degrees=True)
    write_labels(made, tmp_path / "labels.tsv")
    kept = read_labels(tmp_path / "labels.tsv", data.relations)
    assert [(row.text, row.subject, row.relation, row.answers, row.degree) for row in kept] == [
        (row.text, row.subject, row.relation, row.answers, row.degree) for row in made
    ]
    assert labelled(Questions.read(tmp_path / "labels.tsv")) == labelled(made)


def test_a_stopped_labelling_goes_on_where_it_was(data, reader, tmp_path, monkeypatch):
    monkeypatch.setattr(read_lines, "PART", 2)
    loaded, counting = reader
    whole = labelled(self_training.label(loaded, data, Progress()))
    every = counting.calls
    looks = iter([False, False, True])
    parts = tmp_path / "labels.part"
    with pytest.raises(Stopped):
        self_training.label(loaded, data, Progress(should_stop=lambda: next(looks), parts=parts))
    assert parts.exists()
    with open(parts, "ab") as cut:
        cut.write(b'["Ba')  # killed while writing
    told = []
    counting.calls = 0
    again = self_training.label(loaded, data, Progress(told=lambda *at: told.append(at), parts=parts))
    assert labelled(again) == whole
    assert counting.calls == every - 4
    assert told[0] == (4, every)
    assert told[-1] == (every, every)
    assert not parts.exists()


def test_parts_of_another_model_are_not_used(data, reader, tmp_path, monkeypatch):
    monkeypatch.setattr(read_lines, "PART", 2)
    loaded, counting = reader
    looks = iter([False, True])
    parts = tmp_path / "labels.part"
    with pytest.raises(Stopped):
        self_training.label(loaded, data, Progress(should_stop=lambda: next(looks), parts=parts))
    loaded.model.head.weight.data.add_(1)
    counting.calls = 0
    self_training.label(loaded, data, Progress(parts=parts))
    assert counting.calls == 7


class Threads(Group):
    """Processes that are threads here: each waits for the other's value."""

    def __init__(self, rank, world, values, barrier):
        super().__init__(rank, world)
        self.values, self.barrier = values, barrier

    def gathered(self, value):
        self.values[self.rank] = value
        self.barrier.wait(timeout=300)
        found = [self.values[rank] for rank in range(self.world)]
        self.barrier.wait(timeout=300)
        return found

    def total(self, figures):
        return [sum(column) for column in zip(*self.gathered(list(figures)), strict=True)]


def test_processes_read_their_own_parts_and_all_get_everything(data, reader, monkeypatch):
    monkeypatch.setattr(read_lines, "PART", 2)
    loaded, counting = reader
    alone = self_training.label(loaded, data, Progress())
    asked = counting.calls
    values, barrier = {}, threading.Barrier(3)
    groups = [Threads(rank, 3, values, barrier) for rank in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda group: self_training.label(loaded, data, Progress(group=group)), groups))
    assert [labels.rows for labels in found] == [alone.rows] * 3
    assert counting.calls == 2 * asked


def test_a_real_model_reads_in_batches_as_alone(data):
    model = GPT(GPTConfig(len(data.vocab), block_size=160, n_layer=2, n_head=2, n_embd=16, positions="rope"))
    loaded = LoadedModel(model, data.vocab, {}, "", Path())
    readers = [read_lines.Reader(relation, 1, AnswerPrior({}, 1.0)) for relation in data.relations]
    together = read_lines.read_lines(loaded, data.lines, readers, set(), Progress())
    for line in data.lines[:2]:
        alone = read_lines.read_lines(loaded, [line], readers[:1], set(), Progress())
        for asked, label in alone.items():
            assert together[asked].answer == label.answer
            assert together[asked].probability == pytest.approx(label.probability, rel=1e-4)


def test_a_line_is_read_once_for_all_relations(data, monkeypatch):
    model = GPT(GPTConfig(len(data.vocab), block_size=160, n_layer=2, n_head=2, n_embd=16, positions="rope"))
    loaded = LoadedModel(model, data.vocab, {}, "", Path())
    readers = [read_lines.Reader(relation, 1, AnswerPrior({}, 1.0)) for relation in data.relations]
    read, hidden = [], model.hidden
    monkeypatch.setattr(
        model, "hidden", lambda ids, **how: read.append(data.vocab.decode(ids[0])) or hidden(ids, **how)
    )
    for line in data.lines[:2]:
        read.clear()
        read_lines.read_lines(loaded, [line], readers, set(), Progress())
        assert sum(line.text in text for text in read) == 1


def test_where_train_questions_are_in_lower_case_everybody_is_asked_about_so(data, reader):
    pairs = [(text.lower(), answer) for text, answer in PAIRS]
    forms = relations_from(["where was {subject} born?", "where did {subject} die?"])
    lower = TrainingData(data.corpus, Questions.from_pairs(pairs, relations=forms))
    loaded = replace(reader[0], vocab=data.vocab.with_characters(string.ascii_lowercase))
    found = self_training.label(loaded, lower, Progress(), use_prior=False)
    assert {row.subject for row in found} == {"ann lee", "bo berg", "cy dow", "di fox"}
    assert [row.answer for row in found if row.text == "where did cy dow die?"] == ["Lima"]
    assert len(found) == 8


def test_a_line_that_does_not_fit_is_read_in_parts(data, monkeypatch):
    read = []

    def scored(model, vocab, prompts, texts, **options):
        read.extend(vocab.decode(prompt).split("⁇")[0] for prompt in prompts)
        return [[("Lima", 0.9), ("", 0.1)] if "Lima" in text else [("Dow", 0.1), ("", 0.9)] for text in texts]

    monkeypatch.setattr(read_lines, "score_spans", scored)
    model = GPT(GPTConfig(len(data.vocab), block_size=160, n_layer=1, n_head=1, n_embd=8))
    loaded = LoadedModel(model, data.vocab, {}, "", Path())
    reader = read_lines.Reader(data.relations[1], 1, AnswerPrior({}, 1.0))
    text = "Cy Dow. " + "Dow wrote books in Rome. " * 12 + "Dow died in Lima ."
    (label,) = read_lines.read_lines(loaded, [Line(1, "Cy Dow", text)], [reader], set(), Progress()).values()
    assert (label.answer, label.not_told) == ("Lima", 0.1)
    assert len(read) > 2
    assert all(part.startswith("Cy Dow. Dow ") for part in read)


def processor_seconds(pid):
    """What a process has used until now: the other clock also counts those it had to wait for."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is read in /proc")
def test_a_signal_ends_the_labelling_within_seconds(tmp_path):
    """A whole process: the recipe's labelling step is interrupted, the run resumes and finishes."""
    loci = [sys.executable, "-m", "loci"]
    world, run = tmp_path / "world", tmp_path / "run"
    subprocess.run([*loci, "world", "--people", "3000", "--out", str(world)], check=True, capture_output=True)
    sizes = ("read.characters=2000", "memorize.characters=2000", "model.n_layer=2", "model.n_embd=32")
    flags = [flag for size in sizes for flag in ("--set", size)]
    command = [*loci, "train", "--recipe", "self-training", "--data", str(world), "--out", str(run), *flags]
    training = subprocess.Popen([*command, "--no-tensorboard"])
    parts = run / "pseudo_labels.part"
    while not parts.exists() or parts.stat().st_size < 100:
        time.sleep(0.1)
    begun = processor_seconds(training.pid)
    training.send_signal(signal.SIGTERM)
    _, status, usage = os.wait4(training.pid, 0)
    training.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
    assert training.returncode == 130
    assert usage.ru_utime + usage.ru_stime - begun < 20
    assert parts.exists()
    resumed = subprocess.run([*loci, "train", "--resume", "--out", str(run), "--no-tensorboard"], capture_output=True)
    assert resumed.returncode == 0
    assert not parts.exists()
