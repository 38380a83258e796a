"""When is a memory rightly silent? Ways to say "I don't know", compared on the same people.

In each seed's world some people are told of without the fact and some not at all. Half of them teach or choose a
threshold, the other half test. A reader labels the text once, then three models memorize what it read: the run as the
recipe self-training makes it (silent by the likelihood of the name and by the degree), one that is also taught silence
about the teaching half, and one tuned to say "sure" or "unsure" (R-Tuning). A threshold on the answer's own probability
and a familiarity probe on the activations are chosen on the run's own weights.

examples:
  loci experiment abstain --out abstain --seeds 5      every seed a world of its own
  loci experiment abstain --quick                      all steps within a minute; proves nothing
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loci.data.degrees import GIVEN
from loci.data.prompts import NOT_TOLD, UNKNOWN
from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row, write_rows
from loci.experiments.abstain.other_ways import (
    UNSURE,
    fit_probe,
    if_sure,
    misread,
    probed,
    sure_or_unsure,
    with_taught,
)
from loci.experiments.abstain.page import abstain_report
from loci.experiments.abstain.result import (
    EVERYTHING,
    PROBE,
    R_TUNING,
    RUN,
    SILENCE,
    THRESHOLD,
    Scored,
    SeedRows,
    score,
)
from loci.experiments.trials import Hooks, Settings, Stopped, birthplaces, keep_report, keep_world, open_folder, trial
from loci.pipeline import carry_out
from loci.pipeline.labelers import LABELERS, Progress
from loci.pipeline.labels_file import read_labels
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo_self_training
from loci.report.parts import Report
from loci.text.questions import Questions
from loci.text.template import BIRTHPLACE
from loci.text.world import Person, WorldSpec, people
from loci.text.world.tables import cities
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.plan import LabelStep, Recipe
from loci.training.run import PREDICTIONS, PSEUDO_LABELS, holds_run, read_run
from loci.training.sources import TrainingData

#: 150 people teach, 50 held-out ones help to choose thresholds, 100 test; 60 are not told of and 100 have no line.
WORLD = dataclasses.replace(
    DEMO_WORLD, people=460, unstated=60 / 460, outside=100 / 460, train_share=1 / 2, dev_share=1 / 6
)
QUICK_WORLD = dataclasses.replace(WORLD, people=92, paraphrases=2)
PER_PERSON = 3300
"""Characters of memorizing for everybody the text is about; the demo has 2,900, and nobody who is taught silence."""
READER = "reader"
AS_GIVEN = "as-given"
_SPLITS = {"unstated": UNSTATED, "outside": NEVER_READ}
_SAID = {"unstated": NOT_TOLD, "outside": UNKNOWN}
Options = Settings


@LABELERS.add(AS_GIVEN)
def as_given(loaded: LoadedModel, data: TrainingData, progress: Progress) -> Questions:
    """The pseudo-labels that came with the data: memorizing without reading."""
    assert data.pseudo_labels is not None
    return data.pseudo_labels


def recipe_of(shape: DataShape) -> Recipe:
    """The demo's self-training; memorizing grows with the people."""
    return demo_self_training(shape).override([f"memorize.characters={PER_PERSON * shape.n_subjects}"])


@dataclass(frozen=True)
class Parts:
    """Who teaches and who tests, as questions. People of `test` are in nothing else."""

    plain: Questions
    """The train questions of every model."""
    silence: Questions
    """The teaching half of those of whom nothing is told, with answers that mean silence."""
    unknown: Questions
    """The same people with where they were born, which no text tells."""
    validation: Mapping[str, Questions]
    """Split → questions, to choose a threshold by."""
    test: Mapping[str, Questions]


def parts(everybody: Sequence[Person]) -> Parts:
    """Divide the people of a world; every second person of whom nothing is known teaches."""
    of = {
        split: [p for p in everybody if p.split == split] for split in ("train", "dev", "test", "unstated", "outside")
    }
    halves = [{name: birthplaces(of[s][start::2], answers=False) for s, name in _SPLITS.items()} for start in (0, 1)]
    return Parts(
        plain=birthplaces(of["train"]),
        silence=Questions.from_pairs(
            (BIRTHPLACE.ask(person.name), _SAID[split]) for split in _SPLITS for person in of[split][::2]
        ),
        unknown=birthplaces([person for split in _SPLITS for person in of[split][::2]]),
        validation={HELD_OUT: birthplaces(of["dev"]), **halves[0]},
        test={HELD_OUT: birthplaces(of["test"]), **halves[1]},
    )


def run(
    out: Path,
    options: Options = Options(),
    hooks: Hooks = Hooks(),
    *,
    world: WorldSpec | None = None,
    recipe: Callable[[DataShape], Recipe] = recipe_of,
) -> Report:
    """Carry out the experiment; what an earlier call finished is not done again."""
    spec = world or (QUICK_WORLD if options.quick else WORLD)
    open_folder(out, "abstain", options)
    found = [
        _seed(out / f"seed-{seed}", dataclasses.replace(spec, seed=seed), options, hooks, recipe)
        for seed in options.every_seed
    ]
    result = score(found, np.random.default_rng(0), people=_counts(spec), quick=options.quick)
    return keep_report(out, abstain_report(result))


