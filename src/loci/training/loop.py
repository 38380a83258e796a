"""The one training loop. It carries out a recipe's stages in order and knows no stage, objective or model by name.

The batch of a step is a pure function of the step, the learning rate of the point in the budget; weights, moments and
the random state are in the checkpoint. So a run that was killed at any moment goes on to the same weights, bit for bit,
on the same machine (budgets in minutes excepted: there the clock decides how many steps fit). Of several processes the
first one writes, the others only compute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from loci.errors import LociError
from loci.machine import denormals_flushed, memory_gb
from loci.model import GPT, GPTConfig
from loci.model.cost import model_cost
from loci.text.questions import Questions
from loci.training import checkpoint as ckpt
from loci.training.checkpoint import TrainingState
from loci.training.device import Placement
from loci.training.distributed import Group
from loci.training.memory import keep_freed_memory
from loci.training.optim import make_optimisers, set_rate
from loci.training.plan import Recipe, Stage, to_dict
from loci.training.prefetch import Prefetch
from loci.training.reports import Author, CheckpointPolicy, Observer, Outcome, StepReport
from loci.training.run import STUDIED, RunInfo, read_run, rewind_metrics, start_run
from loci.training.schedule import step_factor
from loci.training.sources import TrainingData, make_stream
from loci.training.state import pack, unpack
from loci.training.step import ALONE, HERE, StepLoss, step

BYTES_A_PARAMETER = 16
"""Weight, gradient and the optimiser's two moments, in fp32."""

__all__ = ["Author", "Observer", "Outcome", "CheckpointPolicy", "StepReport", "TrainingData", "train"]


