"""What the course's commands do: pretrain, finetune, evaluate, and the way between `.params` files and runs.

The model is the published one, its vocabulary always that of the pretraining corpus. Everything is done as the
published code does it, unless a fix is asked for (`loci.recipes.course.FIXES`). Knows nothing of flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from loci.data.prompts import question_prompt
from loci.errors import LociError, naming
from loci.evaluation.rows import Row
from loci.files import atomic_folder, sha256_file, write_text
from loci.generation.context import Window
from loci.generation.decode import generate
from loci.interop.course_lines import model_lines, rows_of_lines, score_lines
from loci.interop.course_notes import YEARS, begun_in, how_made
from loci.interop.course_overwriting import replacing, require_answers_place, require_replaceable
from loci.interop.course_params import (
    COURSE_VARIANTS,
    PERCEIVER_FORMS,
    course_variant,
    from_course,
    perceiver_form,
    to_course,
)
from loci.interop.course_training import CourseData, note_weights, say_all, train
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, VARIANTS, GPTConfig
from loci.recipes.course import COURSE_MODEL, FINETUNE_EPOCHS, FIXES, PRETRAIN_EPOCHS, finetune_stage, pretrain_stage
from loci.recipes.shape import DataShape
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import FINAL, LoadedModel, load_model, save_checkpoint
from loci.training.device import Placement
from loci.training.distributed import Group
from loci.training.plain_data import to_dict
from loci.training.plan import Recipe, Stage
from loci.training.reports import Observer, Outcome
from loci.training.run import read_run, run_folder, start_run
from loci.training.sources import TrainingData
from loci.training.step import HERE

ANSWER_STEPS = 32
"""Characters that the course lets a model say."""

Say = Callable[[str], None]
ALONE = Group()


@dataclass(frozen=True)
class Hooks:
    """Who hears of it, who may stop it, and what works on it."""

    say: Say = print
    """The published lines."""
    note: Say = lambda text: None
    """What the published scripts do not say."""
    observers: Callable[[Path, Stage, int], Sequence[Observer]] = lambda run, stage, n_records: ()
    should_stop: Callable[[], bool] = lambda: False
    group: Group = ALONE
    placement: Placement = HERE


@dataclass(frozen=True)
class Course:
    """One of the course's models on one corpus, in one year's form."""

    variant: str
    corpus: Corpus
    model: Mapping[str, Any]
    """Fields of its config, but the vocabulary's size."""
    year: int
    seed: int = 0
    fix: frozenset[str] = frozenset()

    @classmethod
    def read(
        cls,
        variant: str,
        corpus: str | Path,
        *,
        year: int | None = None,
        bottleneck_dim: int = 32,
        perceiver_form: str = "residual",
        seed: int = 0,
        fix: Sequence[str] = (),
    ) -> Course:
        """The published model over this corpus's vocabulary."""
        if variant not in COURSE_VARIANTS:
            raise LociError(f"the course has no variant {variant!r}", remedy=f"one of: {', '.join(COURSE_VARIANTS)}")
        if unknown := set(fix) - {*FIXES, "all"}:
            raise LociError(f"there is no fix {min(unknown)!r}", remedy=f"one of: all, {', '.join(FIXES)}")
        name = PERCEIVER_FORMS[perceiver_form] if variant == "perceiver" else COURSE_VARIANTS[variant]
        model = {**COURSE_MODEL, **VARIANTS[name].changes}
        if variant == "perceiver":
            model["bottleneck_dim"] = bottleneck_dim
        fixes = frozenset(FIXES if "all" in fix else fix)
        return cls(variant, Corpus.read(corpus), model, YEARS[variant] if year is None else year, seed, fixes)

    @property
    def config(self) -> GPTConfig:
        """The model's config."""
        return GPTConfig.from_dict({**self.model, "vocab_size": len(self.corpus.vocab)})

    @property
    def shape(self) -> DataShape:
        """How much data the schedule counts: the course splits at newlines, so the end of the file is one line more."""
        return DataShape(self.corpus.raw.count("\n") + 1)

    def recipe(self, stage: Stage, note: str) -> Recipe:
        """A recipe of this one stage; its runs answer in the published way."""
        return Recipe(f"course-{stage.name}", self.model, (stage,), seed=self.seed, note=note, answerer="greedy")

    def new_model(self) -> GPT:
        """Random weights, the same for the same seed."""
        return GPT(self.config, generator=torch.Generator().manual_seed(self.seed))

    def load(self, params: Path) -> GPT:
        """The weights of a `.params` file; one of another variant, size or vocabulary is refused with what it is."""
        state = read_params(params)
        with naming(params):
            model = from_course(state, self.config)
        made = how_made(params) or {}
        if made.get("vocabulary", self.corpus.vocab.hash) != self.corpus.vocab.hash:
            raise LociError(
                "was trained with another vocabulary of the same size",
                path=params,
                remedy=f"give the corpus it was pretrained on ({made['corpus'] or 'its name is not known'})",
            )
        own = perceiver_form(self.config.trunk)
        if (form := made.get("perceiver_form", own)) != own:
            raise LociError(
                f"holds a perceiver of the form {form}, not {own}", path=params, remedy=f"give --perceiver_form {form}"
            )
        return model