def _seed(
    out: Path, spec: WorldSpec, options: Options, hooks: Hooks, recipe: Callable[[DataShape], Recipe]
) -> SeedRows:
    divided = parts(list(people(spec)))
    world = keep_world(spec, out / "world")
    divided.plain.write(out / "train.tsv")
    data = TrainingData.read(corpus=world, questions=out / "train.tsv")
    assert data.questions is not None
    whole = options.budgeted(recipe(DataShape.of(data.corpus, data.questions)), spec.seed)
    reader, labels = _reader(whole, data, out / READER, f"seed {spec.seed}, {READER}", hooks)
    taught = with_taught(labels, divided.silence, data.vocab, GIVEN)
    two = with_taught(sure_or_unsure(labels, misread(reader, data)), divided.unknown, data.vocab, UNSURE)

    def model(name: str, own: Questions, **changes: Any) -> LoadedModel:
        chosen = dataclasses.replace(whole, name=f"abstain-{name}", **changes)
        learned = dataclasses.replace(data, pseudo_labels=own)
        return _memorized(chosen, learned, out / READER, out / name, f"seed {spec.seed}, {name}", hooks)

    alone = {"answerer": "direct", "stranger_rate": None}  # no likelihood of the name, no degree
    memory, silent, tuned = model("run", labels), model("silence", taught, **alone), model("r-tuning", two, **alone)
    test = {TAUGHT: data.questions, **divided.test}
    weights = fit_probe(memory, data, np.random.default_rng(spec.seed))
    best = [_rows(memory, asked, answerer="direct") for asked in (divided.validation, test)]
    best = [[dataclasses.replace(row, abstained=not row.prediction, silence=None) for row in rows] for rows in best]
    said = {
        EVERYTHING: best[1],
        SILENCE: _rows(silent, test),
        R_TUNING: if_sure(tuned, _rows(tuned, test)),
        RUN: _rows(memory, test, withhold=True),
    }
    scored = {THRESHOLD: Scored(*best), PROBE: Scored(*(probed(memory, weights, rows) for rows in best))}
    kept = {**said, **{name: one.test for name, one in scored.items()}}
    kept |= {f"{name} validation": one.validation for name, one in scored.items()}
    for name, rows in kept.items():
        write_rows(out / PREDICTIONS / f"{name.replace(' ', '-').lower()}.jsonl", rows)
    return SeedRows(
        said=said,
        scored=scored,
        known={q.subject: q.answers[0] for q in divided.plain if q.subject is not None},
        corpus=data.corpus,
        places=frozenset(city.name for city in cities(spec.multiword_places)[: spec.places]),
    )


def _rows(loaded: LoadedModel, asked: Mapping[str, Questions], **how: Any) -> list[Row]:
    return [row for split, questions in asked.items() for row in ask_rows(loaded, questions, split=split, **how)]


def _reader(whole: Recipe, data: TrainingData, out: Path, name: str, hooks: Hooks) -> tuple[LoadedModel, Questions]:
    """The model after the recipe's labelling step, and the labels that it wrote."""
    steps = whole.steps[: _labelling(whole) + 1]
    chosen = dataclasses.replace(whole, name=f"abstain-{READER}", steps=steps, answerer="direct", stranger_rate=None)
    loaded = trial(chosen, data, out, name, hooks)
    return loaded, read_labels(out / PSEUDO_LABELS, data.relations)


def _memorized(whole: Recipe, data: TrainingData, reader: Path, out: Path, name: str, hooks: Hooks) -> LoadedModel:
    """The rest of the recipe from the reader's weights, with the labels of `data`."""
    steps = (LabelStep("label", AS_GIVEN), *whole.steps[_labelling(whole) + 1 :])
    if not holds_run(out) or not read_run(out).finished:
        hooks.say(f"{'going on with' if holds_run(out) else 'training'}: {name}")
    outcome = carry_out(
        dataclasses.replace(whole, steps=steps),
        data,
        out,
        resume=None,
        observers=lambda folder: hooks.observers(name),
        initial=load_model(reader).model,
        should_stop=hooks.should_stop,
        labelling=hooks.labelling,
    )
    if not outcome.finished:
        raise Stopped
    return load_model(out)


def _labelling(recipe: Recipe) -> int:
    return next(index for index, step in enumerate(recipe.steps) if isinstance(step, LabelStep))


def _counts(spec: WorldSpec) -> dict[str, int]:
    counts = spec.counts
    halves = [len(range(0, n, 2)) for n in (counts.unstated, counts.outside)]
    return {
        "stated": counts.train + counts.dev + counts.test,
        "unstated": counts.unstated,
        "outside": counts.outside,
        "train": counts.train,
        "validation": counts.dev,
        "teach": sum(halves),
        "test_stated": counts.test,
        "test_unstated": counts.unstated - halves[0],
        "test_outside": counts.outside - halves[1],
    }