def train(
    recipe: Recipe,
    data: TrainingData,
    run: str | Path,
    *,
    observers: Callable[[Path], Sequence[Observer]] = lambda run: (),
    saving: CheckpointPolicy = CheckpointPolicy(),
    resume: bool = False,
    initial: GPT | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    placement: Placement = HERE,
    group: Group = ALONE,
    author: Author | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Outcome:
    """Carry out a recipe. `observers` are made once the run's folder exists; `initial` replaces random weights.

    `author` is asked before the first stage that learns from studied questions: it lets the model read the corpus.
    `clock` measures budgets in minutes; a processor's own clock does not count what else the machine does.

    With several processes every one calls this; the run's folder must be one that all of them can read.
    """
    run = Path(run)
    keep_freed_memory()
    _require_possible(read_run(run).recipe if resume else recipe, data, author)
    info = _open(run, recipe, data, resume, group)
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
    model.to(placement.device)
    group.wait()  # nobody prunes or writes checkpoints before all have read theirs
    group.same_start(model)
    if resume and group.first:
        rewind_metrics(run, state_at.total_steps)
    watching = observers(run) if group.first else ()
    try:
        loop = _Loop(info.recipe, data, run, model, state_at, watching, saving, should_stop, placement, group)
        loop.author, loop.clock = author, clock
        with denormals_flushed():
            return loop.carry_out()
    finally:
        for observer in watching:
            observer.close()


def _require_possible(recipe: Recipe, data: TrainingData, author: Author | None) -> None:
    """What is wrong with the model, or missing for the last stage, is said before anything is written."""
    config = GPTConfig.from_dict({**recipe.model, "vocab_size": len(data.vocab)})
    wanted = BYTES_A_PARAMETER * model_cost(config, 1, 1).total.parameters / 1e9
    if wanted > (there := memory_gb()[0]) > 0:
        raise LociError(
            f"training this model takes at least {wanted:,.0f} GB, and the machine has {there:.0f}",
            remedy="choose a smaller one: --set model.n_embd=…",
        )
    for index, stage in enumerate(recipe.stages):
        if "studied" not in stage.sources:
            make_stream(stage, index, recipe, data, config.block_size)
        elif author is None:
            raise LociError(f"stage {stage.name} learns from studied questions, and nobody is there to write them")
        else:
            _ = data.form  # questions are written in it


def _open(run: Path, recipe: Recipe, data: TrainingData, resume: bool, group: Group) -> RunInfo:
    if not resume:
        info = start_run(run, recipe, data.describe(), threads=torch.get_num_threads()) if group.first else None
        group.wait()
        return info if info is not None else read_run(run)
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
        saving: CheckpointPolicy,
        should_stop: Callable[[], bool],
        placement: Placement,
        group: Group,
    ):
        self.recipe, self.data, self.run, self.model, self.state = recipe, data, run, model, state
        self.observers, self.saving, self.should_stop = observers, saving, should_stop
        self.placement, self.group = placement, group
        self.author: Author | None = None
        self.clock: Callable[[], float] = time.perf_counter
        self.about = {"recipe": to_dict(recipe), "corpus_hash": data.corpus.hash}
        self.saved_at = time.perf_counter()

    def carry_out(self) -> Outcome:
        for index in range(self.state.stage, len(self.recipe.stages)):
            if not self._stage(index):
                return Outcome(self.run, False, self.state.total_steps, self.state.seconds)
        state = self.state
        about = {**self.about, "total_steps": state.total_steps, "seconds": round(state.seconds, 1)}
        if self.group.first:
            ckpt.save_checkpoint(self.run / ckpt.FINAL, self.model, self.data.vocab, about=about)
        self.group.wait()
        return Outcome(self.run, True, state.total_steps, state.seconds)

    def _stage(self, index: int) -> bool:
        """Carry out one stage from where the state stands; False when it was stopped before its end."""
        stage, state, model, group = self.recipe.stages[index], self.state, self.model, self.group
        data = self._studied() if "studied" in stage.sources else self.data
        stream = make_stream(
            stage, index, self.recipe, data, model.config.block_size, rank=group.rank, world=group.world
        )
        steps = stream.steps_for(stage.epochs) if stage.epochs is not None else stage.steps
        optimisers = make_optimisers(model, stage)
        if state.step:
            unpack(state.tensors, optimisers, self.placement.device)
        if not state.step or not group.first:  # the checkpoint holds the first process's random state alone
            torch.manual_seed(_dropout_seed(self.recipe.seed, index, group.rank, state.step))
        model.train()
        begun = self.clock()
        with Prefetch(lambda at: stream.parts(at, stage.accumulate)) as batches:
            while (progress := _progress(stage, steps, state)) < 1:
                work = batches.get(state.step)
                before, state.tokens = state.tokens, state.tokens + work.rows * (model.config.block_size - 1)
                rate = step_factor(stage, step=state.step, progress=progress, before=before, after=state.tokens)
                set_rate(optimisers, rate)
                loss = step(model, work, stage, optimisers, placement=self.placement, group=group)
                self._require_number(loss, stage)
                now = self.clock()
                self._count(work.characters, group.first_clock(now - begun))
                begun = now
                self._report(stage, loss, stage.lr * rate, min(1.0, _progress(stage, steps, state)))
                stop = group.anyone(self.should_stop())
                if stop or self._due():
                    self._save(index, optimisers)
                if stop:
                    return False
        self.state = TrainingState(index + 1, 0, state.total_steps, characters=state.characters, seconds=state.seconds)
        self._save(index + 1, [])
        return True

    def _studied(self) -> TrainingData:
        """The data with what the model wrote when it read the corpus; written once and kept with the run."""
        file = self.run / STUDIED
        if self.group.first and not file.exists():
            assert self.author is not None
            begun = self.clock()
            self.author(self.model, self.data).write(file)
            self.state.seconds += self.clock() - begun
        self.group.wait()
        return self.data.with_studied(Questions.read(file))

    def _count(self, characters: int, seconds: float) -> None:
        state = self.state
        state.step += 1
        state.total_steps += 1
        state.characters += characters
        state.stage_characters += characters
        state.stage_seconds += seconds
        state.seconds += seconds

    def _require_number(self, loss: StepLoss, stage: Stage) -> None:
        if loss.language != loss.language or loss.shaping != loss.shaping:
            raise LociError(
                f"the loss is not a number after step {self.state.step + 1} of stage {stage.name}",
                path=self.run,
                remedy=f"lower the learning rate: --set {stage.name}.lr={stage.lr / 3:.2g}",
            )

    def _report(self, stage: Stage, loss: StepLoss, lr: float, progress: float) -> None:
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
        )
        for observer in self.observers:
            observer.on_step(report)

    def _due(self) -> bool:
        if self.saving.every_steps is not None:
            return self.state.total_steps % self.saving.every_steps == 0
        return time.perf_counter() - self.saved_at > self.saving.every_minutes * 60

    def _save(self, stage: int, optimisers: Sequence[torch.optim.Optimizer]) -> None:
        self.state.stage = stage
        self.saved_at = time.perf_counter()
        if not self.group.first:
            return
        for observer in self.observers:
            observer.on_checkpoint(self.state.total_steps)
        self.state.tensors = pack(optimisers, self.placement.device)
        folder = ckpt.checkpoint_folder(self.run, self.state.total_steps)
        ckpt.save_checkpoint(folder, self.model, self.data.vocab, about=self.about, state=self.state)
        ckpt.prune(self.run, self.saving.keep)
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
