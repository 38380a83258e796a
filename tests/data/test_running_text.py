from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loci.data.objectives import LanguageModel
from loci.data.running_text import pieces
from loci.text.vocab import Vocab


@given(st.text("abc\n", min_size=1, max_size=80), st.integers(1, 30))
def test_every_window_of_the_text_is_in_some_piece(text: str, length: int) -> None:
    cut = pieces(text, length)
    windows = {text[i : i + length] for i in range(max(1, len(text) - length + 1))}
    assert all(any(window in piece.text for piece in cut) for window in windows)
    assert all(piece.text in text and len(piece.text) <= 2 * length - 1 for piece in cut)
    if len(text) >= length:
        assert all(len(piece.text) >= length for piece in cut)


def test_windows_are_equally_likely() -> None:
    alphabet = "".join(chr(ord("a") + i) for i in range(20))
    objective = LanguageModel(Vocab.from_text(alphabet), 5, closing_mask=False)
    rng = np.random.default_rng(0)
    cut = pieces(alphabet, 5)
    starts = Counter(int(objective(cut[rng.integers(len(cut) - 1)], rng).ids[0]) for _ in range(6000))
    # 15 windows begin in the pieces before the last: 400 each, give or take four standard errors.
    assert len(starts) == 15
    assert all(abs(count - 400) < 4 * 20 for count in starts.values())


def test_pieces_know_their_line() -> None:
    assert [piece.number for piece in pieces("a\nb\nc\nd\n", 2)] == [1, 2, 3, 4]


def test_a_short_text_is_one_piece() -> None:
    [piece] = pieces("abc", 10)
    assert piece.text == "abc"


def test_line_ends_are_learned() -> None:
    text = "ROMEO:\nO!\n"
    vocab = Vocab.from_text(text)
    [piece] = pieces(text, 10)
    example = LanguageModel(vocab, 10, closing_mask=False)(piece, np.random.default_rng(0))
    assert vocab.decode(example.ids.tolist()) == text
    assert example.loss_mask.all()
