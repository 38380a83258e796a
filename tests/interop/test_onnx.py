"""Exported graphs in onnxruntime: the same logits and answers, with and without a cache."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from small_runs import DEMO, QUESTIONS, greedy, small_run, some_ids

from loci.data.prompts import question_prompt

TOLERANCE = 1e-4
CASES = [("vanilla", {}), ("rope", DEMO), ("synthesizer", {}), ("perceiver-course", {})]
REASON = "is not here: pip install 'loci-lab[onnx]', or make test-interop"
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def onnxruntime():
    for library in ("onnx", "onnxscript"):
        pytest.importorskip(library, reason=f"{library} {REASON}")
    return pytest.importorskip("onnxruntime", reason=f"onnxruntime {REASON}")


@pytest.mark.parametrize(("variant", "options"), CASES)
def test_a_graph_computes_the_same(variant, options, tmp_path, onnxruntime):
    loaded = small_run(tmp_path / "run", variant, **options)
    # In a process of its own: the shapes that tests check are symbols while a graph is made.
    command = [sys.executable, "-m", "loci", "export", str(tmp_path / "run"), str(tmp_path / "out"), "--to", "onnx"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    session = onnxruntime.InferenceSession(tmp_path / "out" / "model.onnx")
    ids = some_ids(loaded)
    with torch.no_grad():
        ours = loaded.model(ids).logits.numpy()
    (theirs,) = session.run(None, {"input_ids": ids.numpy()})
    assert np.abs(theirs - ours).max() < TOLERANCE
    stores = json.loads((tmp_path / "out" / "loci.json").read_text(encoding="utf-8"))["stores"]
    assert bool(stores) == (variant != "perceiver-course")
    if stores:
        step = onnxruntime.InferenceSession(tmp_path / "out" / "model_with_past.onnx")
        assert [answer(step, stores, loaded.vocab, question) for question in QUESTIONS] == greedy(loaded)


def answer(session, stores, vocab, question, max_new=20):
    """Greedy decoding with the cache, one character a step."""
    past = {f"past.{name}": np.zeros((1, heads, 0, width), np.float32) for name, heads, width in stores}
    ids, written = question_prompt(vocab, question)[None], []
    while len(written) < max_new:
        logits, *present = session.run(None, {"input_ids": ids, **past})
        past = {f"past.{name}": value for (name, _, _), value in zip(stores, present, strict=True)}
        best = int(logits[0, -1].argmax())
        if best == 1:
            break
        written.append(best)
        ids = np.array([[best]])
    return vocab.decode(written)
