"""Running a model over parsed sentences and keeping what its heads look at, word by word.

Sentences that a model cannot read are left out and counted, never cut. Knows nothing of scores (`heads`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray

from loci.attention_lab import heads
from loci.attention_lab.parses import Parse
from loci.errors import LociError
from loci.generation.context import reading
from loci.generation.decode import length_batches
from loci.model import GPT
from loci.text.vocab import MASK, Vocab

Unknown = Literal["skip", "mask"]
BATCH = 32


@dataclass(frozen=True)
class Readable:
    """The sentences a model can read, and how many it cannot and why."""

    parses: tuple[Parse, ...]
    texts: tuple[str, ...]
    """As the model reads them: unknown characters replaced, if that was asked for."""
    unknown: int
    """Sentences left out for a character the vocabulary lacks."""
    too_long: int
    masked: int
    """Characters replaced by the mask."""


def readable(parses: Sequence[Parse], vocab: Vocab, block_size: int, unknown: Unknown = "skip") -> Readable:
    """Sort out what the model can read; `mask` puts the mask symbol for a character it does not know."""
    kept: list[Parse] = []
    texts: list[str] = []
    strange = long = masked = 0
    for parse in parses:
        unread = {*vocab.missing(parse.text)}
        missing = sum(character in unread for character in parse.text)
        if (len(parse.text) if unread else len(vocab.encode(parse.text))) > block_size:
            long += 1
        elif missing and unknown == "skip":
            strange += 1
        else:
            kept.append(parse)
            texts.append("".join(MASK if c in unread else c for c in parse.text))
            masked += missing
    if not kept:
        raise LociError(
            f"the model can read none of the {len(parses)} sentences: {strange} contain characters it does not know, "
            f"{long} are longer than its block of {block_size}",
            remedy="--unknown mask puts the mask symbol for unknown characters",
        )
    return Readable(tuple(kept), tuple(texts), strange, long, masked)


def read_attention(model: GPT, vocab: Vocab, sentences: Readable) -> list[Float[NDArray[np.float32], "l h _ _"]]:
    """Each sentence's word-level attention, of every layer that attends from characters to characters.

    Rows of a batch are padded on the right, which a causal model does not see.
    """
    prompts = [torch.from_numpy(vocab.encode(text)) for text in sentences.texts]
    results: list[NDArray[np.float32] | None] = [None] * len(prompts)
    with reading(model):
        for batch in length_batches(prompts, BATCH):
            ids = torch.nn.utils.rnn.pad_sequence([prompts[index] for index in batch], batch_first=True)
            _, trace = model.hidden(ids.to(model.tok_emb.weight.device), trace=True)
            assert trace is not None
            square = [layer for layer in trace if layer.shape[-2] == layer.shape[-1] == ids.shape[1]]
            if not square:
                raise LociError("this model attends to latents only: there is no attention between its characters")
            weights = torch.stack(square, dim=1).cpu().numpy()  # (B, L, H, T, T)
            for row, index in enumerate(batch):
                width = len(prompts[index])
                words = vocab.positions(sentences.texts[index], sentences.parses[index].spans)
                results[index] = heads.word_attention(weights[row, ..., :width, :width], words)
    return [result for result in results if result is not None]


@dataclass(frozen=True)
class HeadsReport:
    """How well the heads of one model parse."""

    sentences: int
    relations: list[heads.RelationScore]
    trees: heads.TreeScore


def parse_with_heads(model: GPT, vocab: Vocab, sentences: Readable, *, least: int = 30) -> HeadsReport:
    """Read the sentences and score every relation and the trees."""
    attentions = read_attention(model, vocab, sentences)
    arcs = heads.collect_arcs(sentences.parses, attentions)
    trees = heads.tree_scores(sentences.parses, attentions, arcs)
    return HeadsReport(len(sentences.parses), heads.relation_scores(arcs, least=least), trees)


def random_model(model: GPT, seed: int) -> GPT:
    """The same shape with untrained weights: what its heads find is found by chance and distance alone."""
    return GPT(model.config, generator=torch.Generator().manual_seed(seed)).eval()
