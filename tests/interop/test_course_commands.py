from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from loci.errors import LociError
from loci.evaluation.rows import Row
from loci.interop import course_commands
from loci.interop.course_commands import Course, run_folder
from loci.interop.course_lines import constant_rows, corruption_lines, data_line, name_lines, score_line
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, GPTConfig
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.checkpoint import load_model, save_checkpoint
from loci.training.reports import Outcome, StepReport
from loci.training.run import find_runs, read_metrics
from loci.training.schedule import factor

PEOPLE = {"Ada Holt": "Leeds", "Ben Marsh": "York", "Cleo Vane": "Leeds", "Dora Quist": "Malmö"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "wiki.txt"
    lines = [f"{name}. {name} was born in {place} ." for name, place in PEOPLE.items()]
    file.write_text("\n".join([*lines, "Eve Who. Is this a question?"]) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "train.tsv"
    file.write_text("".join(f"Where was {name} born?\t{place}\n" for name, place in PEOPLE.items()), encoding="utf-8")
    return file


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the size is of no matter, a model that trains in no time."""
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 64}
    monkeypatch.setattr(course_commands, "COURSE_MODEL", sizes)


class Stopper:
    """Watches training and asks it to stop after some steps."""

    def __init__(self, after: int | None = None):
        self.after = after
        self.steps: list[int] = []

    def on_step(self, report: StepReport) -> None:
        self.steps.append(report.total_steps)

    def on_checkpoint(self, total_steps: int) -> None: ...
    def close(self) -> None: ...

    def should_stop(self) -> bool:
        return self.after is not None and len(self.steps) >= self.after


def finetune(
    corpus: Path, questions: Path, out: Path, *, after: int | None = None, **options: object
) -> tuple[Outcome, Stopper]:
    stopper = Stopper(after)
    outcome = course_commands.finetune(
        Course.read("vanilla", corpus),
        out,
        questions,
        observers=lambda run: [stopper],
        should_stop=stopper.should_stop,
        say=lambda line: None,
        **{"max_epochs": 3, **options},  # type: ignore[arg-type]
    )
    return outcome, stopper


def test_the_published_way_without_pretraining(
    corpus: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, answers = tmp_path / "model.params", tmp_path / "answers.txt"
    course = Course.read("vanilla", corpus)
    outcome = course_commands.finetune(course, out, questions, max_epochs=2)
    assert (outcome.finished, outcome.total_steps) == (True, 2)
    n_symbols = len(set(corpus.read_text(encoding="utf-8"))) + 2
    n_parameters = 3_323_392 - 2 * 256 * (256 - n_symbols)
    printed = [f"data has {len(corpus.read_text(encoding='utf-8'))} characters, {n_symbols} unique."]
    printed.append(f"number of parameters: {n_parameters}")
    assert capsys.readouterr().out.splitlines() == printed
    rows = course_commands.evaluate(course, out, questions, outputs=answers)
    assert capsys.readouterr().out.splitlines() == printed
    assert [row.question for row in rows] == [f"Where was {name} born?" for name in PEOPLE]
    assert len(answers.read_text(encoding="utf-8").split("\n")) == len(PEOPLE) + 1
    assert sum(tensor.numel() for name, tensor in read_params(out).items() if "mask" not in name) == n_parameters
    assert [info.finished for info in find_runs(tmp_path)] == [True]
    assert not (run_folder(out) / "checkpoints").exists()


@pytest.mark.usefixtures("small")
def test_pretraining_then_finetuning_starts_from_what_was_read(corpus: Path, questions: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "pre.params", tmp_path / "fine.params"
    course = Course.read("rope", corpus)
    course_commands.pretrain(course, first, max_epochs=1, say=lambda line: None)
    metrics = read_metrics(run_folder(first))
    assert [row["stage"] for row in metrics] == ["pretrain"]
    assert "blocks.0.attn.rope_cache" in read_params(first)
    # With a learning rate of nothing, what is written is what was read.
    course_commands.finetune(
        course, second, questions, reading_params=first, lr=1e-30, max_epochs=1, say=lambda line: None
    )
    before, after = read_params(first), read_params(second)
    assert all(torch.allclose(before[name], after[name]) for name in before)


@pytest.mark.usefixtures("small")
def test_the_same_command_goes_on_where_it_was_stopped(corpus: Path, questions: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.params", tmp_path / "parts.params"
    finetune(corpus, questions, whole)
    outcome, stopper = finetune(corpus, questions, parts, after=1)
    assert (outcome.finished, stopper.steps) == (False, [1])
    assert not parts.exists()
    outcome, stopper = finetune(corpus, questions, parts)
    assert (outcome.finished, stopper.steps) == (True, [2, 3])
    assert all(torch.equal(tensor, read_params(parts)[name]) for name, tensor in read_params(whole).items())
    # Finished: the same command has nothing left to do but to write the file again.
    parts.unlink()
    outcome, stopper = finetune(corpus, questions, parts)
    assert (outcome.finished, stopper.steps) == (True, [])
    assert torch.equal(read_params(parts)["pos_emb"], read_params(whole)["pos_emb"])


@pytest.mark.usefixtures("small")
def test_another_command_never_mixes_with_a_stopped_one(corpus: Path, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.params"
    finetune(corpus, questions, out, after=1)
    with pytest.raises(LociError, match="holds another training that was stopped before its end"):
        finetune(corpus, questions, out, lr=1e-3)
    with questions.open("a", encoding="utf-8") as handle:
        handle.write("Where was Eve Who born?\tYork\n")
    with pytest.raises(LociError, match="holds another training"):
        finetune(corpus, questions, out)
    assert not out.exists()


@pytest.mark.usefixtures("small")
def test_a_finished_training_makes_way_for_another(corpus: Path, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.params"
    finetune(corpus, questions, out, max_epochs=1)
    before = read_params(out)["head.weight"]
    outcome, stopper = finetune(corpus, questions, out, max_epochs=2)
    assert (outcome.finished, stopper.steps) == (True, [1, 2])
    assert not torch.equal(read_params(out)["head.weight"], before)


def test_the_published_learning_rates() -> None:
    """As the course's script prints them at the end of finetuning and, climbing again, of pretraining in 2021-23."""
    corpus = Corpus.from_lines(f"N{number}. Text ." for number in range(2937))
    course = Course("vanilla", corpus, {})
    stage = course_commands.finetune_stage(course.shape)
    assert f"{stage.lr * factor(stage, progress=1.0, tokens=10 * 2000 * 127):e}" == "5.983263e-04"
    stage = course_commands.pretrain_stage(course.shape, year=2021)
    assert f"{stage.lr * factor(stage, progress=1.0, tokens=650 * 2938 * 127):e}" == "7.182453e-04"


@pytest.mark.parametrize(("variant", "objective"), [("vanilla", "corruption-2021"), ("rope", "corruption-2024")])
def test_each_variant_gets_the_year_that_brought_it(
    variant: str, objective: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(course_commands, "_train", lambda recipe, *rest: seen.append(recipe))
    course = Course.read(variant, corpus)
    course_commands.pretrain(course, tmp_path / "p", say=lambda line: None)
    course_commands.pretrain(course, tmp_path / "p", year=2024, lr=0.5, max_epochs=7, say=lambda line: None)
    stages = [recipe.stages[0] for recipe in seen]
    assert [stage.mixture[0].objective for stage in stages] == [objective, "corruption-2024"]
    assert [(stage.epochs, stage.batch_size, stage.lr) for stage in stages] == [(650, 128, 6e-3), (7, 128, 0.5)]


@pytest.mark.usefixtures("small")
def test_finetuning_epochs(corpus: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(course_commands, "_train", lambda recipe, *rest: seen.append(recipe.stages[0]))
    course = Course.read("vanilla", corpus)
    params = tmp_path / "p.params"
    write_params(params, course_commands.to_course(course.new_model()))
    for reading in (None, params):
        course_commands.finetune(course, tmp_path / "q", questions, reading_params=reading, say=lambda line: None)
    assert [(stage.epochs, stage.batch_size, stage.lr) for stage in seen] == [(75, 256, 6e-4), (10, 256, 6e-4)]


def test_bad_input_is_named(corpus: Path, questions: Path, tmp_path: Path) -> None:
    course, params = Course.read("vanilla", corpus), tmp_path / "p.params"
    with pytest.raises(LociError, match="no variant 'banana'"):
        Course.read("banana", corpus)
    write_params(params, {"tok_emb.weight": torch.ones(256, 256), "pos_emb": torch.ones(1, 128, 256)})
    with pytest.raises(LociError, match=rf"{params}: lacks blocks.0"):
        course.load(params)
    state = course_commands.to_course(GPT(GPTConfig(vocab_size=256)))
    write_params(params, state)
    with pytest.raises(LociError, match=rf"{params}: was trained with a vocabulary of 256 .* 254 different characters"):
        course.load(params)
    unanswered = tmp_path / "test.tsv"
    unanswered.write_text("Where was Ada Holt born?\n", encoding="utf-8")
    with pytest.raises(LociError, match="holds no answers to learn from"):
        course_commands.finetune(course, params, unanswered)
    unknown = tmp_path / "unknown.tsv"
    unknown.write_text("Where was Ada Holt born?\tŻnin\n", encoding="utf-8")
    with pytest.raises(LociError, match=r"unknown\.tsv:1: .*which the corpus lacks"):
        course_commands.finetune(course, params, unknown)
    with pytest.raises(LociError, match="is a folder"):
        finetune(corpus, questions, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(LociError, match="cannot be made"):
        finetune(corpus, questions, tmp_path / "file" / "p.params")


@pytest.mark.usefixtures("small")
def test_params_become_a_run_and_come_back(corpus: Path, tmp_path: Path) -> None:
    course, params, run = Course.read("synthesizer", corpus), tmp_path / "p.params", tmp_path / "run"
    state = course_commands.to_course(course.new_model())
    write_params(params, state)
    course_commands.import_params(course, params, run)
    loaded = load_model(run)
    assert loaded.corpus_hash == course.corpus.hash
    assert loaded.vocab == course.corpus.vocab
    assert [info.recipe.note for info in find_runs(tmp_path)] == ["imported from p.params (synthesizer)"]
    assert course_commands.export_params(run, tmp_path / "back.params") == "synthesizer"
    back = read_params(tmp_path / "back.params")
    assert back.keys() == state.keys()
    assert all(torch.equal(tensor, back[name]) for name, tensor in state.items())
    with pytest.raises(LociError, match="exists already"):
        course_commands.import_params(course, params, run)


def test_only_the_published_size_is_exported(corpus: Path, tmp_path: Path) -> None:
    vocab = Corpus.read(corpus).vocab
    model = GPT(GPTConfig(len(vocab), n_layer=2))
    save_checkpoint(tmp_path / "run", model, vocab, about={})
    with pytest.raises(LociError, match="n_layer is 2, the course's commands read 4 only"):
        course_commands.export_params(tmp_path / "run", tmp_path / "x.params")
    assert not (tmp_path / "x.params").exists()


@pytest.mark.usefixtures("small")
def test_an_answer_with_a_line_end_stays_one_line(corpus: Path, questions: Path, tmp_path: Path) -> None:
    course, params, out = Course.read("vanilla", corpus), tmp_path / "p.params", tmp_path / "out.txt"
    state = course_commands.to_course(course.new_model())
    # A head that always says the newline: its logit is the sum of a stream that is all ones after the last norm.
    state["ln_f.weight"].zero_()
    state["ln_f.bias"].fill_(1.0)
    state["head.weight"].zero_()
    state["head.weight"][course.corpus.vocab.ids["\n"]] = 1.0
    write_params(params, state)
    rows = course_commands.evaluate(course, params, questions, outputs=out, say=lambda line: None)
    assert {row.prediction for row in rows} == {"\n" * 32}
    assert out.read_text(encoding="utf-8").count("\n") == len(PEOPLE)


def rows_with(right: int, total: int) -> list[Row]:
    return [Row("q", "London" if number < right else "York", ("London",)) for number in range(total)]


@pytest.mark.parametrize(
    ("right", "line"),
    [
        (25, "Correct: 25.0 out of 500.0: 5.0%"),
        (93, "Correct: 93.0 out of 500.0: 18.6%"),
        (115, "Correct: 115.0 out of 500.0: 23.0%"),
        (9, "Correct: 9.0 out of 500.0: 1.7999999999999998%"),
        (0, "Correct: 0.0 out of 500.0: 0.0%"),
    ],
)
def test_published_score_lines(right: int, line: str) -> None:
    assert score_line(rows_with(right, 500)) == line


def test_no_answers_no_score() -> None:
    assert score_line([Row("q", "London")]) is None
    assert score_line([]) is None


def test_course_data(course_data: Path) -> None:
    corpus = Corpus.read(course_data / "wiki.txt")
    assert data_line(corpus) == "data has 418351 characters, 256 unique."
    dev = Questions.read(course_data / "birth_dev.tsv")
    assert score_line(constant_rows(dev)) == "Correct: 25.0 out of 500.0: 5.0%"
    assert score_line(constant_rows(Questions.read(course_data / "birth_test_inputs.tsv"))) is None
    # The third example of the course's own printed output.
    lines = name_lines(corpus, Questions.read(course_data / "birth_places_train.tsv"), 128, 4)
    assert lines[4] == "x: " + "Where was John Stephen born?⁇Glasgow⁇".ljust(127, "□")
    assert lines[5] == "y: " + ("□" * 27 + "⁇Glasgow⁇").ljust(127, "□")


@pytest.mark.parametrize(("year", "masks"), [(2021, 3), (2024, 2)])
def test_corruption_lines(year: int, masks: int, corpus: Path) -> None:
    text = Corpus.read(corpus)
    lines = corruption_lines(text, 128, 3, year=year, rng=np.random.default_rng(0))
    assert len(lines) == 6
    for x, y in zip(lines[::2], lines[1::2], strict=True):
        assert (x[:3], y[:3]) == ("x: ", "y: ")
        assert len(x) == len(y) == 3 + 127
        assert x[4:] == y[3:-1]
        assert x.count("⁇") == masks
    again = corruption_lines(text, 128, 3, year=year, rng=np.random.default_rng(0))
    assert lines == again


def test_examples_on_request_only(corpus: Path, questions: Path) -> None:
    text = Corpus.read(corpus)
    assert name_lines(text, Questions.read(questions), 128, 0) == []
    assert len(name_lines(text, Questions.read(questions), 128, 100)) == 2 * len(PEOPLE)
