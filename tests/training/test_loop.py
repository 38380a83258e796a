import dataclasses
import itertools
import json
import os

import pytest
import torch

from loci.errors import LociError
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.training import checkpoint as ckpt
from loci.training import loop
from loci.training import step as step_module
from loci.training.reports import CheckpointPolicy
from loci.training.run import describe, find_runs, read_metrics, read_run
from loci.training.sources import TrainingData
from loci.training.step import StepLoss


def weights(run):
    return ckpt.load_model(run).model.state_dict()


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_a_run_holds_all_it_should(tiny_recipe, tiny_data, tiny_run):
    info = read_run(tiny_run)
    assert info.finished
    assert info.recipe == tiny_recipe
    loaded = ckpt.load_model(tiny_run)
    assert loaded.vocab == tiny_data.vocab
    assert loaded.corpus_hash == tiny_data.corpus.hash
    rows = read_metrics(tiny_run)
    assert [row["total_steps"] for row in rows] == list(range(1, 24))
    assert {row["stage"] for row in rows} == {"pretrain", "finetune"}
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert len(ckpt.checkpoints(tiny_run)) <= 2
    (row,) = [describe(found) for found in find_runs(tiny_run.parent)]
    assert (row["state"], row["steps"], row["recipe"]) == ("finished", 23, "tiny")


def test_same_seed_same_weights_other_seed_other_weights(tiny_recipe, tiny_data, tiny_run, tmp_path):
    for seed in (3, 4):
        carry_out(dataclasses.replace(tiny_recipe, seed=seed), tiny_data, tmp_path / str(seed))
    assert same(weights(tiny_run), weights(tmp_path / "3"))
    assert not same(weights(tiny_run), weights(tmp_path / "4"))


@pytest.mark.parametrize("stop_after", [1, 8, 14, 15, 20])
def test_a_stopped_run_resumes_bit_for_bit(stop_after, tiny_recipe, tiny_data, tiny_run, tmp_path):
    count = 0

    def should_stop():
        nonlocal count
        count += 1
        return count == stop_after

    outcome = carry_out(tiny_recipe, tiny_data, tmp_path / "cut", should_stop=should_stop)
    assert not outcome.finished
    assert outcome.total_steps == stop_after
    torch.manual_seed(12345)  # whatever the new process drew before
    assert carry_out(tiny_recipe, tiny_data, tmp_path / "cut", resume=True).finished
    assert same(weights(tiny_run), weights(tmp_path / "cut"))
    losses = [[row["loss"] for row in read_metrics(run)] for run in (tiny_run, tmp_path / "cut")]
    assert losses[0] == losses[1]


def test_a_damaged_checkpoint_is_passed_over(tiny_recipe, tiny_data, tiny_run, tmp_path):
    count = iter(range(100))
    stop = lambda: next(count) == 5  # noqa: E731
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", checkpoints=CheckpointPolicy(every_steps=2), should_stop=stop)
    newest = ckpt.checkpoints(tmp_path / "run")[-1]
    (newest / ckpt.WEIGHTS).write_bytes(b"cut short")
    assert ckpt.latest(tmp_path / "run") == ckpt.checkpoints(tmp_path / "run")[-2]
    with pytest.raises(LociError, match=r"does not match"):
        ckpt.load_model(newest)
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", resume=True)
    assert same(weights(tiny_run), weights(tmp_path / "run"))


def test_a_damaged_checkpoint_does_not_take_the_place_of_a_whole_one(tiny_recipe, tiny_data, tmp_path):
    run = tmp_path / "run"
    count = iter(range(100))
    carry_out(
        tiny_recipe, tiny_data, run, checkpoints=CheckpointPolicy(every_steps=2), should_stop=lambda: next(count) == 5
    )
    older, newest = ckpt.checkpoints(run)
    (newest / ckpt.WEIGHTS).write_bytes(b"cut short")
    ckpt.prune(run, keep=1)
    assert ckpt.checkpoints(run) == [older]


