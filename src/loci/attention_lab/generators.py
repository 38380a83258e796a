"""What generates the texts whose repetition is measured: an n-gram model, a transformer; and the text itself.

A generator is a function from a sampler to texts, one per prompt. Knows nothing of measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from loci.errors import LociError
from loci.generation.context import Window
from loci.generation.decode import generate
from loci.generation.markov import MarkovModel, generate_markov
from loci.generation.sampling import Sampler
from loci.model import GPT
from loci.text.findings import raise_first_error
from loci.text.source import load, specials_in
from loci.text.vocab import Vocab

TextGenerator = Callable[[Sampler], list[list[int]]]
PROMPT_LENGTH = 12
#: Pieces of the text itself that are measured, at most.
PIECES = 50


def read_lines(path: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    source = load(path)
    raise_first_error(source.findings)
    lines = [line for line in source.lines() if line.strip()]
    if not lines:
        raise LociError("contains no text", path=path)
    for number, line in enumerate(source.lines(), start=1):
        if found := specials_in(line):
            message = f"contains {', '.join(found)}, which is reserved"
            raise LociError(message, path=path, line=number, remedy="take it out")
    return lines


@dataclass(frozen=True)
class Material:
    """A text as ids, and beginnings to be continued."""

    vocab: Vocab
    texts: tuple[NDArray[np.int64], ...]
    """The whole text, or its lines where the vocabulary has no line end."""
    beginnings: tuple[str, ...]

    @property
    def prompts(self) -> list[NDArray[np.int64]]:
        """The beginnings as ids."""
        return [self.vocab.encode(beginning) for beginning in self.beginnings]

    def pieces(self, length: int) -> list[list[int]]:
        """Pieces of the text as long as what is written, spread over it; none when it is too short."""
        ids = np.concatenate(self.texts)
        step = max(length, len(ids) // PIECES)
        return [ids[start : start + length].tolist() for start in range(0, len(ids) - length + 1, step)]


def make_material(
    lines: Sequence[str],
    samples: int,
    rng: np.random.Generator,
    *,
    vocab: Vocab | None = None,
    prompt: str | None = None,
) -> Material:
    """Count over the lines a vocabulary knows; begin with their first characters, or with one prompt for all."""
    known = [line for line in lines if vocab is None or not vocab.missing(line)]
    if not known:
        raise LociError("the model knows no line of the text whole", remedy="give the text the run was trained on")
    symbols = vocab if vocab is not None else Vocab.from_text("\n".join(known))
    texts = ["\n".join(known)] if "\n" in symbols.ids else known
    chosen = rng.choice(len(known), size=samples, replace=len(known) < samples)
    starts = [known[int(index)][:PROMPT_LENGTH] if prompt is None else prompt for index in chosen]
    return Material(symbols, tuple(symbols.encode(text) for text in texts), tuple(starts))


def ngram_generator(material: Material, order: int, length: int, seed: int) -> TextGenerator:
    """Continues by counts of what followed the last `order` characters."""
    model = MarkovModel.fit(material.texts, order, len(material.vocab))

    def write(sampler: Sampler) -> list[list[int]]:
        generator = torch.Generator().manual_seed(seed)
        return generate_markov(model, material.prompts, max_new=length, sampler=sampler, generator=generator)

    return write


def model_generator(material: Material, model: GPT, length: int, seed: int) -> TextGenerator:
    """Continues with a transformer that keeps between half a block and a whole one in sight."""
    block = model.config.block_size
    window = Window(block, max(1, block // 2))

    def write(sampler: Sampler) -> list[list[int]]:
        generator = torch.Generator().manual_seed(seed)
        answers = generate(model, material.prompts, max_new=length, sampler=sampler, generator=generator, window=window)
        return [list(answer.ids) for answer in answers]

    return write
