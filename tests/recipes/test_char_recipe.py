from __future__ import annotations

import json
from pathlib import Path

import pytest

from loci.cli.main import main
from loci.recipes import DataShape, make_recipe

PLAY = "".join(f"SPEAKER {n % 3}:\nWords, words, words, good number {n}.\n\n" for n in range(60))


def test_it_reads_the_running_text_with_its_line_ends() -> None:
    recipe = make_recipe("char", DataShape(100))
    [stage] = recipe.stages
    [part] = stage.mixture
    assert (part.objective, part.source) == ("language-model", "text")
    assert not part.options["closing_mask"]


def test_train_and_sample_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, run = tmp_path / "play.txt", tmp_path / "run"
    text.write_text(PLAY)
    small = ["n_layer=2", "n_head=2", "n_embd=32", "block_size=32"]
    changes = [*(f"model.{change}" for change in small), "pretrain.steps=40", "pretrain.batch_size=16"]
    flags = [flag for change in changes for flag in ("--set", change)]
    assert main(["train", "--recipe", "char", "--text", str(text), "--out", str(run), *flags]) == 0
    losses = [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < 0.5 * losses[0]
    capsys.readouterr()
    assert main(["sample", str(run), "--prompt", "SPEAKER 1:\n", "--length", "80", "--temperature", "0"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("SPEAKER 1:\nWords, words, words")
