from __future__ import annotations

from pathlib import Path

import pytest

from loci.cli.main import main


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> Path:
    """A model that can say something, in a second: small, and taught a few steps."""
    folder = tmp_path_factory.mktemp("web")
    assert main(["world", "--people", "40", "--seed", "2", "--out", str(folder / "world")]) == 0
    small = ("model.n_layer=2", "model.n_embd=32", "model.n_head=2", "finetune.steps=40", "finetune.batch_size=16")
    flags = [flag for change in small for flag in ("--set", change)]
    made = folder / "run"
    data = ["--data", str(folder / "world"), "--out", str(made), "--threads", "1", "--no-tensorboard"]
    assert main(["train", "--recipe", "demo-scratch", *data, *flags]) == 0
    (made / "page.html").write_text("<!doctype html><title>a report</title><p>hello", encoding="utf-8")
    return made
