"""What a labeler is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from loci.errors import LociError
from loci.text.questions import Questions

Progress = Callable[[int, int], None]
"""Told how many lines of how many are labelled."""

Labeler = Callable[..., Questions]
"""`(loaded: LoadedModel, data: TrainingData, progress: Progress, **options) -> Questions`: the train questions, and
what the model wrote about others. Nothing but the data may be looked at."""


def require_options(labeler: Labeler, name: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the labeler does not have."""
    try:
        inspect.signature(labeler).bind(None, None, None, **options)
    except TypeError as error:
        raise LociError(f"labeler {name!r}: {error}") from None
