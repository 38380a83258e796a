"""The section of example answers: the most confident right ones, the most confident wrong ones, the least confident.

Knows a computed comparison and looks for evidence in its corpus; scores nothing.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from itertools import groupby

from loci.answering.confidence import RunCalibration
from loci.answering.evidence import EvidenceIndex
from loci.evaluation.calibration import AS_IT_IS
from loci.evaluation.comparison.comparison import Comparison
from loci.evaluation.metrics import scorable
from loci.evaluation.rows import UNKNOWABLE, Row
from loci.evaluation.scorecard import not_taught
from loci.report.comparison.wording import listed, marked, swatch
from loci.report.page import Markup
from loci.report.parts import Section

OF_A_SORT = 3
LINES = 2


def example_section(comparison: Comparison) -> Section | None:
    """Answers picked by the first run's confidence, as every run gives them, with the lines that support them."""
    chosen = chosen_rows(not_taught(comparison.entries[0].rows))
    if not chosen:
        return None
    first = comparison.entries[0].name
    if any(row.probability is not None for _, row in chosen):
        sorts = [f"its {name.lower()}" for name in dict.fromkeys(name for name, _ in chosen)]
        text = f"Picked by the confidence of **{first}**, not by hand: {listed(sorts)}."
        if any(entry.context.calibration is not None for entry in comparison.entries):
            text += " *Withheld*: below the threshold of the run’s calibration, so `loci ask` would not say it."
    else:
        text = f"The first right and wrong answers of **{first}**, as they stand in its file."
    answers = [{row.question: row for row in reversed(scorable(entry.rows))} for entry in comparison.entries]
    corpus = next((entry.context.corpus for entry in comparison.entries if entry.context.corpus), None)
    index = EvidenceIndex(corpus) if corpus is not None else None
    parts: list[str] = [text]
    for sort, rows in groupby(chosen, key=lambda pair: pair[0]):
        parts.append(Markup(f"<h3>{html.escape(sort)}</h3>"))
        parts += [_example(row, comparison, [found.get(row.question) for found in answers], index) for _, row in rows]
    return Section("Examples", parts)


def chosen_rows(rows: list[Row], count: int = OF_A_SORT) -> list[tuple[str, Row]]:
    """`count` rows of each sort, each row once; without probabilities the order of the rows decides."""
    ranked = sorted(rows, key=lambda row: -(row.probability or 0.0))
    knowable = [row for row in ranked if row.split not in UNKNOWABLE]
    sorts: list[tuple[str, list[Row], Callable[[Row], bool]]] = [
        ("Most confident right answers", knowable, lambda row: row.correct is True),
        ("Most confident mistakes", knowable, lambda row: not row.correct and not row.silent),
        ("Least confident answers", [row for row in knowable[::-1] if row.probability is not None], lambda row: True),
        (
            "Most confident answers about people of whom the text does not tell",
            [row for row in ranked if row.split in UNKNOWABLE],
            lambda row: not row.correct,
        ),
    ]
    found: list[tuple[str, Row]] = []
    for name, pool, wanted in sorts:
        taken = {id(row) for _, row in found}
        found += [(name, row) for row in pool if wanted(row) and id(row) not in taken][:count]
    return found


def _example(row: Row, comparison: Comparison, answers: list[Row | None], index: EvidenceIndex | None) -> Markup:
    lines = [f"<p><strong>{html.escape(row.question)}</strong>{_truth(row)}</p>"]
    for number, (entry, answer) in enumerate(zip(comparison.entries, answers, strict=True)):
        if answer is not None:
            lines.append(f"<p>{swatch(number, entry.name)}: {_answer(answer, entry.context.calibration)}</p>")
    lines += _evidence(row, index) if index is not None else []
    return Markup(f'<div class="example">{"".join(lines)}</div>')


def _truth(row: Row) -> str:
    truth = html.escape(" / ".join(row.answers)) if row.answers else "nobody can know"
    return f' <span class="quiet">truth: {truth}</span>'


def _answer(row: Row, calibration: RunCalibration | None) -> str:
    said = html.escape(row.prediction) or "<em>nothing</em>"
    if row.silent:
        why = "".join(f"; {html.escape(reason)} {_share(p)}" for reason, p in row.reasons)
        text = f'I don’t know <span class="quiet">(would have said {said}{why})</span>'
    elif row.correct:
        text = f'<span class="good">✓ {said}</span>'
    else:
        text = f'<span class="bad">✗ {said}</span>'
    if row.probability is not None:
        text += f" {_share(row.probability)}"
        if calibration is not None and not row.silent:
            (p,) = calibration.apply([row.probability])
            text += f", calibrated {_share(p)}" if calibration.calibrator != AS_IT_IS else ""
            text += ": withheld" if p < calibration.threshold else ""
    if row.alternatives:
        others = ", ".join(f"{html.escape(other) or '(nothing)'} {_share(p)}" for other, p in row.alternatives[:3])
        text += f' <span class="quiet">then {others}</span>'
    return text


def _share(p: float) -> str:
    return f"{100 * p:.0f}\u00a0%" if p >= 0.01 else "&lt;\u00a01\u00a0%"


def _evidence(row: Row, index: EvidenceIndex) -> list[str]:
    known = bool(row.subject) and index.knows(row.subject or "")
    wanted = row.answers[0] if known and row.answers else row.prediction
    found = index.find(row.question, subject=row.subject, answer=wanted, limit=LINES)
    found = [line for line in found if line.found_by == "subject"] or found[:1]
    lines = (
        [] if known else ['<p class="evidence">No line is about this person; the nearest one to name and answer:</p>']
    )
    if not found:
        return ['<p class="evidence">No line of the corpus speaks of this.</p>']
    return [*lines, *(f'<p class="evidence">{marked(line)}</p>' for line in found)]
