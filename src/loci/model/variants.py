"""Names for points on the three axes: what a user calls a model.

A variant changes a config and nothing else, so any recipe runs with any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loci.model.config import GPTConfig
from loci.registry import Registry


@dataclass(frozen=True)
class Variant:
    """A named point on attention × positions × trunk; what `changes` leaves out is as in the vanilla model."""

    summary: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def point(self) -> dict[str, Any]:
        """All three axes: a recipe of another point is moved here whatever its own was."""
        return {"attention": "dot", "positions": "learned", "trunk": "plain", **self.changes}

    def apply(self, config: GPTConfig) -> GPTConfig:
        """The config at this point."""
        return config.replace(**self.point)


VARIANTS: Registry[Variant] = Registry("variant")
for _name, _summary, _changes in (
    ("vanilla", "dot-product attention, learned positions", {}),
    ("rope", "dot-product attention, rotary positions", {"positions": "rope"}),
    ("none", "dot-product attention, no positions", {"positions": "none"}),
    ("synthesizer", "dense synthesizer: each character scores the positions by itself", {"attention": "synthesizer"}),
    (
        "synthesizer-random",
        "one trained table of scores per head, the same for every text",
        {"attention": "synthesizer-random"},
    ),
    (
        "synthesizer-factorised",
        "dense synthesizer whose scores are products of two short rows",
        {"attention": "synthesizer-factorised"},
    ),
    ("synthesizer-mixed", "dense synthesizer and dot product in one softmax", {"attention": "synthesizer-mixed"}),
    ("folded", "one trained matrix per head instead of queries and keys", {"attention": "folded"}),
    ("naive", "the inner product without parameters: all heads alike", {"attention": "naive"}),
    ("perceiver-course", "the published perceiver, blind after its m latents", {"trunk": "perceiver-course"}),
    (
        "perceiver-course-bare",
        "the published perceiver without residual paths, another form students write",
        {"trunk": "perceiver-course-bare"},
    ),
    ("perceiver", "latents over the whole block and a local window: causal, linear in length", {"trunk": "perceiver"}),
):
    VARIANTS.add(_name, Variant(_summary, _changes))
