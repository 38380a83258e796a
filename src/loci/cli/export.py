"""Write a run in the form of another tool: Hugging Face, ONNX, TransformerLens, the course's .params.

examples:
  loci export run --to hf exported
  loci export run --to onnx exported-onnx
"""

from __future__ import annotations

from pathlib import Path


def export(run: Path, out: Path, /, *, to: str = "hf") -> None:
    """Write a run for another tool, into a new folder.

    Args:
        run: The run, or one of its checkpoints.
        out: The folder to make.
        to: hf (transformers), onnx (onnxruntime), transformer-lens, course (a .params file), or what a plugin adds.
    """
    from loci.interop.exchange import export_run

    notes = export_run(run, to, out)
    print(f"wrote {out}", *notes, sep="\n")
