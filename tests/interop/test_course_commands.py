from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch

from loci.errors import LociError
from loci.evaluation.rows import Row
from loci.interop import course_commands
from loci.interop.course_commands import Course, Hooks
from loci.interop.course_folds import ask_folds, write_folds
from loci.interop.course_lines import (
    NO_GOLD,
    Iterations,
    board_folder,
    constant_rows,
    data_line,
    example_lines,
    model_lines,
    score_lines,
)
from loci.interop.course_notes import choose_year, how_made
from loci.interop.course_params import to_course
from loci.interop.course_training import CourseData, run_folder
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, GPTConfig
from loci.recipes import DataShape
from loci.recipes.course import finetune_stage, pretrain_stage
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


def silent(line: str) -> None:
    """Nobody wants to know."""


QUIET = Hooks(say=silent)


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
        hooks=Hooks(silent, silent, lambda *about: [stopper], stopper.should_stop),
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
    noted: list[str] = []
    again = {"max_epochs": 3, "hooks": Hooks(silent, noted.append)}
    course_commands.finetune(Course.read("vanilla", corpus), parts, questions, **again)  # type: ignore[arg-type]
    assert noted == [f"{parts}.run is finished: nothing is trained; another --writing_params_path trains anew"]
    parts.unlink()
    outcome, stopper = finetune(corpus, questions, parts)
    assert (outcome.finished, stopper.steps) == (True, [])
    assert torch.equal(read_params(parts)["pos_emb"], read_params(whole)["pos_emb"])


@pytest.mark.usefixtures("small")
def test_copies_of_a_pretraining_leave_it_as_it_is_and_survive_a_kill(corpus: Path, tmp_path: Path) -> None:
    course = Course.read("vanilla", corpus)
    whole, copied = tmp_path / "whole.params", tmp_path / "copied.params"
    course_commands.pretrain(course, whole, max_epochs=6, hooks=QUIET)
    stopper = Stopper(after=2)
    hooks = Hooks(silent, silent, lambda *about: [stopper], stopper.should_stop)
    assert not course_commands.pretrain(course, copied, max_epochs=6, copy_every=2, hooks=hooks).finished
    assert not list(tmp_path.glob("copied.epoch-*.params"))  # stopped just where the first copy was due
    assert course_commands.pretrain(course, copied, max_epochs=6, copy_every=2, hooks=QUIET).finished
    copies = [read_params(tmp_path / f"copied.epoch-{epoch}.params") for epoch in (2, 4, 6)]
    for name, value in read_params(whole).items():
        assert torch.equal(value, read_params(copied)[name])
        assert torch.equal(value, copies[-1][name])
    assert not torch.equal(copies[0]["head.weight"], copies[1]["head.weight"])


@pytest.mark.usefixtures("small")
def test_copies_of_another_training_make_way_and_a_finished_one_makes_none(corpus: Path, tmp_path: Path) -> None:
    params, noted = tmp_path / "v.params", []
    copy, hooks = tmp_path / "v.epoch-2.params", Hooks(silent, noted.append)
    for seed in (0, 1):
        course = Course.read("vanilla", corpus, seed=seed)
        course_commands.pretrain(course, params, max_epochs=3, copy_every=2, hooks=hooks)
        if not seed:
            before = read_params(copy)["head.weight"]
            assert noted == [f"wrote {copy}"]
    assert not torch.equal(read_params(copy)["head.weight"], before)
    assert noted[2:4] == [f"replacing {copy}", f"wrote {copy}"]
    noted.clear()
    course_commands.pretrain(course, params, max_epochs=3, copy_every=1, hooks=hooks)
    assert noted[0].startswith(f"{params}.run is finished: nothing is trained, and copies are made while it trains")
    assert not (tmp_path / "v.epoch-1.params").exists()


