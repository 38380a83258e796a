"""The page of the course's table: the scores next to the reports', how they came about, and the written questions.

Draws. Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loci.evaluation.abstention import LEVELS
from loci.evaluation.json_data import to_json
from loci.experiments.course.result import CourseResult, CourseRow
from loci.recipes.course import SALIENT_SHARE
from loci.report.figures.knowledge import funnel_bars, loss_curves, rate_bars
from loci.report.parts import Figure, Report, Section, Table, interval, seeds_of

LEARNING = (
    "Loss by characters read, smoothed, of the first seed. A new stage begins where the curve jumps: questions are "
    "shorter and easier than masked lines."
)
FUNNEL = (
    "*In the corpus*: a line about the person says it. *In view*: it is one of the names and numbers of that line that "
    "pretraining asks for, within the characters the model sees; without pretraining nothing is. *Stored*: asked as in "
    "pretraining, by the name and the words that lead up to it, the model gives it. *Answered rightly*: the question "
    "reaches it. Each step keeps what passed all before it."
)
MODEL = (
    "Of the rows that read the corpus, {spans} mask one name, place or date of a line. The others mask all of a line "
    "but the name and the words that lead up to such spans, and ask for them one by one: `words name words⁇span⁇words⁇"
    "span⁇…`; mostly for spans that are the answer to some train question, whoever it is about. The perceiver as "
    "published, which is blind where whole lines have their masks, has only these. The models are smaller than the "
    "published one and differ from it in more than their attention: ReLU² for GELU, normalised queries and keys (not "
    "in *folded*), no dropout, and Muon for AdamW."
)
MADE_UP = (
    "A wrong answer is a place like a right one: nothing in the answer itself tells them apart. Every wrong answer "
    "below would have to be found by somebody who knows. The second table prices them: a right answer earns 1, a wrong "
    "one costs t/(1−t), silence costs nothing. Below 0, it would be better never to answer."
)
UNSEEN = (
    "Names nobody wrote about, the first names of one person and the last names of another. The model was never taught "
    "to be silent, so it says what answers look like."
)
NO_STRANGERS = (
    "Nobody was asked about here: the names of the questions give no others. New ones are made of the first names of "
    "one person and the last names of another."
)
Curves = Sequence[tuple[str, Sequence[Mapping[str, Any]]]]


def course_report(result: CourseResult, curves: Curves) -> Report:
    """Words, tables and figures."""
    world = "the embedded world" if result.data["embedded"] else "the files given"
    fold = "" if result.data["fold"] is None else f", fold {result.data['fold']} of the train questions held back"
    loss = Figure(loss_curves(curves), "Mean loss per character, in nats.")
    return Report(
        title="The course's table on a laptop",
        subtitle=f"{world.capitalize()}{', small budgets' if result.quick else ''}{fold}; {seeds_of(result.seeds)}.",
        cards=[(row.name, row.held_out, interval(row.held_out)) for row in result.rows],
        sections=[
            _table_section(result),
            Section("Learning", [LEARNING, loss]),
            _funnel_section(result),
            *_questions(result),
        ],
        numbers=to_json(result),
    )


def _table_section(result: CourseResult) -> Section:
    data, trained = result.data, [row for row in result.rows if row.training is not None]
    about = (
        f"A corpus of {data['lines']} lines. {data['train']} people's birthplaces are asked in training, and "
        f"{data['held_out']} other people of the corpus are asked about afterwards. Pretraining masks corpus lines; "
        "finetuning has the train questions, with the lines going on; answers are greedy, from the question alone. The "
        "last column has what others report on the course's own files, with 3.3 million parameters and 113 million "
        "characters" + (": this is another world." if data["embedded"] else ".")
    )
    model = MODEL.format(spans=f"{100 * SALIENT_SHARE:.0f} %")
    taught = [row.taught for row in trained]
    bars = rate_bars(
        [row.name for row in trained],
        [("held-out people", [row.held_out for row in trained]), ("train people", taught)],
        "exact match",
    )
    scores = Table(
        ["system", "what it is", "held-out", "train people", "published"],
        [[row.name, row.explanation, row.held_out, row.taught, row.published] for row in result.rows],
        "Held-out people: exact match, with its 95 % interval. *Published*: dev of the course's files.",
    )
    costs = Table(
        ["system", "parameters", "characters, M", "time, min", "TFLOP", "seed by seed"],
        [_cost_cells(row) for row in trained],
        "What stores late reads more, but in the quick form. Time of training on this machine, whatever else it did. "
        "FLOPs of the forward and backward passes at the mean length of the examples, padding not counted.",
    )
    return Section("The table", [about, model, Figure(bars, "Exact match with 95 % intervals."), scores, costs])


def _cost_cells(row: CourseRow) -> list[str | int]:
    assert row.training is not None
    spent = row.training
    return [
        row.name,
        spent.parameters,
        f"{spent.characters / 1e6:.2f}",
        f"{spent.seconds / 60:.1f}",
        f"{spent.flops / 1e12:,.1f}",
        " · ".join(f"{100 * share:.1f} %" for share in row.by_seed),
    ]


def _funnel_section(result: CourseResult) -> Section:
    rows = [row for row in result.rows if row.funnel is not None]
    steps = rows[0].funnel.steps if rows and rows[0].funnel else ()
    bars = funnel_bars([row.name for row in rows], [row.funnel for row in rows])
    table = Table(
        ["system", *(step.name for step in steps)],
        [[row.name, *(step.kept for step in row.funnel.steps)] for row in rows if row.funnel is not None],
    )
    return Section("Where answers are lost", [FUNNEL, Figure(bars, "Of all held-out questions."), table])


def _questions(result: CourseResult) -> list[Section]:
    """The written questions of the assignment, each next to the data that answers it."""
    trained = [row for row in result.rows if row.kinds is not None]
    kinds = list(dict.fromkeys(kind for row in trained for kind in row.kinds or ()))
    shown = [(row, stranger) for row in trained[1:] or trained for stranger in row.strangers][:10]
    stored = [(row, row.funnel.steps[-2].kept) for row in trained if row.funnel is not None]
    people = Table(
        ["system", "train people", "held-out", "stored"],
        [[row.name, row.taught, row.held_out, kept] for row, kept in stored],
        "*Stored*: of all held-out questions.",
    )
    answers = Table(
        ["answer about held-out people", *(row.name for row in trained)],
        [[kind, *((row.kinds or {}).get(kind, 0) for row in trained)] for kind in kinds],
        "How many answers of each kind, all seeds.",
    )
    prices = Table(
        ["system", *(f"t = {level:g}" for level in LEVELS)],
        [[row.name, *row.priced] for row in result.rows],
        "Mean score of an answer about held-out people, with its 95 % interval.",
    )
    invented = Table(
        ["system", "answered with a known place"],
        [[row.name, row.invented] for row in trained],
        "Of names nobody wrote about.",
    )
    examples = Table(["system", "name", "answer"], [[row.name, name, said] for row, (name, said) in shown])
    unseen: list[str | Table] = [UNSEEN, invented, examples] if shown else [NO_STRANGERS]
    return [
        Section("Why does pretraining help?", [_why(trained), people]),
        Section("What does a made-up answer cost?", [MADE_UP, answers, prices]),
        Section("What does the model do with an unseen name?", unseen),
    ]


def _why(trained: Sequence[CourseRow]) -> str:
    """What the table says of models with and without pretraining."""
    text = "Only the corpus tells where people outside the train questions were born, and only pretraining reads it."
    scratch = [row for row in trained if not row.pretrained]
    others = [row for row in trained if row.pretrained]
    if not (scratch and others):
        return f"{text} A model with and one without it have to be trained to see what it brings."
    best = max(others, key=lambda row: row.held_out.value)
    return (
        "The system without pretraining has the same model, the same questions and the same way of answering. It is "
        f"right about {_shares(scratch[0])}. {text} Of the pretrained systems {best.name} is best on the held-out "
        f"people: it is right about {_shares(best)}."
    )


def _shares(row: CourseRow) -> str:
    return f"{row.taught} of the people of the train questions and {row.held_out} of the held-out people"
