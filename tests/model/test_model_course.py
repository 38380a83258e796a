"""The published configuration stays what it was: parameter counts, start, forward pass."""

from __future__ import annotations

import hashlib
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from loci.model import GPT, VARIANTS, GPTConfig

COURSE = GPTConfig(vocab_size=256)
PUBLISHED = {"vanilla": 3_323_392, "synthesizer": 3_076_988, "perceiver-course": 3_339_776, "rope": 3_290_624}


@pytest.mark.parametrize(("variant", "count"), PUBLISHED.items())
def test_published_parameter_counts(variant: str, count: int) -> None:
    assert GPT(VARIANTS[variant].apply(COURSE)).n_parameters() == count


def test_the_start_of_the_course_model_is_golden() -> None:
    model = GPT(COURSE, generator=torch.Generator().manual_seed(0)).eval()
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.numpy().tobytes())
    assert digest.hexdigest() == "bf0a9a7f3447773a86bcfc9d9c4678dc5e7334b2573d4590bc4776b9bdfb6785"
    with torch.no_grad():
        logits = model(torch.arange(127)[None] * 7 % 256).logits
    golden = torch.tensor([-0.0535205565, -0.4207879007, -0.6528679729, -0.1158943400])
    torch.testing.assert_close(logits[0, 126, :4], golden, rtol=0, atol=1e-5)


def test_the_parameter_names_that_others_rely_on() -> None:
    block: tuple[str, ...] = (
        "ln1.weight",
        "ln1.bias",
        "attn.qkv.weight",
        "attn.qkv.bias",
        "attn.proj.weight",
        "attn.proj.bias",
    )
    block += ("ln2.weight", "ln2.bias", "mlp.up.weight", "mlp.up.bias", "mlp.down.weight", "mlp.down.bias")
    names = ["tok_emb.weight", "positions.pos_emb"]
    names += [f"trunk.blocks.{layer}.{part}" for layer in range(4) for part in block]
    names += ["ln_f.weight", "ln_f.bias", "head.weight"]
    assert list(GPT(COURSE).state_dict()) == names


def written_out_block(state: dict[str, Tensor], prefix: str, x: Tensor, attended: Tensor) -> Tensor:
    x = x + attended
    y = F.layer_norm(x, x.shape[-1:], state[f"{prefix}ln2.weight"], state[f"{prefix}ln2.bias"])
    y = F.gelu(y @ state[f"{prefix}mlp.up.weight"].T + state[f"{prefix}mlp.up.bias"])
    return x + y @ state[f"{prefix}mlp.down.weight"].T + state[f"{prefix}mlp.down.bias"]


def written_out_heads(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, heads: int) -> Tensor:
    out = []
    for part_q, part_k, part_v in zip(*(part.chunk(heads, dim=-1) for part in (q, k, v)), strict=True):
        scores = part_q @ part_k.transpose(1, 2) / math.sqrt(part_q.shape[-1])
        out.append(scores.masked_fill(~mask, -torch.inf).softmax(-1) @ part_v)
    return torch.cat(out, dim=-1)


def test_vanilla_is_the_published_mathematics_written_out() -> None:
    config = GPTConfig(vocab_size=13, block_size=9, n_layer=2, n_head=2, n_embd=6)
    model = GPT(config, generator=torch.Generator().manual_seed(1)).double().eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.5, generator=torch.Generator().manual_seed(parameter.numel()))
    state = model.state_dict()
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])
    x = state["tok_emb.weight"][ids] + state["positions.pos_emb"][:, :8]
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    for layer in range(2):
        prefix = f"trunk.blocks.{layer}."
        y = F.layer_norm(x, (6,), state[f"{prefix}ln1.weight"], state[f"{prefix}ln1.bias"])
        q, k, v = (y @ state[f"{prefix}attn.qkv.weight"].T + state[f"{prefix}attn.qkv.bias"]).split(6, dim=-1)
        mixed = written_out_heads(q, k, v, mask, 2)
        attended = mixed @ state[f"{prefix}attn.proj.weight"].T + state[f"{prefix}attn.proj.bias"]
        x = written_out_block(state, prefix, x, attended)
    expected = F.layer_norm(x, (6,), state["ln_f.weight"], state["ln_f.bias"]) @ state["head.weight"].T
    torch.testing.assert_close(model(ids).logits, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [3, 5, 8])
