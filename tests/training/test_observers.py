"""Observers of other tools, against stand-ins that write down what they hear: the tools themselves need not be here."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from loci.errors import LociError
from loci.training.observers import WeightsAndBiases
from loci.training.reports import StepReport

REPORT = StepReport(
    stage="read", step=3, total_steps=7, progress=0.1, loss=2.5, shaping=0.0, lr=0.01, characters=9, seconds=1.0
)


def test_weights_and_biases_hears_every_step_and_stays_offline(tmp_path, monkeypatch):
    heard: list[Any] = []
    run = SimpleNamespace(log=lambda row, step: heard.append((row, step)), finish=lambda: heard.append("finished"))
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **given: heard.append(given["mode"]) or run))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    observer = WeightsAndBiases(tmp_path, "loci")
    observer.on_step(REPORT)
    observer.on_checkpoint(7)
    observer.close()
    assert heard == ["offline", ({"read/loss": 2.5, "read/lr": 0.01}, 7), "finished"]


def test_without_it_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(LociError, match=r"loci-lab\[wandb\]"):
        WeightsAndBiases(tmp_path, "loci")
