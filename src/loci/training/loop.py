"""The one training loop. It carries out a recipe's stages in order and knows no stage, objective or model by name.

The batch of a step is a pure function of the step, the learning rate of the point in the budget; weights, moments and
the random state are in the checkpoint. So a run that was killed at any moment goes on to the same weights, bit for bit,
on the same machine (budgets in minutes excepted: there the clock decides how many steps fit).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.training import checkpoint as ckpt
from loci.training.checkpoint import TrainingState
from loci.training.loss import next_character_loss
from loci.training.memory import keep_freed_memory
from loci.training.optim import make_optimisers, set_rate
from loci.training.plan import Recipe, Stage, to_dict
from loci.training.run import RunInfo, read_run, rewind_metrics, start_run
from loci.training.schedule import factor
from loci.training.sources import TrainingData, make_stream
from loci.training.state import pack, unpack


@dataclass(frozen=True)
class StepReport:
    """One step, as told to observers and written to metrics.jsonl."""

    stage: str
    step: int
    total_steps: int
    progress: float
    """Part of the stage's budget used up, 0 to 1."""
    loss: float
    """Mean cross-entropy, in nats a character."""
    shaping: float
    """What the shaping terms added to it."""
    lr: float
    characters: int
    """Useful characters (padding not counted) since the start of the run."""
    seconds: float
    """Training time since the start of the run, earlier parts of a resumed one included."""


class Observer(Protocol):
    """Something that wants to know how training goes: a progress bar, a metrics file, TensorBoard."""

    def on_step(self, report: StepReport) -> None:
        """After every step."""

    def on_checkpoint(self, total_steps: int) -> None:
        """Before a checkpoint is written: whatever is buffered must reach the disk first."""

    def close(self) -> None:
        """At the end, also after an error."""


@dataclass(frozen=True)
class Saving:
    """When checkpoints are written and how many stay."""

    every_minutes: float = 1.0
    every_steps: int | None = None
    keep: int = 2


@dataclass(frozen=True)
class Outcome:
    """How training ended: with a finished model, or stopped with a checkpoint to resume from."""

    run: Path
    finished: bool
    total_steps: int
    seconds: float


