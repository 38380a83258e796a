"""The one training loop. It trains the stages it is given and knows no stage, objective, model or labeler by name.

The batch of a step is a pure function of the step, the learning rate of the point in the budget; weights, moments and
the random state are in the checkpoint. So a run that was killed at any moment goes on to the same weights, bit for bit,
on the same machine (budgets in minutes excepted: there the clock decides how many steps fit). Of several processes the
first one writes, the others only compute. `loci.pipeline` opens the run and says which stage comes next.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from loci.data.batches import BatchStream
from loci.errors import LociError, naming
from loci.model import GPT
from loci.text.findings import shown
from loci.text.vocab import PAD
from loci.training import checkpoint as ckpt
from loci.training.checkpoint import TrainingState
from loci.training.device import Placement
from loci.training.held_out import due, held_out_loss
from loci.training.observers import MetricsFile
from loci.training.optim import make_optimisers, set_rate
from loci.training.parallel import Engine, local
from loci.training.plain_data import to_dict
from loci.training.plan import Recipe, Stage
from loci.training.prefetch import Prefetch
from loci.training.reports import CheckpointPolicy, Observer, Outcome, StepReport
from loci.training.run import read_metrics
from loci.training.schedule import step_factor
from loci.training.shards import read_state, restore, save_shards
from loci.training.sources import TrainingData, make_stream
from loci.training.state import pack, unpack
from loci.training.step import ALONE, HERE, StepLoss, step

LEAST_RATE = 2.0**-10
"""How small a part of its rate a stage may come down to before it is given up."""


class _Diverged(Exception):
    """A step led to something that is no number: to what, and on which batch."""


class Trainer:
    """The moving parts of one run, while it moves."""

    def __init__(
        self,
        recipe: Recipe,
        data: TrainingData,
        run: Path,
        model: GPT,
        state: TrainingState,
        resumed: Path | None = None,
        *,
        observers: Sequence[Observer] = (),
        checkpoints: CheckpointPolicy = CheckpointPolicy(),
        should_stop: Callable[[], bool] = lambda: False,
        placement: Placement = HERE,
        engine: Engine = ALONE,
        clock: Callable[[], float] = time.perf_counter,
    ):
        """`model` is wrapped by the `engine`; `resumed` is the checkpoint whose moments and random state to go on with.

        `clock` measures budgets in minutes; a processor's own clock does not count what else the machine does.
        """
        self.recipe, self.data, self.run, self.model, self.state = recipe, data, run, model, state
        self.resumed = resumed
        self.observers, self.checkpoints, self.should_stop = observers, checkpoints, should_stop
        self.placement, self.engine, self.group, self.clock = placement, engine, engine.group, clock
        self.about: dict[str, Any] = {
            "recipe": to_dict(recipe),
            "corpus_hash": data.corpus.hash,
            "relations": [relation.as_dict() for relation in data.relations],
            "threshold": recipe.threshold,
        }
        self.saved_at = time.perf_counter()
        self.best = math.inf
        """The lowest loss of what this stage holds out."""

    def finish(self) -> Outcome:
        """Keep the finished model."""
        state = self.state
        about = {**self.about, "total_steps": state.total_steps, "seconds": round(state.seconds, 1)}
        whole = self.engine.whole(self.model)
        if self.group.first:
            ckpt.save_checkpoint(self.run / ckpt.FINAL, whole, self.data.vocab, about=about)
        self.group.wait()
        return self.outcome(finished=True)

    def outcome(self, *, finished: bool) -> Outcome:
        """Where the run stands."""
        return Outcome(self.run, finished, self.state.total_steps, self.state.seconds)

    def train(self, index: int, data: TrainingData) -> bool:
        """Carry out the stage `index` from where the state stands; False when it was stopped before its end."""
        if self.recipe.stages[index].divergence != "stop" and not self.state.total_steps:
            self._save(index, [])  # to go back to
        while True:
            try:
                return self._stage(index, data)
            except _Diverged as error:
                self._go_back(index, *error.args)

    def _stage(self, index: int, data: TrainingData) -> bool:
        stage, state, model, group = self.recipe.stages[index], self.state, self.model, self.group
        stream = make_stream(
            stage, index, self.recipe, data, model.config.block_size, rank=group.rank, world=group.world
        )
        steps = stream.steps_for(stage.epochs) if stage.epochs is not None else stage.steps
        held_out = self._held_out_stream(index, data)
        optimisers = make_optimisers(model, stage)
        if state.step and self.resumed is not None:
            with naming(self.resumed):
                unpack(read_state(self.resumed, optimisers), optimisers, self.placement.device)
        if not state.step or not group.first:  # the checkpoint holds the first process's random state alone
            torch.manual_seed(_dropout_seed(self.recipe.seed, index, group.rank, state.step))
        model.train()
        begun = self.clock()
        with Prefetch(lambda at: stream.parts(at, stage.accumulate)) as batches:
            while (progress := _progress(stage, steps, state)) < 1:
                work = batches.get(state.step)
                before, state.tokens = state.tokens, state.tokens + work.rows * (model.config.block_size - 1)
                rate = step_factor(stage, step=state.step, progress=progress, before=before, after=state.tokens)
                rate *= state.rate_factor
                set_rate(optimisers, rate)
                loss = step(model, work, stage, optimisers, placement=self.placement, engine=self.engine)
                now = self.clock()
                # One message: losses add up, the first process's clock is everybody's, as is anybody's wish to stop.
                own = (now - begun, self._due(state.total_steps + 1)) if group.first else (0.0, False)
                language, shaping, seconds, save, stop = group.total(
                    (loss.language, loss.shaping, *own, group.world > 1 and self.should_stop())
                )
                begun = now
                loss = loss._replace(language=language, shaping=shaping)
                if (fault := loss.fault) is not None:
                    first = self.data.vocab.decode(work.parts[0].x[0]).rstrip(PAD)
                    raise _Diverged(fault, f"; the batch of {work.rows} rows begins with {shown(first)}")
                self._count(loss.characters, seconds)
                done = min(1.0, _progress(stage, steps, state))
                unseen = None
                if stage.held_out and due(progress, done):
                    whole = self.engine.whole(model)
                    unseen = held_out_loss(whole, held_out, self.placement) if held_out is not None else None
                    self._keep_best(unseen, whole)
                self._report(stage, loss, stage.lr * rate, done, unseen)
                stop = stop or (
                    group.world == 1 and self.should_stop()
                )  # alone, after the observers: theirs counts at once
                if stop or save:
                    self._save(index, optimisers)
                if stop:
                    return False
        self._require_weights()
        self.state = TrainingState(index + 1, 0, state.total_steps, characters=state.characters, seconds=state.seconds)
        self._save(index + 1, [])
        return True

    def _count(self, characters: int, seconds: float) -> None:
        state = self.state
        state.step += 1
        state.total_steps += 1
        state.characters += characters
        state.stage_characters += characters
        state.stage_seconds += seconds
        state.seconds += seconds

    def _require_weights(self) -> None:
        """No checkpoint is written of weights that are no numbers."""
        whole = all(bool(torch.isfinite(local(parameter)).all()) for parameter in self.model.parameters())
        if self.group.anyone(not whole):
            raise _Diverged("a weight is not a number")

    def _go_back(self, index: int, what: str, batch: str = "") -> None:
        """After a step that led to no numbers: back to the last checkpoint and on at half the rate, or an error."""
        stage, at, factor = self.recipe.stages[index], self.state.step + 1, self.state.rate_factor / 2
        self.group.wait()  # until nobody writes
        good = ckpt.latest(self.run)
        state = ckpt.load_state(good) if good is not None else None
        if stage.divergence == "stop" or factor < LEAST_RATE or good is None or state is None or state.stage != index:
            raise LociError(
                f"{what} at step {at} of stage {stage.name}: training diverged{batch}"
                + (f"; the last good checkpoint is {good.name}" if good is not None else ""),
                path=self.run,
                remedy=f"lower the learning rate (--set {stage.name}.lr={stage.lr / 3:.2g}), or let it be halved there "
                f"(--set {stage.name}.divergence=halve-rate)",
            )
        restore(self.model, good)
        self.state, self.resumed = state, good
        self.state.rate_factor = factor
        for observer in self.observers:
            if isinstance(observer, MetricsFile):
                observer.rewind(state.total_steps)

    def _held_out_stream(self, index: int, data: TrainingData) -> BatchStream | None:
        """What the stage holds out, for the first process to measure; the best loss so far is read from the metrics."""
        stage = self.recipe.stages[index]
        if not stage.held_out or not self.group.first:
            return None
        found = [row["held_out"] for row in read_metrics(self.run) if row["stage"] == stage.name and "held_out" in row]
        self.best = min(found, default=math.inf)
        return make_stream(stage, index, self.recipe, data, self.model.config.block_size, held_out=True)

    def _keep_best(self, held_out: float | None, model: GPT) -> None:
        if held_out is not None and held_out < self.best:
            self.best = held_out
            about = {**self.about, "total_steps": self.state.total_steps, "seconds": round(self.state.seconds, 1)}
            ckpt.save_checkpoint(self.run / ckpt.BEST, model, self.data.vocab, about=about)

    def _report(self, stage: Stage, loss: StepLoss, lr: float, progress: float, held_out: float | None) -> None:
        state = self.state
        report = StepReport(
            stage.name,
            state.step,
            state.total_steps,
            progress,
            loss.language,
            loss.shaping,
            lr,
            state.characters,
            state.seconds,
            held_out,
        )
        for observer in self.observers:
            observer.on_step(report)

    def _due(self, total_steps: int) -> bool:
        if self.checkpoints.every_steps is not None:
            return total_steps % self.checkpoints.every_steps == 0
        return time.perf_counter() - self.saved_at > self.checkpoints.every_minutes * 60

    def _save(self, stage: int, optimisers: Sequence[torch.optim.Optimizer]) -> None:
        self.state.stage = stage
        self._require_weights()
        for observer in self.observers:
            observer.on_checkpoint(self.state.total_steps)
        folder = ckpt.checkpoint_folder(self.run, self.state.total_steps)
        tensors, vocab = pack(optimisers, self.placement.device), self.data.vocab
        kept: dict[str, Any] = {"about": self.about, "state": self.state, "tensors": tensors}
        if self.engine.sharded:
            save_shards(folder, self.model, vocab, **kept, group=self.group)
        elif self.group.first:
            ckpt.save_checkpoint(folder, self.model, vocab, **kept)
        if self.group.first:
            ckpt.prune(self.run, self.checkpoints.keep)
        self.saved_at = time.perf_counter()


def _progress(stage: Stage, steps: int | None, state: TrainingState) -> float:
    """How much of the stage's budget is used up."""
    if steps is not None:
        return state.step / steps
    if stage.characters is not None:
        return state.stage_characters / stage.characters
    assert stage.minutes is not None
    return state.stage_seconds / (stage.minutes * 60)


def _dropout_seed(seed: int, stage: int, rank: int, step: int) -> int:
    """What dropout draws from; batches have generators of their own. Each process must drop other channels."""
    if rank == 0:
        return seed * 1000 + stage
    return int(np.random.SeedSequence([seed, stage, rank, step]).generate_state(1)[0])
