"""Is teaching "I don't know" better than a threshold on the probability?

In each seed's world some people are told of without the fact and some not at all. Half of them teach, the other half
test. One model learns the demo's recipe, and the teaching half chooses its threshold; the other learns the same recipe
with "I don't know" as the answer about the teaching half.

examples:
  loci experiment abstain --out abstain --seeds 5      every seed a world of its own
  loci experiment abstain --quick                      all steps within a minute; proves nothing
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loci.data.prompts import I_DONT_KNOW
from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row, write_rows
from loci.experiments.abstain.page import abstain_report
from loci.experiments.abstain.result import SeedRows, score
from loci.experiments.trials import Hooks, Settings, birthplaces, keep_report, keep_world, open_folder, trial
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.template import BIRTHPLACE
from loci.text.world import Person, WorldSpec, people
from loci.text.world.tables import cities
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS
from loci.training.sources import TrainingData

#: 150 people teach, 50 held-out ones help to choose the threshold, 100 test; 60 are not told of and 100 have no line.
WORLD = dataclasses.replace(
    DEMO_WORLD, people=460, unstated=60 / 460, outside=100 / 460, train_share=1 / 2, dev_share=1 / 6
)
QUICK_WORLD = dataclasses.replace(WORLD, people=92, paraphrases=2)
ALTERNATIVES = 4
_SPLITS = {"unstated": UNSTATED, "outside": NEVER_READ}
Options = Settings


@dataclass(frozen=True)
class Parts:
    """Who teaches and who tests, as questions. People of `test` are in nothing else."""

    plain: Questions
    """What both models are taught."""
    silence: Questions
    """The same and "I don't know" about the teaching half."""
    validation: Mapping[str, Questions]
    """Split → questions, to choose a threshold by."""
    test: Mapping[str, Questions]


def parts(everybody: Sequence[Person]) -> Parts:
    """Divide the people of a world; every second person of whom nothing is known teaches."""
    of = {
        split: [p for p in everybody if p.split == split] for split in ("train", "dev", "test", "unstated", "outside")
    }
    silent = [person for split in _SPLITS for person in of[split][::2]]
    plain = birthplaces(of["train"])
    taught = [(q.text, q.answer) for q in plain] + [(BIRTHPLACE.ask(p.name), I_DONT_KNOW) for p in silent]
    halves = [{name: birthplaces(of[s][start::2], answers=False) for s, name in _SPLITS.items()} for start in (0, 1)]
    return Parts(
        plain=plain,
        silence=Questions.from_pairs(taught),
        validation={HELD_OUT: birthplaces(of["dev"]), **halves[0]},
        test={HELD_OUT: birthplaces(of["test"]), **halves[1]},
    )


def run(
    out: Path,
    options: Options = Options(),
    hooks: Hooks = Hooks(),
    *,
    world: WorldSpec | None = None,
    recipe: Callable[[DataShape], Recipe] = demo,
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
    corpus = Corpus.read(keep_world(spec, out / "world"))
    divided = parts(list(people(spec)))

    def model(name: str, questions: Questions) -> LoadedModel:
        questions.write(out / f"{name}.tsv")
        data = TrainingData(corpus, Questions.read(out / f"{name}.tsv"))
        chosen = options.budgeted(recipe(DataShape(len(corpus), len(questions))), spec.seed)
        named = dataclasses.replace(chosen, name=f"abstain-{name}")
        return trial(named, data, out / name, f"seed {spec.seed}, {name}", hooks)

    def rows(loaded: LoadedModel, asked: Mapping[str, Questions], folder: Path | None = None) -> list[Row]:
        everything = []
        for split, questions in asked.items():
            said = ask_rows(loaded, questions, n=1 + ALTERNATIVES, split=split)
            if folder is not None:
                write_rows(folder / PREDICTIONS / f"{split}.jsonl", said)
            everything += said
        return everything

    plain, silence = model("plain", divided.plain), model("silence", divided.silence)
    test = {TAUGHT: divided.plain, **divided.test}
    return SeedRows(
        validation=rows(plain, divided.validation),
        plain=rows(plain, test, out / "plain"),
        silence=rows(silence, test, out / "silence"),
        known={q.subject: q.answers[0] for q in divided.plain if q.subject is not None},
        corpus=corpus,
        places=frozenset(city.name for city in cities(spec.multiword_places)[: spec.places]),
    )


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
