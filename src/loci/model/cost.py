"""What a model costs, from formulas: parameters, FLOPs and bytes, layer by layer, without building it.

Each class on an axis states its own cost (`loci.model.costing` has the conventions); here they are put together. Knows
nothing of time: `benchmarks/attention_cost.py` measures that.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any

from loci.errors import LociError
from loci.model.block import norm_cost
from loci.model.config import GPTConfig
from loci.model.costing import BYTES, Cost, dropout_cost, keep, linear_cost, total
from loci.model.positions import POSITIONS
from loci.model.trunk import TRUNKS


@dataclass(frozen=True)
class LayerCost:
    """One layer's cost on a batch of sequences."""

    name: str
    parameters: int
    forward_flops: int
    backward_flops: int
    weight_bytes: int
    activation_bytes: int
    cache_bytes: int


@dataclass(frozen=True)
class ModelCost:
    """Every layer's cost, and their sum."""

    length: int
    batch: int
    layers: tuple[LayerCost, ...]

    @property
    def total(self) -> LayerCost:
        """The whole model."""
        columns = zip(*(astuple(layer)[1:] for layer in self.layers), strict=True)
        return LayerCost("total", *map(sum, columns))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for scripts."""
        layers = [dict(vars(layer)) for layer in (*self.layers, self.total)]
        return {"length": self.length, "batch": self.batch, "layers": layers}


def model_cost(config: GPTConfig, length: int | None = None, batch: int = 1) -> ModelCost:
    """The cost of training on, or generating, `batch` sequences of `length` characters (one less than the block)."""
    length = max(config.block_size - 1, 1) if length is None else length
    if not 1 <= length <= config.block_size:
        raise LociError(
            f"a length of {length} is outside 1 … {config.block_size}, the model's block",
            remedy="choose a larger block_size",
        )
    rows = [
        ("embedding", _embedding_cost(config, length)),
        *TRUNKS[config.trunk].cost(config, length),
        ("head", _head_cost(config, length)),
    ]
    return ModelCost(length, batch, tuple(_layer(name, cost, batch) for name, cost in rows))


def at_length(config: GPTConfig, length: int) -> GPTConfig:
    """The config with a block that holds `length` characters, as training sees them (one less than the block)."""
    return config if length < config.block_size else config.replace(block_size=length + 1)


def growth(config: GPTConfig, length: int, measure: str = "forward_flops") -> float:
    """How the cost grows with the length, as the exponent between `length` and its double: 1 linear, 2 quadratic."""
    totals = [model_cost(at_length(config, width), width).total for width in (length, 2 * length)]
    return math.log2(getattr(totals[1], measure) / getattr(totals[0], measure))


def _embedding_cost(config: GPTConfig, length: int) -> Cost:
    tables = 2 if config.value_embeddings else 1
    table = Cost(parameters=tables * config.vocab_size * config.n_embd)
    values = keep(length * config.n_embd) if config.value_embeddings else Cost()
    dropped = dropout_cost(length * config.n_embd, config.embd_pdrop)
    return total(table, values, dropped, POSITIONS[config.positions].cost(config, length))


def _head_cost(config: GPTConfig, length: int) -> Cost:
    head = linear_cost(length, config.n_embd, config.vocab_size, bias=False)
    if config.tied_head:
        head = Cost(flops=head.flops, kept=head.kept)  # the table is counted with the embedding
    return total(norm_cost(config, length), head)


def _layer(name: str, cost: Cost, batch: int) -> LayerCost:
    """From one sequence to the batch. The backward pass has two products for each of the forward pass."""
    return LayerCost(
        name=name,
        parameters=cost.parameters,
        forward_flops=batch * cost.flops,
        backward_flops=2 * batch * cost.flops,
        weight_bytes=BYTES * cost.parameters,
        activation_bytes=batch * cost.kept,
        cache_bytes=BYTES * batch * cost.cached,
    )
