"""Repetition against every setting of the sampler, measured on what an n-gram model, a transformer, and the text itself
write.

A generator is a function from a sampler to texts, one per prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import Estimate, Rate, mean_share, wilson
from loci.generation.context import Window
from loci.generation.decode import generate
from loci.generation.markov import MarkovModel, generate_markov
from loci.generation.repetition import find_loop, seq_rep_n
from loci.generation.sampling import Sampler
from loci.model import GPT
from loci.text.source import load_sound, specials_in
from loci.text.vocab import Vocab

TextGenerator = Callable[[Sampler], list[list[int]]]
PROMPT_LENGTH = 12
#: Pieces of the text itself that are measured, at most.
PIECES = 50


def read_lines(path: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    lines = load_sound(path).lines()
    if not any(map(str.strip, lines)):
        raise LociError("contains no text", path=path)
    for number, line in enumerate(lines, start=1):
        if found := specials_in(line):
            message = f"contains {', '.join(found)}, which is reserved"
            raise LociError(message, path=path, line=number, remedy="take it out")
    return [line for line in lines if line.strip()]


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


def default_sweep() -> dict[str, list[tuple[float, Sampler]]]:
    """What is varied, one setting at a time: (value, sampler) by its name. The penalty acts on greedy decoding."""
    return {
        "temperature": [(t, Sampler(temperature=t)) for t in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)],
        "top-k": [(float(k), Sampler(top_k=k)) for k in (1, 2, 4, 8, 16, 32)],
        "top-p": [(p, Sampler(top_p=p)) for p in (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)],
        "min-p": [(p, Sampler(min_p=p)) for p in (0.5, 0.3, 0.1, 0.05, 0.02)],
        "repetition penalty": [(p, Sampler(temperature=0.0, repetition_penalty=p)) for p in (1.0, 1.05, 1.1, 1.2, 1.5)],
    }


@dataclass(frozen=True)
class SweepPoint:
    """One value of one setting, over several texts."""

    setting: str
    value: float
    seq_rep: Estimate
    distinct: Estimate
    looped: Rate
    """Share of texts that end in a loop."""
    entry: float | None
    """Median position where the loops begin, None without any."""
    period: float | None


def measure(texts: Sequence[Sequence[int]], n: int, *, setting: str = "", value: float = 0.0) -> SweepPoint:
    """seq-rep-n, distinct-n and loops (of at least 2n ids) of some texts, with intervals over the texts."""
    if not texts:
        raise LociError("there is no text to measure")
    repeated: NDArray[np.float64] = np.array([seq_rep_n(text, n) for text in texts])
    loops = [loop for text in texts if (loop := find_loop(text, least=2 * n)) is not None]
    return SweepPoint(
        setting,
        value,
        mean_share(repeated),
        mean_share(1 - repeated),
        wilson(len(loops), len(texts)),
        float(np.median([loop.entry for loop in loops])) if loops else None,
        float(np.median([loop.period for loop in loops])) if loops else None,
    )


def sweep(
    write: Callable[[Sampler], Sequence[Sequence[int]]],
    n: int,
    settings: Mapping[str, Sequence[tuple[float, Sampler]]] | None = None,
) -> list[SweepPoint]:
    """Measure what `write` makes of every sampler. Equal samplers write once."""
    written: dict[Sampler, Sequence[Sequence[int]]] = {}
    points = []
    for setting, values in (settings if settings is not None else default_sweep()).items():
        for value, sampler in values:
            if sampler not in written:
                written[sampler] = write(sampler)
            points.append(measure(written[sampler], n, setting=setting, value=value))
    return points
