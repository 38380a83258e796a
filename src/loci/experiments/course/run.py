"""The course's table on a laptop: every variant in the published form, on the embedded world or on the course's files.

Pretrain by masking on corpus lines, then finetune on the train questions while the lines go on, then answer greedily
from the question alone: no reading, no reciting, no pseudo-labels. Budgets are in characters, or in epochs of the train
questions, so that the table repeats. Held-out people are those of the folder's dev file, which is a look at dev: write
it down. With --fold a part of the train questions is held back and asked instead.

examples:
  loci experiment course --quick --out course           a small world, at most five minutes a row
  loci experiment course --data DIR --seeds 1           the course's files, up to 45 minutes a row on two cores
  loci experiment course --data DIR --seeds 1 --fold 0 --only rope --budget 0.25 --out trial     a trial on train
"""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.evaluation.abstention import LEVELS, cost_score
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import Estimate, exact_match, most_common_answer, most_common_answer_baseline, wilson
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row, write_rows
from loci.experiments.course.asked import Asked
from loci.experiments.course.page import course_report
from loci.experiments.course.result import CourseResult, CourseRow, Training, funnel
from loci.experiments.course.stored import in_view, is_stored
from loci.experiments.recall.run import FOLDS
from loci.experiments.trials import Hooks, Settings, keep_report, keep_world, open_folder, trial, trial_metrics
from loci.model import VARIANTS
from loci.model.cost import model_cost
from loci.pipeline.runner import model_config
from loci.recipes import DataShape
from loci.recipes.course import FINETUNE_EPOCHS, SALIENT_SHARE, course_short
from loci.recipes.demo import DEMO_WORLD
from loci.report.parts import Report
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS, holds_run, read_metrics, read_run

#: On the embedded world, as in the demo: everybody has five lines, and the few train questions are seen often, at the
#: full rate, by a smaller model.
QUICK = (
    "model.n_embd=128",
    *("pretrain.characters=600000", "pretrain.batch_size=32", "pretrain.floor=1.0"),
    *("finetune.characters=1200000", "finetune.batch_size=32", "finetune.lr=0.003", "finetune.matrix_lr=0.02"),
)
N_SHOWN = 5


@dataclass(frozen=True)
class Options(Settings):
    """On what, and how much."""

    quick: bool = False
    """The embedded world (or --data) with small budgets, minutes a row: shows the effect and its order."""
    data: Path | None = None
    """A folder with a corpus, train questions and dev questions with answers."""
    fold: int | None = None
    """Which of five folds of the train questions (0 to 4) is held back and asked instead of dev, to choose by."""
    only: tuple[str, ...] = ()
    """Only these rows of the table, such as rope or no-pretraining."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fold is not None and not 0 <= self.fold < FOLDS:
            raise LociError(f"--fold must be 0 to {FOLDS - 1}, it is {self.fold}")


@dataclass(frozen=True)
class System:
    """A row to be trained."""

    name: str
    explanation: str
    variant: str
    published: str
    pretrained: bool = True
    masked: bool = True
    """Pretraining also masks spans of whole lines. A model that is blind behind its first characters sees nothing of
    where such a span is asked for."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Of the model, beyond the variant's."""
    budget: float = 1.0
    """Times as many characters of pretraining as the others: what stores late needs more looks at a line."""

    def recipe(self, shape: DataShape, options: Options, seed: int) -> Recipe:
        """Its recipe under the experiment's budget."""
        recipe = course_short(shape, salient=SALIENT_SHARE if self.masked else 0.0)
        if options.quick:
            recipe = recipe.override(QUICK)
        if not self.pretrained:
            finetune = recipe.stages[-1].with_budget(epochs=FINETUNE_EPOCHS["from scratch"])
            questions = finetune.mixture[:1]
            recipe = dataclasses.replace(recipe, steps=(dataclasses.replace(finetune, mixture=questions),))
        # The quick form has its own budgets, see above; how often a question is seen stays as it is.
        times = options.budget * (1.0 if options.quick else self.budget)
        budgeted = Settings(budget=times).budgeted(recipe, seed)
        stages = zip(recipe.stages, budgeted.stages, strict=True)
        recipe = dataclasses.replace(budgeted, steps=tuple(own if own.epochs else less for own, less in stages))
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
        "synthesizer",
        "each character scores the positions by itself",
        "synthesizer",
        "23.8 % (report), best 24.4 %",
        budget=1.5,
    ),
    System(
        "perceiver as published",
        "blind after its latents",
        "perceiver-course",
        "5.0–6.2 % (reports), best 19.2 %",
        masked=False,
        budget=2.0,
    ),
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
    chosen = _chosen(systems, options.only)
    # A folder that cannot be used is named before anything is written.
    asked = _usable(options.data, chosen, options) if options.data is not None else None
    kept = {**vars(options), "data": str(options.data.resolve()) if options.data is not None else None}
    open_folder(out, "course", kept, may_change=("seeds", "only"))
    asked = asked or Asked.read(keep_world(DEMO_WORLD, out / "world"), options.fold)
    runs = {system.name: [out / f"seed-{seed}" / system.folder for seed in options.every_seed] for system in systems}
    # What earlier calls finished stays in the table, and comes first: if it cannot be read, nothing is trained yet.
    earlier = [system for system in systems if system not in chosen and _finished(system, runs[system.name], hooks)]
    found = {system.name: _row(system, asked, runs[system.name], options, hooks) for system in (*earlier, *chosen)}
    names = [system.name for system in systems if system.name in found]
    rows = (_baseline(asked), *(found[name] for name in names))
    curves = [(name, read_metrics(runs[name][0])) for name in names]
    about = {
        "lines": len(asked.data.corpus),
        "train": len(asked.train.answered),
        "held_out": len(asked.held_out.answered),
        "embedded": options.data is None,
        "fold": options.fold,
    }
    result = CourseResult(rows, about, len(options.every_seed), options.quick)
    return keep_report(out, course_report(result, curves))