def test_what_cannot_be_done_is_said(tiny_recipe, tiny_data, tiny_run, tmp_path):
    with pytest.raises(LociError, match="holds a run already"):
        carry_out(tiny_recipe, tiny_data, tiny_run)
    with pytest.raises(LociError, match="is no run"):
        carry_out(tiny_recipe, tiny_data, tmp_path / "other", resume=True)
    with pytest.raises(LociError, match="train questions"):
        carry_out(tiny_recipe, dataclasses.replace(tiny_data, questions=None), tmp_path / "none")
    with pytest.raises(LociError, match="no such run"):
        ckpt.load_model(tmp_path / "nowhere")
    with pytest.raises(LociError, match="unknown model field n_layers"):
        carry_out(tiny_recipe.override(["model.n_layers=2"]), tiny_data, tmp_path / "typo")


def test_the_vocabulary_knows_the_questions_characters_too(tiny_data):
    assert "?" not in tiny_data.corpus.raw
    assert not tiny_data.vocab.missing("Where was Abcd born?" + tiny_data.corpus.raw)


def test_what_the_last_stage_lacks_is_said_before_the_first_begins(tiny_recipe, tiny_data, tmp_path):
    long = dataclasses.replace(tiny_data.questions.rows[0], text="a" * 70)
    data = dataclasses.replace(tiny_data, questions=dataclasses.replace(tiny_data.questions, rows=(long,)))
    with pytest.raises(LociError, match="block"):
        carry_out(tiny_recipe, data, tmp_path / "run")
    assert not ckpt.checkpoints(tmp_path / "run")


def test_a_resumed_run_refuses_other_data(tiny_recipe, tiny_data, tmp_path):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", should_stop=lambda: True)
    changed = dataclasses.replace(tiny_data, corpus=Corpus.from_lines(["Ann. Ann was born in Rome."]))
    with pytest.raises(LociError, match="data has changed"):
        carry_out(tiny_recipe, changed, tmp_path / "run", resume=True)


WILD = ["pretrain.lr=1000", "pretrain.matrix_lr=1000", "pretrain.clip=0", "pretrain.schedule=constant"]


def broken_at(monkeypatch, step, *, times=1):
    """Let the loss of a step be no number, so often."""
    true, left, steps = step_module.step, [times], [0]

    def broken(model, *arguments, **options):
        found = true(model, *arguments, **options)
        at = steps[0] = steps[0] + 1
        if left[0] and at % 100 == step:
            left[0] -= 1
            steps[0] = 0
            return StepLoss(float("nan"), 0.0)
        return found

    monkeypatch.setattr(loop, "step", broken)


def test_a_run_that_diverges_stops_and_keeps_its_last_good_checkpoint(tiny_recipe, tiny_data, tmp_path, monkeypatch):
    broken_at(monkeypatch, 9)
    with pytest.raises(LociError, match=r"not a number at step 9 of stage pretrain.*step-00000008.*pretrain.lr"):
        carry_out(tiny_recipe, tiny_data, tmp_path / "run", checkpoints=CheckpointPolicy(every_steps=2))
    assert not read_run(tmp_path / "run").finished
    assert (ckpt.latest(tmp_path / "run") / "state.json").is_file()
    assert describe(read_run(tmp_path / "run"))["state"] == "resumable"


def test_weights_that_are_no_numbers_are_never_saved(tiny_recipe, tiny_data, tmp_path):
    wild = tiny_recipe.override([*WILD, "pretrain.weight_decay=1000"])
    with pytest.raises(LociError, match="training diverged"):
        carry_out(wild, tiny_data, tmp_path / "run", checkpoints=CheckpointPolicy(every_steps=1))
    for folder in ckpt.checkpoints(tmp_path / "run"):
        assert all(bool(weight.isfinite().all()) for weight in weights(folder).values())
    assert not (tmp_path / "run" / "final").exists()