def pretrain(
    course: Course,
    writing: Path,
    *,
    lr: float = 6e-3,
    max_epochs: int | None = None,
    copy_every: int | None = None,
    hooks: Hooks = Hooks(),
) -> Outcome:
    """Span corruption over the corpus; writes the params file when done, and a copy every so many epochs."""
    stage = pretrain_stage(course.shape, year=course.year, lr=lr, epochs=max_epochs or PRETRAIN_EPOCHS, fix=course.fix)
    note = f"the course's pretraining of {course.variant}{_narrow(hooks)}, {begun_in(course.year)}"
    recipe = course.recipe(stage, note)
    return train(course, recipe, CourseData(course.corpus), course.new_model(), writing, hooks, copy_every)


def finetune(
    course: Course,
    writing: Path,
    questions: Path,
    *,
    reading: Path | None = None,
    lr: float = 6e-4,
    max_epochs: int | None = None,
    hooks: Hooks = Hooks(),
) -> Outcome:
    """The train questions, after pretraining or from scratch; writes the params file when done."""
    if reading is not None and reading.resolve() == writing.resolve():
        raise LociError(
            "is read and would be written over", path=writing, remedy="choose another --writing_params_path"
        )
    taught = Questions.read(questions)
    if not taught.answered:
        raise LociError("holds no answers to learn from", path=questions, remedy="give the train questions")
    # First the weights: where they are of another vocabulary, no question is at fault.
    model = course.new_model() if reading is None else course.load(reading)
    taught = as_taught(taught, course)
    taught.require(course.corpus.vocab, course.config.block_size)
    start = "after pretraining" if reading is not None else "from scratch"
    stage = finetune_stage(course.shape, lr=lr, epochs=max_epochs or FINETUNE_EPOCHS[start], fix=course.fix)
    if reading is not None:
        # The hash is part of the recipe: with other weights to start from, an unfinished run is another run.
        start += f" ({reading.name}, {sha256_file(reading)[:16]})"
    recipe = course.recipe(stage, f"the course's finetuning of {course.variant}{_narrow(hooks)} {start}")
    return train(course, recipe, CourseData(course.corpus, taught), model, writing, hooks)


def _narrow(hooks: Hooks) -> str:
    """Part of the recipe too: a run goes on in the precision it was begun in."""
    return " with products in bf16" if hooks.placement.bf16 else ""


def evaluate(
    course: Course, reading: Path, questions: Path, *, outputs: Path | None = None, hooks: Hooks = Hooks()
) -> list[Row]:
    """Greedy answers to every question, one a line in `outputs`, and the score."""
    asked = Questions.read(questions)
    if outputs is None and not asked.answered:
        raise LociError("has no answers to score by", path=questions, remedy="say --outputs_path to keep the answers")
    if outputs is not None:
        require_answers_place(outputs, [reading, questions, course.corpus.path])
    model = course.load(reading)
    texts = _as_asked(asked, course)
    say_all(hooks, model_lines(course.corpus, model, course.year))
    answers = greedy_answers(model, course, texts)
    rows = rows_of_lines(asked, answers)
    if outputs is not None:
        replacing(outputs, hooks.note)
        lines = [" ".join(answer.splitlines()) if "lines" in course.fix else answer for answer in answers]
        text = "".join(f"{line}\n" for line in lines)
        if (written := text.count("\n")) != len(lines):
            hooks.note(
                f"{outputs} has {written} lines for {len(lines)} questions, as published: --fix lines has one each"
            )
        write_text(outputs, text)
    say_all(hooks, score_lines(rows, outputs))
    return rows


