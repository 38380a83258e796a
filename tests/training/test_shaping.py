import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.training.shaping import focus, near, pointer, pointer_layer

# One row, one head, three places.
EVEN = torch.tensor([[[[1.0, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]]])
FIRST = torch.tensor([[[[1.0, 0, 0], [1, 0, 0], [1, 0, 0]]]])
SELF = torch.eye(3)[None, None]


def test_focus_by_hand():
    assert focus((EVEN,)).item() == pytest.approx((0 + math.log(2) + math.log(3)) / 3)
    assert focus((FIRST,)).item() == 0
    assert focus((EVEN, SELF)).item() == pytest.approx((math.log(2) + math.log(3)) / 6)


def test_near_by_hand():
    # Looking at the first place costs 0, 1 and 4; the last layer is free.
    assert near((FIRST, SELF), l_max=100).item() == pytest.approx(5 / 3)
    assert near((FIRST, SELF), l_max=3).item() == pytest.approx((0 + 1 + 3) / 3)
    assert near((SELF, FIRST), l_max=100).item() == 0
    assert near((EVEN, SELF), l_max=100).item() == pytest.approx((0 + 0.5 + 5 / 3) / 3)
    assert near((FIRST, SELF, FIRST), l_max=100).item() == pytest.approx(5 / 6)
    assert near((FIRST,), l_max=1).item() == 0


def test_pointer_by_hand():
    # The last position was copied from the first; nothing else was copied.
    copied = torch.tensor([[-1, -1, 0]])
    assert pointer(EVEN, copied).item() == pytest.approx(math.log(3))
    assert pointer(FIRST, copied).item() == 0
    assert pointer(torch.cat([EVEN, FIRST], dim=1), copied).item() == pytest.approx(math.log(3))  # one head
    assert pointer(EVEN, torch.full((1, 3), -1)).item() == 0
    assert pointer(EVEN[..., :2], copied).item() == 0  # latents are no characters
    assert [pointer_layer(n) for n in (1, 2, 4)] == [0, 0, 2]  # the last but one, where there is one


def test_heads_and_rows_weigh_the_same():
    two_heads = torch.cat([FIRST, SELF], dim=1)
    two_rows = torch.cat([FIRST, SELF], dim=0)
    assert near((two_heads, SELF), l_max=100).item() == pytest.approx(5 / 6)
    assert near((two_rows, SELF), l_max=100).item() == pytest.approx(5 / 6)


def test_only_positions_that_count_enter():
    counts = torch.tensor([[True, True, False]])
    assert focus((EVEN,), counts).item() == pytest.approx(math.log(2) / 2)
    assert near((FIRST, SELF), 100, counts).item() == pytest.approx(0.5)
    assert focus((EVEN,), torch.zeros(1, 3, dtype=torch.bool)).item() == 0


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 7), st.floats(0.1, 50), st.integers(0, 99))
def test_bounds(layers, heads, width, l_max, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(layers, 2, heads, width, width, generator=generator)
    trace = tuple(scores.masked_fill(~torch.ones(width, width).tril().bool(), -torch.inf).softmax(-1))
    most = sum(math.log(t) for t in range(1, width + 1)) / width
    assert -1e-6 <= focus(trace).item() <= most + 1e-6
    assert 0 <= near(trace, l_max).item() <= l_max + 1e-5


def trained_gradients(term):
    config = GPTConfig(11, block_size=8, n_layer=2, n_head=2, n_embd=8, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0)
    model = GPT(config, generator=torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(10)  # as started, attention is so flat that there is hardly a slope
    ids = torch.arange(8)[None]
    before = term(model(ids, trace=True).trace)
    before.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                assert torch.isfinite(parameter.grad).all()
                parameter.sub_(parameter.grad, alpha=0.01)
        after = term(model(ids, trace=True).trace)
    return before.item(), after.item()


@pytest.mark.parametrize("term", [focus, lambda trace: near(trace, 100.0)], ids=["focus", "near"])
def test_gradients_are_finite_past_the_mask_and_lead_downhill(term):
    before, after = trained_gradients(term)
    assert after < before


def test_beyond_l_max_there_is_no_pull():
    weights = FIRST.clone().requires_grad_()
    near((weights, SELF), l_max=2.0).backward()
    assert weights.grad[0, 0, 2].abs().sum() == 0  # cost 4, beyond 2
    assert weights.grad[0, 0, 1].abs().sum() > 0


def test_bad_input_is_refused():
    with pytest.raises(LociError, match="L_max must be positive"):
        near((FIRST, SELF), 0.0)
    with pytest.raises(LociError, match="attends from 2 to 3 positions"):
        near((torch.ones(1, 1, 2, 3) / 3, SELF), 1.0)
    with pytest.raises(AssertionError, match="at least one layer"):
        focus(())