def train(
    recipe: Recipe,
    data: TrainingData,
    run: str | Path,
    *,
    observers: Callable[[Path], Sequence[Observer]] = lambda run: (),
    saving: Saving = Saving(),
    resume: bool = False,
    initial: GPT | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Carry out a recipe. `observers` are made once the run's folder exists; `initial` replaces random weights."""
    run = Path(run)
    keep_freed_memory()
    info = _open(run, recipe, data, resume)
    if info.finished:
        state = ckpt.read_config(run / ckpt.FINAL)
        return Outcome(run, True, state["total_steps"], state["seconds"])
    found = ckpt.latest(run) if resume else None
    vocab = data.vocab
    if found is not None:
        model, state_at = ckpt.load_checkpoint(found).model, ckpt.load_state(found)
    else:
        config = GPTConfig.from_dict({**info.recipe.model, "vocab_size": len(vocab)})
        model = initial if initial is not None else GPT(config, generator=torch.Generator().manual_seed(recipe.seed))
        state_at = TrainingState()
    for index, stage in enumerate(info.recipe.stages):  # what is missing for the last stage is said before the first
        make_stream(stage, index, info.recipe, data, model.config.block_size)
    if resume:
        rewind_metrics(run, state_at.total_steps)
    watching = observers(run)
    try:
        return _Loop(info.recipe, data, run, model, state_at, watching, saving, should_stop).carry_out()
    finally:
        for observer in watching:
            observer.close()


def _open(run: Path, recipe: Recipe, data: TrainingData, resume: bool) -> RunInfo:
    if not resume:
        return start_run(run, recipe, data.describe())
    info = read_run(run)
    for name in ("corpus_hash", "questions_hash"):
        if info.data[name] != data.describe()[name]:
            raise LociError(
                f"the data has changed since the run was started ({name} differs)",
                path=run,
                remedy="restore the files, or start a new run",
            )
    return info


class _Loop:
    """The moving parts of one run, while it moves."""

    def __init__(
        self,
        recipe: Recipe,
        data: TrainingData,
        run: Path,
        model: GPT,
        state: TrainingState,
        observers: Sequence[Observer],
        saving: Saving,
        should_stop: Callable[[], bool],
    ):
        self.recipe, self.data, self.run, self.model, self.state = recipe, data, run, model, state
        self.observers, self.saving, self.should_stop = observers, saving, should_stop
        self.about = {"recipe": to_dict(recipe), "corpus_hash": data.corpus.hash}
        self.saved_at = time.perf_counter()

    def carry_out(self) -> Outcome:
        for index in range(self.state.stage, len(self.recipe.stages)):
            if not self._stage(index):
                return Outcome(self.run, False, self.state.total_steps, self.state.seconds)
        state = self.state
        about = {**self.about, "total_steps": state.total_steps, "seconds": round(state.seconds, 1)}
        ckpt.save_checkpoint(self.run / ckpt.FINAL, self.model, self.data.vocab, about=about)
        return Outcome(self.run, True, state.total_steps, state.seconds)

    def _stage(self, index: int) -> bool:
        """Carry out one stage from where the state stands; False when it was stopped before its end."""
        stage, state, model = self.recipe.stages[index], self.state, self.model
        stream = make_stream(stage, index, self.recipe, self.data, model.config.block_size)
        steps = stage.steps if stage.steps is not None else None
        if stage.epochs is not None:
            steps = stream.steps_for(stage.epochs)
        optimisers = make_optimisers(model, stage)
        if state.step:
            unpack(state.tensors, optimisers)
        else:
            torch.manual_seed(self.recipe.seed * 1000 + index)  # dropout; batches have their own generators
        model.train()
        clock = time.perf_counter()
        while (progress := _progress(stage, steps, state)) < 1:
            batch = stream.batch(state.step)
            state.tokens += batch.x.shape[0] * (model.config.block_size - 1)
            rate = factor(stage, progress=progress, tokens=state.tokens)
            set_rate(optimisers, rate)
            loss = next_character_loss(model, torch.from_numpy(batch.x), torch.from_numpy(batch.y), stage)
            model.zero_grad(set_to_none=True)
            loss.total.backward()  # type: ignore[no-untyped-call]
            if stage.clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), stage.clip)
            for optimiser in optimisers:
                optimiser.step()
            value, total = loss.language.item(), loss.total.item()
            if total != total:
                raise LociError(
                    f"the loss is not a number after step {state.step + 1} of stage {stage.name}",
                    path=self.run,
                    remedy=f"lower the learning rate: --set {stage.name}.lr={stage.lr / 3:.2g}",
                )
            now = time.perf_counter()
            self._count(batch.n_characters, now - clock)
            clock = now
            report = StepReport(
                stage.name,
                state.step,
                state.total_steps,
                min(1.0, _progress(stage, steps, state)),
                value,
                total - value,
                stage.lr * rate,
                state.characters,
                state.seconds,
            )
            for observer in self.observers:
                observer.on_step(report)
            if self.should_stop():
                self._save(index, optimisers)
                return False
            if self._due():
                self._save(index, optimisers)
        self.state = TrainingState(index + 1, 0, state.total_steps, characters=state.characters, seconds=state.seconds)
        self._save(index + 1, [])
        return True

    def _count(self, characters: int, seconds: float) -> None:
        state = self.state
        state.step += 1
        state.total_steps += 1
        state.characters += characters
        state.stage_seconds += seconds
        state.seconds += seconds

    def _due(self) -> bool:
        if self.saving.every_steps is not None:
            return self.state.total_steps % self.saving.every_steps == 0
        return time.perf_counter() - self.saved_at > self.saving.every_minutes * 60

    def _save(self, stage: int, optimisers: Sequence[torch.optim.Optimizer]) -> None:
        for observer in self.observers:
            observer.on_checkpoint(self.state.total_steps)
        self.state.stage = stage
        self.state.tensors = pack(optimisers)
        folder = ckpt.checkpoint_folder(self.run, self.state.total_steps)
        ckpt.save_checkpoint(folder, self.model, self.data.vocab, about=self.about, state=self.state)
        ckpt.prune(self.run, self.saving.keep)
        self.saved_at = time.perf_counter()


def _progress(stage: Stage, steps: int | None, state: TrainingState) -> float:
    """How much of the stage's budget is used up."""
    if steps is not None:
        return state.step / steps
    assert stage.minutes is not None
    return state.stage_seconds / (stage.minutes * 60)
