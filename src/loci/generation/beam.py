"""Beam search: the likeliest continuations, not the continuation of the likeliest ids.

Every prompt keeps its `width` best unfinished texts; all of them, of all prompts of a batch, are read together.
Works on ids; knows nothing of characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import Generated, length_batches
from loci.model import GPT


def beam_search(
    model: GPT,
    prompts: Sequence[Prompt],
    *,
    width: int,
    max_new: int,
    stop_id: int | None,
    use_cache: bool = True,
    batch_size: int = 256,
) -> list[list[Generated]]:
    """The best continuations of every prompt, best first, at most `width`.

    Args:
        model: Any GPT.
        prompts: Ids of each prompt, at least one.
        width: Unfinished texts kept for each prompt. 1 is greedy decoding.
        max_new: Steps at most, the stop id counted. Texts still unfinished then compete as they are (`stopped` tells).
        stop_id: The id that ends a text; None: all run for max_new steps.
        use_cache: False reads the whole prefix again at each step; same results.
        batch_size: Rows (prompts × width) read at once.
    """
    if width < 1 or max_new < 1 or batch_size < 1:
        raise LociError(f"width, max_new and batch_size must be at least 1: {width}, {max_new}, {batch_size}")
    vocab_size = model.config.vocab_size
    checked = [check_prompt(prompt, vocab_size) for prompt in prompts]
    results: dict[int, list[Generated]] = {}
    with reading(model):
        for batch in length_batches(checked, max(1, batch_size // width)):
            rows = [checked[index] for index in batch]
            context, logits = start_context(model, rows, room=max_new - 1, use_cache=use_cache)
            beams = [_Beam(width, max_new, stop_id) for _ in batch]
            front = _Front.start(len(batch))
            for _ in range(max_new):
                front = front.grow(logits.cpu(), beams)
                if not front.rows:
                    break
                context.select(front.parents)
                logits = context.step(front.last_ids.to(context.device))
            for index, beam in zip(batch, beams, strict=True):
                results[index] = beam.finished
    return [results[index] for index in range(len(checked))]


@dataclass
class _Beam:
    """One prompt's finished texts, and when to be content with them."""

    width: int
    max_new: int
    stop_id: int | None
    finished: list[Generated] = field(default_factory=list)
    """Likeliest first, at most `width`."""

    def finish(self, ids: tuple[int, ...], log_probability: float, stopped: bool) -> None:
        """A text has come to its end."""
        self.finished.append(Generated(ids, log_probability, stopped))
        self.finished.sort(key=lambda text: -text.log_probability)
        del self.finished[self.width :]

    def hopeless(self, score: float) -> bool:
        """Whether an unfinished text cannot get among the finished any more: its probability only falls."""
        return len(self.finished) == self.width and self.finished[-1].log_probability >= score


@dataclass(frozen=True)
class _Front:
    """The unfinished texts of all prompts, one a row, the rows of a prompt side by side."""

    owners: list[int]
    scores: Float[Tensor, "R"]
    texts: list[tuple[int, ...]]
    parents: Int[Tensor, "R"]
    """The row of the front before that each one continues."""

    @classmethod
    def start(cls, prompts: int) -> _Front:
        """One empty text for each prompt."""
        scores = torch.zeros(prompts, dtype=torch.float64)
        return cls(list(range(prompts)), scores, [()] * prompts, torch.arange(prompts))

    @property
    def rows(self) -> int:
        """How many texts are unfinished."""
        return len(self.owners)

    @property
    def last_ids(self) -> Int[Tensor, "R"]:
        """The newest id of each."""
        return torch.tensor([text[-1] for text in self.texts])

    def grow(self, logits: Float[Tensor, "R V"], beams: list[_Beam]) -> _Front:
        """Continue every text by its best ids; finished ones go to their beam, the best others make the next front."""
        totals = self.scores[:, None] + logits.double().log_softmax(-1)
        owners, parents, ids, scores = [], [], [], []
        spans = _spans(self.owners)
        best = _best(totals, [rows for _, rows in spans], 2 * beams[0].width)
        for (owner, rows), continuations in zip(spans, best, strict=True):
            beam = beams[owner]
            live: list[tuple[float, int, int]] = []
            for rank, (score, row, index) in enumerate(continuations):
                if index == beam.stop_id:
                    if rank < beam.width:
                        beam.finish(self.texts[row], score, stopped=True)
                elif len(live) < beam.width:
                    live.append((score, row, index))
            steps = len(self.texts[rows.start]) + 1
            if steps == beam.max_new:
                for score, row, index in live:
                    beam.finish((*self.texts[row], index), score, stopped=False)
            else:
                hopeful = [text for text in live if not beam.hopeless(text[0])]
                for score, row, index in _in_place(hopeful, rows.start):
                    owners.append(owner)
                    scores.append(score)
                    parents.append(row)
                    ids.append(index)
        texts = [(*self.texts[row], index) for row, index in zip(parents, ids, strict=True)]
        chosen = torch.tensor(parents, dtype=torch.long)
        return _Front(owners, torch.tensor(scores, dtype=torch.float64), texts, chosen)


def _spans(owners: list[int]) -> list[tuple[int, slice]]:
    """Each prompt with its rows."""
    begins = [row for row, owner in enumerate(owners) if row == 0 or owners[row - 1] != owner]
    return [(owners[begin], slice(begin, end)) for begin, end in zip(begins, [*begins[1:], len(owners)], strict=True)]


def _in_place(texts: list[tuple[float, int, int]], start: int) -> list[tuple[float, int, int]]:
    """The texts in an order that leaves those that can stay on their parent's row, so that it need not be copied."""
    staying: dict[int, tuple[float, int, int]] = {}
    for text in texts:
        if (place := text[1] - start) < len(texts):
            staying.setdefault(place, text)
    moving = iter([text for text in texts if staying.get(text[1] - start) is not text])
    return [staying.get(place) or next(moving) for place in range(len(texts))]


def _best(totals: Float[Tensor, "R V"], spans: list[slice], count: int) -> list[list[tuple[float, int, int]]]:
    """For each prompt the likeliest continuations of its rows: score, row, id; likeliest first.

    Each row ends in one way at most, so twice the width always holds `width` unfinished texts, if there are so many.
    """
    sizes = [rows.stop - rows.start for rows in spans]
    padded = torch.nn.utils.rnn.pad_sequence(
        list(torch.split(totals, sizes)), batch_first=True, padding_value=-torch.inf
    )
    n_symbols = totals.shape[1]
    found = padded.flatten(1).topk(min(count, padded[0].numel()))
    return [
        [(p, rows.start + at // n_symbols, at % n_symbols) for p, at in zip(*pair, strict=True) if p > -torch.inf]
        for rows, *pair in zip(spans, found.values.tolist(), found.indices.tolist(), strict=True)
    ]
