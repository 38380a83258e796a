"""From a folder of text and a few questions to a run that answers: what `loci learn` does, step by step.

Reads the folder, holds back a slice of the train questions, chooses a recipe by the data, trains, calibrates and
evaluates on the slice, and writes the report. Nothing is asked of the user. Knows nothing of terminals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from loci.answering.confidence import write_calibration
from loci.api import Evaluation, Run, load
from loci.errors import LociError
from loci.evaluation.calibration import fit_calibration
from loci.evaluation.comparison.artifacts import Sources, load_entries
from loci.evaluation.comparison.comparison import compare
from loci.evaluation.metrics import Rate, by_relation
from loci.evaluation.rows import HELD_OUT, rows_file, write_rows
from loci.files import read_bytes, sha256_text, write_text
from loci.model import GPT
from loci.pipeline import carry_out
from loci.recipes import DataShape
from loci.recipes.own_data import own_data
from loci.report.comparison.page import comparison_report
from loci.report.page import require_replaceable
from loci.text.corpus import Corpus
from loci.text.findings import KINDS
from loci.text.layout import find_corpora, question_candidates, split_of
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.unread import unread
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.plan import Recipe
from loci.training.reports import Observer
from loci.training.run import (
    LINE_HASHES,
    PREDICTIONS,
    TRAIN_QUESTIONS,
    holds_run,
    other_training,
    read_run,
    require_own,
)
from loci.training.sources import TrainingData

HELD_BACK_EVERY, MOST_HELD_BACK = 5, 100
"""One subject in five of each relation's train questions is held back, and not many more than this."""
ENOUGH_TO_CALIBRATE = 40
"""Held-back questions below which probabilities stay as the model gives them."""
GOING_ON = 0.3
"""How much of the reading an old run does again when the corpus has changed."""
REPORT = "report.html"


@dataclass(frozen=True)
class LearningPlan:
    """What is learned from, what is held back, how it is taught, and why so."""

    data: TrainingData
    held_back: Questions
    recipe: Recipe
    reasons: tuple[str, ...]
    initial: GPT | None = None
    """The old run's weights, where one is gone on from."""


@dataclass(frozen=True)
class Learned:
    """A finished run and how it did on what was held back."""

    run: Run
    evaluation: Evaluation
    relations: Mapping[str, Rate]
    """Exact match of each relation."""
    calibration: str
    """What was done about the probabilities, in words."""
    report: Path

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        rates = {name: {"right": rate.successes, "questions": rate.n} for name, rate in self.relations.items()}
        answered = self.evaluation.answered
        return {
            "run": str(self.run.path),
            "parameters": self.run.model.n_parameters(),
            "held_back": rates,
            "answered": answered.successes if answered is not None else None,
            "calibration": self.calibration,
            "report": str(self.report),
        }


def make_plan(
    folder: Path,
    *,
    recipe: str | None = None,
    relations: Sequence[Relation] = (),
    before: Path | None = None,
    seed: int = 0,
    changes: Sequence[str] = (),
) -> LearningPlan:
    """Read the folder and decide; bad input is a `LociError`, and nothing is written.

    Args:
        folder: Text and train questions.
        recipe: recite or self-training; None chooses by the data.
        relations: Forms of the questions that cannot be found from them.
        before: An old run to go on from.
        seed: Seed of weights and batches.
        changes: Changes to the recipe, such as "read.characters=1e6".
    """
    data = TrainingData.read(folder, relations=relations)
    if data.questions is None or not data.questions.answered:
        raise _no_train(folder, data.questions)
    if recipe not in (None, "recite", "self-training"):
        raise LociError(f"a folder is learned by recite or self-training, not {recipe!r}")
    held, taught = _held_back(data.questions, data.corpus)
    data = dataclasses.replace(data, questions=taught)
    _ = data.reading_examples, data.template  # whatever is missing is said now
    chosen, reasons = own_data(DataShape.of(data.corpus, taught), recipe)
    chosen = dataclasses.replace(chosen, seed=seed)
    initial = None
    if before is not None:
        if model := [change for change in changes if change.startswith("model.")]:
            what = f"{', '.join(model)} cannot be changed: the model of {before} is kept"
            raise LociError(what, remedy="leave it out, or learn anew without --from")
        chosen, initial, kept = _gone_on(chosen, data, before)
        reasons = (reasons[0], *kept)  # the others are about a size that the old model decides
    if changes:
        reasons = (*reasons, f"changed: {', '.join(changes)}")
    return LearningPlan(data, held, chosen.override(changes), reasons, initial)


