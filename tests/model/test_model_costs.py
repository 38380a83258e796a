"""The formulas against PyTorch's own counters: built parameters, counted products, tensors that autograd keeps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from loci.errors import LociError
from loci.model import GPT, VARIANTS, GPTConfig, matmul
from loci.model.cost import at_length, growth, model_cost

LENGTH = 48
BASE = GPTConfig(
    vocab_size=50,
    block_size=LENGTH + 1,
    n_layer=3,
    n_head=2,
    n_embd=16,
    bottleneck_dim=12,
    local_window=8,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
    resid_pdrop=0.0,
)
DROPPED = {"embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1}


@pytest.mark.parametrize("variant", list(VARIANTS))
@settings(max_examples=15)
@given(data=st.data())
def test_the_parameter_formula_counts_what_is_built(variant: str, data: st.DataObject) -> None:
    draw = data.draw
    n_head = draw(st.integers(1, 4))
    block_size = draw(st.integers(2, 30))
    changes: dict[str, Any] = {
        "vocab_size": draw(st.integers(1, 40)),
        "block_size": block_size,
        "n_layer": draw(st.integers(2, 4)),
        "n_head": n_head,
        "n_embd": n_head * draw(st.sampled_from([2, 4, 6])),
        "bottleneck_dim": draw(st.integers(1, block_size)),
        "local_window": draw(st.integers(1, 20)),
        "norm": draw(st.sampled_from(["layer", "rms"])),
        "tied_head": draw(st.booleans()),
        "value_embeddings": draw(st.booleans()),
    }
    if variant != "folded":  # which has no queries and keys to shape
        changes |= {"qk_norm": draw(st.booleans()), "learn_temperature": draw(st.booleans())}
        changes |= {"qk_width": draw(st.sampled_from([None, 2, 8]))}
    config = VARIANTS[variant].apply(GPTConfig(**changes))
    assert model_cost(config).total.parameters == GPT(config).n_parameters()


def counted_flops(config: GPTConfig, length: int, *, backward: bool) -> int:
    model = GPT(config)
    ids = torch.zeros(1, length, dtype=torch.long)
    # The explicit backend and MKL: PyTorch counts their products, not those inside the fused kernel for CPUs or oneDNN.
    with pytest.MonkeyPatch.context() as patch, FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        patch.setattr(matmul, "BY_ONEDNN", False)
        logits = model(ids).logits
        if backward:
            logits.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("length", [48, 31])
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_flops_formula_is_what_pytorch_counts(variant: str, length: int) -> None:
    config = VARIANTS[variant].apply(BASE)
    cost = model_cost(config, length).total
    forward = counted_flops(config, length, backward=False)
    assert forward == cost.forward_flops
    assert counted_flops(config, length, backward=True) - forward == cost.backward_flops


@pytest.mark.parametrize("options", [{"qk_width": 4}, {"value_embeddings": True}, {"qk_norm": True}, {"n_layer": 2}])
@pytest.mark.parametrize(
    "variant", ["vanilla", "synthesizer-mixed", "perceiver", "perceiver-course", "perceiver-course-bare"]
)
def test_the_flops_formula_knows_the_options(variant: str, options: dict[str, object]) -> None:
    config = VARIANTS[variant].apply(BASE.replace(**options))
    assert counted_flops(config, LENGTH, backward=False) == model_cost(config, LENGTH).total.forward_flops


def kept_bytes(config: GPTConfig, length: int) -> int:
    """What autograd holds between the forward and the backward pass, each storage once, the model's own left out."""
    model = GPT(config).train()
    own = {tensor.untyped_storage().data_ptr() for tensor in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and tensor.dtype in (torch.float32, torch.complex64, torch.bool):
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        logits = model(torch.zeros(1, length, dtype=torch.long)).logits
    del logits
    return sum(storage.nbytes() for storage in kept.values())


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_formula_for_kept_bytes_is_what_autograd_keeps(variant: str) -> None:
    config = VARIANTS[variant].apply(BASE)
    formula = model_cost(config, LENGTH).total.activation_bytes
    # Whether turned heads must be copied to be merged depends on the layout in which the turning leaves them.
    tolerance = 0.06 if config.positions == "rope" else 0.001
    assert kept_bytes(config, LENGTH) == pytest.approx(formula, rel=tolerance)


@pytest.mark.parametrize(
    "options", [DROPPED, {"norm": "rms", "activation": "relu2"}, {"qk_norm": True}, {"local_window": 3}]
)
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_formula_for_kept_bytes_holds_within_a_tenth_under_options(
    variant: str, options: dict[str, object]
) -> None:
    if variant == "folded":  # which has no queries and keys to normalise
        options = {name: value for name, value in options.items() if name != "qk_norm"}
    config = VARIANTS[variant].apply(BASE.replace(**options))
    formula = model_cost(config, LENGTH).total.activation_bytes
    tolerance = 0.001 if options is DROPPED else 0.1
    assert kept_bytes(config, LENGTH) == pytest.approx(formula, rel=tolerance)


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_formula_for_the_cache_is_what_generation_stores(variant: str) -> None:
    model = GPT(VARIANTS[variant].apply(BASE)).eval()
    cache = model.make_cache(2, LENGTH)
    with torch.inference_mode():
        model(torch.zeros(2, LENGTH, dtype=torch.long), cache=cache)
    stored = sum(store.numel() * 4 for layer in cache.layers for store in layer.stores.values())
    assert stored == model_cost(model.config, LENGTH, batch=2).total.cache_bytes


def test_growth_with_length() -> None:
    """At lengths where the products over pairs rule."""
    small = BASE.replace(n_embd=16, vocab_size=2, block_size=4097, bottleneck_dim=32)
    exponents = {name: growth(VARIANTS[name].apply(small), 16_384) for name in VARIANTS}
    for name in ("vanilla", "rope", "synthesizer", "synthesizer-random", "synthesizer-mixed", "folded", "naive"):
        assert exponents[name] == pytest.approx(2, abs=0.05), name
    for name in ("perceiver", "perceiver-course"):
        assert exponents[name] == pytest.approx(1, abs=0.01), name


def test_the_fused_kernel_keeps_no_matrix_but_dropout_does() -> None:
    small = BASE.replace(block_size=4097)
    vanilla, synthesizer = VARIANTS["vanilla"].apply(small), VARIANTS["synthesizer"].apply(small)
    assert growth(vanilla, 4096, "activation_bytes") == pytest.approx(1, abs=0.01)
    assert growth(vanilla.replace(**DROPPED), 4096, "activation_bytes") == pytest.approx(2, abs=0.05)
    assert growth(synthesizer, 4096, "activation_bytes") == pytest.approx(2, abs=0.05)


def test_batches_multiply_work_and_not_parameters() -> None:
    one, eight = model_cost(BASE, 10).total, model_cost(BASE, 10, batch=8).total
    assert eight.parameters == one.parameters
    assert eight.forward_flops == 8 * one.forward_flops
    assert eight.cache_bytes == 8 * one.cache_bytes


def test_layers_are_named_and_sum_up() -> None:
    cost = model_cost(VARIANTS["perceiver"].apply(BASE))
    assert [layer.name for layer in cost.layers] == ["embedding", "down", "block 0", "up", "head"]
    assert cost.to_dict()["layers"][-1]["name"] == "total"
    assert cost.total.parameters == sum(layer.parameters for layer in cost.layers)


def test_lengths_outside_the_block_are_refused_and_a_block_can_be_grown() -> None:
    for length in (0, LENGTH + 2):
        with pytest.raises(LociError, match=f"a length of {length} is outside"):
            model_cost(BASE, length)
    assert at_length(BASE, 100).block_size == 101
    assert at_length(BASE, 10) is BASE
