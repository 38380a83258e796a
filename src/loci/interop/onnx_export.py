"""A run as ONNX: one graph that reads whole texts, and one that reads on from a cache.

`model.onnx` maps ids (B, T) to logits (B, T, V). `model_with_past.onnx` also takes and returns what every layer
remembers, so that a step reads one character; perceivers have only the first. Rotations are
written with real numbers for the graph, since ONNX has no complex ones. Needs onnx and onnxscript; knows nothing of
runtimes.
"""

from __future__ import annotations

import copy
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from loci.errors import LociError
from loci.files import write_json
from loci.interop.char_tokenizer import to_tokenizer, tokenizer_settings
from loci.interop.exchange import require
from loci.model import GPT
from loci.model.attention import Attention
from loci.model.attention.cross import CrossAttention
from loci.model.positions import Rope, rope_tables
from loci.model.trunk.plain import PlainTrunk
from loci.text.vocab import MASK_ID, PAD_ID
from loci.training.checkpoint import LoadedModel

WHOLE, WITH_PAST, ABOUT = "model.onnx", "model_with_past.onnx", "loci.json"
LONGEST = 4096
"""Positions that the table of rotations of a model without a limit holds."""


def export_onnx(loaded: LoadedModel, folder: Path) -> list[str]:
    """The graphs, the tokenizer, and `loci.json`: names of the inputs, shape of the cache, special ids."""
    for library in ("onnx", "onnxscript"):
        require(library, "onnx")
    model = _real(loaded.model)
    limit = model.limit or LONGEST
    ids = torch.arange(12).reshape(2, 6) % model.config.vocab_size
    batch, time = torch.export.Dim("batch", min=1), torch.export.Dim("time", min=1, max=limit)
    _write(folder / WHOLE, _Whole(model), (ids,), ["input_ids"], ["logits"], ({0: batch, 1: time},))
    about: dict[str, Any] = {"limit": limit, "mask_id": MASK_ID, "pad_id": PAD_ID, "stores": []}
    notes = [f"{WHOLE}: input_ids → logits"]
    if isinstance(model.trunk, PlainTrunk) and (shapes := _stores(model)):
        step = _Step(model, [name for _, name, _, _ in shapes], [layer for layer, *_ in shapes])
        past = tuple(torch.zeros(2, heads, 3, width) for _, _, heads, width in shapes)
        names = [f"{layer}.{name}" for layer, name, _, _ in shapes]
        before = torch.export.Dim("past", min=1, max=limit)
        dims = ({0: batch, 1: time}, *({0: batch, 2: before} for _ in shapes))
        inputs, outputs = [f"past.{name}" for name in names], [f"present.{name}" for name in names]
        given = (ids[:, :2], *past)
        _write(folder / WITH_PAST, step, given, ["input_ids", *inputs], ["logits", *outputs], (dims[0], dims[1:]))
        about["stores"] = [[name, heads, width] for name, (_, _, heads, width) in zip(names, shapes, strict=True)]
        notes.append(f"{WITH_PAST}: input_ids and the past → logits and the past with them")
    else:
        notes.append("no graph with a cache: only the plain trunk remembers in a form that a graph can hold")
    write_json(folder / ABOUT, about)
    if loaded.vocab.layout == "loci":
        write_json(folder / "tokenizer.json", to_tokenizer(loaded.vocab))
        write_json(folder / "tokenizer_config.json", tokenizer_settings(model.config.block_size))
    return notes


