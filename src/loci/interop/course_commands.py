"""What the course's commands do: pretrain, finetune, evaluate, and the way between `.params` files and runs.

The model is the published one, its vocabulary always that of the pretraining corpus. Training is the one loop of the
house: it keeps a run in `P.run` beside the params file P, so that the same command given again goes on where it was
stopped, and P appears only when it is done. Knows nothing of flags; published lines are returned or handed to `say`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import Row
from loci.files import atomic_folder, sha256_file, write_text
from loci.interop.course_lines import data_line, parameters_line
from loci.interop.course_params import COURSE_VARIANTS, course_variant, from_course, to_course
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, VARIANTS, GPTConfig
from loci.pipeline import carry_out
from loci.recipes.course import COURSE_MODEL, FINETUNE_EPOCHS, PRETRAIN_EPOCHS, finetune_stage, pretrain_stage
from loci.recipes.shape import DataShape
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.checkpoint import FINAL, LoadedModel, load_model, save_checkpoint
from loci.training.plan import Recipe, Stage, to_dict
from loci.training.reports import Observer, Outcome
from loci.training.run import holds_run, other_training, read_run, start_run
from loci.training.sources import TrainingData

YEARS = {"vanilla": 2021, "synthesizer": 2021, "perceiver": 2021, "rope": 2024}
"""The year whose corruption and schedule a variant gets unless told otherwise: the one that introduced it."""
PRETRAIN_LR, FINETUNE_LR, BOTTLENECK_DIM = 6e-3, 6e-4, 32

Observers = Callable[[Path], Sequence[Observer]]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Course:
    """One of the course's models on one corpus."""

    variant: str
    corpus: Corpus
    model: Mapping[str, Any]
    """Fields of its config, but the vocabulary's size."""
    seed: int = 0

    @classmethod
    def read(cls, variant: str, corpus: str | Path, *, bottleneck_dim: int = BOTTLENECK_DIM, seed: int = 0) -> Course:
        """The published model over this corpus's vocabulary."""
        if variant not in COURSE_VARIANTS:
            raise LociError(f"the course has no variant {variant!r}", remedy=f"one of: {', '.join(COURSE_VARIANTS)}")
        text = Corpus.read(corpus)
        model = {**COURSE_MODEL, **VARIANTS[COURSE_VARIANTS[variant]].changes}
        if variant == "perceiver":
            model["bottleneck_dim"] = bottleneck_dim
        return cls(variant, text, model, seed)

    @property
    def config(self) -> GPTConfig:
        """The model's config."""
        return GPTConfig.from_dict({**self.model, "vocab_size": len(self.corpus.vocab)})

    @property
    def shape(self) -> DataShape:
        """How much data the schedule counts: the course splits at newlines, so the end of the file is one line more."""
        return DataShape(self.corpus.raw.count("\n") + 1)

    def recipe(self, stage: Stage, note: str) -> Recipe:
        """A recipe of this one stage."""
        return Recipe(f"course-{stage.name}", self.model, (stage,), seed=self.seed, note=note)

    def new_model(self) -> GPT:
        """Random weights, the same for the same seed."""
        return GPT(self.config, generator=torch.Generator().manual_seed(self.seed))

    def load(self, params: str | Path) -> GPT:
        """The weights of a `.params` file."""
        try:
            return from_course(read_params(params), self.config)
        except LociError as error:
            raise LociError(error.message, path=params, remedy=error.remedy) from None


def pretrain(
    course: Course,
    writing_params: Path,
    *,
    year: int | None = None,
    lr: float = PRETRAIN_LR,
    max_epochs: int | None = None,
    observers: Observers = lambda run: (),
    should_stop: Callable[[], bool] = lambda: False,
    say: Say = print,
) -> Outcome:
    """Span corruption over the corpus; writes the params file when done."""
    year = year if year is not None else YEARS[course.variant]
    epochs = max_epochs if max_epochs is not None else PRETRAIN_EPOCHS
    stage = pretrain_stage(course.shape, year=year, lr=lr, epochs=epochs)
    model = course.new_model()
    say(data_line(course.corpus))
    say(parameters_line(model))
    recipe = course.recipe(stage, f"the course's pretraining of {course.variant}, as in {year}")
    return _train(recipe, TrainingData(course.corpus), model, writing_params, observers, should_stop)


