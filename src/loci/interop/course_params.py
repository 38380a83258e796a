"""The course's names for our tensors, both ways: what stands in a `.params` file.

The course keeps queries, keys and values apart where we keep one fused matrix, numbers the layers of a perceptron, and
stores with the weights what can be worked out (causal masks, tables of rotations). Works on state dicts of any size;
knows nothing of files, corpora or training.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from loci.errors import LociError
from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.positions import rope_tables

#: What the course's command line calls a model → our variant.
COURSE_VARIANTS = {"vanilla": "vanilla", "synthesizer": "synthesizer", "perceiver": "perceiver-course", "rope": "rope"}
#: Students write the perceiver's two blocks themselves. Names and shapes do not tell which of the two forms it is.
PERCEIVER_FORMS = {"residual": "perceiver-course", "bare": "perceiver-course-bare"}

_SIZES = ("block_size", "n_layer", "n_head", "n_embd", "bottleneck_dim")
_FUSED = {"qkv": ("query", "key", "value"), "key_value": ("key", "value")}
_RENAMED = {"mlp.up.": "mlp.0.", "mlp.down.": "mlp.2.", "down_block.basis": "down_block.C"}
_BUFFER = re.compile(r"\.attn\.(mask|rope_cache)$")
#: They name its attention in several ways, too.
_CROSS_ATTENTION = re.compile(r"^(down_block|up_block)\.(?:cattn|cross_attn|cross_attention)\.")
_ROPE_TOLERANCE = 1e-3


def course_names(name: str) -> tuple[str, ...]:
    """The course's tensors that make up ours: one, or several whose rows stand below each other in ours."""
    name = name.removeprefix("positions.").removeprefix("trunk.")
    for ours, theirs in _RENAMED.items():
        name = name.replace(ours, theirs)
    path, _, kind = name.rpartition(".")
    path, _, layer = path.rpartition(".")
    return tuple(f"{path}.{single}.{kind}" for single in _FUSED[layer]) if layer in _FUSED else (name,)


def to_course(model: GPT) -> dict[str, Tensor]:
    """The model's state dict as the course would have saved it: published names, shapes and buffers."""
    config = model.config
    course_variant(config)
    state: dict[str, Tensor] = {}
    for ours, tensor in model.state_dict().items():
        names = course_names(ours)
        parts = tensor.detach().cpu().chunk(len(names))
        state |= {name: part.clone() for name, part in zip(names, parts, strict=True)}
    return state | _buffers(state, config)


def from_course(state: Mapping[str, Tensor], config: GPTConfig) -> GPT:
    """The model of a course state dict. Whatever does not fit `config` is named in a `LociError`."""
    given = _plain_names(state)
    _check_variant(given, config)
    model = GPT(config)
    ours = model.state_dict()
    shapes = {
        name: tuple(part.shape)
        for own, tensor in ours.items()
        for names in [course_names(own)]
        for name, part in zip(names, tensor.chunk(len(names)), strict=True)
    }
    buffers = {name: tensor for name, tensor in given.items() if _BUFFER.search(name)}
    weights = {name: tensor for name, tensor in given.items() if name not in buffers}
    _check_names(set(weights), set(shapes))
    _check_shapes(weights, shapes)
    _check_buffers(buffers, _buffers(shapes, config))
    for name, tensor in weights.items():
        if not tensor.is_floating_point():
            raise LociError(f"{name} holds {str(tensor.dtype).removeprefix('torch.')} numbers, weights are floats")
        if not torch.isfinite(tensor).all():
            raise LociError(f"{name} holds values that are no numbers", remedy="the training that wrote it diverged")
    model.load_state_dict({own: torch.cat([weights[name].float() for name in course_names(own)]) for own in ours})
    return model.eval()


def perceiver_form(trunk: object) -> str | None:
    """Which form of the course's perceiver a trunk is; None where it is none."""
    return {VARIANTS[name].changes["trunk"]: form for form, name in PERCEIVER_FORMS.items()}.get(trunk)


def course_variant(config: GPTConfig) -> str:
    """What the course calls this model; one that the course does not have is a `LociError`."""
    given = config.to_dict()
    free = ("vocab_size", *_SIZES, "embd_pdrop", "attn_pdrop", "resid_pdrop", "zero_init")
    plain = {**GPTConfig(1).to_dict(), **{name: given[name] for name in free}}
    for name, variant in (*COURSE_VARIANTS.items(), ("perceiver", PERCEIVER_FORMS["bare"])):
        if {**plain, **VARIANTS[variant].changes} == given:
            return name
    differing = [f"{name} {value}" for name, value in given.items() if plain[name] != value]
    raise LociError(
        f"the course has no model with {', '.join(differing)}", remedy=f"it has: {', '.join(COURSE_VARIANTS)}"
    )


