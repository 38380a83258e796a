"""Observers that write: the metrics file every run has, TensorBoard and Weights & Biases where they are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from loci.errors import LociError
from loci.files import writing
from loci.training.reports import Observer, StepReport
from loci.training.run import METRICS, rewind_metrics

FLUSH_SECONDS = 2.0


class MetricsFile:
    """One JSON row per step, appended; on disk before any checkpoint that comes after it."""

    def __init__(self, run: Path):
        self.run, self.flushed = run, time.perf_counter()
        self.handle: IO[str] = open(run / METRICS, "a", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def on_step(self, report: StepReport) -> None:
        """Append the row."""
        row = {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(report).items()}
        if report.held_out is None:
            del row["held_out"]
        row["loss"], row["lr"] = report.loss, report.lr  # these two to the last bit
        with writing(self.run / METRICS):
            self.handle.write(json.dumps(row) + "\n")
        if time.perf_counter() - self.flushed > FLUSH_SECONDS:
            self.on_checkpoint(report.total_steps)

    def on_checkpoint(self, total_steps: int) -> None:
        """Flush."""
        with writing(self.run / METRICS):
            self.handle.flush()
        self.flushed = time.perf_counter()

    def rewind(self, total_steps: int) -> None:
        """Drop the rows after a step: training goes on from there."""
        self.handle.close()
        rewind_metrics(self.run, total_steps)
        self.handle = open(self.run / METRICS, "a", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def close(self) -> None:
        """Flush and close."""
        with writing(self.run / METRICS):
            self.handle.close()


class TensorBoard:
    """Loss, learning rate and held-out loss for TensorBoard."""

    def __init__(self, folder: Path):
        from torch.utils.tensorboard import SummaryWriter

        make: Callable[..., Any] = SummaryWriter
        self.writer = make(str(folder))

    @staticmethod
    def available() -> bool:
        """Whether TensorBoard is installed."""
        return importlib.util.find_spec("tensorboard") is not None

    def on_step(self, report: StepReport) -> None:
        """Its scalars."""
        self.writer.add_scalar(f"{report.stage}/loss", report.loss, report.total_steps)
        self.writer.add_scalar(f"{report.stage}/lr", report.lr, report.total_steps)
        if report.held_out is not None:
            self.writer.add_scalar(f"{report.stage}/held_out", report.held_out, report.total_steps)

    def on_checkpoint(self, total_steps: int) -> None:
        """Flush."""
        self.writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self.writer.close()


class WeightsAndBiases(Observer):
    """Loss, learning rate and held-out loss for Weights & Biases, offline unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path, project: str):
        try:
            import wandb
        except ImportError:
            remedy = "pip install 'loci-lab[wandb]'"
            raise LociError("Weights & Biases is not installed here", remedy=remedy) from None
        mode: Any = os.environ.get("WANDB_MODE", "offline")
        self.run: Any = wandb.init(project=project, name=folder.name, dir=str(folder), mode=mode)

    def on_step(self, report: StepReport) -> None:
        """Its scalars."""
        row = {f"{report.stage}/{name}": getattr(report, name) for name in ("loss", "lr", "held_out")}
        self.run.log({name: value for name, value in row.items() if value is not None}, step=report.total_steps)

    def close(self) -> None:
        """Finish the record."""
        self.run.finish()
