"""A training of the course: started, gone on with or reused, with copies of its weights along the way.

The run is kept in `P.run` next to the params file P, so that the same command given again goes on where it was stopped,
and P appears only when it is done. Knows nothing of what is taught.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from loci.errors import LociError
from loci.files import remove_leftovers, said_by_system
from loci.interop.course_lines import model_lines
from loci.interop.course_notes import note_how_made
from loci.interop.course_overwriting import replacing, require_replaceable
from loci.interop.course_params import course_variant, perceiver_form, to_course
from loci.interop.params_file import read_params, write_params
from loci.model import GPT
from loci.pipeline import carry_out
from loci.text.corpus import Line
from loci.text.vocab import Vocab
from loci.training.checkpoint import FINAL, latest, load_model
from loci.training.lock import owned
from loci.training.plan import Recipe
from loci.training.reports import Observer, Outcome, StepReport
from loci.training.run import foreign_files, holds_run, other_training, read_run, require_folder
from loci.training.sources import TrainingData

if TYPE_CHECKING:
    from loci.interop.course_commands import Course, Hooks


class CourseData(TrainingData):
    """A corpus as the published code has it: its characters alone are symbols, whatever questions need besides.

    Blank lines are rows too, and so is the end after the last newline.
    """

    @cached_property
    def vocab(self) -> Vocab:
        """That of the corpus, for which the model was made."""
        return self.corpus.vocab

    @property
    def lines(self) -> Sequence[Line]:
        """All rows; of one without text only the masks are learned."""
        lines = self.corpus.lines
        return [*lines, Line(len(lines) + 1, "", "")] if self.corpus.raw.endswith("\n") else lines


def run_folder(params: Path) -> Path:
    """Where the training that writes `params` keeps its run."""
    return params.parent / f"{params.name}.run"


def train(
    course: Course,
    recipe: Recipe,
    data: TrainingData,
    model: GPT,
    writing: Path,
    hooks: Hooks,
    copy_every: int | None = None,
) -> Outcome:
    """Start, go on with, or reuse the run next to the params file; write the file once the run is finished.

    Of several processes the first one looks, speaks and writes.
    """
    run, (stage,), group = run_folder(writing), recipe.stages, hooks.group
    resume = group.from_first(_prepared(recipe, data, writing, hooks, copy_every) if group.first else False)
    lines = model_lines(course.corpus, model, course.year)
    n_records = len(data.records(stage.mixture[0].source, course.config.block_size))
    copies = _Copies(copy_every * -(-n_records // stage.batch_size) if copy_every is not None else None)
    # As many rows in a part, however many processes share the batch.
    recipe = replace(recipe, steps=(replace(stage, accumulate=-(-stage.accumulate // group.world)),))
    ahead = int(group.world > 1)  # several processes agree on a stop before the step is reported

    def observers(folder: Path) -> Sequence[Observer]:
        say_all(hooks, lines)  # training is about to begin: nothing was found wrong
        lines.clear()
        return [*hooks.observers(folder, stage, n_records), copies]

    while True:
        if resume and group.first and copies.is_due(newest_step(run)):  # also one that a kill prevented
            assert copy_every is not None
            epoch = newest_step(run) // copies.steps * copy_every
            _keep_copy(course, run, _copy_of(writing, epoch), hooks)
        copies.reached = newest_step(run) if resume else 0
        stop = lambda: hooks.should_stop() or (group.first and copies.is_due(copies.reached + ahead))  # noqa: E731
        outcome = carry_out(
            recipe,
            data,
            run,
            observers=observers,
            resume=resume,
            initial=model,
            should_stop=stop,
            group=group,
            placement=hooks.placement,
        )
        if outcome.finished or group.anyone(hooks.should_stop()):
            break
        resume = True
    say_all(hooks, lines)
    if outcome.finished and group.first:
        replacing(writing, hooks.note)
        _write(course, load_model(run / FINAL).model, writing, hooks)
        shutil.rmtree(run / "checkpoints", ignore_errors=True)  # nothing is left to resume
    return outcome


def _prepared(recipe: Recipe, data: TrainingData, writing: Path, hooks: Hooks, copy_every: int | None) -> bool:
    """Whether the run goes on; what would prevent it from being written is said now, not in the middle of a night."""
    run, (stage,) = run_folder(writing), recipe.stages
    require_replaceable(writing)
    resume = _resumable(run, recipe, data, hooks)
    if resume and read_run(run).finished:
        lacking = ", and copies are made while it trains" if copy_every is not None else ""
        hooks.note(f"{run} is finished: nothing is trained{lacking}; another --writing_params_path trains anew")
    elif resume:
        hooks.note(f"going on after step {newest_step(run)} of {run}")
    try:
        require_folder(run, resume=resume)
    except LociError as error:
        raise LociError(error.message, path=error.path, remedy="choose another --writing_params_path") from None
    except OSError as error:
        raise said_by_system(error, run) from None
    for epoch in range(copy_every, int(stage.epochs or 0) + 1, copy_every) if copy_every is not None else ():
        require_replaceable(copy := _copy_of(writing, epoch))
        remove_leftovers(copy.parent, of=copy.name)
    remove_leftovers(writing.parent, of=writing.name)
    return resume


class _Copies(Observer):
    """Stops the training where a copy is due: what goes on from its checkpoint is the same training, bit for bit (of
    several processes, all but the first then drop other numbers)."""

    def __init__(self, steps: int | None):
        self.steps = steps or 0
        self.reached = 0

    def is_due(self, step: int) -> bool:
        """Whether the weights after this step are to be kept."""
        return bool(self.steps) and step > 0 and step % self.steps == 0

    def on_step(self, report: StepReport) -> None:
        """Remember how far it is."""
        self.reached = report.total_steps

    def close(self) -> None:
        """Nothing is open."""
        return


def _copy_of(writing: Path, epoch: int) -> Path:
    return writing.with_name(f"{writing.stem}.epoch-{epoch}{writing.suffix}")


def newest_step(run: Path) -> int:
    """The step of a run's newest checkpoint, 0 without one."""
    newest = latest(run)
    return int(newest.name.removeprefix("step-")) if newest is not None else 0


