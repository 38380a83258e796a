from __future__ import annotations

from collections.abc import Callable, Iterator

import contract
import pytest
from contract import CHECKS, TINY, build, valid_points
from toy_decay import DeafAttention, DecayAttention, LeakyAttention, ShortAttention

from loci.errors import LociError
from loci.model import GPT
from loci.model.attention import ATTENTIONS


@pytest.fixture
def registered() -> Iterator[None]:
    ATTENTIONS.add("decay", DecayAttention)
    yield
    ATTENTIONS.remove("decay")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_new_variant_is_one_file_and_one_line(check: Callable[[GPT], None]) -> None:
    points = [point for point in valid_points() if point[0] == "decay"]
    assert len(points) == 9
    for attention, positions, trunk in points:
        check(build(TINY.replace(attention=attention, positions=positions, trunk=trunk)))


def test_its_name_is_unknown_again_and_the_error_lists_the_known_ones() -> None:
    with pytest.raises(LociError, match=r"unknown attention 'decay' \(one of: dot, synthesizer, .*naive\)"):
        TINY.replace(attention="decay")


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (LeakyAttention, contract.causal),
        (LeakyAttention, contract.prefixes_agree),
        (LeakyAttention, contract.cached),
        (ShortAttention, contract.receptive_field),
        (ShortAttention, contract.named),
        (DeafAttention, contract.ablated),
        (DeafAttention, contract.patched),
    ],
    ids=lambda value: value.__name__,
)
def test_the_contract_catches_a_leak_and_a_blindness(
    broken: type[DecayAttention], check: Callable[[GPT], None]
) -> None:
    ATTENTIONS.add("broken", broken)
    try:
        with pytest.raises(AssertionError):
            check(build(TINY.replace(attention="broken")))
    finally:
        ATTENTIONS.remove("broken")
