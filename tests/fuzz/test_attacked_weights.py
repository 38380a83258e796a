"""Weights of others that ask for memory or years, each as a fixed case."""

import pickle
import struct
import zipfile

import pytest
import torch

from loci.errors import LociError
from loci.interop.nanogpt_import import import_nanogpt
from loci.interop.params_file import read_params
from loci.learn import make_plan
from loci.text.world import WorldSpec, write_world
from loci.training.checkpoint import save_checkpoint

FIVE_GB = b"\x8a\x05" + (5 * 10**9).to_bytes(5, "little")
SHARED = b")" + b"".join(b"q%ch%c\x86" % (n, n) for n in range(60))
PICKLES = {
    "a tensor of any size": (b"X\x01\x00\x00\x00actorch\nTensor\n" + FIVE_GB + b"\x85Rs", "would run torch.Tensor"),
    "bytes without end": (
        b"X\x01\x00\x00\x00ac__builtin__\nbytearray\n" + FIVE_GB + b"\x85Rs",
        "would run __builtin__",
    ),
    "a key that takes years to hash": (SHARED + b"K\x01s", "tuples within tuples"),
}


@pytest.mark.parametrize("name", PICKLES)
def test_no_instruction_of_a_params_file_takes_memory_or_years(name, tmp_path):
    made, said = PICKLES[name]
    torch.save({"a": torch.zeros(2)}, tmp_path / "good.params")
    with zipfile.ZipFile(tmp_path / "good.params") as good, zipfile.ZipFile(tmp_path / "x.params", "w") as bad:
        for entry in good.infolist():
            own = entry.filename.endswith("data.pkl")
            bad.writestr(entry.filename, b"\x80\x02}" + made + b"." if own else good.read(entry))
    with pytest.raises(LociError, match=said):
        read_params(tmp_path / "x.params")


@pytest.fixture
def nano(tmp_path):
    """A checkpoint as nanoGPT writes it: its optimiser's groups share a tuple."""
    weights = {"transformer.wte.weight": torch.randn(3, 4), "transformer.wpe.weight": torch.randn(8, 4)}
    for name, shape in {
        "attn.c_attn": (12, 4),
        "attn.c_proj": (4, 4),
        "mlp.c_fc": (16, 4),
        "mlp.c_proj": (4, 16),
    }.items():
        weights[f"transformer.h.0.{name}.weight"] = torch.randn(shape)
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        weights[f"transformer.{name}.weight"] = torch.ones(4)
    sizes, betas = {"n_layer": 1, "n_head": 1, "n_embd": 4, "block_size": 8, "vocab_size": 3}, (0.9, 0.95)
    more = {"optimizer": {"param_groups": [{"betas": betas}, {"betas": betas}]}, "best_val_loss": torch.tensor(1.0)}
    torch.save({"model_args": sizes, "model": weights, **more}, tmp_path / "ckpt.pt")
    _characters(tmp_path, "abc")
    return tmp_path


def _characters(folder, symbols):
    both = {"itos": dict(enumerate(symbols)), "stoi": {symbol: n for n, symbol in enumerate(symbols)}}
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": len(symbols), **both}))


def test_a_checkpoint_of_nanogpt_is_read(nano):
    assert import_nanogpt(nano).vocab.symbols == ("a", "b", "c")


@pytest.mark.parametrize(
    "meta",
    [
        b"\x80\x02}r" + struct.pack("<I", 0x08000000) + b".",  # room for that many objects: 2 GB
        b"\x80\x02}" + SHARED + b"K\x01s.",
        pickle.dumps({"stoi": [1]}),
        b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
    ],
)
def test_characters_of_nanogpt_are_texts_and_numbers_and_nothing_else(nano, meta):
    (nano / "meta.pkl").write_bytes(meta)
    with pytest.raises(LociError, match=r"is no meta.pkl of nanoGPT") as caught:
        import_nanogpt(nano)
    assert caught.value.remedy


def test_a_checkpoint_of_nanogpt_is_checked_as_weights_are(nano):
    file = nano / "ckpt.pt"
    stored = zipfile.ZipFile(file)
    with zipfile.ZipFile(nano / "small.pt", "w", zipfile.ZIP_DEFLATED) as small:
        for entry in stored.infolist():
            small.writestr(entry.filename, stored.read(entry))
    with pytest.raises(LociError, match="holds compressed records"):
        import_nanogpt(nano / "small.pt")
    sizes = {"n_layer": 1, "n_head": 1, "n_embd": 40_000, "block_size": 8, "vocab_size": 40_000}
    told = {"transformer.wte.weight": torch.zeros(1).expand(90_000, 90_000)}
    torch.save({"model_args": sizes, "model": told}, file)
    with pytest.raises(LociError, match="says it is larger than its data"):
        import_nanogpt(nano)


def test_learning_does_not_go_on_from_a_model_of_other_symbols(nano):
    write_world(WorldSpec(people=20), nano / "world")
    _characters(nano, "→↓↑")
    found = import_nanogpt(nano)
    save_checkpoint(nano / "model", found.model, found.vocab, about={})
    with pytest.raises(LociError, match="has no mask in its vocabulary"):
        make_plan(nano / "world", before=nano / "model")
