"""What happens inside one model: states, rollout, lens, causal tracing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.looking import Lens, causal_trace, layer_names, logit_lens, rollout
from loci.errors import LociError
from loci.model import GPT, GPTConfig


def tiny(**changes):
    config = GPTConfig(13, block_size=24, n_layer=3, n_head=2, n_embd=16).replace(**changes)
    return GPT(config, generator=torch.Generator().manual_seed(3)).eval()


def strong(**changes):
    """Weights large enough that noise at one position matters elsewhere."""
    model = tiny(**changes)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter *= 1 if name.startswith(("head", "ln_f")) else 12
        model.head.weight *= 10
    return model


IDS = torch.tensor([[2, 5, 7, 3, 1, 9, 4, 12]])


def test_models_without_a_state_for_each_character_are_refused():
    with pytest.raises(LociError, match="perceiver trunk has no state"):
        layer_names(tiny(trunk="perceiver", bottleneck_dim=4))
    with pytest.raises(LociError, match="25 characters do not fit"):
        logit_lens(tiny(), torch.zeros(25, dtype=torch.long), IDS[0, :1])


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 8), st.floats(0, 1), st.integers(0, 99))
def test_rollout_rows_are_distributions_over_the_past(layers, heads, width, residual, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(layers, 2, heads, width, width, generator=generator)
    trace = tuple(scores.masked_fill(~torch.ones(width, width).tril().bool(), -torch.inf).softmax(-1))
    flows = rollout(trace, residual)
    assert flows.shape == (layers, 2, width, width)
    torch.testing.assert_close(flows.sum(-1), torch.ones(layers, 2, width))
    assert (flows >= 0).all()
    assert (flows.triu(1) == 0).all()


def test_rollout_by_hand():
    first = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])  # both positions look at the first
    second = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])  # each at itself
    flows = rollout((first, second))
    assert flows[0, 0].tolist() == [[1, 0], [0.5, 0.5]]
    assert flows[1, 0].tolist() == [[1, 0], [0.5, 0.5]]
    again = rollout((first, first))
    assert again[1, 0].tolist() == [[1, 0], [0.75, 0.25]]
    assert rollout((first, first), residual=0.0)[1, 0].tolist() == [[1, 0], [1, 0]]


def test_rollout_refuses():
    with pytest.raises(LociError, match="between 0 and 1"):
        rollout((torch.ones(1, 1, 1, 1),), residual=1.5)
    with pytest.raises(LociError, match="characters to characters"):
        rollout((torch.ones(1, 1, 2, 3) / 3,))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": "rope"},
        {"value_embeddings": True},
        {"norm": "rms", "logit_soft_cap": 5.0},
        {"tied_head": True},
    ],
)
def test_the_lens_ends_with_the_model_s_own_answer(changes):
    model = tiny(**changes)
    prompt, answer = IDS[0, :5], IDS[0, 5:]
    lens = logit_lens(model, prompt, answer)
    with torch.no_grad():
        probabilities = model(IDS).logits[0, 4:-1].double().softmax(-1)
    torch.testing.assert_close(lens.probability[-1], probabilities.gather(-1, answer[:, None])[:, 0])
    assert lens.best[-1].tolist() == probabilities.argmax(-1).tolist()
    torch.testing.assert_close(lens.best_probability[-1], probabilities.max(-1).values)
    above = (probabilities > probabilities.gather(-1, answer[:, None])).sum(-1)
    assert lens.rank[-1].tolist() == above.tolist()
    assert lens.probability.shape == (4, 3)


def test_where_an_answer_appears():
    ranks = torch.tensor([[3, 0, 2, 0], [0, 5, 1, 0], [0, 0, 1, 0]])
    zeros = torch.zeros(3, 4)
    assert Lens(zeros.double(), ranks, ranks, zeros.double()).appears == [1, 2, None, 0]


def test_the_lens_refuses_nothing_to_look_at():
    with pytest.raises(LociError, match="at least one character each"):
        logit_lens(tiny(), IDS[0], IDS[0, :0])


def trace(model, span=(1, 4), **options):
    return causal_trace(model, IDS[0, :6], 4, span, generator=torch.Generator().manual_seed(0), **options)


def test_tracing_restores_what_it_must():
    result = trace(strong(), draws=5)
    assert result.restored.shape == (4, 6, 5)
    assert result.lost != pytest.approx(0, abs=1e-3)
    # Putting back what was never corrupted changes nothing: embeddings after the name, anything before it.
    torch.testing.assert_close(result.restored[0, 4:], result.corrupted.expand(2, -1))
    torch.testing.assert_close(result.restored[:, 0], result.corrupted.expand(4, -1))
    effect = result.effect(result.restored)
    assert effect[:, 0].abs().max() < 1e-9
    assert (result.error(result.restored)[1:3, 1:4] > 0).all()


def test_restoring_the_whole_name_brings_everything_back():
    result = trace(strong())
    assert result.groups == ("the whole name", "after the name", "the last position")
    assert result.restored_groups.shape == (4, 3, 8)
    effect = result.effect(result.restored_groups)
    assert result.error(result.restored_groups)[0].tolist() == pytest.approx([0, 0, 0])  # a certain share
    assert effect[0].tolist() == pytest.approx([1, 0, 0])  # at the embedding the name is all that was corrupted
    assert effect[-1].tolist() == pytest.approx([0, 0, 1])  # at the end only the last position is read
    assert effect[1:-1, 0].tolist() != pytest.approx([1, 1])


def test_a_name_at_the_end_of_the_prompt_has_nothing_after_it():
    result = trace(strong(), span=(4, 6))
    assert result.groups == ("the whole name", "the last position")


def test_tracing_is_as_its_generator_says():
    model = strong(positions="rope")
    assert torch.equal(trace(model).restored, trace(model).restored)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"span": (3, 3)}, "must lie in the prompt"),
        ({"span": (0, 7)}, "must lie in the prompt"),
        ({"noise": 0.0}, "noise must be positive"),
        ({"draws": 0}, "draws must be at least 1"),
    ],
)
def test_tracing_refuses(options, message):
    with pytest.raises(LociError, match=message):
        trace(tiny(), **options)
