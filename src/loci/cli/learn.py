"""Learn a folder: text and a few questions in, a run that answers out.

Checks the folder, holds back every fifth train question, chooses recipe and size by the data, says how long it will
take, trains, calibrates and evaluates on what was held back, writes the report and says how to ask.

examples:
  loci learn                              the example: 60 products, three lines each, two relations
  loci learn mydata --out run             wiki.txt or any *.txt, and questions_train.tsv (question, tab, answer)
  loci learn mydata --out run             the same again goes on with what was stopped
  loci learn mydata --from run --out run2 the corpus has changed: goes on from the old run's weights
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from loci.learn import Learned, LearningPlan
    from loci.text.diagnosis import Diagnosis

EXAMPLE = Path("products")
SHOWN = 5


def learn(
    folder: Path | None = None,
    /,
    *,
    out: Path = Path("run"),
    recipe: str | None = None,
    template: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    from_: Annotated[Path | None, tyro.conf.arg(name="from")] = None,
    seed: int = 0,
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    json: bool = False,
) -> int:
    """Learn a folder.

    Args:
        folder: A corpus and train questions; without one the example is written to the folder products and learned.
        out: The run's folder; one that was stopped is gone on with.
        recipe: recite or self-training (default: by the data).
        template: A form of the questions, like "Who wrote {subject}?", where it cannot be found from them; may be given
            several times.
        from_: An old run to go on from when the corpus has changed: its weights are kept.
        seed: Seed of weights and batches; of the example too.
        set: A change to the recipe, as stage.field=value or model.field=value; may be given several times.
        json: Print the outcome as JSON.
    """
    from loci import machine
    from loci.cli.output import print_json
    from loci.cli.progress import ProgressBar
    from loci.cli.work import InterruptFlag, choose_threads
    from loci.learn import learn as learn_folder
    from loci.learn import make_plan, require_out
    from loci.text.diagnosis import diagnose
    from loci.text.relations import relations_from

    def say(text: str) -> None:
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    again = _command(folder, out, recipe, template, from_, seed, set, json)
    require_out(out)
    if folder is None:
        folder = _example(seed)
        say(f"the example: {folder}")
    relations = relations_from(template)
    plan = make_plan(folder, recipe=recipe, relations=relations, before=from_, seed=seed, changes=set)
    require_out(out, plan)
    found = _found(plan, diagnose(folder, relations=relations))
    running = choose_threads()
    with InterruptFlag() as interrupted, machine.threads(running.count):
        for line in [*found, _expected(plan)]:
            say(line)
        bar = ProgressBar()
        learned = learn_folder(
            plan, out, observers=lambda run: [bar], should_stop=lambda: interrupted.raised, labelling=bar.labelling
        )
    if learned is None:
        say(f"stopped; go on with the same command: {again}")
        return 130
    if json:
        print_json({**learned.as_dict(), "chosen": plan.reasons})
        return 0
    for line in _outcome(learned, plan):
        say(line)
    return 0


def _command(
    folder: Path | None,
    out: Path,
    recipe: str | None,
    template: Sequence[str],
    from_: Path | None,
    seed: int,
    set: Sequence[str],
    json: bool,
) -> str:
    """The command as it was given: another recipe, seed or form would be another training."""
    words = ["loci", "learn", *([str(folder)] if folder is not None else []), "--out", str(out)]
    given = {"--recipe": recipe, "--from": from_, "--seed": seed or None}
    words += [word for flag, value in given.items() if value is not None for word in (flag, str(value))]
    words += [word for form in template for word in ("--template", form)]
    words += [word for change in set for word in ("--set", change)]
    return shlex.join([*words, *(["--json"] if json else [])])


def _example(seed: int) -> Path:
    from loci.experiments.trials import keep_world
    from loci.text.world import example_products

    return keep_world(example_products(seed), EXAMPLE)


def _found(plan: LearningPlan, diagnosis: Diagnosis) -> list[str]:
    """What was read, what is odd about it, and what was chosen."""
    corpus, asked = plan.data.corpus, plan.data.questions
    assert asked is not None
    held = plan.held_back.by_relation()
    lines = [f"{len(corpus):,} lines about {len(corpus.by_subject):,} subjects"]
    for name, own in asked.by_relation().items():
        form = next((one.templates[0].text for one in asked.relations if one.name == name), "no form found")
        kept = len(held[name]) if name in held else 0
        lines.append(f"  {name or 'other questions'}: {len(own):,} train questions, {kept:,} held back: {form}")
    lines += [f"  {found.message}" for found in diagnosis.findings if found.kind == "joined-texts"]
    odd = [found for found in diagnosis.findings if found.severity != "note"]
    odd.sort(key=lambda found: (found.severity, found.line is not None))  # what a whole file lacks before single lines
    lines += [f"  {found.severity}: {found}" for found in odd[:SHOWN]]
    if len(odd) > SHOWN:
        lines.append(f"  and {len(odd) - SHOWN:,} more: loci check {diagnosis.path}")
    return [*lines, *(f"  {reason}" for reason in plan.reasons)]


def _expected(plan: LearningPlan) -> str:
    from loci.cli.progress import duration
    from loci.pipeline.expected import expected_seconds

    characters = sum(stage.characters or 0 for stage in plan.recipe.stages)
    labelling = (
        "" if len(plan.recipe.steps) == len(plan.recipe.stages) else f" and labelling {len(plan.data.lines):,} lines"
    )
    seconds = expected_seconds(plan.recipe, plan.data)
    work = f"training on {characters / 1e6:.1f} million characters{labelling}"
    return f"{work}: about {duration(seconds)} on this machine"


def _outcome(learned: Learned, plan: LearningPlan) -> list[str]:
    """How it did, and how to go on."""
    run, found = learned.run, learned.evaluation
    lines = [f"{name}: {rate.successes} of {rate.n} right = {rate}" for name, rate in learned.relations.items()]
    if lines:
        lines.insert(0, "the questions that were held back:")
    if (given := found.answered) is not None and given.n:
        lines.append(
            f"answered at its threshold: {given.successes} of {given.n}; right among them: {found.accuracy_if_answered}"
        )
    lines += [learned.calibration, f"report: {learned.report}"]
    asked = plan.held_back[0].text if len(plan.held_back) else plan.data.template.ask("…")
    return [*lines, f'ask it: loci ask {run.path} "{asked}"', f"or one question after the other: loci ask {run.path}"]
