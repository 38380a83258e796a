"""What a labeler is, and what it tells while it works."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.text.questions import Questions
from loci.training.distributed import Group


class Stopped(Exception):
    """The labelling was asked to stop; what is done is kept."""


@dataclass(frozen=True)
class Progress:
    """Called with what is done of how much; ends the labelling when somebody asks for it."""

    told: Callable[[int, int], None] = lambda done, total: None
    should_stop: Callable[[], bool] = lambda: False
    parts: Path | None = None
    """A file for what is done so far: a labelling that was stopped or killed goes on from it."""
    group: Group = field(default_factory=Group)
    """The processes that label together: each reads its own part, and all get everything."""

    def __call__(self, done: int, total: int) -> None:
        """So much of so much is done. Call it every second or so: this is where `Stopped` is raised."""
        self.told(done, total)
        if self.should_stop():
            raise Stopped


Labeler = Callable[..., Questions]
"""`(loaded: LoadedModel, data: TrainingData, progress: Progress, **options) -> Questions`: the train questions, and
what the model wrote about others. Nothing but the data may be looked at."""


def require_options(labeler: Labeler, name: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the labeler does not have."""
    try:
        inspect.signature(labeler).bind(None, None, None, **options)
    except TypeError as error:
        raise LociError(f"labeler {name!r}: {error}") from None