def _write(
    file: Path,
    module: nn.Module,
    given: tuple[Tensor, ...],
    inputs: list[str],
    outputs: list[str],
    dims: tuple[Any, ...],
) -> None:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it tells of libraries that nobody asked for
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own insides
        try:
            torch.onnx.export(
                module.eval(),
                given,
                file,
                input_names=inputs,
                output_names=outputs,
                dynamic_shapes=dims,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        except Exception as error:  # its many kinds say where in its own insides it failed
            reason = str(error.__cause__ or error).strip().splitlines()[0][:200]
            remedy = "export it with --to hf: that takes every model"
            raise LociError(f"PyTorch cannot write this model as a graph: {reason}", remedy=remedy) from error


class _RealRope(Rope):
    """The same rotation in real numbers, from a table made once."""

    def __init__(self, rope: Rope, limit: int):
        nn.Module.__init__(self)
        self.width = rope.width
        cos, sin = rope_tables(torch.arange(limit), rope.width)
        self.cos, self.sin = nn.Buffer(cos.float()), nn.Buffer(sin.float())

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """(a + ib)(cos + i sin), written out."""
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack((first * cos - second * sin, first * sin + second * cos), -1).flatten(-2)


def _real(model: GPT) -> GPT:
    """A copy whose rotations a graph can hold."""
    model = copy.deepcopy(model).eval().cpu().float()
    if isinstance(model.positions, Rope):
        real = _RealRope(model.positions, model.limit or LONGEST)
        model.positions = real
        for module in model.modules():
            if isinstance(module, Attention | CrossAttention):
                module._positions = (real,)
    return model


class _Whole(nn.Module):
    """Ids in, logits out; without the test of the length, which is no part of a graph."""

    def __init__(self, model: GPT):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1])[None]
        return _logits(self.model, ids, positions, None)


def _logits(model: GPT, ids: Tensor, positions: Tensor, layers: list[Any] | None) -> Tensor:
    x = model.positions.embed(model.tok_emb(ids), positions)
    extra = {} if model.val_emb is None else {"values": model.val_emb(ids)}
    return model.logits(model.ln_f(model.trunk(x, cache=layers, **extra)))


class _PastClock:
    """The clock of a cache whose rows all hold the same number of characters."""

    uniform = None  # the step that sees everything without a mask has one character; a graph takes any number

    def __init__(self, past: int, device: torch.device):
        self.longest, self.device = past, device

    def positions(self, width: int) -> Tensor:
        return (torch.arange(width, device=self.device) + self.longest)[None]

    def visible(self, width: int) -> Tensor:
        keys = torch.arange(self.longest + width, device=self.device)
        return (keys[None, None, :] <= self.positions(width)[:, :, None])[:, None]


class _PastLayer:
    """One layer's store, as tensors that grow by joining."""

    def __init__(self, clock: Any, stores: dict[str, Tensor]):
        self.clock, self.stores = clock, stores

    def extend(self, name: str, new: Tensor) -> Tensor:
        self.stores[name] = torch.cat((self.stores[name], new), 2) if name in self.stores else new
        return self.stores[name]


def _stores(model: GPT) -> list[tuple[int, str, int, int]]:
    """What every layer remembers: its number, the store's name, heads and channels."""
    clock = _PastClock(0, torch.device("cpu"))
    layers = [_PastLayer(clock, {}) for _ in range(len(model.trunk.make_cache(model.make_cache(1, 4).clock)))]
    with torch.no_grad():
        _logits(model, torch.zeros(1, 2, dtype=torch.long), clock.positions(2), layers)
    return [
        (number, name, store.shape[1], store.shape[3])
        for number, layer in enumerate(layers)
        for name, store in layer.stores.items()
    ]


class _Step(nn.Module):
    """Ids and the past in, logits and the longer past out."""

    def __init__(self, model: GPT, names: list[str], layers: list[int]):
        super().__init__()
        self.model, self.names, self.layers = model, names, layers

    def forward(self, ids: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        clock = _PastClock(past[0].shape[2], ids.device)
        stores: list[_PastLayer] = [_PastLayer(clock, {}) for _ in range(max(self.layers) + 1)]
        for layer, name, store in zip(self.layers, self.names, past, strict=True):
            stores[layer].stores[name] = store
        logits = _logits(self.model, ids, clock.positions(ids.shape[1]), stores)
        grown = [stores[layer].stores[name] for layer, name in zip(self.layers, self.names, strict=True)]
        return logits, *grown
