"""The page of a comparison: its sections in their order, the first of them (accuracy, funnel, learning), and the notes.

Knows a computed comparison; computes nothing itself.
"""

from __future__ import annotations

import html
import itertools

from loci.evaluation.comparison.comparison import Comparison, Pairwise
from loci.evaluation.metrics import Estimate, Rate
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNKNOWABLE
from loci.evaluation.scorecard import Scorecard
from loci.report.comparison.errors import bias_section, error_section
from loci.report.comparison.examples import example_section
from loci.report.comparison.selective import selective_sections
from loci.report.comparison.wording import (
    OUTCOMES,
    headers,
    listed,
    meanings,
    once,
    p_value,
    people,
    percent,
    points,
    share,
    swatch,
)
from loci.report.figures.knowledge import funnel_bars, loss_curves, rate_bars
from loci.report.page import Cell, Markup
from loci.report.parts import Figure, Report, Section, Table, interval
from loci.report.style import NEUTRAL, series_colour

SIGNIFICANT = 0.05


def headline(comparison: Comparison) -> str:
    """Whom the headline is about: the split and the file."""
    files = f" of {listed(comparison.questions)}" if comparison.questions else ""
    return f"{people(comparison.split)} people{files}"


def cards(comparison: Comparison) -> list[tuple[str, Cell, str]]:
    """How often every run's best answer is right, what it gives, and what it does about other people; the baseline."""
    others = [split for split in (TAUGHT, HELD_OUT, NEVER_READ) if split != comparison.split]
    found: list[tuple[str, Cell, str]] = []
    for _, entry, card in comparison:
        own = card.people.get(comparison.split)
        rate = own.right if own is not None else None
        note = [f"{people(comparison.split)}, best answer: {interval(rate)}"]
        if own is not None and own.silent.successes:
            rightly, wrongly = percent(own.answered_rightly.value), percent(own.answered_wrongly.value)
            note.append(f"answered rightly {rightly}, wrongly {wrongly}")
        for split in others:
            shown = _shown(card, split)
            note.append(f"{_column(split)}: {percent(shown.value) if shown and shown.n else 'not asked'}")
        found.append((entry.name, rate, "\n".join(note)))
    if comparison.baseline and (rate := comparison.baseline[1].get(comparison.split)):
        found.append((f"always “{comparison.baseline[0]}”", rate, "the commonest known answer"))
    return found


def _column(split: str) -> str:
    """What is counted about the people of a split: right answers, or, where nobody could know, any answers given."""
    return f"{people(split)}, answered" if split in UNKNOWABLE else people(split)


def _shown(card: Scorecard, split: str) -> Rate | None:
    own = card.people.get(split)
    if own is None:
        return None
    return own.silent.complement() if split in UNKNOWABLE else own.right


def accuracy_section(comparison: Comparison) -> Section:
    """What became of the questions by split, with intervals, and every two runs on the same questions."""
    asked = dict.fromkeys(split for card in comparison.cards for split in card.people)
    # Taught, held-out, never read about: a figure about a model is about all three, or says what was not asked.
    splits = [TAUGHT, HELD_OUT, *(s for s in asked if s not in (TAUGHT, HELD_OUT, NEVER_READ)), NEVER_READ]
    drawn = [split for split in splits if split in asked]
    series = [(entry.name, [_shown(card, split) for split in drawn]) for _, entry, card in comparison]
    colours = [series_colour(index) for index, _ in enumerate(comparison.entries)]
    if comparison.baseline:
        answer, rates = comparison.baseline
        series.append((f"always “{answer}”", [None if s in UNKNOWABLE else rates.get(s) for s in drawn]))
        colours.append(NEUTRAL)
    rows: list[list[Cell]] = [
        [swatch(index, entry.name), people(split), *(getattr(own, name) for name in OUTCOMES)]
        if (own := card.people.get(split))
        else [swatch(index, entry.name), f"{people(split)}: not asked", *(None for _ in OUTCOMES)]
        for index, entry, card in comparison
        for split in splits
    ]
    pairwise = Table(
        ["run", "against", "questions", "difference, points", "only it right", "only the other right", "p"],
        [_better_first(test, comparison.names) for test in comparison.pairwise],
        f"The questions about {headline(comparison)} that both were asked, best answers. The interval resamples "
        "questions; p is McNemar’s exact test, corrected by Holm for the number of comparisons.",
    )
    return Section(
        "Accuracy",
        [
            _in_words(comparison),
            Figure(
                rate_bars([_column(split) for split in drawn], series, "of the questions", colours),
                "How often the best answer is right, with 95 % Wilson intervals. About people whom the text does not "
                "tell of, any answer is made up: there the bar shows how many were answered.",
            ),
            Table(["run", "people", *headers(OUTCOMES)], once(rows), meanings(OUTCOMES)),
            *_by_relation(comparison),
            *_silences(comparison),
            *([pairwise] if comparison.pairwise else []),
        ],
    )