def finetune(
    course: Course,
    writing_params: Path,
    questions: Path,
    *,
    reading_params: Path | None = None,
    lr: float = FINETUNE_LR,
    max_epochs: int | None = None,
    observers: Observers = lambda run: (),
    should_stop: Callable[[], bool] = lambda: False,
    say: Say = print,
) -> Outcome:
    """The train questions, after pretraining or from scratch; writes the params file when done."""
    taught = Questions.read(questions)
    if not taught.answered:
        raise LociError("holds no answers to learn from", path=questions, remedy="give the train questions")
    taught.require(course.corpus.vocab, course.config.block_size)
    start = "after pretraining" if reading_params is not None else "from scratch"
    epochs = max_epochs if max_epochs is not None else FINETUNE_EPOCHS[start]
    say(data_line(course.corpus))
    if reading_params is not None:
        model = course.load(reading_params)
        # The hash is part of the recipe: with other weights to start from, an unfinished run is another run.
        start += f" ({reading_params.name}, {sha256_file(reading_params)[:16]})"
    else:
        model = course.new_model()
    say(parameters_line(model))
    stage = finetune_stage(course.shape, lr=lr, epochs=epochs)
    recipe = course.recipe(stage, f"the course's finetuning of {course.variant} {start}")
    return _train(recipe, TrainingData(course.corpus, taught), model, writing_params, observers, should_stop)


def evaluate(
    course: Course, reading_params: Path, questions: Path, *, outputs: Path | None = None, say: Say = print
) -> list[Row]:
    """Greedy answers to every question, one a line in `outputs`."""
    asked = Questions.read(questions)
    say(data_line(course.corpus))
    model = course.load(reading_params)
    say(parameters_line(model))
    about = {"corpus_hash": course.corpus.hash}
    loaded = LoadedModel(model, course.corpus.vocab, about, sha256_file(reading_params)[:16], reading_params)
    rows = ask_rows(loaded, asked, answerer="greedy")
    if outputs is not None:
        write_text(outputs, "".join(f"{_one_line(row.prediction)}\n" for row in rows))
    return rows


def import_params(course: Course, params: Path, out: Path) -> Path:
    """A run that holds the weights of a `.params` file, for every command that asks a run."""
    if out.exists():
        raise LociError("exists already", path=out, remedy="choose another folder")
    model = course.load(params)
    # No stage of ours made these weights; what the recipe says of them is the stage the course would have used.
    stage = pretrain_stage(course.shape, year=YEARS[course.variant])
    recipe = course.recipe(stage, f"imported from {params.name} ({course.variant})")
    data = TrainingData(course.corpus).describe()
    about = {"recipe": to_dict(recipe), "corpus_hash": course.corpus.hash, "total_steps": 0, "seconds": 0.0}
    with atomic_folder(out) as temporary:
        start_run(temporary, recipe, data)
        save_checkpoint(temporary / FINAL, model, course.corpus.vocab, about=about)
    return out


def export_params(run: Path, out: Path) -> str:
    """Write a run's weights as a `.params` file; returns the variant to give with it."""
    loaded = load_model(run)
    variant = course_variant(loaded.model.config)
    for name, value in COURSE_MODEL.items():
        if (own := getattr(loaded.model.config, name)) != value:
            raise LociError(f"its {name} is {own}, the course's commands read {value} only", path=run)
    write_params(out, to_course(loaded.model))
    return variant


def run_folder(params: Path) -> Path:
    """Where the training that writes `params` keeps its run."""
    return params.with_name(f"{params.name}.run")


def _train(
    recipe: Recipe,
    data: TrainingData,
    model: GPT,
    writing_params: Path,
    observers: Observers,
    should_stop: Callable[[], bool],
) -> Outcome:
    """Start, go on with, or reuse the run beside the params file; write the file once the run is finished."""
    run = run_folder(writing_params)
    if writing_params.is_dir():
        raise LociError("is a folder, a .params file was to be written here", path=writing_params)
    try:
        run.mkdir(parents=True, exist_ok=True)  # now, not after hours: a place that cannot be written to
    except OSError as error:
        raise LociError(f"cannot be made: {error.strerror or error}", path=run) from None
    resume = _resumable(run, recipe, data)
    outcome = carry_out(recipe, data, run, observers=observers, resume=resume, initial=model, should_stop=should_stop)
    if outcome.finished:
        write_params(writing_params, to_course(load_model(run / FINAL).model))
        shutil.rmtree(run / "checkpoints", ignore_errors=True)  # nothing is left to resume
    return outcome


def _resumable(run: Path, recipe: Recipe, data: TrainingData) -> bool:
    """Whether the folder holds this very training. A finished other one makes way, as the params file does."""
    if not holds_run(run):
        return False
    info = read_run(run)
    if other_training(info, recipe, data.describe()) is None:
        return True
    if not info.finished:
        raise LociError(
            f"holds another training that was stopped before its end ({info.recipe.note})",
            path=run,
            remedy="finish it with its own command, or remove the folder",
        )
    shutil.rmtree(run)
    return False


def _one_line(answer: str) -> str:
    """An untrained model can say a line end; a line of the file is one answer all the same."""
    return " ".join(answer.splitlines())