def _keep_copy(course: Course, run: Path, copy: Path, hooks: Hooks) -> None:
    """Write the weights of the newest checkpoint, unless they were when the training was stopped here."""
    require_replaceable(copy)
    model = load_model(run).model
    if not _holds(copy, to_course(model)):
        replacing(copy, hooks.note)
        _write(course, model, copy, hooks)
        hooks.note(f"wrote {copy}")


def _holds(params: Path, state: Mapping[str, Tensor]) -> bool:
    """Whether the file has these very weights; one of another training that was to write there has not."""
    try:
        found = read_params(params)
    except LociError:
        return False
    return found.keys() == state.keys() and all(torch.equal(found[name], tensor) for name, tensor in state.items())


def _write(course: Course, model: GPT, params: Path, hooks: Hooks) -> None:
    write_params(params, to_course(model))
    corpus, precision = course.corpus, {"precision": "bf16"} if hooks.placement.bf16 else {}
    note_weights(params, model, corpus.vocab, corpus.path, year=course.year, fix=sorted(course.fix), **precision)


def note_weights(params: Path, model: GPT, vocab: Vocab, corpus: Path | None, **more: Any) -> None:
    """Write down what the weights in a file do not tell of themselves, and what else is known."""
    form = perceiver_form(model.config.trunk)
    note_how_made(
        params,
        variant=course_variant(model.config),
        corpus=corpus.name if corpus is not None else "",
        vocabulary=vocab.hash,
        **({"perceiver_form": form} if form is not None else {}),
        **more,
    )


def _resumable(run: Path, recipe: Recipe, data: TrainingData, hooks: Hooks) -> bool:
    """Whether the folder holds this very training. A finished other one makes way, as the params file does."""
    if not holds_run(run):
        return False
    info = read_run(run)
    differs = other_training(info, recipe, data.describe())
    if differs is None:
        return True
    if not info.finished:
        with owned(run):  # one that is being written now was not stopped
            pass
        epochs = [f" of its {stage.epochs:g} epochs" for stage in info.recipe.stages if stage.epochs is not None]
        raise LociError(
            f"{differs}; that one was stopped before the end{''.join(epochs[:1])} ({info.recipe.note})",
            path=run,
            remedy="finish it with the flags and files it was begun with, or remove the folder",
        )
    if others := foreign_files(run):
        raise LociError(f"is to be replaced, and also holds {others[0]}", path=run, remedy="move that elsewhere")
    hooks.note(f"replacing {run}, a finished training ({info.recipe.note})")
    shutil.rmtree(run)
    return False


def say_all(hooks: Hooks, lines: Sequence[str]) -> None:
    """The published lines, one by one."""
    for line in lines:
        hooks.say(line)
