"""The course's table on a laptop: every variant in the published form, on the embedded world or on the course's files.

Pretrain by masking on corpus lines, then finetune on the train questions while the lines go on, then answer greedily
from the question alone: no reading, no reciting, no pseudo-labels. Budgets are in characters, so that the table
repeats. Held-out people are those of the folder's dev file.

examples:
  loci experiment course --quick --out course           a small world, at most five minutes a row
  loci experiment course --data DIR --seeds 1           the course's files, up to 45 minutes a row on two cores
"""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loci.data.prompts import closed
from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.error_kinds import ErrorClassifier
from loci.evaluation.metrics import exact_match, most_common_answer, most_common_answer_baseline, wilson
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row, write_rows
from loci.experiments.course.page import course_report
from loci.experiments.course.result import CourseResult, CourseRow, Training, funnel
from loci.experiments.trials import Hooks, Settings, keep_report, keep_world, open_folder, trial
from loci.generation import generate
from loci.model import VARIANTS
from loci.model.cost import model_cost
from loci.recipes import DataShape
from loci.recipes.course import FINETUNE_EPOCHS, course_short
from loci.recipes.demo import DEMO_WORLD
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.match import is_accepted, spans_of
from loci.text.questions import Question, Questions
from loci.text.strangers import Strangers
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS, read_metrics
from loci.training.sources import TrainingData

#: On the embedded world: everybody has five lines, and the few train questions are seen often.
QUICK_BUDGETS = ("pretrain.characters=700000", "finetune.characters=1500000")
N_STRANGERS, N_SHOWN = 200, 5
ANSWER_LENGTH = 32


@dataclass(frozen=True)
class Options(Settings):
    """On what, and how much."""

    quick: bool = False
    """The embedded world (or --data) with small budgets, minutes a row: shows the effect and its order."""
    data: Path | None = None
    """A folder with a corpus, train questions and dev questions with answers."""


@dataclass(frozen=True)
class System:
    """A row to be trained."""

    name: str
    explanation: str
    variant: str
    published: str
    pretrained: bool = True
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Of the model, beyond the variant's."""

    def recipe(self, shape: DataShape, options: Options, seed: int) -> Recipe:
        """Its recipe under the experiment's budget."""
        recipe = course_short(shape)
        if options.quick:
            recipe = recipe.override(QUICK_BUDGETS)
        if not self.pretrained:
            finetune = recipe.stages[-1].with_budget(epochs=FINETUNE_EPOCHS["from scratch"])
            questions = finetune.mixture[:1]
            recipe = dataclasses.replace(recipe, steps=(dataclasses.replace(finetune, mixture=questions),))
        recipe = Settings(budget=options.budget).budgeted(recipe, seed)  # the quick form has its own budgets, see above
        model = {**recipe.model, **VARIANTS[self.variant].point, **self.changes}
        return dataclasses.replace(recipe, name=f"course-{self.folder}", model=model)

    @property
    def folder(self) -> str:
        """Where its runs lie."""
        return self.name.replace(" ", "-")


SYSTEMS = (
    System("no pretraining", "the train questions alone", "vanilla", "0.4–2.0 % (reports)", pretrained=False),
    System("vanilla", "dot-product attention, learned positions", "vanilla", "11.6–22.2 % (reports), best 28.2 %"),
    System(
        "synthesizer", "each character scores the positions by itself", "synthesizer", "23.8 % (report), best 24.4 %"
    ),
    System("perceiver as published", "blind after its latents", "perceiver-course", "5.0–6.2 % (reports), best 19.2 %"),
    System("perceiver", "Loci's own: causal, and reads the whole block", "perceiver", "–"),
    System("rope", "rotary positions", "rope", "median 28.9 %, best 40.4 %"),
    System("folded", "one matrix per head for queries and keys, no QK-norm", "folded", "–", changes={"qk_norm": False}),
)


def run(
    out: Path, options: Options = Options(), hooks: Hooks = Hooks(), *, systems: Sequence[System] = SYSTEMS
) -> Report:
    """Carry out the experiment; what an earlier call finished is not done again."""
    if options.data is None and not options.quick:
        remedy = "--data DIR names their folder; --quick uses the embedded world"
        raise LociError("the table needs the course's files", remedy=remedy)
    if options.data is not None:
        _asked(options.data)  # a folder that cannot be used is named before anything is written
    kept = {**vars(options), "data": str(options.data.resolve()) if options.data is not None else None}
    open_folder(out, "course", kept)
    asked = _asked(options.data if options.data is not None else keep_world(DEMO_WORLD, out / "world"))
    rows, curves = [_baseline(asked)], []
    for system in systems:
        runs = [out / f"seed-{seed}" / system.folder for seed in options.every_seed]
        rows.append(_row(system, asked, runs, options, hooks))
        curves.append((system.name, read_metrics(runs[0])))
    about = {
        "lines": len(asked.data.corpus),
        "train": len(asked.train.answered),
        "held_out": len(asked.held_out.answered),
        "embedded": options.data is None,
    }
    result = CourseResult(tuple(rows), about, len(options.every_seed), options.quick)
    return keep_report(out, course_report(result, curves))


