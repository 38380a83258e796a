"""Carry out a recipe: open or resume its run, then train and label, step by step.

What `loci train`, `loci.train` and the experiments call. A stage is trained by `loci.training.loop`, a labelling step
is done by the labeler it names. What it wrote stays with the run as `pseudo_labels.tsv`: a resumed run does not label
again. Knows no recipe, stage or labeler by name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from loci.answering.answerer import ANSWERERS
from loci.errors import LociError, naming
from loci.machine import denormals_flushed
from loci.model import GPT, GPTConfig
from loci.model.cost import model_cost
from loci.pipeline.familiarity import choose_familiarity, choose_threshold
from loci.pipeline.labelers import LABELERS, Progress, Stopped, require_options
from loci.pipeline.labels_file import read_labels, write_labels
from loci.pipeline.recalled import fit_recalled, fit_recited
from loci.training import checkpoint as ckpt
from loci.training.checkpoint import LoadedModel, TrainingState
from loci.training.device import Placement
from loci.training.distributed import Group
from loci.training.lock import owned
from loci.training.loop import Trainer
from loci.training.memory import keep_freed_memory
from loci.training.observers import MetricsFile
from loci.training.parallel import Engine, ParallelName, require_memory
from loci.training.plan import LabelStep, Recipe, Stage
from loci.training.reports import CheckpointPolicy, Observer, Outcome
from loci.training.run import RUN, holds_run, keep, labels_file, open_run, read_run, require_folder, rewind_metrics
from loci.training.shards import restore
from loci.training.sources import TrainingData, make_stream
from loci.training.step import HERE

SAMPLE = 1000
"""Lines and questions whose length is looked at before training."""


def carry_out(
    recipe: Recipe,
    data: TrainingData,
    out: str | Path,
    *,
    resume: bool | None = False,
    observers: Callable[[Path], Sequence[Observer]] = lambda run: (),
    checkpoints: CheckpointPolicy = CheckpointPolicy(),
    initial: GPT | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    labelling: Callable[[int, int], None] = lambda done, total: None,
    placement: Placement = HERE,
    group: Group = Group(),
    parallel: ParallelName = "auto",
    clock: Callable[[], float] = time.perf_counter,
) -> Outcome:
    """Carry out a recipe in the folder `out`. Every run writes its metrics; `observers` see them too.

    `resume`: False starts a new run, True goes on with one, None does what fits. A folder that holds another training
    is always refused. `observers` are made once the run's folder exists, `initial` replaces random weights, and
    `labelling` hears how much of how much is labelled.

    With several processes every one calls this; the run's folder must be one that all of them can read. `parallel` says
    whether each keeps the whole model (ddp) or a part of it (fsdp).
    """
    run = Path(out)
    resume = group.from_first(holds_run(run)) if resume is None else resume
    keep_freed_memory()
    with naming(run / RUN if resume else None, remedy="train anew"):  # the recipe of a run is untrusted
        _require_possible(recipe, data)
    config = model_config(recipe, data)
    parameters, kept = model_cost(config, 1, 1).total.parameters, _kept_bytes(recipe, data, config, group.world)
    require_memory(parameters, parallel, group, placement.device, kept)
    with contextlib.ExitStack() as stack:
        if group.first:
            require_folder(run, resume=resume)
            stack.enter_context(owned(run))
            open_run(run, recipe, data.describe(), resume=resume, threads=torch.get_num_threads())
        group.wait()
        if read_run(run).finished:
            final = ckpt.read_config(run / ckpt.FINAL)
            return Outcome(run, True, final.total_steps, final.seconds)
        engine = Engine(group)
        model, state, resumed = _start(run, recipe, data, resume, initial)
        model = engine.wrap(model, placement.device, parallel)
        if resumed is not None and ckpt.is_sharded(resumed):
            restore(model, resumed)
        group.wait()  # nobody prunes or writes checkpoints before all have read theirs
        if resume and group.first:
            rewind_metrics(run, state.total_steps)
        watching = [MetricsFile(run), *observers(run)] if group.first else []
        for observer in watching:
            stack.callback(observer.close)
        trainer = Trainer(
            recipe,
            data,
            run,
            model,
            state,
            resumed,
            observers=watching,
            checkpoints=checkpoints,
            should_stop=should_stop,
            placement=placement,
            engine=engine,
            clock=clock,
        )
        stack.enter_context(denormals_flushed())
        return _steps(trainer, data, labelling)


def _steps(trainer: Trainer, data: TrainingData, labelling: Callable[[int, int], None]) -> Outcome:
    stage = 0
    for step in trainer.recipe.steps:
        if isinstance(step, LabelStep):
            begun = (trainer.state.stage, trainer.state.step) > (stage, 0)
            labelled = _label(step, trainer, data, labelling, begun=begun)
            if labelled is None:
                return trainer.outcome(finished=False)
            data = labelled
            continue
        if stage >= trainer.state.stage and not trainer.train(stage, data):
            return trainer.outcome(finished=False)
        stage += 1
    if trainer.recipe.stranger_rate is not None:
        loaded = _loaded(trainer, data)
        if trainer.group.first:
            trainer.about["familiarity"] = dataclasses.asdict(choose_familiarity(loaded, data, trainer.recipe))
            trainer.about |= _trusted(loaded, data, trainer.recipe)
    return trainer.finish()


def _trusted(loaded: LoadedModel, data: TrainingData, recipe: Recipe) -> dict[str, Any]:
    """What the run's probabilities are worth, or else the threshold at which an answer is worth giving."""
    fitted, chosen = None, {}
    if data.pseudo_labels is not None:
        fitted = fit_recalled(loaded, data.pseudo_labels, recipe.seed)
    elif recipe.threshold is None and data.questions is not None and data.calibrating:
        # Whose answers were memorized as given cannot tell how far the others can be trusted.
        asked = dataclasses.replace(data.questions, rows=data.calibrating)
        fitted = fit_recited(loaded, asked)
        chosen = {} if fitted else {"threshold": choose_threshold(loaded, asked)}
    return {"recalled": fitted} if fitted else chosen


