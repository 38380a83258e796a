"""Carry out a recipe on a corpus and keep the run.

examples:
  loci train --recipe demo --data world --out run
  loci train --recipe course-2024 --data course --out run --minutes 60 --variant rope
  loci train --recipe course-2021 --data course --out run --set pretrain.epochs=10 --set model.n_layer=2
  loci train --resume --out run          continue a run that was stopped or killed
  torchrun --nproc_per_node 2 --max-restarts 3 -m loci train --data course --out run
                                         two processes train one model; after a crash they go on by themselves
  torchrun --nproc_per_node 8 -m loci train --data course --out run --parallel fsdp
                                         each holds a part of a model too large for one
  loci train --recipe list               show the recipes
  loci train --recipe char --text plays.txt --out run --json
  loci train --data world --out run --set finetune.held_out=0.1
                                         measure a tenth of the questions while training, keep the best weights
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.text.relations import Relation
    from loci.training.device import Placement
    from loci.training.plan import Recipe
    from loci.training.sources import TrainingData


RECIPE = "demo"
SHOWN = 8
"""Remarks about the data that are printed."""
SHORT = 30
"""Steps that are not worth measuring beforehand."""


def train(
    recipe: str = RECIPE,
    data: Path | None = None,
    out: Path = Path("run"),
    corpus: Annotated[Path | None, tyro.conf.arg(aliases=["--text"])] = None,
    questions: Path | None = None,
    template: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    variant: str | None = None,
    minutes: float | None = None,
    characters: int | None = None,
    seed: int | None = None,
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    resume: bool = False,
    no_tensorboard: bool = False,
    wandb: str | None = None,
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
    precision: Literal["auto", "fp32", "bf16"] = "auto",
    parallel: Literal["auto", "ddp", "fsdp"] = "auto",
    threads: int | None = None,
    save_every: int | None = None,
    json: bool = False,
) -> int:
    """Carry out a recipe.

    Args:
        recipe: Its name; "list" shows them all.
        data: A folder with a corpus and train questions (wiki.txt, *train*.tsv).
        out: The run's folder, made anew; with --resume the one to continue.
        corpus: The corpus file, instead of the folder's.
        questions: The train questions, instead of the folder's.
        template: A form of the questions, like "Who wrote {subject}?", where it cannot be found from them; may be given
            several times.
        variant: The model's variant (vanilla, rope, ...), instead of the recipe's.
        minutes: Train for this long, decaying to the end, instead of the recipe's own budget.
        characters: Train on this many characters, split over the stages, instead of the recipe's own budget.
        seed: Seed of weights, batches and dropout.
        set: A change to the recipe, as stage.field=value or model.field=value; may be given several times.
        resume: Continue the run in --out from its newest checkpoint.
        no_tensorboard: Write no TensorBoard events; where TensorBoard is installed they go into the run's folder.
        wandb: A project of Weights & Biases that hears of every step, where it is installed; offline unless WANDB_MODE
            says otherwise.
        device: Where to train; auto takes CUDA, then MPS, then the CPU.
        precision: auto is bf16 on CUDA where it is built in, and fp32 elsewhere.
        parallel: What each process of torchrun holds: ddp the whole model, fsdp a part of it; auto is ddp where the
            model fits into the memory of a process.
        threads: How many threads; otherwise what a short measurement finds best (or OMP_NUM_THREADS, or the run's own).
        save_every: Write a checkpoint after every so many steps, instead of every minute.
        json: Print one JSON object at the end; everything else goes to stderr.
    """
    if recipe == "list":
        return _list_recipes()
    from rich.console import Console

    from loci import machine
    from loci.cli.output import print_json
    from loci.cli.progress import ProgressBar
    from loci.cli.work import InterruptFlag, choose_threads
    from loci.pipeline import carry_out
    from loci.training.device import choose
    from loci.training.distributed import Group, by_torchrun, local_rank, restarts
    from loci.training.observers import TensorBoard, WeightsAndBiases
    from loci.training.reports import CheckpointPolicy, Observer
    from loci.training.run import describe, holds_run, read_run

    if resume:
        given = {"--template": template or None, "--variant": variant, "--minutes": minutes, "--characters": characters}
        _only_resumed(recipe, {**given, "--seed": seed, "--set": set or None})
    resume = resume or (restarts() > 0 and holds_run(out))
    placement = choose(device, precision, local_rank=local_rank())
    was_finished = resume and read_run(out).finished
    files = (data, corpus, questions)
    taught, chosen = _resumed(out, *files) if resume else _fresh(recipe, *files, template)
    if not resume:
        chosen = _changed(chosen, variant, seed, set).within(minutes, characters=characters)
    running = choose_threads(threads, read_run(out).threads if resume else None)

    bar = ProgressBar()

    def observers(run: Path) -> list[Observer]:
        running.announce()
        if not resume:
            _say_relations(taught)
        if not resume and group.world == 1:
            _say_expected(chosen, taught, placement)
        board = [TensorBoard(run / "tensorboard")] if TensorBoard.available() and not no_tensorboard else []
        return [bar, *board, *([WeightsAndBiases(run, wandb)] if wandb is not None else [])]

    with InterruptFlag() as interrupted, machine.threads(running.count), Group.join(placement.device) as group:
        outcome = carry_out(
            chosen,
            taught,
            out,
            observers=observers,
            # torchrun may start a process anew without counting it, and Slurm the whole job.
            resume=resume or (None if by_torchrun() else False),
            checkpoints=CheckpointPolicy(every_steps=save_every),
            should_stop=lambda: interrupted.raised,
            placement=placement,
            group=group,
            parallel=parallel,
            labelling=bar.labelling,
        )
    if json and group.first:
        print_json(describe(read_run(out)) | {"finished": outcome.finished, "seconds": round(outcome.seconds, 1)})
    console = Console(quiet=not group.first, markup=False, stderr=json)
    if not outcome.finished:
        console.print(f"stopped after {outcome.total_steps} steps; continue with: loci train --resume --out {out}")
        return 130
    done = "was finished already:" if was_finished else "trained"
    console.print(f"{done} {outcome.total_steps} steps in {outcome.seconds / 60:.1f} min: {out}", soft_wrap=True)
    if (out / "best").is_dir():
        console.print(f"the weights with the lowest held-out loss: {out / 'best'}", soft_wrap=True)
    answers = any(stage.sources - {"corpus", "text"} for stage in chosen.stages)
    console.print(f"ask it: loci evaluate {out} --questions FILE" if answers else f"let it write: loci sample {out}")
    return 0


def _say_relations(data: TrainingData) -> None:
    """What is asked about subjects, and how often, where that is more than one thing."""
    counts = {name: len(own) for name, own in data.questions.by_relation().items()} if data.questions else {}
    for name, count in counts.items() if len(counts) > 1 else ():
        print(f"loci train: {name or 'other questions'}: {count:,} train questions", file=sys.stderr, flush=True)


def _say_expected(recipe: Recipe, data: TrainingData, placement: Placement) -> None:
    """Measure how long training takes here, and say it; not where it is over sooner than measured."""
    from loci.cli.progress import duration
    from loci.pipeline.expected import expected_seconds

    if all(stage.steps is not None and stage.steps <= SHORT for stage in recipe.stages):
        return
    work = "training" if len(recipe.steps) == len(recipe.stages) else "training and labelling"
    seconds = expected_seconds(recipe, data, placement)
    print(f"loci train: about {duration(seconds)} of {work} on this machine", file=sys.stderr, flush=True)


def _only_resumed(recipe: str, given: Mapping[str, object]) -> None:
    """A resumed run keeps its own recipe: what would change it is refused, not passed over."""
    named = [flag for flag, value in given.items() if value is not None] + (["--recipe"] if recipe != RECIPE else [])
    if named:
        raise LociError(
            f"--resume goes on with the run's own recipe, {', '.join(named)} would change it",
            remedy="leave that out, or train anew with another --out",
        )


def _fresh(
    recipe: str, data: Path | None, corpus: Path | None, questions: Path | None, template: Sequence[str]
) -> tuple[TrainingData, Recipe]:
    from loci.recipes import DataShape, make_recipe
    from loci.text.relations import relations_from

    if data is None and corpus is None:
        raise LociError("nothing to learn from", remedy="give --data FOLDER, or --corpus FILE")
    if data is not None and data.is_file():
        raise LociError("is a file, --data is a folder", path=data, remedy="give --corpus FILE --questions FILE")
    taught = _read(data, corpus, questions, relations_from(template))
    return taught, make_recipe(recipe, DataShape.of(taught.corpus, taught.questions))


def _resumed(out: Path, data: Path | None, corpus: Path | None, questions: Path | None) -> tuple[TrainingData, Recipe]:
    from loci.text.relations import Relation
    from loci.training.named import named_questions
    from loci.training.run import read_run

    info = read_run(out)
    forms = list(map(Relation.from_dict, info.data.get("relations", [])))
    corpus, questions = corpus or data, questions or data
    # A run may be a stranger's: files that it names are taken only if they are what it learned from.
    named = ("corpus", corpus, info.corpus), ("questions", questions, lambda: named_questions(info.data))
    for name, given, found in named:
        if given is None and info.data[name] is not None and found() is None:
            message = f"what the run read as its {name} is gone or has changed"
            raise LociError(message, path=info.data[name], remedy=f"give --data FOLDER, or --{name} FILE")
    return _read(None, corpus or info.data["corpus"], questions or info.data["questions"], forms), info.recipe


def _read(
    data: Path | None,
    corpus: Path | str | None,
    questions: Path | str | None,
    relations: Sequence[Relation],
) -> TrainingData:
    from loci.training.sources import TrainingData

    if data is None and corpus is None:
        raise LociError("the run does not say where its corpus lay", remedy="give --data FOLDER or --corpus FILE")
    taught = TrainingData.read(data, corpus=corpus, questions=questions, relations=relations)
    asked = taught.questions.findings if taught.questions is not None else ()
    said = [*taught.corpus.repairs, *(found for found in asked if found.repaired or found.kind == "no-subject")]
    for finding in said[:SHOWN]:
        print(f"loci train: {finding}", file=sys.stderr)
    if len(said) > SHOWN:
        print(f"loci train: {len(said) - SHOWN:,} more: loci check lists them all", file=sys.stderr)
    return taught


def _changed(recipe: Recipe, variant: str | None, seed: int | None, changes: tuple[str, ...]) -> Recipe:
    import dataclasses

    from loci.model.variants import VARIANTS

    if variant is not None:
        recipe = dataclasses.replace(recipe, model={**recipe.model, **VARIANTS[variant].point})
    if seed is not None:
        recipe = dataclasses.replace(recipe, seed=seed)
    return recipe.override(changes)


def _list_recipes() -> int:
    from loci.cli.output import print_table
    from loci.recipes import RECIPES, DataShape

    made = [(name, make(DataShape(2937, 2000))) for name, make in RECIPES.items()]
    rows = [(name, " → ".join(step.name for step in recipe.steps), recipe.note) for name, recipe in made]
    print_table(("recipe", "steps", "what it is"), rows)
    return 0
