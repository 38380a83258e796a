"""The demo's page: several systems on the same people, how they learned, and what the best of them says.

Knows the result, not how it came about.
"""

from __future__ import annotations

from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Rate
from loci.experiments.demo.result import DemoResult, Example, SystemResult
from loci.report.comparison.wording import listed, marked, percent
from loci.report.figures.knowledge import loss_curves, rate_bars
from loci.report.page import Cell, Markup
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, interval
from loci.report.style import NEUTRAL, series_colour

PEOPLE = ("taught: right", "held-out: right", "never read about: answered")
MEANING = (
    "*Taught*: people of the train questions. *Held-out*: people the model only read about. *Never read about*: people "
    "no line is about; whatever is answered there at the model’s own threshold is made up."
)
LEARNING = "The loss while training, smoothed. A gap in the line: a new stage begins; a bar: the model labels the text."
ANSWERS = (
    "The first ten held-out people, as {best} answers, with the line of the corpus that says so. The model does not "
    "see these lines when it is asked: it has to remember."
)


def demo_report(result: DemoResult) -> Report:
    """Words, tables and figures."""
    best, people = result.systems[-1], result.people
    # The best in the first colour, as in the loss curves; what learns nothing in grey.
    learned = [s.name for s in reversed(result.systems) if s.metrics]
    colours = [series_colour(learned.index(s.name)) if s.metrics else NEUTRAL for s in result.systems]
    rates = Figure(
        rate_bars(PEOPLE, [(s.name, _rates(s)) for s in result.systems], "of the questions", colours),
        f"With 95 % Wilson intervals, one seed. {MEANING}",
    )
    table = Table(["system", *PEOPLE, "what it is"], [[s.name, *_rates(s), s.explanation] for s in result.systems])
    curves = Figure(
        loss_curves([(s.name, s.metrics) for s in reversed(result.systems)], x="seconds"),
        "Mean loss per character, in nats. Stages have different tasks, so their losses differ.",
    )
    answers = Table(
        ["question", "answer", "truth", "probability", "what the corpus says"],
        [_example(example) for example in result.examples],
        "Held-out people. Probability: of the whole answer. Marked: the true place.",
        page_only=["what the corpus says"],
    )
    who = f"A small transformer asked where {people['held_out']} people were born whom no question ever named."
    return Report(
        title="What pretraining knows",
        subtitle=QUICK_NOTE if result.quick else who,
        cards=[(s.name, s.held_out, _note(s)) for s in result.systems],
        sections=[
            Section("The experiment", [_experiment(result), rates, table]),
            Section("Learning", [LEARNING, curves]),
            Section("Ten answers", [ANSWERS.format(best=best.name), answers]),
        ],
        numbers={
            **to_json({k: v for k, v in vars(result).items() if k not in ("systems", "examples")}),
            "systems": [to_json({k: v for k, v in vars(s).items() if k != "metrics"}) for s in result.systems],
        },
    )


def _experiment(result: DemoResult) -> str:
    people = result.people
    return (
        f"A synthetic world: {result.lines} lines of text say where {people['train'] + people['held_out']} people were "
        f"born, lived, worked and died. The birthplaces of {people['train']} of them are taught by questions; the "
        f"other {people['held_out']} are held out, and only the text tells where they were born. About "
        f"{people['never_read']} more people there is no line at all. All systems answer the same questions. "
        f"{_compared(result)} The models read {result.characters / 1e6:.1f} million characters in "
        f"{result.minutes:.1f} minutes; seed {result.seed}."
    )


def _rates(system: SystemResult) -> list[Rate]:
    return [system.taught, system.held_out, system.never_read]


def _note(system: SystemResult) -> str:
    return (
        f"held-out: {interval(system.held_out)}\ntaught: {percent(system.taught.value)}\n"
        f"never read about, answered: {percent(system.never_read.value)}"
    )


def _compared(result: DemoResult) -> str:
    """The best system against each of the others, on held-out people."""
    *others, best = result.systems
    times = [
        f"**{best.held_out.value / s.held_out.value:.1f} times** as often as {s.name}"
        for s in others
        if s.held_out.successes and best.held_out.successes
    ]
    never = "".join(f" {s.name.capitalize()} is never right." for s in others if not s.held_out.successes)
    return (
        f"{best.name.capitalize()} is right about held-out people {listed(times)}.{never}" if times else never.strip()
    )


def _example(example: Example) -> list[Cell]:
    row = example.row
    said = f"{'✓' if row.correct else '✗'} {row.prediction}"
    line = marked(example.evidence) if example.evidence is not None else Markup("<em>nothing</em>")
    return [row.question, said, row.answers[0], row.probability, line]
