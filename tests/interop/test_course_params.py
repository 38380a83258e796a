from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from course_reference import reference_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.interop.course_params import (
    COURSE_VARIANTS,
    course_names,
    course_variant,
    from_course,
    rope_table,
    to_course,
    variant_of,
)
from loci.model import GPT, VARIANTS, GPTConfig

SMALL: dict[str, Any] = {
    "vocab_size": 11,
    "block_size": 12,
    "n_layer": 3,
    "n_head": 4,
    "n_embd": 16,
    "bottleneck_dim": 5,
}


def small_config(variant: str) -> GPTConfig:
    return VARIANTS[COURSE_VARIANTS[variant]].apply(GPTConfig(**SMALL))


def random_model(config: GPTConfig, seed: int = 0) -> GPT:
    """Every parameter random, so that a bias or norm that goes to the wrong place shows."""
    generator = torch.Generator().manual_seed(seed)
    model = GPT(config, generator=generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.3, generator=generator)
    return model.eval()


def random_ids(config: GPTConfig, width: int) -> torch.Tensor:
    return torch.randint(config.vocab_size, (3, width), generator=torch.Generator().manual_seed(1))


def test_published_names_and_shapes_of_vanilla() -> None:
    state = to_course(GPT(GPTConfig(vocab_size=256)))
    shapes_of: dict[str, Any] = {
        "ln1": [(256,), (256,)],
        "ln2": [(256,), (256,)],
        **{f"attn.{name}": [(256, 256), (256,)] for name in ("key", "query", "value", "proj")},
        "mlp.0": [(1024, 256), (1024,)],
        "mlp.2": [(256, 1024), (256,)],
    }
    block: dict[str, Any] = {
        f"{part}.{kind}": shape
        for part, shapes in shapes_of.items()
        for kind, shape in zip(("weight", "bias"), shapes, strict=True)
    }
    block["attn.mask"] = (1, 1, 128, 128)
    expected = {
        "tok_emb.weight": (256, 256),
        "pos_emb": (1, 128, 256),
        "ln_f.weight": (256,),
        "ln_f.bias": (256,),
        "head.weight": (256, 256),
        **{f"blocks.{layer}.{name}": shape for layer in range(4) for name, shape in block.items()},
    }
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == expected
    weights = sum(tensor.numel() for name, tensor in state.items() if not name.endswith(".mask"))
    assert weights == 3_323_392
    assert torch.equal(state["blocks.3.attn.mask"], torch.tril(torch.ones(128, 128))[None, None])


@pytest.mark.parametrize(
    ("variant", "count"), [("synthesizer", 3_076_988), ("perceiver", 3_339_776), ("rope", 3_290_624)]
)
def test_published_counts_of_the_other_variants(variant: str, count: int) -> None:
    config = VARIANTS[COURSE_VARIANTS[variant]].apply(GPTConfig(vocab_size=256, bottleneck_dim=64))
    state = to_course(GPT(config))
    buffers = ("attn.mask", "attn.rope_cache")
    assert sum(tensor.numel() for name, tensor in state.items() if not name.endswith(buffers)) == count


def test_names_that_only_some_variants_have() -> None:
    synthesizer = to_course(GPT(small_config("synthesizer")))
    assert {name for name in synthesizer if name.startswith("blocks.0.attn.")} == {
        *(f"blocks.0.attn.{part}.{kind}" for part in ("w1", "value", "proj") for kind in ("weight", "bias")),
        *(f"blocks.0.attn.{part}" for part in ("w2", "b2", "mask")),
    }
    assert synthesizer["blocks.0.attn.w2"].shape == (4, 11)
    rope = to_course(GPT(small_config("rope")))
    assert "pos_emb" not in rope
    assert rope["blocks.2.attn.rope_cache"].shape == (12, 2, 2)
    perceiver = to_course(GPT(small_config("perceiver")))
    assert perceiver["down_block.C"].shape == (1, 5, 16)
    assert perceiver["blocks.0.attn.mask"].shape == (1, 1, 5, 5)
    assert perceiver["up_block.attn.mask"].shape == (1, 1, 12, 12)
    for block in ("down_block", "up_block"):
        for part in ("query", "key", "value", "proj"):
            assert perceiver[f"{block}.attn.{part}.weight"].shape == (16, 16)
    assert "blocks.1.ln1.weight" not in perceiver  # three layers: one between down and up


@pytest.mark.parametrize("variant", COURSE_VARIANTS)
def test_round_trip_keeps_every_bit(variant: str) -> None:
    model = random_model(small_config(variant))
    state = to_course(model)
    back = from_course(state, model.config)
    assert variant_of(state) == variant
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, back.state_dict()[name]), name
    ids = random_ids(model.config, 9)
    with torch.no_grad():
        assert torch.equal(model(ids).logits, back(ids).logits)
    assert all(torch.equal(tensor, to_course(back)[name]) for name, tensor in state.items())


@pytest.mark.parametrize("variant", ["vanilla", "rope", "synthesizer"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), width=st.integers(1, 11))
def test_a_plain_reference_agrees(variant: str, seed: int, width: int) -> None:
    model = random_model(small_config(variant), seed)
    ids = random_ids(model.config, width)
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, reference_logits(to_course(model), ids, 4), atol=1e-5, rtol=1e-5)


def test_a_plain_reference_agrees_at_the_published_size() -> None:
    model = GPT(GPTConfig(vocab_size=256), generator=torch.Generator().manual_seed(0)).eval()
    ids = random_ids(model.config, 128)
    with torch.no_grad():
        assert (model(ids).logits - reference_logits(to_course(model), ids, 8)).abs().max() < 1e-5