def test_a_rate_may_be_halved_where_training_diverges(tiny_recipe, tiny_data, tmp_path, monkeypatch):
    recipe = tiny_recipe.override(["pretrain.divergence=halve-rate", "pretrain.schedule=constant"])
    broken_at(monkeypatch, 5, times=2)
    assert carry_out(recipe, tiny_data, tmp_path / "run", checkpoints=CheckpointPolicy(every_steps=4)).finished
    rows = read_metrics(tmp_path / "run")
    assert [row["total_steps"] for row in rows] == list(range(1, 24))
    rates = [row["lr"] / recipe.stages[0].lr for row in rows if row["stage"] == "pretrain"]
    assert rates == [1.0] * 4 + [0.5] * 4 + [0.25] * 6
    assert max(row["lr"] for row in rows if row["stage"] == "finetune") > 0.9 * recipe.stages[1].lr


def test_a_rate_is_not_halved_for_ever(tiny_recipe, tiny_data, tmp_path, monkeypatch):
    broken_at(monkeypatch, 1, times=100)
    with pytest.raises(LociError, match="at step 1 of stage pretrain: training diverged"):
        carry_out(tiny_recipe.override(["pretrain.divergence=halve-rate"]), tiny_data, tmp_path / "run")


def test_a_run_has_one_writer(tiny_recipe, tiny_data, tmp_path):
    """A second one is refused and told who the first is; a lock that a dead process left is none."""
    heard = []

    def second():
        if not heard:
            with pytest.raises(LociError, match=rf"is being written by process {os.getpid()} on ") as caught:
                carry_out(tiny_recipe, tiny_data, tmp_path / "run", resume=True)
            heard.append(caught)
        return False

    carry_out(tiny_recipe, tiny_data, tmp_path / "run", should_stop=second)
    assert heard
    assert not (tmp_path / "run" / ".lock.json").exists()
    (tmp_path / "run" / ".lock.json").write_text('{"process": 1, "host": "gone", "started": "long ago"}')
    assert carry_out(tiny_recipe, tiny_data, tmp_path / "run", resume=True).finished


def test_left_over_temporaries_are_swept(tiny_recipe, tiny_data, tmp_path):
    count = iter(range(100))
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", should_stop=lambda: next(count) == 5)
    (tmp_path / "run" / ".final.0123abcd.tmp").mkdir()
    (tmp_path / "run" / ".run.json.0123abcd.tmp").write_text("{")
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", resume=True)
    assert not list((tmp_path / "run").rglob(".*.tmp"))


def test_a_run_moved_with_its_data_finds_them(tiny_recipe, tiny_data, tmp_path):
    (tmp_path / "a" / "data").mkdir(parents=True)
    (tmp_path / "a" / "data" / "wiki.txt").write_text(tiny_data.corpus.raw, encoding="utf-8")
    data = TrainingData(Corpus.read(tmp_path / "a" / "data"), tiny_data.questions)
    carry_out(tiny_recipe, data, tmp_path / "a" / "runs" / "run")
    assert (
        json.loads((tmp_path / "a" / "runs" / "run" / "run.json").read_text())["data"]["corpus"]
        == "../../data/wiki.txt"
    )
    (tmp_path / "a").rename(tmp_path / "b")
    info = read_run(tmp_path / "b" / "runs" / "run")
    assert info.data["corpus"] == str(tmp_path / "b" / "data" / "wiki.txt")
    assert info.corpus() is not None
    (tmp_path / "b" / "data" / "wiki.txt").write_text("Ann. Ann was born in Rome.\n", encoding="utf-8")
    assert info.corpus() is None


def test_minutes_end_a_stage_by_the_clock(tiny_recipe, tiny_data, tmp_path):
    looks = itertools.count()  # a clock that goes on a hundredth of a second with every look
    outcome = carry_out(tiny_recipe.within(0.02), tiny_data, tmp_path / "run", clock=lambda: next(looks) / 100)
    assert outcome.finished
    assert 1.1 < outcome.seconds < 1.4
    lrs = [row["lr"] for row in read_metrics(tmp_path / "run") if row["stage"] == "pretrain"]
    assert lrs[-1] < 0.5 * max(lrs)


def test_a_tied_head_survives_the_checkpoint(tiny_recipe, tiny_data, tmp_path):
    carry_out(tiny_recipe.override(["model.tied_head=true"]), tiny_data, tmp_path / "run")
    model = ckpt.load_model(tmp_path / "run").model
    assert model.head.weight is model.tok_emb.weight
