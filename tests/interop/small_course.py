"""A few people, and trainings of the course's commands that take no time."""

from __future__ import annotations

from pathlib import Path

import torch

from loci.interop import course_commands
from loci.interop.course_commands import Course, Hooks
from loci.interop.course_params import to_course
from loci.training.reports import Outcome, StepReport

PEOPLE = {"Ada Holt": "Leeds", "Ben Marsh": "York", "Cleo Vane": "Leeds", "Dora Quist": "Malmö"}


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
