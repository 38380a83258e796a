"""Make a run of another tool's model: a Hugging Face folder (GPT-2, GPT-NeoX, loci export's own) or nanoGPT's ckpt.pt.

Models of characters are runs like any other if they have Loci's mask. Others, and models of longer tokens (BPE), can be
read, scored, sampled and looked into, but not asked. Files of the course come in with loci course import.

examples:
  loci import exported again
  loci import out-shakespeare-char/ckpt.pt shakespeare --kind nanogpt
"""

from __future__ import annotations

from pathlib import Path


def import_(source: Path, out: Path, /, *, kind: str = "hf") -> None:
    """Make a run of another tool's model.

    Args:
        source: The file or folder to read. Nothing in it is run.
        out: The run to make.
        kind: hf (also what loci export --to transformer-lens wrote), nanogpt, or what a plugin adds.
    """
    from loci.interop.exchange import import_run

    found = import_run(source, kind, out)
    size = f"{found.model.n_parameters():,} parameters, {len(found.vocab)} symbols"
    print(f"wrote {out} ({size})")
    if found.vocab.layout != "loci":
        print("it has no mask, so it cannot be asked; loci sample, look, heads and repetition work")