def _loaded(trainer: Trainer, data: TrainingData) -> LoadedModel:
    """The model as it stands, for every process to ask."""
    model = trainer.engine.whole(trainer.model, everywhere=True)
    return LoadedModel(model.eval(), data.vocab, trainer.about, "", trainer.run)


def _label(
    step: LabelStep, trainer: Trainer, data: TrainingData, told: Callable[[int, int], None], *, begun: bool
) -> TrainingData | None:
    """The data with what the labeler wrote, kept with the run; None when it was stopped. What is done then is kept too.

    `begun`: training has gone on since.
    """
    file, group = labels_file(trainer.run, trainer.recipe, step), trainer.group
    loaded, stopped = _loaded(trainer, data), False
    if not group.from_first(file.exists()):
        if begun:
            raise LociError("is missing, and the model has learned from it", path=file, remedy="train anew")
        clock = trainer.clock()
        kept = file.with_suffix(f".part{group.rank or ''}")
        progress = Progress(told if group.first else lambda done, total: None, trainer.should_stop, kept, group)
        try:
            labels = LABELERS[step.labeler](loaded, data, progress, **step.options)
            if group.first:
                write_labels(labels, file)
        except Stopped:
            stopped = True
        trainer.state.seconds += trainer.clock() - clock
    if group.anyone(stopped):
        return None
    if group.first:
        keep(trainer.run, file)
    group.wait()
    return dataclasses.replace(data, pseudo_labels=read_labels(file, data.relations))


def _start(
    run: Path, recipe: Recipe, data: TrainingData, resume: bool, initial: GPT | None
) -> tuple[GPT, TrainingState, Path | None]:
    """The model and the state to go on from: the newest checkpoint's, or fresh ones. Weights in shards come later."""
    found = ckpt.latest(run) if resume else None
    if found is not None and not ckpt.is_sharded(found):
        return ckpt.load_checkpoint(found).model, ckpt.load_state(found), found
    if initial is None:
        initial = GPT(model_config(recipe, data), generator=torch.Generator().manual_seed(recipe.seed))
    return initial, ckpt.load_state(found) if found is not None else TrainingState(), found


def model_config(recipe: Recipe, data: TrainingData) -> GPTConfig:
    """The model of a recipe; the vocabulary's size is the data's."""
    return GPTConfig.from_dict({**recipe.model, "vocab_size": len(data.vocab)})


def _kept_bytes(recipe: Recipe, data: TrainingData, config: GPTConfig, world: int) -> int:
    """What the largest step keeps for its backward pass, if no example is longer than the mean: batches take more."""
    lengths = [[line.length for line in data.corpus.lines[:SAMPLE]]]
    if data.questions is not None:
        lengths.append([row.example_length() for row in data.questions.rows[:SAMPLE]])
    length = min(sum(own) // max(1, len(own)) for own in lengths)
    rows = max(math.ceil(stage.batch_size / (stage.accumulate * world)) for stage in recipe.stages)
    return model_cost(config, max(1, min(length, config.block_size - 1)), rows).total.activation_bytes


def _require_possible(recipe: Recipe, data: TrainingData) -> None:
    """What is wrong with the model, or missing for the last step, is said before anything is written."""
    _ = ANSWERERS[recipe.answerer]
    config = model_config(recipe, data)
    index = 0
    for step in recipe.steps:
        if isinstance(step, Stage):
            # Pseudo-labels are not there yet; train questions have their form.
            stand_in = dataclasses.replace(data, pseudo_labels=data.questions)
            make_stream(step, index, recipe, stand_in, config.block_size)
            index += 1
        else:
            require_options(LABELERS[step.labeler], step.labeler, step.options)
            _ = data.template  # questions are written in it
