"""Whom does a run know, whom does it answer about, and in which wordings?

Measures a finished run: the people of the train questions and held-out people, six kinds of names nobody wrote about,
and held-out people in other wordings and with typing errors. It is for runs that were taught birthplaces; other
questions about the same people are to be met with silence. The run is asked as `loci ask` asks it; nothing of the
corpus is looked at while it answers. Asking about a dev file is a look at dev: write it down.

examples:
  loci experiment strangers --run run --data course --out strangers
  loci experiment strangers --run run --data course --left-out lines.txt --out strangers
  loci experiment strangers --quick                    a small run of its own; proves nothing
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loci.answering.answer import Answer
from loci.answering.answerer import make_answerer
from loci.answering.base import ModelAnswerer
from loci.errors import LociError
from loci.evaluation.asking import rows_of
from loci.evaluation.calibration import auroc_right, ece
from loci.evaluation.metrics import score_arrays
from loci.evaluation.outcomes import outcomes
from loci.evaluation.rows import UNSTATED, Row, write_rows
from loci.experiments.strangers.page import strangers_report
from loci.experiments.strangers.result import StrangersResult, stranger
from loci.experiments.strangers.wordings import ANOTHER, wordings
from loci.experiments.trials import Hooks, Settings, keep_report, keep_world, open_folder, trial
from loci.recipes import DataShape, make_recipe
from loci.recipes.demo import DEMO_WORLD
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.strangers import KINDS, Strangers
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.run import read_metrics, run_folder
from loci.training.sources import TrainingData

HELD_OUT, LEFT_OUT = "held-out people", "left out of the corpus"
QUICK_WORLD = dataclasses.replace(DEMO_WORLD, people=60, paraphrases=2)


@dataclass(frozen=True)
class Options(Settings):
    """Which run is asked, and about whom."""

    run: Path | None = None
    """A finished run."""
    data: Path | None = None
    """The folder with its corpus and train questions, and a dev file."""
    questions: Path | None = None
    """A file of questions about held-out people (default: the dev file of --data)."""
    left_out: Path | None = None
    """Lines that were left out of the corpus before training: their subjects are strangers too."""
    names: int = 2000
    """So many strangers of each kind, where there are so many."""
    taught: int = 400
    """So many people of the train questions."""
    reworded: int = 200
    """So many held-out people are asked about in every wording."""


def run(out: Path, options: Options = Options(), hooks: Hooks = Hooks()) -> Report:
    """Ask a run about everybody and about strangers."""
    open_folder(out, "strangers", options)
    if options.quick:
        options, loaded = _quick(out, options, hooks)
    elif options.run is None or options.data is None:
        raise LociError("--run and --data are needed", remedy="name a finished run and the folder of its data")
    else:
        loaded = load_model(options.run)
    return keep_report(out, strangers_report(measure(loaded, options, hooks, out)))


def measure(loaded: LoadedModel, options: Options, hooks: Hooks, out: Path) -> StrangersResult:
    """All figures of one run; the rows behind them go below `out`."""
    assert options.data is not None
    data = TrainingData.read(options.data)
    assert data.questions is not None
    held_out = Questions.read(options.questions) if options.questions else Questions.read(options.data, split="dev")
    answerer, rng = make_answerer(loaded), np.random.default_rng(0)
    assert isinstance(answerer, ModelAnswerer)

    if not held_out.answered:
        raise LociError("has no answers", path=held_out.path, remedy="name a file with answers: --questions FILE")
    drawn = Strangers(data.subjects)
    names = {kind.replace("_", " "): drawn.at_most(kind, options.names, rng) for kind in KINDS}
    hooks.say("asking about everybody")
    groups = {"people of the train questions": data.questions[: options.taught], HELD_OUT: held_out}
    people = {name: rows_of(answerer.answer(questions), questions) for name, questions in groups.items()}
    hooks.say("asking about strangers")
    if options.left_out is not None:
        names = {LEFT_OUT: sorted(set(Corpus.read(options.left_out).by_subject) - set(data.subjects)), **names}
    strangers = {
        kind: stranger(*_about(answerer, list(map(data.template.ask, one))), people[HELD_OUT])
        for kind, one in names.items()
        if one
    }
    hooks.say("asking in other words")
    asked = held_out[: options.reworded]
    forms = wordings([question.subject or "" for question in asked], rng)
    # All together: where several come to the same question, the model is asked once.
    answers = iter(answerer.answer(Questions.from_pairs((text, None) for texts in forms.values() for text in texts)))
    reworded = {name: _reworded(asked, texts, name, answers) for name, texts in forms.items()}
    home = run_folder(loaded.path)
    metrics = read_metrics(home) if home is not None else []
    scores = score_arrays(people[HELD_OUT])
    for name, rows in (people | reworded).items():
        write_rows(out / "predictions" / f"{re.sub(r'[^a-z]+', '-', name.lower()).strip('-')}.jsonl", rows)
    return StrangersResult(
        run=loaded.path.parent.name if loaded.path.name == "final" else loaded.path.name,
        parameters=loaded.model.n_parameters(),
        characters=metrics[-1]["characters"] if metrics else 0,
        people={name: outcomes(rows) for name, rows in people.items()},
        right_or_wrong=auroc_right(scores),
        ece=ece(scores),
        strangers=strangers,
        wordings={name: outcomes(rows) for name, rows in reworded.items()},
        quick=options.quick,
    )


def _reworded(asked: Questions, texts: Sequence[str], name: str, answers: Iterator[Answer]) -> list[Row]:
    """The rows of one wording. Of what another question asks nothing was taught: any answer to it is made up."""
    another = name.startswith(ANOTHER)
    rows = tuple(
        dataclasses.replace(question, text=text, answers=() if another else question.answers)
        for question, text in zip(asked, texts, strict=True)
    )
    questions = dataclasses.replace(asked, rows=rows)
    return rows_of(list(itertools.islice(answers, len(rows))), questions, split=UNSTATED if another else None)


def _about(answerer: ModelAnswerer, texts: Sequence[str]) -> tuple[list[float], list[bool]]:
    """How familiar each subject is, and whether the run answers; it is not asked about those it is silent about."""
    familiarity = answerer.confidence.familiarity
    if familiarity is None:
        raise LociError("the run has not learned names", remedy="train recite or self-training")
    asked = answerer.readable(Questions.from_pairs((text, None) for text in texts))
    familiar = familiarity.probability(answerer.name_scores(asked)).tolist()
    near = [one.text for one, p in zip(asked, familiar, strict=True) if p >= familiarity.gate]
    known = [answer.known for answer in answerer.answer(Questions.from_pairs((text, None) for text in near))]
    unreadable = len(texts) - len(asked)
    return familiar + [0.0] * unreadable, known + [False] * (len(texts) - len(near))


def _quick(out: Path, options: Options, hooks: Hooks) -> tuple[Options, LoadedModel]:
    """A world and a run of its own, with fewer names."""
    folder = keep_world(QUICK_WORLD, out / "world")
    data = TrainingData.read(folder)
    recipe = options.budgeted(make_recipe("self-training", DataShape.of(data.corpus, data.questions)), 0)
    loaded = trial(recipe, data, out / "run", "self-training", hooks)
    return dataclasses.replace(options, data=folder, names=20, taught=20, reworded=5), loaded
