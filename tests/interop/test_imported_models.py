"""Models from elsewhere as runs: nanoGPT's checkpoints, and what the commands do with models that have no mask."""

import json
import pickle
from typing import Any

import pytest
import torch
from small_runs import small_run

import loci
from loci.cli.main import main
from loci.errors import LociError
from loci.interop.exchange import import_run
from loci.interop.hf_weights import GPT2, to_stock
from loci.training.checkpoint import load_model

LETTERS = "\n abcdefghijklmnopqrstuvwxyz.,ABW"


def nanogpt(folder, *, bias=True, meta=True):
    """A checkpoint as nanoGPT's train.py writes it: untransposed matrices, one tensor for embedding and head."""
    loaded = small_run(folder / "run", "vanilla", tied_head=True)
    model = loaded.model
    with torch.no_grad():
        model.tok_emb.weight.data = model.tok_emb.weight.data[: len(LETTERS)].clone()
        model.head.weight = model.tok_emb.weight
        if not bias:
            for name, parameter in model.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
    state = to_stock(model.state_dict(), model.config, GPT2)
    matrices = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    state = {name: tensor.t() if name.endswith(matrices) else tensor for name, tensor in state.items()}
    if not bias:
        state = {name: tensor for name, tensor in state.items() if not name.endswith(".bias")}
    state["lm_head.weight"] = state["transformer.wte.weight"]
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 16, "block_size": 64, "vocab_size": len(LETTERS)}
    stored: dict[str, Any] = {"model": {f"_orig_mod.{name}": value for name, value in state.items()}}
    stored |= {"model_args": {**sizes, "bias": bias, "dropout": 0.0}, "iter_num": 3, "config": {"dataset": "letters"}}
    (folder / "out").mkdir()
    torch.save(stored, folder / "out" / "ckpt.pt")
    if meta:
        stoi = {letter: index for index, letter in enumerate(LETTERS)}
        itos = {index: letter for letter, index in stoi.items()}
        (folder / "out" / "meta.pkl").write_bytes(
            pickle.dumps({"vocab_size": len(LETTERS), "itos": itos, "stoi": stoi})
        )
    return model.eval()


@pytest.mark.parametrize("bias", [True, False])
def test_a_character_checkpoint_of_nanogpt(bias, tmp_path):
    model = nanogpt(tmp_path, bias=bias)
    import_run(tmp_path / "out" / "ckpt.pt", "nanogpt", tmp_path / "back")
    back = load_model(tmp_path / "back")
    ids = torch.randint(0, len(LETTERS), (2, 20))
    with torch.no_grad():
        assert torch.equal(back.model(ids).logits, model(ids).logits)
    assert back.vocab.decode(back.vocab.encode("a B.").tolist()) == "a B."


def test_a_model_without_a_mask_is_read_and_not_asked(tmp_path, capsys):
    model = nanogpt(tmp_path)
    assert main(["import", str(tmp_path / "out"), str(tmp_path / "back"), "--kind", "nanogpt"]) == 0
    assert "cannot be asked" in capsys.readouterr().out
    run = loci.load(tmp_path / "back")
    ids = torch.tensor([[*run.vocab.encode("What a")]])
    with torch.no_grad():
        logs = model(ids).logits[0, -1].double().log_softmax(-1)
    assert run.score("What a", ["b", "c"]) == pytest.approx(
        {letter: float(logs[run.vocab.ids[letter]]) for letter in "bc"}
    )
    assert run.activations("What").logits.shape == (1, 4, len(LETTERS))
    assert main(["sample", str(tmp_path / "back"), "--prompt", "What ", "--length", "5"]) == 0
    page = tmp_path / "look.html"
    asked = ["look", str(tmp_path / "back"), "What was Bo", "--subject", "Bo", "--answer", " a", "--out", str(page)]
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["subject"] == "Bo"
    assert len(told["appears"]) == 2
    assert page.exists()
    assert main(["ask", str(tmp_path / "back"), "What was Bo?"]) == 2
    assert "has no mask" in capsys.readouterr().err


def test_bad_files_are_refused_and_nothing_in_them_runs(tmp_path):
    nanogpt(tmp_path, meta=False)
    with pytest.raises(LociError, match="its tokens are unknown"):
        import_run(tmp_path / "out", "nanogpt", tmp_path / "back")
    (tmp_path / "out" / "meta.pkl").write_bytes(pickle.dumps({"stoi": print}))
    with pytest.raises(LociError, match=r"asks for builtins\.print"):
        import_run(tmp_path / "out", "nanogpt", tmp_path / "back")
    (tmp_path / "out" / "meta.pkl").write_bytes(pickle.dumps({"stoi": {"a": 0}}))
    with pytest.raises(LociError, match="names 1 characters"):
        import_run(tmp_path / "out", "nanogpt", tmp_path / "back")
    (tmp_path / "out" / "ckpt.pt").write_bytes(pickle.dumps({"model": print}))
    with pytest.raises(LociError, match=r"would run builtins\.print"):
        import_run(tmp_path / "out", "nanogpt", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_run_goes_out_as_the_courses_file_and_comes_back(tmp_path):
    from loci.interop.course_params import from_course
    from loci.interop.exchange import export_run
    from loci.interop.params_file import read_params

    loaded = small_run(tmp_path / "run", "rope")
    assert main(["export", str(tmp_path / "run"), str(tmp_path / "out"), "--to", "course"]) == 0
    back = from_course(read_params(tmp_path / "out" / "rope.model.params"), loaded.model.config)
    assert all(torch.equal(a, b) for a, b in zip(back.parameters(), loaded.model.parameters(), strict=True))
    small_run(tmp_path / "folded", "folded")
    with pytest.raises(LociError, match="the course has no model with"):
        export_run(tmp_path / "folded", "course", tmp_path / "no")
    with pytest.raises(LociError, match="stock architectures only"):
        export_run(tmp_path / "folded", "transformer-lens", tmp_path / "no")