def test_the_reference_reads_what_the_course_writes() -> None:
    """The other way: weights that never were ours, with the published names, give the reference's logits."""
    generator = torch.Generator().manual_seed(5)
    config = small_config("vanilla")
    state = {
        name: torch.randn(tensor.shape, generator=generator) / 4 if not name.endswith("mask") else tensor
        for name, tensor in to_course(GPT(config)).items()
    }
    ids = random_ids(config, 12)
    with torch.no_grad():
        torch.testing.assert_close(
            from_course(state, config)(ids).logits, reference_logits(state, ids, 4), atol=1e-5, rtol=1e-5
        )


def test_rotations_are_cosine_and_sine_of_place_times_frequency() -> None:
    table = rope_table(8, 6)
    assert table.shape == (6, 4, 2)
    for place in range(6):
        for pair in range(4):
            angle = place * 10_000 ** (-2 * pair / 8)
            expected = torch.tensor([math.cos(angle), math.sin(angle)])
            torch.testing.assert_close(table[place, pair], expected)


def test_fused_rows_are_query_key_value_in_this_order() -> None:
    assert course_names("trunk.blocks.2.attn.qkv.bias") == tuple(
        f"blocks.2.attn.{part}.bias" for part in ("query", "key", "value")
    )
    assert course_names("positions.pos_emb") == ("pos_emb",)


@pytest.mark.parametrize("name", ["attn", "cattn", "cross_attn"])
def test_students_names_for_cross_attention_are_read(name: str) -> None:
    model = random_model(small_config("perceiver"))
    state = {key.replace("_block.attn.", f"_block.{name}."): tensor for key, tensor in to_course(model).items()}
    assert torch.equal(from_course(state, model.config).head.weight, model.head.weight)


def test_tolerant_reading() -> None:
    model = random_model(small_config("rope"))
    state = to_course(model)
    without_buffers = {name: tensor for name, tensor in state.items() if not name.endswith(("mask", "rope_cache"))}
    wrapped = {f"module.{name}": tensor for name, tensor in state.items()}
    flat_mask = {name: tensor[0, 0].bool() if name.endswith("mask") else tensor for name, tensor in state.items()}
    double = {name: tensor.double() for name, tensor in state.items()}
    for variation in (without_buffers, wrapped, flat_mask, double):
        back = from_course(variation, model.config)
        assert all(torch.equal(tensor, back.state_dict()[name]) for name, tensor in model.state_dict().items())
        assert back.head.weight.dtype == torch.float32
        assert not back.training


def changed(state: dict[str, torch.Tensor], name: str, tensor: torch.Tensor | None) -> dict[str, torch.Tensor]:
    rest = {key: value for key, value in state.items() if key != name}
    return rest if tensor is None else {**rest, name: tensor}


@pytest.mark.parametrize(
    ("variant", "name", "tensor", "said"),
    [
        ("vanilla", "ln_f.bias", None, "lacks ln_f.bias"),
        ("vanilla", "blocks.0.attn.extra", torch.ones(2), "holds the unknown blocks.0.attn.extra"),
        ("vanilla", "tok_emb.weight", torch.ones(256, 16), "256 symbols, this corpus has 11"),
        ("vanilla", "pos_emb", torch.ones(1, 64, 16), "block_size of 64, not 12"),
        ("vanilla", "head.weight", torch.ones(11, 15), r"head.weight has the shape \(11, 15\)"),
        ("vanilla", "ln_f.bias", torch.full((16,), math.nan), "ln_f.bias holds values that are no numbers"),
        ("vanilla", "ln_f.bias", torch.ones(16).long(), "ln_f.bias holds int64 numbers, weights are floats"),
        ("vanilla", "pos_emb", None, "holds a rope model, not vanilla"),
        ("vanilla", "tok_emb.weight", None, "none of the course's models"),
        ("vanilla", "blocks.0.attn.mask", torch.ones(1, 1, 12, 12), "differs from the published one"),
        ("vanilla", "blocks.0.attn.mask", torch.ones(1, 1, 9, 9).tril(), "block_size"),
        ("vanilla", "blocks.0.attn.rope_cache", torch.ones(12, 2, 2), "holds the unknown blocks.0.attn.rope_cache"),
        ("rope", "blocks.0.attn.rope_cache", torch.ones(12, 2, 2), "differs from the published one"),
        ("rope", "pos_emb", torch.zeros(1, 12, 16), "holds a vanilla model, not rope"),
        ("perceiver", "down_block.C", torch.ones(1, 8, 16), "bottleneck of 8, not 5.*--bottleneck_dim 8"),
        ("synthesizer", "blocks.0.attn.w2", torch.ones(4, 12), "blocks.0.attn.w2 has the shape"),
    ],
)
def test_what_does_not_fit_is_named(variant: str, name: str, tensor: torch.Tensor | None, said: str) -> None:
    config = small_config(variant)
    state = changed(to_course(GPT(config)), name, tensor)
    with pytest.raises(LociError, match=said):
        from_course(state, config)


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": "relu2"},
        {"qk_norm": True},
        {"tied_head": True},
        {"positions": "none"},
        {"norm": "rms"},
        {"attention": "synthesizer", "positions": "none"},
    ],
)
def test_models_that_the_course_lacks_are_not_written(changes: dict[str, object]) -> None:
    with pytest.raises(LociError, match="the course has no model with"):
        to_course(GPT(GPTConfig(**SMALL).replace(**changes)))


def test_dropout_and_start_make_no_other_model() -> None:
    assert course_variant(GPTConfig(**SMALL, embd_pdrop=0.0, zero_init=True)) == "vanilla"


def test_sizes_that_another_variant_could_not_have() -> None:
    config = GPTConfig(vocab_size=5, block_size=8, n_layer=1, n_head=2, n_embd=6, bottleneck_dim=64)
    assert course_variant(config) == "vanilla"