@pytest.mark.usefixtures("small")
def test_the_end_of_the_file_is_a_row_as_in_the_published_code(corpus: Path, tmp_path: Path) -> None:
    text, seen = corpus.read_text(encoding="utf-8"), []
    hooks = Hooks(silent, silent, lambda run, stage, n_records: seen.append(n_records) or [])
    for name, content in (("newline", text), ("none", text.removesuffix("\n")), ("blank", text.replace("\n", "\n\n"))):
        file = tmp_path / f"{name}.txt"
        file.write_text(content, encoding="utf-8")
        course = Course.read("vanilla", file)
        course_commands.pretrain(course, tmp_path / f"{name}.params", max_epochs=1, hooks=hooks)
        assert seen[-1] == course.shape.n_lines == len(content.split("\n"))
    assert seen == [6, 5, 11]


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


def test_a_perceiver_of_the_other_form_is_refused_also_after_an_export(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"n_layer": 3, "n_head": 2, "n_embd": 16, "block_size": 64}
    monkeypatch.setattr(course_commands, "COURSE_MODEL", sizes)
    first, second, run = tmp_path / "p.params", tmp_path / "back.params", tmp_path / "run"
    bare, residual = (Course.read("perceiver", corpus, perceiver_form=form) for form in ("bare", "residual"))
    course_commands.pretrain(bare, first, max_epochs=1, hooks=QUIET)
    assert (how_made(first) or {})["perceiver_form"] == "bare"
    bare.load(first)
    course_commands.import_params(bare, first, run)
    course_commands.export_params(run, second)
    assert (how_made(second) or {}).items() >= {"perceiver_form": "bare", "corpus": "wiki.txt"}.items()
    assert choose_year("perceiver", reading=second) == choose_year("perceiver")  # an exported file has none
    for params in (first, second):
        with pytest.raises(LociError, match=r"of the form bare, not residual \(give --perceiver_form bare"):
            residual.load(params)
    bare.load(second)


def test_what_a_fold_asks_is_not_taught(tmp_path: Path) -> None:
    names = [*PEOPLE, "Eve Who", "Ada Holt", "Fay Lund", "Gus Ray", "Hal Oak", "Ida Elm"]
    train = tmp_path / "train.tsv"
    rows = [f"Where was {name} born?\tYork" for name in names]
    rows[1] = "Where was Fay Lund born?\tLeeds"  # asked about once more, with another answer
    train.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for taught, asked in write_folds(train, tmp_path / "folds", 5):
        parts = [[row.text for row in Questions.read(file)] for file in (taught, asked)]
        assert len(parts[1]) == 2
        assert not set(parts[0]) & set(parts[1])
        assert set(parts[0]) | set(parts[1]) == {row.split("\t")[0] for row in rows}


@pytest.mark.usefixtures("small")
def test_folds_are_finetuned_on_the_others_and_asked(corpus: Path, tmp_path: Path) -> None:
    names = [*PEOPLE, *(f"{name} Vane" for name in PEOPLE), "Ada Vane", "Ben Vane"]
    train = tmp_path / "train.tsv"
    train.write_text("".join(f"Where was {name} born?\tLeeds\n" for name in names), encoding="utf-8")
    course, params = Course.read("vanilla", corpus), tmp_path / "vanilla.params"
    course_commands.pretrain(course, params, max_epochs=1, hooks=QUIET)
    out = tmp_path / "folds"
    rate = ask_folds(course, params, train, out, folds=5, max_epochs=1, hooks=QUIET)
    assert rate is not None
    assert rate.n == 10  # everybody is asked about once
    taught, asked = (set((out / f"fold-1.{part}.tsv").read_text().splitlines()) for part in ("train", "asked"))
    assert taught | asked == set(train.read_text().splitlines())
    assert not taught & asked


