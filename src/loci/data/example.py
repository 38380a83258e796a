"""An example: one sequence of ids and its loss mask. A batch: examples one below the other, padded.

Knows nothing of objectives or models; everything is numpy, torch comes later.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.text.vocab import PAD_ID

#: Target id that the loss leaves out.
IGNORED = -100


@dataclass(frozen=True)
class Example:
    """A sequence; `loss_mask[t]` says whether predicting `ids[t]` from what stands before it counts in the loss."""

    ids: NDArray[np.int64]
    loss_mask: NDArray[np.bool_]

    def __post_init__(self) -> None:
        assert self.ids.shape == self.loss_mask.shape
        assert self.ids.ndim == 1

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    """Inputs and targets of one step: x = s[:-1], y = s[1:], pads and targets outside the loss mask ignored."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]

    @property
    def n_characters(self) -> int:
        """Input positions that are not padding: the useful work of the step."""
        return int((self.x != PAD_ID).sum())

    @property
    def n_targets(self) -> int:
        """Targets that the loss counts."""
        return int((self.y != IGNORED).sum())


@dataclass(frozen=True)
class StepBatches:
    """One step's work for one process: its parts, and the size of the whole step that they are a part of."""

    parts: tuple[Batch, ...]
    """Each becomes one forward and backward pass; their gradients add up. Never one without a target."""
    rows: int
    characters: int
    targets: int
    """Rows, useful characters and targets of the loss of the step over all processes."""


def collate(examples: Sequence[Example], *, width: int | None = None) -> Batch:
    """Pad on the right to the longest example, or to sequences of `width` ids."""
    longest = width if width is not None else max(map(len, examples))
    x = np.full((len(examples), longest - 1), PAD_ID, dtype=np.int64)
    y = np.full((len(examples), longest - 1), IGNORED, dtype=np.int64)
    for row, example in enumerate(examples):
        n = len(example) - 1
        x[row, :n] = example.ids[:-1]
        y[row, :n] = np.where(example.loss_mask[1:], example.ids[1:], IGNORED)
    return Batch(x, y)


def split_step(
    examples: Sequence[Example], *, rank: int = 0, world: int = 1, accumulate: int = 1, width: int | None = None
) -> StepBatches:
    """A process's share of a step's examples, in `accumulate` parts of neighbours (which are of like length)."""
    own = examples[rank::world]
    bounds = [len(own) * part // accumulate for part in range(accumulate + 1)]
    slices = [own[start:stop] for start, stop in itertools.pairwise(bounds) if start < stop]
    parts = tuple(batch for part in slices if (batch := collate(part, width=width)).n_targets)
    targets = sum(int(example.loss_mask[1:].sum()) for example in examples)
    return StepBatches(parts, len(examples), sum(len(example) - 1 for example in examples), targets)
