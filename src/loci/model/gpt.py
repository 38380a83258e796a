"""The model: embedding, positions, trunk, norm, head.

Owns no loss and no sampling. The head can be applied to chosen positions only (`hidden` then `logits`), since
training needs it just where there is a target.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.block import make_norm
from loci.model.cache import Cache, Clock
from loci.model.config import INIT_STD, GPTConfig
from loci.model.kernels import Dropout, Linear
from loci.model.positions import POSITIONS
from loci.model.shapes import BTC
from loci.model.tap import Tap, Trace, show
from loci.model.trunk import TRUNKS


class Output(NamedTuple):
    """Logits, and the attention weights when a trace was asked for."""

    logits: Float[Tensor, "B T V"]
    trace: Trace | None


class GPT(nn.Module):
    """A character-level transformer at one point of the three axes."""

    def __init__(self, config: GPTConfig, *, generator: torch.Generator | None = None):
        super().__init__()
        self.config = config
        with torch.random.fork_rng(devices=[]):  # the layers' own initialisation is overwritten; leave no trace of it
            self.tok_emb = nn.Embedding(config.vocab_size, config.n_embd)
            self.val_emb = nn.Embedding(config.vocab_size, config.n_embd) if config.value_embeddings else None
            self.positions = POSITIONS[config.positions](config)
            self.drop = Dropout(config.embd_pdrop)
            self.trunk = TRUNKS[config.trunk](config, self.positions)
            self.ln_f = make_norm(config)
            self.head = Linear(config.n_embd, config.vocab_size, bias=False)
        self.initialise(generator)
        if config.tied_head:
            self.head.weight = self.tok_emb.weight

    def initialise(self, generator: torch.Generator | None) -> None:
        """The published start: N(0, 0.02) for matrices and embeddings, zero biases; then what a class adds itself."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, 0.0, INIT_STD, generator=generator)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        for module in self.modules():
            if module is not self and callable(own := getattr(module, "initialise", None)):
                own(generator)
        if self.config.zero_init:
            for name, parameter in self.named_parameters():
                if name.endswith(("attn.proj.weight", "mlp.down.weight")):
                    nn.init.zeros_(parameter)

    @property
    def limit(self) -> int | None:
        """The longest sequence the model can take, or None when nothing in it limits the length."""
        return min((part for part in (self.positions.limit, self.trunk.limit) if part is not None), default=None)

    def hidden(
        self, ids: Int[Tensor, "B T"], *, cache: Cache | None = None, trace: bool = False, tap: Tap | None = None
    ) -> tuple[BTC, Trace | None]:
        """The residual stream after the last norm, before the head; `trace` asks for the attention weights as well.

        A `tap` reads and changes any activation: `run_with_activations` is the door to it.
        """
        if trace:
            assert tap is None, "a trace is a tap on the attention weights"
            tap = Tap(["*.attn.pattern"])
        width = ids.shape[1]
        start = cache.clock.longest if cache is not None else 0
        if self.limit is not None and start + width > self.limit:
            raise LociError(
                f"{start + width} characters do not fit the model, which takes {self.limit}",
                remedy="shorten the prompt or the length to generate, or train with a larger block_size",
            )
        positions = torch.arange(width, device=ids.device)[None] if cache is None else cache.clock.positions(width)
        x = show(tap, "embed", self.drop(self.positions.embed(self.tok_emb(ids), positions)))
        extra = {} if self.val_emb is None else {"values": self.val_emb(ids)}
        x = self.trunk(x, cache=cache.layers if cache is not None else None, tap=tap, **extra)
        if cache is not None:
            cache.clock.advance(width)
        x = show(tap, "final.norm", self.ln_f(show(tap, "final.resid", x)))
        return x, tuple(tap.kept.values()) if trace and tap is not None else None

    def logits(self, hidden: Float[Tensor, "*N C"]) -> Float[Tensor, "*N V"]:
        """The head, on whatever positions are given."""
        logits: Tensor = self.head(hidden)
        if (cap := self.config.logit_soft_cap) is not None:
            logits = cap * torch.tanh(logits / cap)
        return logits

    def forward(
        self, ids: Int[Tensor, "B T"], *, cache: Cache | None = None, trace: bool = False, tap: Tap | None = None
    ) -> Output:
        """Logits at every position."""
        hidden, weights = self.hidden(ids, cache=cache, trace=trace, tap=tap)
        return Output(self.logits(hidden), weights)

    def make_cache(self, batch: int, capacity: int) -> Cache:
        """An empty cache for `batch` rows of at most `capacity` characters."""
        clock = Clock(batch, capacity, self.tok_emb.weight.device)
        return Cache(clock, self.trunk.make_cache(clock))

    def n_parameters(self) -> int:
        """How many trained numbers the model has."""
        return sum(parameter.numel() for parameter in self.parameters())
