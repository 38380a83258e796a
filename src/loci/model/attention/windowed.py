"""Cross-attention to latents together with a window of one's own sequence, in one softmax and in linear time.

A position reads (1) the latents anchored at or before it, (2) its last w characters, itself included, (3) where the
characters since the last latent can outnumber the window, one summary of them: their mean key and mean value. Since
the summary's value is a mean, its weight is spread evenly over those characters in the `pattern`.

Two ways to the same numbers: `banded` cuts the sequence into pieces of w and reads two pieces at a time, so that
nothing of size ℓ×ℓ exists; `dense` writes the mask out, for taps and for queries that come one at a time.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from loci.model.attention.base import barrier
from loci.model.attention.cross import CrossAttention
from loci.model.attention.dot import query_key_cost
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, linear_cost, products, total
from loci.model.kernels import dropped
from loci.model.positions import Positions
from loci.model.shapes import BHTD, BHTE, BT, BTC, N, Pair
from loci.model.tap import Tap, show


class WindowedCrossAttention(CrossAttention):
    """Latents, window and summary in one softmax."""

    @classmethod
    def windowed_cost(cls, config: GPTConfig, length: int, latents: int, *, summarises: bool) -> Cost:
        """ℓ·(m + 2w)·d for scores and for sums: linear in ℓ. The weights, ℓ·(m + 2w) per head, are kept."""
        d, heads, window = config.n_embd, config.n_head, config.local_window
        meet = heads * config.query_width
        padded = -(-length // window) * window
        keys = latents + 2 * window
        weights = heads * padded * (keys + int(summarises))
        return total(
            linear_cost(length, d, meet),
            linear_cost(latents, d, meet + d),
            products(length, d, meet + d),  # the same projection, on the characters
            query_key_cost(config, length, length + latents),
            keep(latents * (meet + d)),
            keep(2 * padded * meet),  # queries, whole and in pieces
            keep(2 * padded * (meet + d)),  # keys and values, in pairs of pieces
            keep(padded * (meet + d)) if summarises else Cost(),
            products(padded, meet, keys),
            products(padded, keys, d),
            keep(weights),
            keep(weights, flags=weights) if config.attn_pdrop else Cost(),
            linear_cost(length, d, d),
            dropout_cost(length * d, config.resid_pdrop),
        )

    def __init__(self, config: GPTConfig, positions: Positions, *, summarises: bool):
        super().__init__(config, positions, embeds_values=True)
        self.window = config.local_window
        self.summarises = summarises

    def read_both(
        self, x: BTC, positions: BT, latents: Pair, own: Pair, anchors: N, starts: BT, *, dense: bool, tap: Tap | None
    ) -> BTC:
        """Read the latents anchored at `anchors`, and the own sequence, whose current piece began at `starts`."""
        q, scale = self.queries(x, positions)
        if dense or tap is not None:
            mixed = self._dense(q * scale, positions, latents, own, anchors, starts, tap)
        else:
            mixed = self._banded(q * scale, latents, own, anchors, starts)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out

    def _dense(self, q: BHTD, positions: BT, latents: Pair, own: Pair, anchors: N, starts: BT, tap: Tap | None) -> BHTE:
        """Every pair written out; the weights are over the n latents, then over the characters."""
        here = positions[:, None, :, None]  # (b, 1, T, 1)
        there = torch.arange(own[0].shape[2], device=q.device)
        near = (there <= here) & (there > here - self.window)
        to_latents, to_near = (q @ keys.transpose(-2, -1) for keys in (latents[0], own[0]))
        parts = [to_latents.add_(barrier(anchors <= here, to_latents)), to_near.add_(barrier(near, to_near))]
        even = ((there <= here) & (there >= starts[:, None, :, None])).to(q.dtype)
        even = even / even.sum(-1, keepdim=True)  # the summary's even weights on its characters
        if self.summarises:
            parts.append((q * (even @ own[0])).sum(-1, keepdim=True))
        weights = torch.cat(parts, dim=-1).softmax(-1)
        if self.summarises:
            n = anchors.shape[0]
            on_own = weights[..., n:-1] + weights[..., -1:] * even
            weights = torch.cat((weights[..., :n], on_own), dim=-1)
        weights = show(tap, "pattern", weights)
        return show(tap, "head_out", dropped(weights, self.dropout) @ torch.cat((latents[1], own[1]), dim=2))

    def _banded(self, q: BHTD, latents: Pair, own: Pair, anchors: N, starts: Int[Tensor, "1 T"]) -> BHTE:
        """Whole sequences from position 0 on. N pieces of w characters; a piece reads itself and the one before."""
        length = q.shape[2]
        n, w = anchors.shape[0], self.window
        pieces = -(-length // w)
        fill = (0, 0, 0, pieces * w - length)
        q, k, v = (F.pad(part, fill) for part in (q, *own))
        positions = torch.arange(pieces * w, device=q.device)
        to_latents = q @ latents[0].transpose(-2, -1)
        to_latents.add_(barrier(anchors <= positions[:, None], to_latents))
        to_near = in_pieces(q, w) @ pairs_of_pieces(k, w).transpose(-2, -1)
        near = band(w, pieces, q.device)
        parts = [to_latents, to_near.add_(barrier(near, to_near)).flatten(2, 3)]
        if self.summarises:
            begin = F.pad(starts[0], (0, pieces * w - length))
            parts.append((q * running_mean(k, begin)).sum(-1, keepdim=True))
        weights = dropped(torch.cat(parts, dim=-1).softmax(-1), self.dropout)
        mixed: Tensor = weights[..., :n] @ latents[1]
        on_near = in_pieces(weights[..., n : n + 2 * w], w)
        mixed = mixed + (on_near @ pairs_of_pieces(v, w)).flatten(2, 3)
        if self.summarises:
            mixed = mixed + weights[..., -1:] * running_mean(v, begin)
        return mixed[:, :, :length]


def in_pieces(x: Float[Tensor, "B H L D"], w: int) -> Float[Tensor, "B H N w D"]:
    """Cut the sequence into pieces of w."""
    batch, heads, length, width = x.shape
    return x.reshape(batch, heads, length // w, w, width)


def pairs_of_pieces(x: Float[Tensor, "B H L D"], w: int) -> Float[Tensor, "B H N w2 D"]:
    """Each piece of w vectors with the piece before it in front (zeros before the first)."""
    pieces = in_pieces(x, w)
    before = F.pad(pieces[:, :, :-1], (0, 0, 0, 0, 1, 0))
    return torch.cat((before, pieces), dim=3)


def band(w: int, pieces: int, device: torch.device) -> Tensor:
    """(N, w, 2w): in a pair of pieces, True for the last w characters up to one's own. Nothing precedes the first."""
    back = torch.arange(w, device=device)[:, None] + w - torch.arange(2 * w, device=device)
    near = ((back >= 0) & (back < w)).repeat(pieces, 1, 1)
    near[0, :, :w] = False
    return near


def running_mean(x: Float[Tensor, "B H L D"], begin: Int[Tensor, "L"]) -> Float[Tensor, "B H L D"]:
    """Mean of the vectors from `begin[t]` to t, for each t."""
    sums = F.pad(x.cumsum(2), (0, 0, 1, 0))
    positions = torch.arange(x.shape[2], device=x.device)
    return (sums[:, :, 1:] - sums[:, :, begin]) / (positions - begin + 1)[:, None]