@pytest.mark.parametrize(("up_scale", "bare"), [(1.0, False), (0.25, False), (1.0, True)])
def test_the_course_perceiver_is_the_published_mathematics_written_out(
    length: int, up_scale: float, bare: bool
) -> None:
    """All m latents, masks tril[:m, :T] and tril[:T, :m]: also where the text is shorter than the bottleneck."""
    m, d = 5, 6
    config = GPTConfig(vocab_size=13, block_size=9, n_layer=3, n_head=2, n_embd=d, bottleneck_dim=m, up_scale=up_scale)
    model = GPT(VARIANTS["perceiver-course-bare" if bare else "perceiver-course"].apply(config)).double().eval()
    for index, parameter in enumerate(model.parameters()):
        parameter.data.normal_(0, 0.5, generator=torch.Generator().manual_seed(index))
    state = model.state_dict()

    def cross(prefix: str, queries: Tensor, context: Tensor) -> Tensor:
        q = queries @ state[f"{prefix}query.weight"].T + state[f"{prefix}query.bias"]
        k, v = (context @ state[f"{prefix}key_value.weight"].T + state[f"{prefix}key_value.bias"]).split(d, dim=-1)
        mask = torch.ones(9, 9, dtype=torch.bool).tril()[: queries.shape[1], : context.shape[1]]
        mixed = written_out_heads(q, k, v, mask, 2)
        return mixed @ state[f"{prefix}proj.weight"].T + state[f"{prefix}proj.bias"]

    def norm(name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, (d,), state[f"{name}.weight"], state[f"{name}.bias"])

    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])[:, :length]
    x_input = state["tok_emb.weight"][ids] + state["positions.pos_emb"][:, :length]
    basis = state["trunk.down_block.basis"].expand(2, -1, -1)
    context = norm("trunk.down_block.ln1", x_input) if bare else x_input
    attended = cross("trunk.down_block.attn.", norm("trunk.down_block.ln1", basis), context)
    latents = written_out_block(state, "trunk.down_block.", 0 * basis if bare else basis, attended)
    y = norm("trunk.blocks.0.ln1", latents)
    q, k, v = (y @ state["trunk.blocks.0.attn.qkv.weight"].T + state["trunk.blocks.0.attn.qkv.bias"]).split(d, dim=-1)
    mixed = written_out_heads(q, k, v, torch.ones(m, m, dtype=torch.bool).tril(), 2)
    attended = mixed @ state["trunk.blocks.0.attn.proj.weight"].T + state["trunk.blocks.0.attn.proj.bias"]
    latents = written_out_block(state, "trunk.blocks.0.", latents, attended)
    queries = norm("trunk.up_block.ln1", x_input) if bare else x_input
    attended = up_scale * cross("trunk.up_block.attn.", queries, norm("trunk.up_block.ln1", latents))
    x = written_out_block(state, "trunk.up_block.", 0 * x_input if bare else x_input, attended)
    torch.testing.assert_close(model(ids).logits, norm("ln_f", x) @ state["head.weight"].T, rtol=0, atol=1e-12)


def test_zero_initialised_projections_make_every_block_the_identity() -> None:
    for variant in ("vanilla", "rope", "synthesizer", "folded", "synthesizer-mixed"):
        model = GPT(VARIANTS[variant].apply(COURSE.replace(zero_init=True, n_layer=2))).eval()
        x = torch.randn(1, 5, 256, generator=torch.Generator().manual_seed(0))
        assert torch.equal(model.trunk(x), x)


def test_a_built_model_leaves_the_global_generator_alone() -> None:
    before = torch.random.get_rng_state()
    GPT(COURSE.replace(n_layer=1), generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.random.get_rng_state(), before)
