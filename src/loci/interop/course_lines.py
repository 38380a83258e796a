"""The lines that the course's scripts print, to the letter, since handouts and scripts quote and parse them.

Pure functions, and the observer that shows each iteration as published. Knows nothing of files.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loci.data.example import Example
from loci.data.objectives import make_objective
from loci.evaluation.metrics import exact_match
from loci.evaluation.rows import Row
from loci.model import GPT
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import PAD_ID, Vocab
from loci.training.plan import Stage
from loci.training.reports import StepReport
from loci.training.schedule import factor

LONDON = "London"
"""The constant answer of the course's baseline."""
NO_GOLD = "No gold birth places provided; returning (0,0)"


def data_line(corpus: Corpus) -> str:
    """Characters of the file, and symbols with pad and mask."""
    return f"data has {len(corpus.raw)} characters, {len(corpus.vocab)} unique."


def model_lines(corpus: Corpus, model: GPT, year: int) -> list[str]:
    """What every command says of its data and model; from 2024 on also where the model lies."""
    lines = [data_line(corpus), f"number of parameters: {model.n_parameters()}"]
    return [*lines, f"Model on device:  {next(model.parameters()).device}"] if year >= 2024 else lines


def score_lines(rows: Iterable[Row], outputs: Path | None = None) -> list[str]:
    """The score, or what is printed where no row has an answer to score by."""
    rate = exact_match(rows)
    if not rate.n:
        return [NO_GOLD, *([f"Predictions written to {outputs}; no targets provided"] if outputs else [])]
    # The quotient's digits are printed as they fall (9 of 500: 1.7999999999999998%), as in published outputs.
    share = rate.successes / rate.n * 100
    return [f"Correct: {float(rate.successes)} out of {float(rate.n)}: {share}%"]


def rows_of_lines(questions: Questions, answers: Iterable[str]) -> list[Row]:
    """One answer to each question, in the order of the file."""
    return [Row(q.text, answer, q.answers, q.subject) for q, answer in zip(questions, answers, strict=True)]


def constant_rows(questions: Questions, place: str = LONDON) -> list[Row]:
    """Rows of a system that says the same place to every question."""
    return rows_of_lines(questions, [place] * len(questions))


def example_lines(
    corpus: Corpus, stage: Stage, questions: Questions | None, block_size: int, n: int, seed: int
) -> list[str]:
    """x and y of a stage's first examples; targets that do not count are shown as pads."""
    component, rng = stage.mixture[0], np.random.default_rng(seed)
    objective = make_objective(component.objective, corpus.vocab, block_size, component.options)
    if questions is not None:
        questions.require(corpus.vocab, block_size)
    records = [line for line in corpus if line.text] if questions is None else questions.answered
    return _lines([objective(record, rng) for record in records[:n]], corpus.vocab, block_size)


def _lines(examples: list[Example], vocab: Vocab, block_size: int) -> list[str]:
    """Padded to the block first, then shifted: so x shows the last mask too, though nothing is predicted from it."""
    lines = []
    for example in examples:
        ids, targets = np.full((2, block_size), PAD_ID)
        ids[: len(example)] = example.ids
        targets[: len(example)] = np.where(example.loss_mask, example.ids, PAD_ID)
        lines += [f"x: {vocab.decode(ids[:-1])}", f"y: {vocab.decode(targets[1:])}"]
    return lines


@dataclass
class Iterations:
    """An observer: each iteration with its own loss and the rate worked out after it, as the course shows them.

    On standard error, one line an epoch; the same two numbers go to TensorBoard under the published names.
    """

    stage: Stage
    n_records: int
    block_size: int
    board: Any = None
    """A `SummaryWriter`, if TensorBoard is to hear of it."""
    started: float = field(default_factory=time.monotonic)
    first: float | None = None

    def on_step(self, report: StepReport) -> None:
        """Show it; the line of an epoch stays when the next one begins."""
        per_epoch = -(-self.n_records // self.stage.batch_size)
        epoch, iteration = divmod(report.step - 1, per_epoch)
        rows = epoch * self.n_records + min(self.n_records, (iteration + 1) * self.stage.batch_size)
        rate = self.stage.lr * factor(self.stage, progress=report.progress, tokens=rows * (self.block_size - 1))
        if self.first is None:
            self.first, self.started = report.progress, time.monotonic()
        passed, done = time.monotonic() - self.started, report.progress - self.first
        left = f", {passed / done * (1 - report.progress) / 60:.0f} min left" if done else ""
        said = f"epoch {epoch + 1} iter {iteration}: train loss {report.loss:.5f}. lr {rate:e}: "
        end = "\n" if iteration + 1 == per_epoch or report.progress >= 1 else "\r"
        if end == "\n" or sys.stderr.isatty():
            print(f"{said}{100 * report.progress:.0f}%{left}  ", file=sys.stderr, end=end, flush=True)
        if self.board is not None:
            self.board.add_scalar("train/loss", report.loss, report.step - 1)
            self.board.add_scalar("train/lr", rate, report.step - 1)

    def on_checkpoint(self, total_steps: int) -> None:
        """What TensorBoard has heard reaches the disk."""
        if self.board is not None:
            self.board.flush()

    def close(self) -> None:
        """Close the event file."""
        if self.board is not None:
            self.board.close()


def board_folder(function: str, year: int, variant: str, name: str, bottleneck_dim: int, *rates: float) -> Path:
    """Where TensorBoard's events go, as published: 2023 names the bottleneck, whatever the variant."""
    bottleneck = f"_{bottleneck_dim}" if year < 2024 else ""
    pretrain, finetune = rates
    return Path("expt") / function / f"{name}_{variant}{bottleneck}_pt_lr_{pretrain:f}_ft_lr_{finetune:f}"
