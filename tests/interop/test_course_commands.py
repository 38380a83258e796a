from __future__ import annotations

from pathlib import Path

import pytest
import torch
from small_course import PEOPLE, QUIET, finetune, says, silent

from loci.errors import LociError
from loci.interop import course_commands
from loci.interop.course_commands import Course, Hooks
from loci.interop.course_lines import (
    NO_GOLD,
    constant_rows,
    data_line,
    example_lines,
    model_lines,
    score_lines,
)
from loci.interop.course_params import to_course
from loci.interop.course_training import CourseData, run_folder
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, GPTConfig
from loci.recipes import DataShape
from loci.recipes.course import finetune_stage, pretrain_stage
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.checkpoint import load_model, save_checkpoint
from loci.training.run import find_runs, read_metrics
from loci.training.schedule import factor


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
    right = sum(row.correct is True for row in rows)
    score = f"Correct: {float(right)} out of 4.0: {right / 4 * 100}%"
    assert capsys.readouterr().out.splitlines() == [*printed, score]
    assert [row.question for row in rows] == [f"Where was {name} born?" for name in PEOPLE]
    assert len(answers.read_text(encoding="utf-8").split("\n")) == len(PEOPLE) + 1
    assert sum(tensor.numel() for name, tensor in read_params(out).items() if "mask" not in name) == n_parameters
    assert [info.finished for info in find_runs(tmp_path)] == [True]
    assert not (run_folder(out) / "checkpoints").exists()


