from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from small_course import QUIET, Stopper, finetune, silent

from loci.errors import LociError
from loci.interop import course_commands
from loci.interop.course_commands import Course, Hooks
from loci.interop.course_notes import choose_year, how_made
from loci.interop.params_file import read_params
from loci.training.device import Placement
from loci.training.distributed import Group
from loci.training.parallel import Engine


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
def test_products_in_bf16_are_another_training_and_noted(corpus: Path, tmp_path: Path) -> None:
    course, params = Course.read("vanilla", corpus), tmp_path / "v.params"
    stopper = Stopper(after=1)
    narrow = Hooks(silent, silent, placement=Placement(bf16=True))
    begun = replace(narrow, observers=lambda *about: [stopper], should_stop=stopper.should_stop)
    assert not course_commands.pretrain(course, params, max_epochs=3, hooks=begun).finished
    with pytest.raises(LociError, match="with products in bf16, as in 2021"):
        course_commands.pretrain(course, params, max_epochs=3, hooks=QUIET)
    assert course_commands.pretrain(course, params, max_epochs=3, hooks=narrow).finished
    assert (how_made(params) or {})["precision"] == "bf16"
    assert choose_year("vanilla", writing=tmp_path / "v.params") == (2021, "as v.params was begun")
    other = tmp_path / "fp32.params"
    course_commands.pretrain(course, other, max_epochs=3, hooks=QUIET)
    assert "precision" not in (how_made(other) or {})
    ours, theirs = read_params(params)["head.weight"], read_params(other)["head.weight"]
    assert not torch.equal(ours, theirs)
    assert (ours - theirs).abs().mean() < 0.01 * theirs.abs().mean()  # the same training, to what bf16 can tell


class OneOfTwo(Group):
    """The first of two processes, of which the other does nothing."""

    def __init__(self):
        super().__init__(0, 2)

    def wait(self):
        pass

    def total(self, figures):
        return list(figures)

    def from_first(self, value):
        return value


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stopped", [2, 3, 4, 5])
def test_no_copy_of_several_processes_is_lost_wherever_they_are_stopped(corpus, tmp_path, monkeypatch, stopped):
    monkeypatch.setattr(Engine, "wrap", lambda self, model, *more: model)
    course, params = Course.read("vanilla", corpus), tmp_path / "v.params"
    stopper = Stopper(after=stopped)
    hooks = Hooks(silent, silent, lambda *about: [stopper], stopper.should_stop, OneOfTwo())
    assert not course_commands.pretrain(course, params, max_epochs=9, copy_every=4, hooks=hooks).finished
    hooks = Hooks(silent, silent, group=OneOfTwo())
    assert course_commands.pretrain(course, params, max_epochs=9, copy_every=4, hooks=hooks).finished
    assert sorted(file.name for file in tmp_path.glob("v.epoch-*.params")) == ["v.epoch-4.params", "v.epoch-8.params"]


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
def test_a_folder_that_is_no_run_of_ours_is_refused_and_kept(corpus: Path, questions: Path, tmp_path: Path) -> None:
    params, place = tmp_path / "model.params", tmp_path / "model.params.run"
    place.mkdir()
    (place / "metrics.jsonl").write_text("mine\n", encoding="utf-8")
    with pytest.raises(LociError, match=r"holds metrics.jsonl already, .* \(choose another --writing_params_path\)"):
        finetune(corpus, questions, params)
    assert [path.name for path in place.iterdir()] == ["metrics.jsonl"]


@pytest.mark.usefixtures("small")
def test_what_a_killed_copy_left_is_removed(corpus: Path, tmp_path: Path) -> None:
    left, other = tmp_path / ".v.epoch-1.params.0123abcd.tmp", tmp_path / ".notes.0123abcd.tmp"
    for file in (left, other):
        file.write_bytes(b"half")
    course_commands.pretrain(
        Course.read("vanilla", corpus), tmp_path / "v.params", max_epochs=1, copy_every=1, hooks=QUIET
    )
    assert (left.exists(), other.exists()) == (False, True)