@pytest.mark.usefixtures("small")
def test_another_command_never_mixes_with_a_stopped_one(corpus: Path, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.params"
    finetune(corpus, questions, out, after=1)
    with pytest.raises(LociError, match="that one was stopped before the end of its"):
        finetune(corpus, questions, out, lr=1e-3)
    with questions.open("a", encoding="utf-8") as handle:
        handle.write("Where was Eve Who born?\tYork\n")
    with pytest.raises(LociError, match=r"the data has changed .* that one was stopped before the end of its 3 epochs"):
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
def test_the_year_is_that_of_what_was_trained_before(corpus: Path, questions: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "rope.params", tmp_path / "fine.params"
    assert choose_year("vanilla", writing=first)[0] == 2021
    assert choose_year("rope", writing=first)[0] == 2024
    course_commands.pretrain(Course.read("rope", corpus, year=2024), first, max_epochs=1, hooks=QUIET)
    # Another variant in the same folder gets the same year, so that the two can be compared.
    assert choose_year("vanilla", writing=tmp_path / "vanilla.params") == (2024, "as rope.params was trained")
    assert choose_year("vanilla", writing=tmp_path / "elsewhere" / "vanilla.params")[0] == 2021
    older = tmp_path / "older" / "vanilla.params"
    older.parent.mkdir()
    course_commands.pretrain(Course.read("vanilla", corpus), older, max_epochs=1, hooks=QUIET)
    told = "as vanilla.params was trained; rope came in 2024: --year 2024"  # no handout had it so
    assert choose_year("rope", writing=older.with_name("rope.params")) == (2021, told)
    assert choose_year("vanilla", 2022, writing=second)[0] == 2022
    assert choose_year("rope", reading=first, writing=second)[0] == 2024
    with pytest.raises(LociError, match=r"rope\.params: was trained as in 2024, not 2021"):
        choose_year("rope", 2021, reading=first)
    # A note speaks of the file it was written for, and of no other.
    assert (how_made(first) or {})["fix"] == []
    write_params(first, {"other": torch.ones(1)})
    assert how_made(first) is None
    assert choose_year("rope", 2021, reading=first)[0] == 2021


@pytest.mark.usefixtures("small")
def test_the_same_number_of_other_characters_is_another_vocabulary(corpus: Path, tmp_path: Path) -> None:
    params, other = tmp_path / "p.params", tmp_path / "other.txt"
    course_commands.pretrain(Course.read("vanilla", corpus), params, max_epochs=1, hooks=QUIET)
    other.write_text(corpus.read_text(encoding="utf-8").replace("Y", "Z"), encoding="utf-8")
    with pytest.raises(LociError, match=r"another vocabulary of the same size \(give the corpus .*wiki\.txt"):
        Course.read("vanilla", other).load(params)


@pytest.mark.usefixtures("small")
def test_a_corpus_in_other_letters_than_loci_s_own_words(tmp_path: Path) -> None:
    people = ["Анна Ли", "Борис Рай", "Вера Лис", "Глеб Ким", "Дина Ус"]
    corpus, questions = tmp_path / "wiki.txt", tmp_path / "train.tsv"
    corpus.write_text("".join(f"{name}. Родился в Риме. Где?\n" for name in people), encoding="utf-8")
    questions.write_text("".join(f"Где родился {name}?\tРиме\n" for name in people), encoding="utf-8")
    course, params = Course.read("vanilla", corpus), tmp_path / "p.params"
    course_commands.finetune(course, params, questions, max_epochs=1, hooks=QUIET)
    assert len(course.load(params).state_dict()["head.weight"]) == len(course.corpus.vocab)
    course_commands.evaluate(course, params, questions, hooks=QUIET)


@pytest.mark.usefixtures("small")
def test_the_same_command_stays_the_same_training_whatever_is_trained_next_to_it(corpus: Path, tmp_path: Path) -> None:
    params, rope = tmp_path / "v.params", tmp_path / "r.params"
    stopper = Stopper(1)
    hooks = Hooks(silent, silent, lambda *about: [stopper], stopper.should_stop)
    course_commands.pretrain(Course.read("vanilla", corpus, year=2021), params, max_epochs=3, hooks=hooks)
    course_commands.pretrain(Course.read("rope", corpus, year=2024), rope, max_epochs=1, hooks=QUIET)
    assert choose_year("vanilla", writing=params) == (2021, "as v.params was begun")
    course_commands.pretrain(Course.read("vanilla", corpus, year=2021), params, max_epochs=3, hooks=QUIET)
    assert choose_year("vanilla", writing=params) == (2021, "as v.params was begun")
    note = tmp_path / "r.params.course.json"
    note.write_text("[", encoding="utf-8")  # another model's damaged note is no fault of this command
    assert choose_year("synthesizer", writing=tmp_path / "s.params") == (2021, "as v.params was trained")


@pytest.mark.usefixtures("small")
def test_nobody_s_file_is_written_over(corpus: Path, questions: Path, tmp_path: Path) -> None:
    course, params = Course.read("vanilla", corpus), tmp_path / "v.params"
    course_commands.pretrain(course, params, max_epochs=1, hooks=QUIET)
    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / "birth_dev.tsv").write_bytes(questions.read_bytes())
    essay, own = tmp_path / "essay.docx", tmp_path / "own.params.course.json"
    with zipfile.ZipFile(essay, "w") as archive:
        archive.writestr("word/document.xml", "months of work")
    own.write_text('{"my own": "data"}', encoding="utf-8")
    (tmp_path / "f.params.course.json").mkdir()
    copy = tmp_path / "c.epoch-2.params"
    copy.write_text("somebody's", encoding="utf-8")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    def answers(asked: Path, out: Path) -> None:
        course_commands.evaluate(course, params, asked, outputs=out, hooks=QUIET)

    def train(out: Path) -> None:
        course_commands.pretrain(course, out, max_epochs=3, copy_every=2, hooks=QUIET)

    for work, said in (
        (lambda: answers(folder, folder / "birth_dev.tsv"), "is read and would be written over"),
        (lambda: answers(folder, params), "is read and would be written over"),
        (lambda: answers(folder, questions), "is no file of answers"),
        (lambda: answers(folder, tmp_path / "v.params.course.json"), "is no file of answers"),
        (lambda: answers(folder, essay), "is no file of answers"),
        (lambda: answers(folder, Path("/dev/null")), "is no file of answers"),
        (lambda: answers(folder, corpus / "below" / "x"), "is a file, and the answers"),
        (lambda: train(essay), r"is no \.params file"),
        (lambda: train(tmp_path / "own.params"), "is no note about params"),
        (lambda: train(tmp_path / "f.params"), "a note about the params is to be written here"),
        (lambda: train(tmp_path / "c.params"), r"epoch-2\.params: is there already"),
        (lambda: finetune(corpus, questions, params, reading=params), "is read and would be written over"),
    ):
        with pytest.raises(LociError, match=said):
            work()
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.usefixtures("small")
def test_nothing_is_replaced_without_a_word(corpus: Path, questions: Path, tmp_path: Path) -> None:
    params, out, noted = tmp_path / "p.params", tmp_path / "out.txt", []
    hooks = Hooks(silent, noted.append)
    course = Course.read("vanilla", corpus)
    for epochs in (1, 2):
        course_commands.finetune(course, params, questions, max_epochs=epochs, hooks=hooks)
        course_commands.evaluate(course, params, questions, outputs=out, hooks=hooks)
    note = "the course's finetuning of vanilla from scratch"
    assert noted == [f"replacing {params}.run, a finished training ({note})", f"replacing {params}", f"replacing {out}"]


@pytest.mark.usefixtures("small")
def test_nothing_is_said_before_everything_is_checked(corpus: Path, questions: Path, tmp_path: Path) -> None:
    said: list[str] = []
    hooks, course, missing = Hooks(said.append), Course.read("vanilla", corpus), tmp_path / "missing.params"
    out = tmp_path / "model.params"
    finetune(corpus, questions, out, after=1)
    tests = tmp_path / "tests.tsv"
    tests.write_text("Where was Ada Holt born?\n", encoding="utf-8")
    for attempt in (
        lambda: course_commands.finetune(course, tmp_path / "x", questions, reading=missing, hooks=hooks),
        lambda: course_commands.finetune(course, tmp_path, questions, hooks=hooks),
        lambda: course_commands.pretrain(course, out, hooks=hooks),
        lambda: course_commands.evaluate(course, missing, questions, hooks=hooks),
        lambda: course_commands.evaluate(course, missing, tests, hooks=hooks),
    ):
        with pytest.raises(LociError):
            attempt()
    assert said == []


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


def says(course: Course, text: str) -> dict[str, torch.Tensor]:
    """Weights of a model that says one character for ever, whatever it is asked.

    Its logit is the sum of a stream that is all ones after the last norm.
    """
    state = to_course(course.new_model())
    state["ln_f.weight"].zero_()
    state["ln_f.bias"].fill_(1.0)
    state["head.weight"].zero_()
    state["head.weight"][course.corpus.vocab.ids[text]] = 1.0
    return state


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
    assert score_lines(rows_with(right, 500)) == [line]


def test_no_answers_no_score() -> None:
    assert score_lines([Row("q", "London")]) == score_lines([]) == [NO_GOLD]


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


@pytest.mark.parametrize(("year", "masks"), [(2021, 3), (2024, 2)])
def test_corruption_lines(year: int, masks: int, corpus: Path) -> None:
    text = Corpus.read(corpus)
    stage = pretrain_stage(DataShape(5), year=year)
    lines = example_lines(text, stage, None, 128, 3, seed=0)
    assert len(lines) == 6
    for x, y in zip(lines[::2], lines[1::2], strict=True):
        assert (x[:3], y[:3]) == ("x: ", "y: ")
        assert len(x) == len(y) == 3 + 127
        assert x[4:] == y[3:-1]
        assert x.count("⁇") == masks
    assert lines == example_lines(text, stage, None, 128, 3, seed=0)


def test_examples_on_request_only(corpus: Path, questions: Path) -> None:
    text, asked, stage = Corpus.read(corpus), Questions.read(questions), finetune_stage(DataShape(5))
    assert example_lines(text, stage, asked, 128, 0, seed=0) == []
    assert len(example_lines(text, stage, asked, 128, 100, seed=0)) == 2 * len(PEOPLE)
    assert "x: Where was Dora Quist born?⁇Malm⁇□" in "\n".join(example_lines(text, stage, asked, 128, 4, seed=0))


class Board:
    """Writes down what TensorBoard hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, float, int]] = []

    def add_scalar(self, *scalar: object) -> None:
        self.heard.append(scalar)  # type: ignore[arg-type]


def test_each_iteration_is_shown_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    """The rates are those of published outputs: the last of finetuning, and of the ninth epoch."""
    board = Board()
    shown = Iterations(finetune_stage(DataShape(2938)), 2000, 128, board)
    for step, loss in ((72, 0.30447), (79, 0.2), (80, 0.26082)):
        shown.on_step(StepReport("finetune", step, step, step / 80, loss, 0.0, 0.0, 0, 0.0))
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[0] for line in lines] == [
        "epoch 9 iter 7: train loss 0.30447. lr 5.986453e-04",
        "epoch 10 iter 7: train loss 0.26082. lr 5.983263e-04",
    ]
    assert [scalar[::2] for scalar in board.heard[:2]] == [("train/loss", 71), ("train/lr", 71)]
    assert f"{board.heard[-1][1]:e}" == "5.983263e-04"


@pytest.mark.parametrize(
    ("year", "name"),
    [(2023, "run_vanilla_32_pt_lr_0.006000_ft_lr_0.000600"), (2024, "run_vanilla_pt_lr_0.006000_ft_lr_0.000600")],
)
def test_where_tensorboard_writes(year: int, name: str) -> None:
    assert board_folder("pretrain", year, "vanilla", "run", 32, 6e-3, 6e-4) == Path("expt/pretrain") / name
