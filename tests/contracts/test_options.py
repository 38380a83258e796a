"""The modern options, alone and together, at the points where they can matter."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from contract import CHECKS, TINY, build, cached_shared_prefix, gradients, prefixes_agree, reproducible, shapes

from loci.errors import LociError
from loci.model import GPT, VARIANTS

OPTIONS: dict[str, dict[str, Any]] = {
    "rms": {"norm": "rms"},
    "relu2": {"activation": "relu2"},
    "qk_norm": {"qk_norm": True},
    "zero_init": {"zero_init": True},
    "tied_head": {"tied_head": True},
    "logit_soft_cap": {"logit_soft_cap": 3.0},
    "value_embeddings": {"value_embeddings": True},
    "temperature": {"temperature": 0.5},
    "learn_temperature": {"learn_temperature": True},
    "qk_width": {"qk_width": 6},
    "up_scale": {"up_scale": 0.3},
    "all": {
        "norm": "rms",
        "activation": "relu2",
        "qk_norm": True,
        "zero_init": True,
        "tied_head": True,
        "logit_soft_cap": 15.0,
        "value_embeddings": True,
        "learn_temperature": True,
    },
}
NAMES = ("vanilla", "rope", "synthesizer", "synthesizer-mixed", "naive", "perceiver-course", "perceiver")
MATTERS = dict.fromkeys(("qk_norm", "temperature", "learn_temperature", "qk_width"), set(NAMES) - {"synthesizer"})
MATTERS |= {"value_embeddings": set(NAMES), "all": set(NAMES), "up_scale": {"perceiver-course"}}
PAIRS = [
    (name, option) for option in OPTIONS for name in NAMES if name in MATTERS.get(option, {"vanilla", "perceiver"})
]


#: What an option can break; the rest is the same code at every config.
BREAKABLE = [check for check in CHECKS if check not in (shapes, prefixes_agree, cached_shared_prefix, reproducible)]


@cache
def model_with(variant: str, option: str) -> GPT:
    return build(VARIANTS[variant].apply(TINY).replace(**OPTIONS[option]))


@pytest.mark.parametrize(("variant", "option"), PAIRS)
def test_every_option_honours_the_contract(variant: str, option: str) -> None:
    for check in BREAKABLE:
        check(model_with(variant, option))


@pytest.mark.parametrize(
    "option", ["qk_norm", "temperature", "learn_temperature", "qk_width"], ids=lambda option: option
)
def test_folded_attention_refuses_what_would_come_between_the_projections(option: str) -> None:
    with pytest.raises(LociError, match="fold"):
        VARIANTS["folded"].apply(TINY).replace(**OPTIONS[option])


@pytest.mark.parametrize("check", BREAKABLE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("option", ["rms", "zero_init", "tied_head", "value_embeddings"])
def test_folded_attention_takes_the_others(check: Callable[[GPT], None], option: str) -> None:
    check(model_with("folded", option))


@pytest.mark.parametrize(
    ("bottleneck_dim", "local_window"), [(2, 1), (2, 5), (5, 1), (5, 2), (5, 40), (12, 1), (13, 2)]
)
def test_our_perceiver_at_many_ratios_of_latents_window_and_block(bottleneck_dim: int, local_window: int) -> None:
    config = VARIANTS["perceiver"].apply(TINY).replace(bottleneck_dim=bottleneck_dim, local_window=local_window)
    model = build(config)
    for check in CHECKS:
        check(model)


def test_one_latent_sees_one_character_so_only_its_queries_cannot_learn() -> None:
    model = build(VARIANTS["perceiver"].apply(TINY).replace(bottleneck_dim=1))
    for check in set(CHECKS) - {gradients}:
        check(model)


@pytest.mark.parametrize("n_layer", [2, 4])
@pytest.mark.parametrize("variant", ["perceiver", "perceiver-course"])
def test_a_perceiver_with_no_block_between_and_with_two(variant: str, n_layer: int) -> None:
    model = build(VARIANTS[variant].apply(TINY).replace(n_layer=n_layer))
    for check in CHECKS:
        check(model)
