"""An example: one sequence of ids and its loss mask. A batch: examples one below the other, padded.

Knows nothing of objectives or models; everything is numpy, torch comes later.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.text.vocab import MASK_ID, PAD_ID

#: Target id that the loss leaves out.
IGNORED = -100
NOWHERE = -1


@dataclass(frozen=True)
class Example:
    """A sequence; `loss_mask[t]` says whether predicting `ids[t]` from what stands before it counts in the loss."""

    ids: NDArray[np.int64]
    loss_mask: NDArray[np.bool_]
    copied_from: NDArray[np.int64] | None = None
    """Where in the sequence each id was copied from; `NOWHERE` for an id that was not."""

    def __post_init__(self) -> None:
        assert self.ids.shape == self.loss_mask.shape
        assert self.copied_from is None or self.copied_from.shape == self.ids.shape
        assert self.ids.ndim == 1

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    """Inputs and targets of one step: x = s[:-1], y = s[1:], pads and targets outside the loss mask ignored."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    copied_from: NDArray[np.int64] | None = None
    """The position in x that each target was copied from; None where no example says so."""

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
    """One step's work for one process, in parts."""

    parts: tuple[Batch, ...]
    """Each becomes one forward and backward pass; their gradients add up."""
    rows: int
    """Rows of the step over all processes."""
    characters: int
    targets: int
    """Useful characters and targets of the loss of this process's rows."""


IDLE = Batch(np.array([[MASK_ID]]), np.array([[IGNORED]]))
"""A part without a target: several processes must pass through the model equally often, whatever their rows."""


def collate(examples: Sequence[Example], *, width: int | None = None) -> Batch:
    """Pad on the right to the longest example, or to sequences of `width` ids."""
    longest = width if width is not None else max(map(len, examples))
    x = np.full((len(examples), longest - 1), PAD_ID, dtype=np.int64)
    y = np.full((len(examples), longest - 1), IGNORED, dtype=np.int64)
    for row, example in enumerate(examples):
        n = len(example) - 1
        x[row, :n] = example.ids[:-1]
        y[row, :n] = np.where(example.loss_mask[1:], example.ids[1:], IGNORED)
    if all(example.copied_from is None for example in examples):
        return Batch(x, y)
    copied = np.full_like(y, NOWHERE)
    for row, example in enumerate(examples):
        if example.copied_from is not None:
            copied[row, : len(example) - 1] = example.copied_from[1:]
    return Batch(x, y, copied)


def split_step(
    own: Sequence[Example],
    *,
    rows: int | None = None,
    accumulate: int = 1,
    equal: bool = False,
    width: int | None = None,
) -> StepBatches:
    """A process's examples of a step in `accumulate` parts of like length, so that little of a part is padding.

    `rows` is the number of the step's examples over all processes. Parts without a target are left out, or (`equal`)
    are idle, so that every process has as many parts.
    """
    own = sorted(own, key=len) if accumulate > 1 else own
    bounds = [len(own) * part // accumulate for part in range(accumulate + 1)]
    slices = [own[start:stop] for start, stop in itertools.pairwise(bounds) if start < stop]
    parts = [batch for part in slices if (batch := collate(part, width=width)).n_targets]
    parts += [IDLE] * (accumulate - len(parts)) if equal else []
    characters = sum(len(example) - 1 for example in own)
    targets = sum(int(example.loss_mask[1:].sum()) for example in own)
    return StepBatches(tuple(parts), len(own) if rows is None else rows, characters, targets)
