"""One text written character by character: by Loci with its cache, and by the exported graph with its own.

The model is the demo's, untrained; both write the same characters. The graph runs in onnxruntime: without the extra
`onnx` there is nothing to compare with.

    python benchmarks/exported.py [--quick] [--json] [--repeats 3] [--clock processor]
"""

from __future__ import annotations

import importlib.util
import json as json_format
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro
from rich.console import Console

from _ratios import Bench, Row, print_table
from loci.generation import generate
from loci.interop.onnx_export import ABOUT, WITH_PAST, export_onnx
from loci.model import GPT, GPTConfig
from loci.recipes.demo import DEMO_MODEL
from loci.text.vocab import Vocab
from loci.training.checkpoint import load_checkpoint, save_checkpoint

PROMPT, WIDTH = 40, 110


def compare(bench: Bench) -> Row:
    """Greedy decoding of one row by both."""
    import onnxruntime

    vocab = Vocab.from_text("".join(map(chr, range(32, 126))))
    model = GPT(
        GPTConfig.from_dict({**DEMO_MODEL, "vocab_size": len(vocab)}), generator=torch.Generator().manual_seed(0)
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    with tempfile.TemporaryDirectory() as folder:
        save_checkpoint(Path(folder) / "run", model, vocab, about={})
        (out := Path(folder) / "onnx").mkdir()
        export_onnx(load_checkpoint(Path(folder) / "run"), out)
        stores = json_format.loads((out / ABOUT).read_text(encoding="utf-8"))["stores"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(out / WITH_PAST, options)
    prompt = np.arange(2, 2 + PROMPT)
    steps = 20 if bench.quick else WIDTH

    def theirs() -> list[int]:
        return by_graph(session, stores, prompt, steps)

    def ours() -> list[int]:
        return list(generate(model, [prompt], max_new=steps)[0].ids)

    same = theirs() == ours()
    times = bench.in_turns(theirs, ours)
    return Row(f"one text of {steps} characters", "onnxruntime with its cache", **times, same_answers=same)


def by_graph(session: Any, stores: list[list[Any]], prompt: Any, steps: int) -> list[int]:
    """The likeliest characters, one a step."""
    past = {f"past.{name}": np.zeros((1, heads, 0, width), np.float32) for name, heads, width in stores}
    ids, written = prompt[None], []
    for _ in range(steps):
        logits, *present = session.run(None, {"input_ids": ids, **past})
        past = {f"past.{name}": value for (name, _, _), value in zip(stores, present, strict=True)}
        written.append(int(logits[0, -1].argmax()))
        ids = np.array([[written[-1]]])
    return written


def main(
    quick: bool = False, json: bool = False, repeats: int = 3, clock: Literal["wall", "processor"] = "wall"
) -> None:
    """Measure and print.

    Args:
        quick: Small sizes, to see that it works.
        json: Print JSON instead of a table.
        repeats: How often each comparison is made.
        clock: What is counted. With one thread, processor time leaves out what else the machine is doing.
    """
    console = Console(stderr=json)
    if clock == "processor":
        torch.set_num_threads(1)
    bench = Bench(quick, repeats, time.perf_counter if clock == "wall" else time.process_time)
    here = all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxscript", "onnxruntime"))
    rows = [compare(bench)] if here else []
    if not here:
        console.print("the extra onnx is not installed: nothing to compare with")
    if json:
        print(json_format.dumps([{**asdict(row), "ratios": row.ratios} for row in rows], ensure_ascii=False))
    else:
        print_table(rows, console)
    assert all(row.same_answers for row in rows), "the two wrote different characters"


if __name__ == "__main__":
    tyro.cli(main)
