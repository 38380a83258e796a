import pytest
import torch

from loci.data.example import IGNORED
from loci.model import GPT, GPTConfig
from loci.training.loss import next_character_loss
from loci.training.plan import MixtureComponent, Stage
from loci.training.shaping import focus, near, pointer, pointer_layer


@pytest.fixture
def model():
    return GPT(
        GPTConfig(12, block_size=16, n_layer=2, n_head=2, n_embd=16), generator=torch.Generator().manual_seed(0)
    ).eval()


X = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
Y = torch.tensor([[IGNORED, 5, 6, 7], [8, 9, IGNORED, IGNORED]])


def stage(**changes):
    return Stage("s", (MixtureComponent("language-model"),), steps=1, **changes)


def test_only_counted_positions_enter_and_the_mean_is_over_them(model):
    log_p = model(X).logits.log_softmax(-1)
    chosen = [log_p[0, 1, 5], log_p[0, 2, 6], log_p[0, 3, 7], log_p[1, 0, 8], log_p[1, 1, 9]]
    loss = next_character_loss(model, X, Y)
    assert loss.total.item() == pytest.approx(-sum(p.item() for p in chosen) / 5, rel=1e-5)
    assert loss.total is loss.language


def test_padding_changes_nothing(model):
    wide_x = torch.nn.functional.pad(X, (0, 5))
    wide_y = torch.nn.functional.pad(Y, (0, 5), value=IGNORED)
    assert next_character_loss(model, wide_x, wide_y).total.item() == pytest.approx(
        next_character_loss(model, X, Y).total.item(), rel=1e-5
    )


def test_the_pointer_term_comes_with_what_was_copied(model):
    copied = torch.tensor([[-1, -1, 0, 1], [-1, 0, -1, -1]])
    loss = next_character_loss(model, X, Y, stage(pointer=0.5), copied)
    assert (loss.total - loss.language).item() == pytest.approx(
        0.5 * pointer(model(X, trace=True).trace[pointer_layer(model.config.n_layer)], copied).item(), rel=1e-4
    )
    assert next_character_loss(model, X, Y, stage(pointer=0.5), None).total.item() == pytest.approx(
        loss.language.item(), rel=1e-5
    )


def test_shaping_adds_its_terms_from_the_same_forward(model):
    trace = model(X, trace=True).trace
    places = X != 0
    loss = next_character_loss(model, X, Y, stage(focus=0.5, near=0.25, near_max=4.0))
    expected = 0.5 * focus(trace, places) + 0.25 * near(trace, 4.0, places)
    assert (loss.total - loss.language).item() == pytest.approx(expected.item(), rel=1e-4)
    assert loss.language.item() == pytest.approx(next_character_loss(model, X, Y).total.item(), rel=1e-5)
    loss.total.backward()
    assert model.trunk.blocks[0].attn.qkv.weight.grad.abs().sum() > 0
