"""Names for points on the three axes: what a user calls a model.

A variant changes a config and nothing else, so any recipe runs with any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loci.model.config import GPTConfig
from loci.model.registry import Registry


@dataclass(frozen=True)
class Variant:
    """A named point on attention × positions × trunk."""

    summary: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, config: GPTConfig) -> GPTConfig:
        """The config at this point."""
        return config.replace(**self.changes)


VARIANTS: Registry[Variant] = Registry("variant")
VARIANTS.add("vanilla", Variant("dot-product attention, learned positions"))
VARIANTS.add("rope", Variant("dot-product attention, rotary positions", {"positions": "rope"}))