@pytest.mark.usefixtures("small")
def test_pretraining_then_finetuning_starts_from_what_was_read(corpus: Path, questions: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "pre.params", tmp_path / "fine.params"
    course = Course.read("rope", corpus)
    course_commands.pretrain(course, first, max_epochs=1, hooks=QUIET)
    metrics = read_metrics(run_folder(first))
    assert [row["stage"] for row in metrics] == ["pretrain"]
    assert "blocks.0.attn.rope_cache" in read_params(first)
    # With a learning rate of nothing, what is written is what was read.
    course_commands.finetune(course, second, questions, reading=first, lr=1e-30, max_epochs=1, hooks=QUIET)
    before, after = read_params(first), read_params(second)
    assert all(torch.allclose(before[name], after[name]) for name in before)


@pytest.mark.usefixtures("small")
def test_finetuning_drops_what_is_not_ascii_and_not_in_the_corpus(corpus: Path, tmp_path: Path) -> None:
    unknown = tmp_path / "unknown.tsv"
    unknown.write_text("Where was Ada Ħolt born?\tŻYork\n", encoding="utf-8")
    course = Course.read("vanilla", corpus)
    assert [(row.text, row.answers) for row in course_commands.as_taught(Questions.read(unknown), course)] == [
        ("Where was Ada olt born?", ("York",))
    ]
    assert course_commands.finetune(course, tmp_path / "p.params", unknown, max_epochs=1, hooks=QUIET).finished
    fixed = Course.read("vanilla", corpus, fix=["ascii"])
    with pytest.raises(LociError, match=r"unknown\.tsv:1: .*which nothing taught"):
        course_commands.finetune(fixed, tmp_path / "q.params", unknown, max_epochs=1, hooks=QUIET)


def test_the_published_learning_rates() -> None:
    """As the course's script prints them at the end of finetuning and, climbing again, of pretraining in 2021-23."""
    corpus = Corpus.from_lines(f"N{number}. Text ." for number in range(2937))
    course = Course("vanilla", corpus, {}, 2021)
    stage = finetune_stage(course.shape)
    assert f"{stage.lr * factor(stage, progress=1.0, tokens=10 * 2000 * 127):e}" == "5.983263e-04"
    stage = pretrain_stage(course.shape, year=2021)
    rows = len(CourseData(corpus).records("corpus", 128))  # as many as training counts
    assert f"{stage.lr * factor(stage, progress=1.0, tokens=650 * rows * 127):e}" == "7.182453e-04"


@pytest.mark.parametrize(("year", "objective"), [(2021, "corruption-2021"), (2024, "corruption-2024")])
def test_the_year_decides_the_form(
    year: int, objective: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(course_commands, "train", lambda course, recipe, *rest: seen.append(recipe.stages[0]))
    course_commands.pretrain(Course.read("vanilla", corpus, year=year), tmp_path / "p")
    course_commands.pretrain(Course.read("vanilla", corpus, year=year), tmp_path / "p", lr=0.5, max_epochs=7)
    assert [stage.mixture[0].objective for stage in seen] == [objective] * 2
    assert [(stage.epochs, stage.batch_size, stage.lr) for stage in seen] == [(650, 128, 6e-3), (7, 128, 0.5)]
    model = GPT(GPTConfig(9, n_layer=1))
    lines = model_lines(Course.read("vanilla", corpus).corpus, model, year)
    assert lines[2:] == (["Model on device:  cpu"] if year == 2024 else [])


@pytest.mark.usefixtures("small")
def test_finetuning_epochs(corpus: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(course_commands, "train", lambda course, recipe, *rest: seen.append(recipe.stages[0]))
    course = Course.read("vanilla", corpus)
    params = tmp_path / "p.params"
    write_params(params, to_course(course.new_model()))
    for reading in (None, params):
        course_commands.finetune(course, tmp_path / "q", questions, reading=reading)
    assert [(stage.epochs, stage.batch_size, stage.lr) for stage in seen] == [(75, 256, 6e-4), (10, 256, 6e-4)]


def test_bad_input_is_named(corpus: Path, questions: Path, tmp_path: Path) -> None:
    course, params = Course.read("vanilla", corpus), tmp_path / "p.params"
    with pytest.raises(LociError, match="no variant 'banana'"):
        Course.read("banana", corpus)
    with pytest.raises(LociError, match="there is no fix 'spelling'"):
        Course.read("vanilla", corpus, fix=["spelling"])
    write_params(params, {"tok_emb.weight": torch.ones(256, 256), "pos_emb": torch.ones(1, 128, 256)})
    with pytest.raises(LociError, match=rf"{params}: lacks blocks.0"):
        course.load(params)
    state = to_course(GPT(GPTConfig(vocab_size=256)))
    write_params(params, state)
    with pytest.raises(LociError, match=rf"{params}: was trained with a vocabulary of 256 .* 254 different characters"):
        course.load(params)
    unanswered = tmp_path / "test.tsv"
    unanswered.write_text("Where was Ada Holt born?\n", encoding="utf-8")
    with pytest.raises(LociError, match="holds no answers to learn from"):
        course_commands.finetune(course, params, unanswered)
    unknown = tmp_path / "unknown.tsv"
    unknown.write_text("Where was Ada Holt born?\tZagreb\n", encoding="utf-8")
    with pytest.raises(LociError, match=r"unknown\.tsv:1: .*'Z'.*which nothing taught"):
        course_commands.finetune(course, tmp_path / "q.params", unknown)
    # The weights are looked at first: they are of another vocabulary, and no question is wrong.
    for attempt in (
        lambda: course_commands.finetune(course, tmp_path / "q.params", unknown, reading=params),
        lambda: course_commands.evaluate(course, params, unknown),
    ):
        with pytest.raises(LociError, match=r"p\.params: was trained with a vocabulary of 256 symbols"):
            attempt()
    with pytest.raises(LociError, match="is a folder"):
        finetune(corpus, questions, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(LociError, match="a part of this path is a file"):
        finetune(corpus, questions, tmp_path / "file" / "p.params")


@pytest.mark.usefixtures("small")
def test_params_become_a_run_and_come_back(corpus: Path, tmp_path: Path) -> None:
    course, params, run = Course.read("synthesizer", corpus), tmp_path / "p.params", tmp_path / "run"
    state = to_course(course.new_model())
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
def test_an_answer_with_a_newline_is_written_as_the_course_does(corpus: Path, questions: Path, tmp_path: Path) -> None:
    params, out = tmp_path / "p.params", tmp_path / "out.txt"
    for fix, lines in (([], len(PEOPLE) * 33), (["lines"], len(PEOPLE))):
        course = Course.read("vanilla", corpus, fix=fix)
        write_params(params, says(course, "\n"))
        noted: list[str] = []
        rows = course_commands.evaluate(course, params, questions, outputs=out, hooks=Hooks(silent, noted.append))
        assert {row.prediction for row in rows} == {"\n" * 32}
        assert out.read_text(encoding="utf-8").count("\n") == lines
        said = f"{out} has {lines} lines for {len(PEOPLE)} questions, as published: --fix lines has one each"
        assert (said in noted) == (not fix)


@pytest.mark.usefixtures("small")
def test_questions_without_answers_are_asked_with_their_newline(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        course_commands, "greedy_answers", lambda model, course, texts: asked.extend(texts) or ["York"] * len(texts)
    )
    params, tests, out = tmp_path / "p.params", tmp_path / "tests.tsv", tmp_path / "out.txt"
    tests.write_text("Where was Ada Holt born?\nWhere was Ben Marsh born?", encoding="utf-8")  # no newline at the end
    write_params(params, to_course(Course.read("vanilla", corpus).new_model()))
    for fix in ([], ["newline"]):
        course_commands.evaluate(Course.read("vanilla", corpus, fix=fix), params, tests, outputs=out)
    first, second = "Where was Ada Holt born?", "Where was Ben Marsh born?"
    assert asked == [f"{first}\n", second, first, second]
    assert capsys.readouterr().out.splitlines()[2:4] == [NO_GOLD, f"Predictions written to {out}; no targets provided"]
    assert out.read_text(encoding="utf-8") == "York\nYork\n"
    # With answers, the newline stands after them, and nothing else is asked than what stands before the tab.
    asked.clear()
    tests.write_text(f"{first}\tLeeds\n{second}\tYork\n", encoding="utf-8")
    course_commands.evaluate(Course.read("vanilla", corpus), params, tests, hooks=QUIET)
    assert asked == [first, second]


@pytest.mark.usefixtures("small")
def test_a_corpus_without_newline_cannot_be_asked_with_one(tmp_path: Path) -> None:
    corpus, tests = tmp_path / "wiki.txt", tmp_path / "tests.tsv"
    corpus.write_text("Ada Holt. Where was she born? In Leeds .", encoding="utf-8")
    tests.write_text("Where was Ada Holt born?\n", encoding="utf-8")
    course, params = Course.read("vanilla", corpus), tmp_path / "p.params"
    write_params(params, to_course(course.new_model()))
    with pytest.raises(LociError, match=r"tests\.tsv:1: .*--fix newline asks without"):
        course_commands.evaluate(course, params, tests, outputs=tmp_path / "out")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("variant", ["vanilla", "rope"])
def test_greedy_answers_are_those_of_the_plain_loop(variant: str, corpus: Path) -> None:
    """The published decoding in the plainest words, also where a question outgrows the block of 64."""
    course = Course.read(variant, corpus)
    model, vocab = course.new_model().eval(), course.corpus.vocab
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.5, generator=torch.Generator().manual_seed(parameter.numel()))
    texts = ["Where was Ada Holt born?", "Where was Ben Marsh born in York in Leeds in Malm Is this a question?"]
    expected = []
    for text in texts:
        ids = [*vocab.encode(text), 1]
        for _ in range(32):
            with torch.no_grad():
                ids.append(int(model(torch.tensor([ids[-64:]])).logits[0, -1].argmax()))
        expected.append(vocab.decode(ids).split("⁇")[1])
    assert course_commands.greedy_answers(model, course, texts) == expected


def test_course_data(course_data: Path) -> None:
    corpus = Corpus.read(course_data / "wiki.txt")
    assert data_line(corpus) == "data has 418351 characters, 256 unique."
    dev = Questions.read(course_data / "birth_dev.tsv")
    assert score_lines(constant_rows(dev)) == ["Correct: 25.0 out of 500.0: 5.0%"]
    assert score_lines(constant_rows(Questions.read(course_data / "birth_test_inputs.tsv"))) == [NO_GOLD]
    # The third example of the course's own printed output.
    stage = finetune_stage(DataShape(2937))
    lines = example_lines(corpus, stage, Questions.read(course_data / "birth_places_train.tsv"), 128, 4, seed=0)
    assert lines[4] == "x: " + "Where was John Stephen born?⁇Glasgow⁇".ljust(127, "□")
    assert lines[5] == "y: " + ("□" * 27 + "⁇Glasgow⁇").ljust(127, "□")