def _by_relation(comparison: Comparison) -> list[Table]:
    """What became of each relation's questions, where there are several."""
    rows: list[list[Cell]] = [
        [swatch(index, entry.name), people(split), name, *(getattr(own, outcome) for outcome in OUTCOMES)]
        for index, entry, card in comparison
        for split, relations in card.relations.items()
        for name, own in relations.items()
    ]
    caption = "The same for the questions of each relation."
    return [Table(["run", "people", "relation", *headers(OUTCOMES)], once(rows), caption)] if rows else []


def _silences(comparison: Comparison) -> list[Table]:
    """Why the runs are silent, where they say so."""
    rows: list[list[Cell]] = [
        [swatch(index, entry.name), people(split), reason, why.rate.successes, why.rate, _mean(why.probability)]
        for index, entry, card in comparison
        for split, own in card.people.items()
        for reason, why in own.silences.items()
    ]
    caption = (
        "Why a run gave no answer: how many questions each reason decided, their share of all questions about these "
        "people, and the mean probability of the reason where it decided."
    )
    columns = ["run", "people", "silent because", "questions", "share", "mean probability"]
    return [Table(columns, once(rows), caption)] if rows else []


def _mean(probability: Estimate) -> Cell:
    return share(probability) if probability.n else None


def _better_first(test: Pairwise, names: list[str]) -> list[Cell]:
    better, worse, only_better, only_worse = test.second, test.first, test.test.only_second, test.test.only_first
    difference = test.difference
    if difference.value < 0:
        better, worse, only_better, only_worse = worse, better, only_worse, only_better
        difference = Estimate(-difference.value, -difference.high, -difference.low, difference.n)
    runs = [swatch(names.index(name), name) for name in (better, worse)]
    return [*runs, test.test.n, points(difference), only_better, only_worse, p_value(test.p_value)]


def _in_words(comparison: Comparison) -> str:
    """The comparison in a sentence or two, for who reads nothing else."""
    scored = [
        (own.right.value, entry.name)
        for _, entry, card in comparison
        if (own := card.people.get(comparison.split)) and own.right.n
    ]
    if not scored:
        return ""
    best, name = max(scored)
    text = f"**{name}** has the right answer to {percent(best)} of questions about {people(comparison.split)} people"
    if len(scored) == 1:
        return text + "."
    against = [test for test in comparison.pairwise if name in (test.first, test.second)]
    beaten = [
        test.second if test.first == name else test.first
        for test in against
        if test.p_value < SIGNIFICANT and (test.difference.value > 0) == (test.second == name)
    ]
    others = [other for _, other in scored if other != name]
    rivals = f"**{others[0]}**" if len(others) == 1 else "every other run"
    if sum(value == best for value, _ in scored) > 1:
        return f"{text}, and no run more."
    if len(beaten) == len(others):
        return f"{text}, more than {rivals}, and the difference is beyond chance."
    if beaten:
        return f"{text}, more than {rivals}; beyond chance only against {listed([f'**{b}**' for b in beaten])}."
    if not against:
        return f"{text}, more than {rivals}; with no question in common, it may be chance."
    return f"{text}, more than {rivals}, but the difference may be chance."