def variant_of(state: Mapping[str, Tensor]) -> str:
    """Which of the course's models a state dict belongs to, told by its names."""
    names = set(_plain_names(state))
    if any(name.startswith("down_block.") for name in names):
        return "perceiver"
    if "blocks.0.attn.w1.weight" in names:
        return "synthesizer"
    return "vanilla" if "pos_emb" in names else "rope"


def _plain_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The published names, also where training wrapped the model for several GPUs or a student chose a name."""
    wrapped = all(name.startswith("module.") for name in state)
    names = (name.removeprefix("module.") if wrapped else name for name in state)
    return {_CROSS_ATTENTION.sub(r"\1.attn.", name): tensor for name, tensor in zip(names, state.values(), strict=True)}


def _check_variant(state: Mapping[str, Tensor], config: GPTConfig) -> None:
    if "tok_emb.weight" not in state:
        raise LociError(
            "holds no tok_emb.weight, so it is none of the course's models",
            remedy="give what torch.save(model.state_dict(), path) wrote",
        )
    found, wanted = variant_of(state), course_variant(config)
    if found != wanted:
        raise LociError(f"holds a {found} model, not {wanted}", remedy=f"give {found} as the variant")


def _check_names(given: set[str], wanted: set[str]) -> None:
    for problem, names in (("lacks", wanted - given), ("holds the unknown", given - wanted)):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise LociError(
                f"{problem} {', '.join(sorted(names)[:3])}{more}",
                remedy="the course's model has exactly the published tensors; was its code changed?",
            )


def _check_shapes(given: Mapping[str, Tensor], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """The sizes that have a meaning first, so that the message can say what to do."""
    shape = {name: tuple(tensor.shape) for name, tensor in given.items()}
    if len(shape["tok_emb.weight"]) == 2 and shape["tok_emb.weight"][0] != wanted["tok_emb.weight"][0]:
        symbols, expected = shape["tok_emb.weight"][0], wanted["tok_emb.weight"][0]
        raise LociError(
            f"was trained with a vocabulary of {symbols} symbols, this corpus has {expected}",
            remedy=f"give the corpus it was pretrained on: one with {symbols - 2} different characters",
        )
    for name, what, remedy in (
        ("pos_emb", "a block_size", "the course's commands build the published model only"),
        ("down_block.C", "a bottleneck", "give --bottleneck_dim {}"),
    ):
        if name in wanted and len(shape[name]) == 3 and shape[name][1] != wanted[name][1]:
            size, expected = shape[name][1], wanted[name][1]
            raise LociError(f"was trained with {what} of {size}, not {expected}", remedy=remedy.format(size))
    for name, expected_shape in wanted.items():
        if shape[name] != expected_shape:
            raise LociError(f"{name} has the shape {shape[name]}, this model needs {expected_shape}")


def _buffers(names: Mapping[str, object], config: GPTConfig) -> dict[str, Tensor]:
    """What the course stores next to the weights of each attention layer, though it follows from the config."""
    buffers: dict[str, Tensor] = {}
    narrow = "down_block.C" in names  # a perceiver's middle blocks run at the bottleneck's length
    for name in names:
        prefix, found, _ = name.partition("attn.proj.weight")
        if found:
            size = config.bottleneck_dim if narrow and prefix.startswith("blocks.") else config.block_size
            buffers[f"{prefix}attn.mask"] = torch.ones(size, size).tril()[None, None]
            if config.positions == "rope":
                buffers[f"{prefix}attn.rope_cache"] = rope_table(config.head_width, size)
    return buffers


def rope_table(width: int, places: int) -> Tensor:
    """(places, width / 2, 2): cosine and sine of the angle by which each pair turns at each place."""
    return torch.stack(rope_tables(torch.arange(places), width), dim=-1).float()


def _check_buffers(given: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """A buffer that follows from the config is not needed, but one that says something else means another model."""
    for name, stored in given.items():
        expected = wanted.get(name)
        tensor = torch.view_as_real(stored) if stored.is_complex() else stored
        if expected is None:
            raise LociError(f"holds the unknown {name}", remedy="this variant has no such buffer")
        if tensor.numel() != expected.numel():
            raise LociError(
                f"{name} has the shape {tuple(tensor.shape)}, this model's is {tuple(expected.shape)}",
                remedy="the block_size (or the bottleneck) it was trained with differs",
            )
        if not torch.allclose(tensor.reshape(expected.shape).float(), expected, atol=_ROPE_TOLERANCE):
            raise LociError(f"{name} differs from the published one", remedy="its model computes something else")
