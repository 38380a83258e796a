"""Repetition against every setting of the sampler: measured on what a generator writes.

A generator is a function from a sampler to texts; an n-gram model and a transformer alike. Knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import Estimate, Rate, mean_estimate, wilson
from loci.generation.repetition import find_loop, seq_rep_n
from loci.generation.sampling import Sampler


def default_sweep() -> dict[str, list[tuple[float, Sampler]]]:
    """What is varied, one setting at a time: (value, sampler) by its name. The penalty acts on greedy decoding."""
    return {
        "temperature": [(t, Sampler(temperature=t)) for t in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)],
        "top-k": [(float(k), Sampler(top_k=k)) for k in (1, 2, 4, 8, 16, 32)],
        "top-p": [(p, Sampler(top_p=p)) for p in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)],
        "min-p": [(p, Sampler(min_p=p)) for p in (0.5, 0.3, 0.1, 0.05, 0.02)],
        "repetition penalty": [(p, Sampler(temperature=0.0, repetition_penalty=p)) for p in (1.0, 1.05, 1.1, 1.2, 1.5)],
    }


@dataclass(frozen=True)
class SweepPoint:
    """One value of one setting, over several texts."""

    setting: str
    value: float
    seq_rep: Estimate
    distinct: Estimate
    looped: Rate
    """Share of texts that end in a loop."""
    entry: float | None
    """Median position where the loops begin, None without any."""
    period: float | None


def measure(texts: Sequence[Sequence[int]], n: int, *, setting: str = "", value: float = 0.0) -> SweepPoint:
    """seq-rep-n, distinct-n and loops (of at least 2n ids) of some texts, with intervals over the texts."""
    if not texts:
        raise LociError("there is no text to measure")
    repeated: NDArray[np.float64] = np.array([seq_rep_n(text, n) for text in texts])
    loops = [loop for text in texts if (loop := find_loop(text, least=2 * n)) is not None]
    return SweepPoint(
        setting,
        value,
        _share(repeated),
        _share(1 - repeated),
        wilson(len(loops), len(texts)),
        float(np.median([loop.entry for loop in loops])) if loops else None,
        float(np.median([loop.period for loop in loops])) if loops else None,
    )


def _share(values: NDArray[np.float64]) -> Estimate:
    """A mean of shares; its interval stays within 0 and 1."""
    mean = mean_estimate(values)
    return replace(mean, low=max(0.0, mean.low), high=min(1.0, mean.high))


def sweep(
    write: Callable[[Sampler], Sequence[Sequence[int]]],
    n: int,
    settings: Mapping[str, Sequence[tuple[float, Sampler]]] | None = None,
) -> list[SweepPoint]:
    """Measure what `write` makes of every sampler. Equal samplers write once."""
    written: dict[Sampler, Sequence[Sequence[int]]] = {}
    points = []
    for setting, values in (settings if settings is not None else default_sweep()).items():
        for value, sampler in values:
            if sampler not in written:
                written[sampler] = write(sampler)
            points.append(measure(written[sampler], n, setting=setting, value=value))
    return points
