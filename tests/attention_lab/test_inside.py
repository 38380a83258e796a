"""What happens inside one model: states, rollout, lens, causal tracing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.lens import Lens, logit_lens
from loci.attention_lab.rollout import rollout
from loci.attention_lab.states import blocks_of, read_out, run_blocks
from loci.attention_lab.tracing import causal_trace
from loci.errors import LociError
from loci.model import GPT, GPTConfig


def tiny(**changes):
    config = GPTConfig(13, block_size=24, n_layer=3, n_head=2, n_embd=16).replace(**changes)
    return GPT(config, generator=torch.Generator().manual_seed(3)).eval()


def strong(**changes):
    """Weights large enough that noise in one place matters elsewhere."""
    model = tiny(**changes)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter *= 1 if name.startswith(("head", "ln_f")) else 12
        model.head.weight *= 10
    return model


IDS = torch.tensor([[2, 5, 7, 3, 1, 9, 4, 12]])


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
def test_the_last_state_reads_out_as_the_model_answers(changes):
    model = tiny(**changes)
    with torch.no_grad():
        states = run_blocks(model, IDS)
        assert len(states) == 4
        torch.testing.assert_close(read_out(model, states[-1]), model(IDS).logits)
        again = run_blocks(model, IDS, start=states[1], first=1)
        assert len(again) == 3
        torch.testing.assert_close(again[-1], states[-1])


def test_models_without_such_states_are_refused():
    with pytest.raises(LociError, match="perceiver trunk has no state"):
        blocks_of(tiny(trunk="perceiver", bottleneck_dim=4))
    with pytest.raises(LociError, match="25 characters do not fit"):
        run_blocks(tiny(), torch.zeros(1, 25, dtype=torch.long))


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
    first = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])  # both places look at the first
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


def test_the_lens_ends_with_the_model_s_own_answer():
    model = tiny()
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
    prompt, answer = IDS[0, :6], IDS[0, 6:]
    return causal_trace(model, prompt, answer, span, generator=torch.Generator().manual_seed(0), **options)


def test_tracing_restores_what_it_must():
    result = trace(strong(), draws=5)
    assert result.restored.shape == (4, 6)
    assert result.clean != pytest.approx(result.spoilt, rel=1e-3)
    # Putting back what was never spoilt changes nothing: embeddings outside the name, anything before it.
    torch.testing.assert_close(result.restored[0, 4:], torch.full((2,), result.spoilt, dtype=torch.float64))
    torch.testing.assert_close(result.restored[:, 0], torch.full((4,), result.spoilt, dtype=torch.float64))
    assert result.effect[:, 0].abs().max() < 1e-9


def test_restoring_the_only_spoilt_character_brings_everything_back():
    result = trace(strong(), span=(2, 3))
    assert result.restored[0, 2].item() == pytest.approx(result.clean)
    assert result.effect[0, 2].item() == pytest.approx(1)


def test_restoring_the_last_state_of_a_single_step_answer_brings_it_back():
    prompt, answer = IDS[0, :6], IDS[0, 6:7]
    result = causal_trace(strong(), prompt, answer, (1, 4), generator=torch.Generator().manual_seed(0))
    assert result.restored[-1, -1].item() == pytest.approx(result.clean)
    assert result.restored[-1, :-1].tolist() == pytest.approx([result.spoilt] * 5)  # nothing is read elsewhere


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
