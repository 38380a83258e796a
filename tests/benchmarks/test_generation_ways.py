"""The benchmark compares like with like: what is timed against each other gives the same answers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from loci.evaluation.asking import ask_rows
from loci.model import GPT, GPTConfig
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec
from loci.text.world.writer import write_world
from loci.training.checkpoint import LoadedModel, load_model, save_checkpoint

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
COURSE = BENCHMARKS.parents[1] / "shared" / "data" / "course"


@pytest.fixture
def asking(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import _asking

    return _asking


@pytest.fixture
def generation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import generation

    return generation


class Scripted(torch.nn.Module):
    """Stands where a model stands and writes a fixed text, one character after the other."""

    def __init__(self, ids, prompt_length):
        super().__init__()
        self.ids, self.prompt_length = ids, prompt_length
        self.config = GPTConfig(vocab_size=64)

    def forward(self, x):
        logits = torch.zeros(*x.shape, 64)
        logits[0, -1, self.ids[x.shape[1] - self.prompt_length]] = 1.0
        return type("Output", (), {"logits": logits})()


@pytest.mark.parametrize(
    ("written", "answer", "ended"),
    [("Oslo⁇" + "o" * 27, "Oslo", True), ("o" * 32, "o" * 32, False), ("⁇" * 32, "", True), ("Oslo⁇lo⁇", "Oslo", True)],
)
def test_a_published_answer_stands_between_the_first_two_masks(asking, written, answer, ended):
    vocab = Vocab.from_text("Where was Ann born? Oslo")
    question = Questions.from_pairs([("Where was Ann born?", "Oslo")])[0]
    ids = [vocab.ids[character] for character in written.ljust(32, "s")]
    model: Any = Scripted(ids, len(question.text) + 1)
    loaded = LoadedModel(model, vocab, {}, "", Path())
    assert asking.published_answers(loaded, [question]) == [asking.PublishedAnswer(answer, ended)]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generation") / "world"
    write_world(WorldSpec(people=60, train_share=0.5, dev_share=0.4), folder)
    return folder


@pytest.mark.slow
def test_a_model_taught_briefly_ends_its_answers_and_both_ways_give_the_same(asking, generation, world):
    small = {**asking.SMALL, "finetune.steps": 60, "finetune.batch_size": 16, "model.n_embd": 32}
    loaded = asking.teach(small, world)
    asked = Questions.read(world / asking.DEV)
    published = asking.published_answers(loaded, asked)
    assert sum(answer.ended for answer in published) > 0.8 * len(asked)
    assert [answer.text for answer in published] == [
        row.prediction for row in ask_rows(loaded, asked, answerer="greedy")
    ]
    bench = generation.Bench(quick=True, repeats=2, clock=generation.time.perf_counter)
    row = generation.as_published(bench, loaded, asked, "questions")
    assert row.same_answers is True
    assert f"{len(asked)} of {len(asked)} answers the same" in row.note
    assert "10 of" in row.note
    assert len(row.ratios) == 2


def test_different_answers_are_seen(asking, generation, world, tmp_path, monkeypatch):
    vocab = Vocab.from_text((world / "wiki.txt").read_text(encoding="utf-8") + "?")
    config = GPTConfig(len(vocab), n_layer=1, n_head=2, n_embd=16)
    save_checkpoint(tmp_path / "run", GPT(config, generator=torch.Generator().manual_seed(0)), vocab, about={})
    loaded = load_model(tmp_path / "run")
    asked = Questions.read(world / asking.DEV)[:4]
    monkeypatch.setattr(generation, "published_answers", lambda loaded, asked: [asking.PublishedAnswer("x", True)] * 4)
    bench = generation.Bench(quick=True, repeats=1, clock=generation.time.perf_counter)
    assert generation.as_published(bench, loaded, asked, "questions").same_answers is False


def test_without_the_course_the_rows_of_answers_are_left_out_with_a_reason(asking, generation, tmp_path, monkeypatch):
    assert asking.missing(tmp_path) == ["wiki.txt", "birth_places_train.tsv", "birth_dev.tsv"]
    monkeypatch.setattr(generation, "COURSE", tmp_path)
    monkeypatch.setattr(generation, "missing", lambda: asking.missing(tmp_path))
    asked = []
    monkeypatch.setattr(generation, "equal_steps", lambda bench, model, prompts, source: asked.append(prompts))
    console = Console(record=True, width=400)
    bench = generation.Bench(quick=True, repeats=1, clock=generation.time.perf_counter)
    assert len(generation.many_questions(bench, console)) == 1
    assert "birth_dev.tsv not found" in console.export_text()
    assert len(asked[0]) == 500
    assert all(prompt[-1] == MASK_ID for prompt in asked[0])


@pytest.mark.slow
@pytest.mark.skipif(not COURSE.is_dir(), reason="the course's files are not in ../shared/data/course")
def test_the_benchmark_runs():
    command = [sys.executable, str(BENCHMARKS / "generation.py"), "--quick", "--json", "--threads", "1"]
    done = subprocess.run([*command, "--repeats", "1"], capture_output=True, text=True, timeout=600, check=True)
    rows = json.loads(done.stdout)
    assert all(len(row["ratios"]) == 1 and row["ratios"][0] > 0 for row in rows)
    (compared,) = [row for row in rows if row["same_answers"] is not None]
    assert "50 of 50 answers the same" in compared["note"]