def _no_train(folder: Path, questions: Questions | None) -> LociError:
    """What is missing: the answers of the train questions, or the questions; names a file that nobody reads."""
    what = "there are no train questions with answers"
    if questions is not None:
        why = next((found for found in questions.findings if found.kind == "no-answer"), None)
        if why is None:
            return LociError(what, path=questions.path, remedy=KINDS["no-answer"][1])
        return LociError(f"{what}: {why.message}", path=why.path, line=why.line, remedy=why.remedy)
    read = [*find_corpora(folder), *(file for _, file in question_candidates(folder))]
    for found in unread(folder, read):
        if found.path is not None and split_of(found.path) == "train":
            return LociError(f"is not read, and {what}", path=found.path, remedy=found.remedy)
    remedy = "write some to questions_train.tsv, one a line: question, tab, answer"
    return LociError(what, path=folder, remedy=remedy)


def _held_back(questions: Questions, corpus: Corpus) -> tuple[Questions, Questions]:
    """Questions to evaluate on and questions to teach: of each relation every fifth subject is evaluated on.

    Held back is a fact, however it is worded: taught in other words it would be known. It is asked once, in the words
    met first, with all its answers: a question answered twice has two right answers, not one wrong one. Where only
    facts that would be held back are told by the corpus, the first of these is taught: a relation is read from it.
    """
    facts: dict[str, dict[str, list[Question]]] = {}
    for row in questions.answered:
        if row.subject is not None:
            facts.setdefault(row.relation, {}).setdefault(row.subject, []).append(row)
    held: list[Question] = []
    for own in facts.values():
        apart = max(HELD_BACK_EVERY, len(own) // MOST_HELD_BACK)
        chosen = [*own][apart - 1 :: apart]
        told = (name for name, rows in own.items() if any(corpus.tells(name, row.answers) for row in rows))
        first = next(told, None)
        if first in chosen and all(name in chosen for name in told):
            chosen.remove(first)
        for rows in (own[name] for name in chosen):
            answers = dict.fromkeys(answer for row in rows for answer in row.answers)
            held.append(dataclasses.replace(rows[0], answers=tuple(answers)))
    kept = {(row.relation, row.subject) for row in held}
    taught = tuple(row for row in questions if (row.relation, row.subject) not in kept)
    return dataclasses.replace(questions, rows=tuple(held)), dataclasses.replace(questions, rows=taught)


def _gone_on(recipe: Recipe, data: TrainingData, before: Path) -> tuple[Recipe, GPT, tuple[str, ...]]:
    """The recipe with the old run's model and less reading, the old weights, and what was kept in words."""
    old = load_model(before)
    if old.vocab.layout != "loci":
        raise LociError("has no mask in its vocabulary", path=before, remedy="go on from a run that Loci trained")
    config = old.model.config
    recipe = dataclasses.replace(recipe, model={k: v for k, v in config.to_dict().items() if k != "vocab_size"})
    reading = recipe.stages[0].characters or 0.0
    recipe = recipe.override([f"{recipe.stages[0].name}.characters={GOING_ON * reading:.3g}"])
    model, new = _with_vocabulary(old, data.vocab)
    kept = f"goes on from {before}: its {old.model.n_parameters():,} weights are kept"
    begun = f", {len(new)} new characters begin anew" if new else ""
    size = f"{config.n_embd} channels, a block of {config.block_size} characters: as the old run has them"
    return recipe, model, (size, kept + begun, _lines_kept(before, data))


def _lines_kept(before: Path, data: TrainingData) -> str:
    """How many lines the old run read too, by the hashes it kept, or else by its corpus, if that is as it was."""
    file, now = before / LINE_HASHES, set(_line_hashes(data.corpus))
    if file.is_file():
        was = set(read_bytes(file).decode("ascii", errors="replace").split())
    elif (corpus := read_run(before).corpus()) is not None:
        was = set(_line_hashes(corpus))
    else:
        return "its corpus has changed or is gone: every line counts as new"
    return f"{len(was & now):,} lines are the same, {len(now - was):,} are new, {len(was - now):,} are gone"


def _line_hashes(corpus: Corpus) -> Iterator[str]:
    return (sha256_text(line.text)[:12] for line in corpus)


def _with_vocabulary(old: LoadedModel, vocab: Vocab) -> tuple[GPT, str]:
    """The old model with another vocabulary: rows of characters it knew are kept, new ones begin at random."""
    model = GPT(old.model.config.replace(vocab_size=len(vocab)), generator=torch.Generator().manual_seed(0))
    weights = old.model.state_dict()
    places = {symbol: index for index, symbol in enumerate(old.vocab.symbols)}
    known = [(index, places[symbol]) for index, symbol in enumerate(vocab.symbols) if symbol in places]
    here, there = (torch.tensor(column) for column in zip(*known, strict=True))
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if name.startswith(("tok_emb", "val_emb", "head")) and len(value) == len(vocab):
                value[here] = weights[name][there]
            elif weights[name].shape == value.shape:
                value.copy_(weights[name])
    return model, "".join(symbol for symbol in vocab.symbols if symbol not in places)


def require_out(out: Path, plan: LearningPlan | None = None) -> None:
    """Refuse a folder that this cannot be learned into: somebody's, or that of another training than `plan`."""
    if out.exists() and not out.is_dir():
        raise LociError("is a file, a run is a folder", path=out, remedy="choose another --out")
    require_own(out)
    require_replaceable(out / REPORT)
    if plan is not None and holds_run(out):
        difference = other_training(read_run(out), plan.recipe, plan.data.describe())
        if difference is not None:
            raise LociError(difference, path=out, remedy="restore what it was, or choose another --out")


def learn(
    plan: LearningPlan,
    out: Path,
    *,
    observers: Callable[[Path], Sequence[Observer]] = lambda run: (),
    should_stop: Callable[[], bool] = lambda: False,
    labelling: Callable[[int, int], None] = lambda done, total: None,
) -> Learned | None:
    """Train or go on training, calibrate, evaluate, write the report; None when it was stopped."""
    require_out(out, plan)
    # What was taught is not what lies in the folder: the run keeps its own copy, which it names.
    assert plan.data.questions is not None
    taught = dataclasses.replace(plan.data.questions, path=out / TRAIN_QUESTIONS)
    data = dataclasses.replace(plan.data, questions=taught)

    def watching(run: Path) -> Sequence[Observer]:
        taught.write(run / TRAIN_QUESTIONS)
        write_text(run / LINE_HASHES, "".join(f"{one}\n" for one in _line_hashes(data.corpus)))
        return observers(run)

    hooks: dict[str, Any] = {"observers": watching, "should_stop": should_stop, "labelling": labelling}
    outcome = carry_out(plan.recipe, data, out, resume=None, initial=plan.initial, **hooks)
    if not outcome.finished:
        return None
    judged = plan.held_back
    said = f"not calibrated: {len(judged)} questions held back, {ENOUGH_TO_CALIBRATE} are needed"
    if len(judged) >= ENOUGH_TO_CALIBRATE:
        said = _calibrated(load(out, corpus=plan.data.corpus), judged[::2], out)
        judged = judged[1::2]
    run = load(out, corpus=plan.data.corpus)
    found = run.evaluate(judged, split=HELD_OUT)
    write_rows(rows_file(out / PREDICTIONS, "held_back", judged.hash), found.rows)
    if found.rows:
        entries = load_entries([out], Sources(None, None, None, None, None))
        comparison_report(compare(entries, np.random.default_rng(0)), seed=0).page().write(out / REPORT)
    return Learned(run, found, by_relation(found.rows), said, out / REPORT)


def _calibrated(run: Run, questions: Questions, out: Path) -> str:
    rows = run.evaluate(questions).rows
    try:
        fitted = fit_calibration(rows, questions="held back", questions_hash=questions.hash, model=run.loaded.hash)
    except LociError as error:
        return f"not calibrated: {error.message}"
    write_calibration(out, fitted)
    return f"calibrated on {fitted.n} held-back questions: answers from a probability of {fitted.threshold:.2f}"