def greedy_answers(model: GPT, course: Course, texts: Sequence[str]) -> list[str]:
    """The published way: the likeliest character 32 times or until the mask, over the newest block of characters."""
    block = course.config.block_size
    window = Window(block, block) if model.limit is None else None  # the course cuts rotary positions as well
    prompts = [question_prompt(course.corpus.vocab, text) for text in texts]
    said = generate(model, prompts, max_new=ANSWER_STEPS, stop_id=MASK_ID, window=window)
    return [course.corpus.vocab.decode(answer.ids) for answer in said]


def import_params(course: Course, params: Path, out: Path) -> Path:
    """A run that holds the weights of a `.params` file, for every command that asks a run."""
    if out.exists():
        raise LociError("exists already", path=out, remedy="choose another folder")
    model = course.load(params)
    # No stage of ours made these weights; what the recipe says of them is the stage the course would have used.
    recipe = course.recipe(
        pretrain_stage(course.shape, year=course.year), f"imported from {params.name} ({course.variant})"
    )
    data = TrainingData(course.corpus).describe()
    about = {"recipe": to_dict(recipe), "corpus_hash": course.corpus.hash, "total_steps": 0, "seconds": 0.0}
    with atomic_folder(out) as temporary:
        start_run(temporary, recipe, data)
        save_checkpoint(temporary / FINAL, model, course.corpus.vocab, about=about)
    return out


def export_params(run: Path, out: Path, hooks: Hooks = Hooks()) -> str:
    """Write a run's weights as a `.params` file; returns the variant to give with it."""
    loaded = load_model(run)
    variant = course_variant(loaded.model.config)
    for name, value in COURSE_MODEL.items():
        if (own := getattr(loaded.model.config, name)) != value:
            raise LociError(f"its {name} is {own}, the course's commands read {value} only", path=run)
    require_replaceable(out)
    folder = run_folder(run)
    corpus = read_run(folder).data["corpus"] if folder is not None else None
    replacing(out, hooks.note)
    write_params(out, to_course(loaded.model))
    note_weights(out, loaded.model, loaded.vocab, Path(corpus) if corpus is not None else None)
    return variant


def export_folder(loaded: LoadedModel, folder: Path) -> list[str]:
    """`loci export --to course`: the weights as a `.params` file, and nothing else."""
    variant = course_variant(loaded.model.config)
    file = folder / f"{variant}.model.params"
    write_params(file, to_course(loaded.model))
    return [f"wrote {file.name}; the course's script reads it as {variant}, with the corpus it was trained on"]


def as_taught(questions: Questions, course: Course) -> Questions:
    """The questions without what is not ASCII and not in the corpus either: training drops it, unless that is fixed."""
    missing = course.corpus.vocab.missing(questions.characters)
    lost = {ord(character): None for character in missing if not character.isascii()}
    if not lost or "ascii" in course.fix:
        return questions
    rows = (
        replace(row, text=row.text.translate(lost), answers=tuple(answer.translate(lost) for answer in row.answers))
        for row in questions
    )
    return replace(questions, rows=tuple(rows))


def _as_asked(questions: Questions, course: Course) -> list[str]:
    """The texts that the published code asks with: what stands before the tab, and on a line without one its newline.

    Where reading put a line right, or the file is no table of lines, the question itself.
    """
    raw: list[str] = []
    if "newline" not in course.fix and questions.path is not None:
        raw = questions.path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    texts = []
    for question in questions:
        line = raw[question.number - 1].split("\t")[0] if question.number <= len(raw) else ""
        texts.append(line if line.strip() == question.text else question.text)
        if missing := course.corpus.vocab.missing(texts[-1]):
            raise LociError(
                f"{question.text!r} is asked with {', '.join(map(repr, missing))}, which the corpus lacks",
                path=questions.path,
                line=question.number,
                remedy="--fix newline asks without the newline" if missing == ["\n"] else "correct the question",
            )
    return texts
