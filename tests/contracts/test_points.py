from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from contract import CHECKS, TINY, build, valid_points

from loci.model import GPT, VARIANTS

POINTS = valid_points()


@cache
def model_at(point: tuple[str, str, str]) -> GPT:
    attention, positions, trunk = point
    return build(TINY.replace(attention=attention, positions=positions, trunk=trunk))


@pytest.mark.parametrize("point", POINTS, ids=" × ".join)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_point_honours_the_contract(check: Callable[[GPT], None], point: tuple[str, str, str]) -> None:
    check(model_at(point))


def test_every_name_on_every_axis_and_every_variant_is_among_the_points() -> None:
    from loci.model.attention import ATTENTIONS
    from loci.model.positions import POSITIONS
    from loci.model.trunk import TRUNKS

    assert {point[0] for point in POINTS} == set(ATTENTIONS)
    assert {point[1] for point in POINTS} == set(POSITIONS)
    assert {point[2] for point in POINTS} == set(TRUNKS)
    for name in VARIANTS:
        config = VARIANTS[name].apply(TINY)
        assert (config.attention, config.positions, config.trunk) in POINTS


def test_only_attention_without_queries_and_keys_refuses_rotation() -> None:
    refused = {point[0] for point in valid_points()} - {point[0] for point in valid_points() if point[1] == "rope"}
    assert refused == {"synthesizer", "synthesizer-random", "synthesizer-factorised", "folded"}
