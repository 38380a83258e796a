from __future__ import annotations

import math

import pytest
import torch
from tiny_models import VOCAB_SIZE, log_probability, tiny

from loci.errors import LociError
from loci.generation.likelihood import nats_per_character


def test_it_is_the_mean_over_windows_side_by_side() -> None:
    model = tiny()
    text = torch.randint(2, VOCAB_SIZE, (20,), generator=torch.Generator().manual_seed(0)).tolist()
    expected = 0.0
    for start in (0, 6, 12):  # three windows of six; the twentieth character predicts nothing and fills no window
        expected -= log_probability(model, text[start : start + 1], text[start + 1 : start + 7])
    for batch_size in (1, 2, 32):
        assert nats_per_character(model, text, width=6, batch_size=batch_size) == pytest.approx(expected / 18, rel=1e-5)


def test_an_untrained_head_knows_nothing() -> None:
    model = tiny()
    torch.nn.init.zeros_(model.head.weight)
    assert nats_per_character(model, [2, 3] * 20) == pytest.approx(math.log(VOCAB_SIZE), rel=1e-5)


def test_too_short_a_text_is_refused() -> None:
    with pytest.raises(LociError, match="shorter than one window"):
        nats_per_character(tiny(), [2] * 24)
