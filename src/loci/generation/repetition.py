"""How repetitive a text is, and where it falls into a loop.

Pure functions of id sequences, whoever wrote them. At temperature 0 a model whose next id depends on the last k ids
alone must loop: there are at most |V|^k different runs of k ids, so among the first |V|^k + 1 of them one comes back,
and from there on everything does. A transformer with a window of k characters is such a model too, only with a bound
nobody lives to see; that trained ones loop within a line is an observation, not a theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loci.errors import LociError


@dataclass(frozen=True)
class Loop:
    """From position `entry` on, the text is the same `period` ids over and over, to its end."""

    entry: int
    period: int


def distinct_n(ids: Sequence[int], n: int) -> float:
    """Different runs of n ids over all runs of n ids: 1 when none comes twice."""
    if n < 1:
        raise LociError(f"a run has at least one id, n is {n}")
    total = len(ids) - n + 1
    if total < 1:
        raise LociError(f"a text of {len(ids)} ids has no run of {n}")
    return len({tuple(ids[position : position + n]) for position in range(total)}) / total


def seq_rep_n(ids: Sequence[int], n: int) -> float:
    """seq-rep-n = 1 − distinct-n: the share of runs of n ids that stood there before."""
    return 1 - distinct_n(ids, n)


def find_loop(ids: Sequence[int], *, repeats: int = 3, least: int = 1) -> Loop | None:
    """The loop a text ends in, if its period came at least `repeats` times over at least `least` ids.

    Of several the one entered first. `least` keeps a text that happens to end in "..." from counting as a loop.

    For each period p, the text's end has that period as far back as ids[t] = ids[t + p] goes on holding. Reading
    backwards that length is p plus the longest match of the reversed text with itself moved by p, which the Z
    function gives for all p at once. Ties go to the shortest period, so that a loop is never counted double.
    """
    if repeats < 2:
        raise LociError(f"what comes once is no loop: repeats must be at least 2, it is {repeats}")
    n = len(ids)
    matches = _self_matches(list(reversed(ids)))
    best: Loop | None = None
    for period in range(1, n // repeats + 1):
        covered = matches[period] + period
        if covered >= max(least, repeats * period) and (best is None or n - covered < best.entry):
            best = Loop(n - covered, period)
    return best


def _self_matches(ids: list[int]) -> list[int]:
    """Z function: for each position the length of the longest run from there that is also the beginning."""
    n = len(ids)
    matches = [n] + [0] * (n - 1) if n else []
    left = right = 0  # the match that reaches farthest so far
    for position in range(1, n):
        length = min(right - position, matches[position - left]) if position < right else 0
        while position + length < n and ids[length] == ids[position + length]:
            length += 1
        matches[position] = length
        if position + length > right:
            left, right = position, position + length
    return matches