def funnel_section(comparison: Comparison) -> Section | None:
    """Where the questions go on the way to a right answer."""
    found = [(entry.name, card.error_funnel) for _, entry, card in comparison if card.error_funnel is not None]
    if not found:
        return None
    luck = [f"{name} {funnel.right_unwritten.successes}" for name, funnel in found if funnel.right_unwritten.successes]
    note = f" Right answers that stand in no line, guesses that came true: {', '.join(luck)}." if luck else ""
    return Section(
        "Error funnel",
        [
            "Where questions are lost on the way to a right answer. Each step keeps the questions that passed all "
            "steps above it. What the text leaves is the ceiling of any model; what is lost below it, the model loses.",
            Figure(
                funnel_bars(comparison.names, [card.error_funnel for card in comparison.cards]),
                "Of all questions about held-out people." + note,
            ),
            Table(
                ["step", "left", "lost before it, because"],
                [
                    [b.name, b.kept.successes, f"{a.kept.successes - b.kept.successes:,}: {b.lost_because}"]
                    for a, b in itertools.pairwise(found[0][1].steps)
                ],
                f"The steps of {found[0][0]}, in questions.",
            ),
        ],
    )


def training_section(comparison: Comparison) -> Section | None:
    """Loss curves, where runs brought them."""
    if not any(entry.metrics for entry in comparison.entries):
        return None
    curves = loss_curves([(entry.name, entry.metrics) for entry in comparison.entries])
    text = "The loss while training, smoothed. A gap in the line: a new stage begins."
    return Section("Learning", [text, Figure(curves, "One seed per run.")])


def comparison_report(comparison: Comparison, *, title: str | None = None, seed: int | None = None) -> Report:
    """The whole report. `seed`: of the generator that the comparison was computed with, for the notes."""
    names = comparison.names
    asked = max(len(entry.rows) for entry in comparison.entries)
    sections = [
        accuracy_section(comparison),
        funnel_section(comparison),
        *selective_sections(comparison),
        error_section(comparison),
        bias_section(comparison),
        training_section(comparison),
        example_section(comparison),
        _notes(comparison, seed),
    ]
    return Report(
        title=title or ("What it knows" if len(names) == 1 else "What they know"),
        subtitle=f"{listed(names)}: up to {asked:,} questions each. Large numbers are about {headline(comparison)}.",
        cards=cards(comparison),
        sections=[section for section in sections if section is not None],
        numbers=comparison.as_dict(),
    )


def _notes(comparison: Comparison, seed: int | None) -> Section:
    rows: list[list[Cell]] = []
    for entry in comparison.entries:
        files = ", ".join(f"{people(split)}: {file}" for split, file in entry.files.items())
        hashes = ({row.model for row in entry.rows if row.model}, {row.data for row in entry.rows if row.data})
        rows.append([entry.name, len(entry.rows), files, *(", ".join(sorted(found)) or "–" for found in hashes)])
    return Section(
        "Notes",
        [
            "All numbers are computed from prediction rows alone; `loci report --json` prints them. People are "
            "*taught* if a train question is about them, *held-out* if the model only read about them, *not told* if "
            "their lines leave the fact out, *never read about* if no line is about them. Of each kind the questions "
            "of one file count, or of one file for each relation. "
            + (f"Resampling used seed {seed}." if seed is not None else ""),
            *(Markup(f"<p>{html.escape(remark)}</p>") for remark in comparison.remarks),
            Table(
                ["run", "rows", "questions", "weights", "corpus"],
                rows,
                "Short hashes tell whether two rows are of one model and text.",
            ),
        ],
    )
