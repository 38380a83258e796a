"""Exported models in TransformerLens: the same logits, and attention under its hook names."""

import runpy

import pytest
import torch
from small_runs import small_run, some_ids

from loci.interop.exchange import export_run
from loci.model.activations import run_with_activations

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("variant", ["vanilla", "rope"])
def test_a_bridge_computes_the_same(variant, tmp_path):
    pytest.importorskip("transformer_lens", reason="TransformerLens is not here: pip install 'loci-lab[lens]'")
    loaded = small_run(tmp_path / "run", variant)
    export_run(tmp_path / "run", "transformer-lens", tmp_path / "out")
    bridge = runpy.run_path(str(tmp_path / "out" / "load.py"))["load"](tmp_path / "out")
    ids = some_ids(loaded)
    with torch.no_grad():
        logits, cache = bridge.run_with_cache(ids)
    ours, found = run_with_activations(loaded.model, ids, ["blocks.*.attn.pattern"])
    assert torch.allclose(logits, ours, atol=1e-5)
    assert torch.allclose(cache["blocks.1.attn.hook_pattern"], found["blocks.1.attn.pattern"], atol=1e-5)
