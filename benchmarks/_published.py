"""The training step as published, in plain words: what Loci's own step is measured against and checked against.

A character-level GPT with separate query, key and value products, an explicit masked softmax and dropout; batches of a
fixed width, padded; every example corrupted by itself in Python; logits everywhere; the textbook AdamW. Written from
the published description. Knows nothing of Loci but the two symbols of the vocabulary.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, MASK = "□", "⁇"
IGNORED = -100


class PublishedAttention(nn.Module):
    """Multi-head causal attention, every step written out."""

    mask: Tensor

    def __init__(self, width: int, heads: int, block: int, dropout: float):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.proj = nn.Linear(width, width)
        self.attn_drop, self.resid_drop = nn.Dropout(dropout), nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(block, block))[None, None])
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (part(x).view(b, t, self.heads, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, -1e10)
        weights = self.attn_drop(F.softmax(scores, dim=-1))
        mixed = (weights @ v).transpose(1, 2).contiguous().view(b, t, c)
        out: Tensor = self.resid_drop(self.proj(mixed))
        return out


class PublishedBlock(nn.Module):
    """Attention and a perceptron four times as wide, each behind a norm and next to a residual path."""

    def __init__(self, width: int, heads: int, block: int, dropout: float):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = PublishedAttention(width, heads, block, dropout)
        wide = [nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)]
        self.mlp = nn.Sequential(*wide)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln1(x))
        out: Tensor = x + self.mlp(self.ln2(x))
        return out


class PublishedGPT(nn.Module):
    """The published model; 3,323,392 parameters at its own sizes and 256 symbols."""

    def __init__(
        self, symbols: int, *, layers: int = 4, width: int = 256, heads: int = 8, block: int = 128, dropout: float = 0.1
    ):
        super().__init__()
        self.tok_emb = nn.Embedding(symbols, width)
        self.pos_emb = nn.Parameter(torch.zeros(1, block, width))
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(PublishedBlock(width, heads, block, dropout) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, 0.0, 0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss: logits at every position, pads left out by their target."""
        hidden = self.drop(self.tok_emb(x) + self.pos_emb[:, : x.shape[1]])
        logits = self.head(self.ln_f(self.blocks(hidden)))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1), ignore_index=IGNORED)


def corrupt(document: str, ids: dict[str, int], block: int, rng: random.Random) -> tuple[Tensor, Tensor]:
    """One padded example: cut, move one span behind the rest, pad to the block, shift by one."""
    cut = document[: rng.randint(4, int(block * 7 / 8))]
    size = max(1, int(rng.uniform(0.125, 0.375) * len(cut)))
    start = rng.randint(0, len(cut) - size)
    text = cut[:start] + MASK + cut[start + size :] + MASK + cut[start : start + size]
    text += PAD * (block - len(text))
    x = torch.tensor([ids[symbol] for symbol in text[:-1]], dtype=torch.long)
    y = torch.tensor([IGNORED if symbol == PAD else ids[symbol] for symbol in text[1:]], dtype=torch.long)
    return x, y


def batch_of(documents: Sequence[str], ids: dict[str, int], block: int, rng: random.Random) -> tuple[Tensor, Tensor]:
    """Examples one by one, then stacked."""
    pairs = [corrupt(document, ids, block, rng) for document in documents]
    return torch.stack([x for x, _ in pairs]), torch.stack([y for _, y in pairs])


def optimiser_of(model: nn.Module, lr: float = 6e-3) -> torch.optim.Optimizer:
    """AdamW with decay on the weights of products alone, parameter by parameter."""
    linear = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    others = [p for p in model.parameters() if all(p is not weight for weight in linear)]
    groups = [{"params": linear, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), foreach=False, fused=False)
