"""The name that a misspelt one may mean, from what a model knows: no list of names is kept or looked at.

A model that has memorized names finds each of them far likelier than any other string. So names are spelled letter by
letter, and what stays likely enough to be familiar and close enough to the asked name is one it read about. Letters
that differ in case or accents alone cost nothing. Knows nothing of answers.
"""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from loci.generation.likelihood import next_log_probabilities
from loci.model import GPT
from loci.text.vocab import Vocab

MOST_EDITS, LETTERS_PER_EDIT = 2, 5
WIDTH = 32
"""Beginnings that are followed at a time. Those of a memorized name stay among the likeliest."""
_COST_OF_EDIT = 4.0
"""What an edit counts when beginnings are compared, in nats."""

Beginning = tuple[tuple[int, ...], float, NDArray[np.int_]]
"""Ids, log p, and the edits from each beginning of the asked name."""


def did_you_mean(
    model: GPT, vocab: Vocab, name: str, *, before: str, after: str, least: float, most: float = 0.0
) -> str | None:
    """The familiar name fewest edits from this one, of several the likeliest; None where there is none.

    A name stands between `before` and `after`, and is familiar from log p `least` on, of which its letters count `most`
    at the most; where nothing stands before it, its first letter has no say in that. It may be one edit away for every
    five letters, and at most two.
    """
    spelled = (_plain(letter) for letter in unicodedata.normalize("NFC", name))
    letters = np.array([letter for letter in spelled if letter], dtype=str)
    plain = np.array([_plain(vocab.decode([symbol])) for symbol in range(len(vocab))])
    allowed = min(MOST_EDITS, len(letters) // LETTERS_PER_EDIT)
    given, end = vocab.encode(before).tolist(), int(vocab.encode(after)[0])
    none: Beginning = ((), 0.0, np.arange(len(letters) + 1))
    beginnings = [none] if given else [_longer(none, symbol, 0.0, plain, letters) for symbol in range(len(vocab))]
    found: list[tuple[int, float, str]] = []
    for _ in range(model.config.block_size - len(given) + 1):  # nothing longer is close; accents have no length
        if not beginnings:
            break
        logs = next_log_probabilities(model, [[*given, *ids] for ids, _, _ in beginnings])
        longer: list[Beginning] = []
        for beginning, next_letter in zip(beginnings, logs, strict=True):
            ids, log_p, edits = beginning
            if edits[-1] <= allowed and min(log_p, most) + next_letter[end] >= least:
                found.append((int(edits[-1]), -log_p, vocab.decode(ids)))
            likely = np.flatnonzero(log_p + next_letter >= least).tolist()
            longer += [_longer(beginning, symbol, float(next_letter[symbol]), plain, letters) for symbol in likely]
        close = [one for one in longer if one[2].min() <= allowed]
        beginnings = sorted(close, key=lambda one: _COST_OF_EDIT * one[2].min() - one[1])[:WIDTH]
    return min((one for one in found if one[2] != name), default=(0, 0.0, None))[2]


def _longer(one: Beginning, symbol: int, log_p: float, plain: NDArray[np.str_], letters: NDArray[np.str_]) -> Beginning:
    """A beginning with one more letter; an accent of its own is none."""
    edits = _edits(one[2], plain[symbol] == letters) if plain[symbol] else one[2]
    return (*one[0], symbol), one[1] + log_p, edits


def _edits(before: NDArray[np.int_], same: NDArray[np.bool_]) -> NDArray[np.int_]:
    """The edits from each beginning of the asked name after one more letter, which is the `same` as some of its own."""
    new: NDArray[np.int_] = np.minimum(before + 1, np.concatenate([[before[0] + 1], before[:-1] + ~same]))
    for place in range(1, len(new)):  # a letter of the asked name that is left out
        new[place] = min(new[place], new[place - 1] + 1)
    return new


def _plain(letter: str) -> str:
    """A letter without its case and accents."""
    return "".join(part for part in unicodedata.normalize("NFD", letter.casefold()) if not unicodedata.combining(part))
