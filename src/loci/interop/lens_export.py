"""A run for TransformerLens: its bridge wraps models of the transformers library, so this is their folder and a script.

Only models that are stock architectures there can be wrapped: vanilla (GPT-2) and plain rope (GPT-NeoX). The script
loads the bridge; its hook names are TransformerLens's own (`blocks.0.attn.hook_pattern`). The way back is that of
Hugging Face folders.
"""

from __future__ import annotations

from pathlib import Path

from loci.errors import LociError
from loci.files import write_text
from loci.interop.hf_export import export_hf
from loci.interop.hf_weights import stock_architecture
from loci.training.checkpoint import LoadedModel

_LOAD = '''"""This model in TransformerLens 4: python load.py "some text" prints the shape of every activation.

The logits are those of Loci. Written by `loci export --to transformer-lens`.
"""

import sys
from pathlib import Path

from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(folder=Path(__file__).parent):
    """The bridge around the model of this folder, on the CPU."""
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return TransformerBridge.boot_transformers(str(folder), hf_model=model, tokenizer=tokenizer, device="cpu")


if __name__ == "__main__":
    bridge = load()
    ids = AutoTokenizer.from_pretrained(Path(__file__).parent)(sys.argv[1], return_tensors="pt")["input_ids"]
    logits, cache = bridge.run_with_cache(ids)
    for name, value in cache.items():
        print(name, tuple(value.shape))
'''


def export_lens(loaded: LoadedModel, folder: Path) -> list[str]:
    """The Hugging Face folder and `load.py`; a model that TransformerLens does not have is refused."""
    if stock_architecture(loaded.model.config) is None:
        raise LociError(
            "TransformerLens wraps stock architectures only: vanilla (GPT-2) and plain rope (GPT-NeoX)",
            remedy="loci.load(RUN).activations reads, patches and ablates any model by name",
        )
    notes = export_hf(loaded, folder)
    write_text(folder / "load.py", _LOAD)
    return [notes[0], "load it: from load import load; bridge = load()"]
