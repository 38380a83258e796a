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
VARIANTS.add("vanilla", Variant("dot-product attention, learned positions"))
VARIANTS.add("rope", Variant("dot-product attention, rotary positions", {"positions": "rope"}))
VARIANTS.add("none", Variant("dot-product attention, no positions", {"positions": "none"}))
VARIANTS.add(
    "synthesizer",
    Variant("dense synthesizer: each character scores the positions by itself", {"attention": "synthesizer"}),
)
VARIANTS.add(
    "synthesizer-random",
    Variant("one trained table of scores per head, the same for every text", {"attention": "synthesizer-random"}),
)
VARIANTS.add(
    "synthesizer-factorised",
    Variant("dense synthesizer whose scores are products of two short rows", {"attention": "synthesizer-factorised"}),
)
VARIANTS.add(
    "synthesizer-mixed",
    Variant("dense synthesizer and dot product in one softmax", {"attention": "synthesizer-mixed"}),
)
VARIANTS.add("folded", Variant("one trained matrix per head instead of queries and keys", {"attention": "folded"}))
VARIANTS.add("naive", Variant("the inner product without parameters: all heads alike", {"attention": "naive"}))
VARIANTS.add(
    "perceiver-course",
    Variant("the published perceiver, blind after its m latents", {"trunk": "perceiver-course"}),
)
VARIANTS.add(
    "perceiver-course-bare",
    Variant(
        "the published perceiver without residual paths, another form students write",
        {"trunk": "perceiver-course-bare"},
    ),
)
VARIANTS.add(
    "perceiver",
    Variant("latents over the whole block and a local window: causal, linear in length", {"trunk": "perceiver"}),
)