def _chosen(systems: Sequence[System], only: Sequence[str]) -> list[System]:
    """The systems of these names, or of these folders; all of them where none is named."""
    for name in only:
        if all(name not in (system.name, system.folder) for system in systems):
            known = ", ".join(system.folder for system in systems)
            raise LociError(f"--only {name}: no such row", remedy=f"one of: {known}")
    return [system for system in systems if not only or {system.name, system.folder} & set(only)]


def _usable(folder: Path, systems: Sequence[System], options: Options) -> Asked:
    """What is asked, once every system can be taught it."""
    asked = Asked.read(folder, options.fold)
    shape = DataShape.of(asked.data.corpus, asked.train)
    for system in systems:
        config = model_config(system.recipe(shape, options, 0), asked.data)
        asked.train.require(asked.data.vocab, config.block_size)
    return asked


def _finished(system: System, runs: Sequence[Path], hooks: Hooks) -> bool:
    """Whether an earlier call trained it for every seed; where it did so for some alone, that is said."""
    done = [holds_run(run) and read_run(run).finished for run in runs]
    if any(done) and not all(done):
        hooks.say(f"left out of the table: {system.name}, trained for {sum(done)} of {len(done)} seeds")
    return all(done)


def _baseline(asked: Asked) -> CourseRow:
    answers = [row.answers[0] for row in asked.train.answered]
    said = most_common_answer_baseline(answers, asked.held_out)
    about = "most common place", f"always {most_common_answer(answers)}", "5.0 % (London)"
    return CourseRow(*about, exact_match(said), _priced(said))


def _priced(rows: Sequence[Row]) -> tuple[Estimate, ...]:
    return tuple(cost_score(rows, level) for level in LEVELS)


def _row(system: System, asked: Asked, runs: Sequence[Path], options: Options, hooks: Hooks) -> CourseRow:
    shape = DataShape.of(asked.data.corpus, asked.train)
    found: dict[str, list[Row]] = {split: [] for split in (TAUGHT, HELD_OUT, NEVER_READ)}
    seen: list[bool] = []
    stored: list[bool] = []
    trainings, by_seed = [], []
    for seed, folder in enumerate(runs):
        recipe = system.recipe(shape, options, seed)
        loaded = trial(recipe, asked.data, folder, f"{system.name}, seed {seed}", hooks)
        trainings.append(_training(loaded, recipe, trial_metrics(loaded, recipe, folder)))
        for split, questions in ((TAUGHT, asked.train), (HELD_OUT, asked.held_out), (NEVER_READ, asked.strangers)):
            if not len(questions):
                continue  # names that give no strangers
            said = ask_rows(loaded, questions, split=split)
            write_rows(folder / PREDICTIONS / f"{split}.jsonl", said)
            found[split] += said
            if split == HELD_OUT:
                by_seed.append(exact_match(said).value)
        about = loaded, asked.data.corpus, asked.held_out, asked.train.answers
        seen += [system.pretrained and shown for shown in in_view(*about)]
        stored += is_stored(*about)
    places = {answer for question in asked.train for answer in question.answers}
    invented = sum(row.prediction in places for row in found[NEVER_READ])
    kinds = Counter(str(one.kind) for one in asked.classifier.classify(found[HELD_OUT]))
    return CourseRow(
        system.name,
        system.explanation,
        system.published,
        exact_match(found[HELD_OUT]),
        _priced(found[HELD_OUT]),
        tuple(by_seed),
        exact_match(found[TAUGHT]),
        wilson(invented, len(found[NEVER_READ])) if found[NEVER_READ] else None,
        system.pretrained,
        Training(trainings[0].parameters, *(_mean(trainings, name) for name in ("characters", "seconds", "flops"))),
        funnel(found[HELD_OUT], seen, stored, asked.data.corpus),
        dict(kinds.most_common()),
        tuple((row.subject or row.question, row.prediction) for row in found[NEVER_READ][:N_SHOWN]),
    )


def _training(loaded: LoadedModel, recipe: Recipe, metrics: Sequence[Mapping[str, Any]]) -> Training:
    """What it took; every step has a batch of examples, on average."""
    characters, steps = metrics[-1]["characters"], {row["stage"]: row["step"] for row in metrics}
    examples = sum(steps[stage.name] * stage.batch_size for stage in recipe.stages)
    length = max(1, round(characters / examples))
    cost = model_cost(loaded.model.config, length).total
    flops = characters * (cost.forward_flops + cost.backward_flops) / length
    return Training(loaded.model.n_parameters(), characters, metrics[-1]["seconds"], flops)


def _mean(trainings: Sequence[Training], name: str) -> float:
    return statistics.fmean(getattr(training, name) for training in trainings)