@dataclass(frozen=True)
class Asked:
    """What every system learns from and is asked."""

    data: TrainingData
    train: Questions
    held_out: Questions

    @property
    def strangers(self) -> Questions:
        """Questions about names nobody wrote about: first names of one subject, last names of another."""
        subjects = sorted(set(self.train.subjects) | set(self.held_out.subjects))
        names = Strangers(subjects).names("recombined", min(N_STRANGERS, len(subjects)), np.random.default_rng(0))
        return Questions.from_pairs((self.data.template.ask(name), None) for name in names)

    @property
    def classifier(self) -> ErrorClassifier:
        """Tells the kinds of wrong answers."""
        known = {row.subject: row.answers[0] for row in self.train.answered if row.subject}
        return ErrorClassifier(known, self.data.corpus)


def _asked(folder: Path) -> Asked:
    data = TrainingData.read(folder)
    held_out = Questions.read(folder, split="dev", subjects=data.corpus.by_subject)
    if data.questions is None or not held_out.answered:
        raise LociError("train questions and dev questions with answers are needed", path=folder)
    return Asked(data, data.questions, held_out)


def _baseline(asked: Asked) -> CourseRow:
    answers = [row.answers[0] for row in asked.train.answered]
    said = exact_match(most_common_answer_baseline(answers, asked.held_out))
    return CourseRow("most common place", f"always {most_common_answer(answers)}", "5.0 % (London)", said)


def _row(system: System, asked: Asked, runs: Sequence[Path], options: Options, hooks: Hooks) -> CourseRow:
    shape = DataShape.of(asked.data.corpus, asked.train)
    found: dict[str, list[Row]] = {split: [] for split in (TAUGHT, HELD_OUT, NEVER_READ)}
    stored: list[bool] = []
    trainings, by_seed = [], []
    for seed, folder in enumerate(runs):
        recipe = system.recipe(shape, options, seed)
        loaded = trial(recipe, asked.data, folder, f"{system.name}, seed {seed}", hooks)
        for split, questions in ((TAUGHT, asked.train), (HELD_OUT, asked.held_out), (NEVER_READ, asked.strangers)):
            said = ask_rows(loaded, questions, split=split)
            write_rows(folder / PREDICTIONS / f"{split}.jsonl", said)
            found[split] += said
            if split == HELD_OUT:
                by_seed.append(exact_match(said).value)
        stored += is_stored(loaded, asked.data.corpus, asked.held_out)
        trainings.append(_training(loaded, read_metrics(folder)))
    places = {answer for question in asked.train for answer in question.answers}
    invented = sum(row.prediction in places for row in found[NEVER_READ])
    kinds = Counter(str(one.kind) for one in asked.classifier.classify(found[HELD_OUT]))
    return CourseRow(
        system.name,
        system.explanation,
        system.published,
        exact_match(found[HELD_OUT]),
        tuple(by_seed),
        exact_match(found[TAUGHT]),
        wilson(invented, len(found[NEVER_READ])),
        Training(trainings[0].parameters, *(_mean(trainings, name) for name in ("characters", "seconds", "flops"))),
        funnel(found[HELD_OUT], stored, asked.data.corpus, loaded.model.config.block_size),
        dict(kinds.most_common()),
        tuple((row.subject or row.question, row.prediction) for row in found[NEVER_READ][:N_SHOWN]),
    )


def _training(loaded: LoadedModel, metrics: Sequence[Mapping[str, Any]]) -> Training:
    config, characters = loaded.model.config, metrics[-1]["characters"]
    cost = model_cost(config).total
    per_character = (cost.forward_flops + cost.backward_flops) / (config.block_size - 1)
    return Training(loaded.model.n_parameters(), characters, metrics[-1]["seconds"], characters * per_character)


def _mean(trainings: Sequence[Training], name: str) -> float:
    return statistics.fmean(getattr(training, name) for training in trainings)


def is_stored(loaded: LoadedModel, corpus: Corpus, questions: Questions) -> list[bool]:
    """For each question with answers: whether the model fills the answer in where its own line has it masked.

    That is how it was pretrained, so it tells what is stored apart from what a question can reach.
    """
    block = loaded.model.config.block_size
    asked = [question for question in questions if question.answers]
    masked = [_masked(question, corpus, block - ANSWER_LENGTH) for question in asked]
    known = [parts is not None and not loaded.vocab.missing("".join(parts)) for parts in masked]
    prompts = [closed(loaded.vocab, *parts).tolist() for parts, ok in zip(masked, known, strict=True) if parts and ok]
    said = iter(generate(loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID) if prompts else ())
    return [
        ok and is_accepted(loaded.vocab.decode(next(said).ids), question.answers)
        for question, ok in zip(asked, known, strict=True)
    ]


def _masked(question: Question, corpus: Corpus, room: int) -> tuple[str, str] | None:
    """What stands before and after the answer in a line about the subject, at most `room` characters of it."""
    for line in corpus.about(question.subject or ""):
        body = len(line.text) - len(line.body)
        for start, stop in spans_of(line.text[body:], question.answers[0]):
            prefix, suffix = line.text[: body + start], line.text[body + stop :]
            if len(prefix) <= room:
                return prefix, suffix[: room - len(prefix)]
    return None
