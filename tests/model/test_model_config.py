from __future__ import annotations

import re
from typing import Any

import pytest

from loci.errors import LociError
from loci.model import VARIANTS, GPTConfig

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n_embd": 10, "n_head": 3}, "n_embd 10 is not divisible by n_head 3"),
    ({"n_embd": 12, "n_head": 4, "positions": "rope"}, "even width; it is 3"),
    ({"qk_width": 5, "positions": "rope"}, "even width; it is 5"),
    ({"trunk": "perceiver", "bottleneck_dim": 129}, "bottleneck of 129 latents is longer than the block of 128"),
    ({"trunk": "perceiver-course", "bottleneck_dim": 200}, "longer than the block"),
    ({"trunk": "perceiver", "n_layer": 1}, "one block down and one up"),
    ({"attention": "dott"}, "unknown attention 'dott' (did you mean 'dot'? one of: dot, synthesizer"),
    ({"positions": "sine"}, "unknown positions 'sine' (one of: learned, rope, none)"),
    ({"trunk": "tree"}, "unknown trunk 'tree' (one of: plain, perceiver-course, perceiver-course-bare, perceiver)"),
    ({"attention": "synthesizer", "positions": "rope"}, "rope positions rotate queries and keys"),
    ({"attention": "folded", "positions": "rope"}, "folding needs queries and keys that meet unrotated"),
    ({"attention": "folded", "qk_norm": True}, "qk_norm"),
    ({"attention": "synthesizer", "block_size": 1}, "block_size − 1 positions"),
    ({"attention": "naive", "positions": "rope", "qk_width": 6}, "naive"),
    ({"vocab_size": 0}, "vocab_size must be at least 1"),
    ({"n_layer": 0}, "n_layer must be at least 1"),
    ({"local_window": 0}, "local_window must be at least 1"),
    ({"attn_pdrop": 1.0}, "attn_pdrop must be in [0, 1)"),
    ({"temperature": 0.0}, "temperature must be positive"),
    ({"temperature": float("nan")}, "temperature must be positive"),
    ({"logit_soft_cap": -1.0}, "logit_soft_cap must be positive"),
    ({"norm": "batch"}, "norm must be one of layer, rms"),
    ({"activation": "tanh"}, "activation must be one of gelu, gelu-tanh, relu2"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_impossible_configs_are_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LociError, match=re.escape(message)) as error:
        GPTConfig(**{"vocab_size": 256, **changes})
    assert "\n" not in str(error.value)


def test_an_unknown_variant_lists_the_known_ones() -> None:
    with pytest.raises(LociError, match="unknown variant 'vanila'") as error:
        VARIANTS["vanila"]
    for name in ("vanilla", "synthesizer", "rope", "perceiver-course", "perceiver", "folded", "naive"):
        assert name in str(error.value)


def test_a_plain_trunk_does_not_mind_a_bottleneck_it_has_not() -> None:
    assert GPTConfig(vocab_size=9, block_size=8).bottleneck_dim == 64


def test_configs_survive_plain_data_and_name_what_they_do_not_know() -> None:
    config = GPTConfig(vocab_size=9, attention="naive", learn_temperature=True, qk_width=4)
    assert GPTConfig.from_dict(config.to_dict()) == config
    with pytest.raises(LociError, match="unknown model field n_heads"):
        GPTConfig.from_dict({"vocab_size": 9, "n_heads": 2})


@pytest.mark.parametrize(
    ("field", "value"), [("n_layer", "4"), ("n_head", 2.0), ("qk_norm", 1), ("norm", None), ("n_embd", True)]
)
def test_plain_data_of_the_wrong_kind_is_named(field: str, value: Any) -> None:
    with pytest.raises(LociError, match=f"model field {field} cannot be {value!r}"):
        GPTConfig.from_dict({"vocab_size": 9, field: value})


def test_whole_numbers_may_stand_for_floats_and_nothing_for_an_option() -> None:
    assert GPTConfig.from_dict({"vocab_size": 9, "attn_pdrop": 0, "qk_width": None}).attn_pdrop == 0
    with pytest.raises(LociError, match="names its vocab_size"):
        GPTConfig.from_dict({"n_layer": 2})


def test_configs_of_before_the_newer_options_still_load() -> None:
    old = {"vocab_size": 9, "block_size": 16, "n_layer": 2, "n_head": 2, "n_embd": 8, "attention": "dot"}
    assert GPTConfig.from_dict(old).value_embeddings is False
