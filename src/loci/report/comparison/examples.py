"""The section of example answers: the surest right ones, the surest wrong ones, the least sure, with the evidence.

Knows a computed study and its evidence indices; scores nothing.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from loci.answering.evidence import EvidenceIndex
from loci.evaluation.comparison.comparison import Study
from loci.evaluation.metrics import scorable
from loci.evaluation.rows import UNKNOWABLE, Prediction
from loci.evaluation.run_calibration import AS_IT_IS, RunCalibration
from loci.evaluation.scorecard import judged
from loci.report.comparison.wording import listed, marked, swatch
from loci.report.page import Markup, Page

OF_A_SORT = 3
LINES = 2


def add_examples(page: Page, study: Study) -> None:
    """Answers picked by the first run's confidence, as every run gives them, with the lines that speak for them."""
    chosen = chosen_rows(judged(study.entries[0].rows))
    if not chosen:
        return
    first = study.entries[0].name
    if any(row.probability is not None for _, row in chosen):
        sorts = [f"its {name.lower()}" for name in dict.fromkeys(name for name, _ in chosen)]
        text = f"Picked by the confidence of **{first}**, not by hand: {listed(sorts)}."
        if any(context.calibration is not None for context in study.contexts):
            text += " *Withheld*: below the threshold of the run’s calibration, so `loci ask` would not say it."
    else:
        text = f"The first right and wrong answers of **{first}**, as they stand in its file."
    page.add_section("Examples", text)
    answers = [{row.question: row for row in reversed(scorable(entry.rows))} for entry in study.entries]
    sort = ""
    for name, row in chosen:
        if name != sort:
            page.add_text(Markup(f"<h3>{html.escape(name)}</h3>"))
            sort = name
        page.add_text(_example(row, study, [found.get(row.question) for found in answers]))


def chosen_rows(rows: list[Prediction], count: int = OF_A_SORT) -> list[tuple[str, Prediction]]:
    """`count` rows of each sort, each row once; without probabilities the order of the rows decides."""
    ranked = sorted(rows, key=lambda row: -(row.probability or 0.0))
    knowable = [row for row in ranked if row.split not in UNKNOWABLE]
    sorts: list[tuple[str, list[Prediction], Callable[[Prediction], bool]]] = [
        ("Surest right answers", knowable, lambda row: row.correct is True),
        ("Surest mistakes", knowable, lambda row: not row.correct and not row.abstained),
        ("Least sure answers", [row for row in knowable[::-1] if row.probability is not None], lambda row: True),
        (
            "Surest answers about people beyond knowing",
            [row for row in ranked if row.split in UNKNOWABLE],
            lambda row: not row.correct,
        ),
    ]
    found: list[tuple[str, Prediction]] = []
    for name, pool, wanted in sorts:
        taken = {id(row) for _, row in found}
        found += [(name, row) for row in pool if wanted(row) and id(row) not in taken][:count]
    return found


def _example(row: Prediction, study: Study, answers: list[Prediction | None]) -> Markup:
    lines = [f"<p><strong>{html.escape(row.question)}</strong>{_truth(row)}</p>"]
    for index, (entry, answer) in enumerate(zip(study.entries, answers, strict=True)):
        if answer is not None:
            said = _answer(answer, study.contexts[index].calibration)
            lines.append(f"<p>{swatch(index, entry.name)}: {said}</p>")
    index_of_corpus = next((index for index in study.evidence if index is not None), None)
    lines += _evidence(row, index_of_corpus) if index_of_corpus else []
    return Markup(f'<div class="example">{"".join(lines)}</div>')


def _truth(row: Prediction) -> str:
    truth = html.escape(" / ".join(row.answers)) if row.answers else "nobody can know"
    return f' <span class="quiet">truth: {truth}</span>'


def _answer(row: Prediction, calibration: RunCalibration | None) -> str:
    said = html.escape(row.prediction) or "<em>nothing</em>"
    if row.abstained:
        text = f'I don’t know <span class="quiet">(would have said {said})</span>'
    elif row.correct:
        text = f'<span class="good">✓ {said}</span>'
    else:
        text = f'<span class="bad">✗ {said}</span>'
    if row.probability is not None:
        text += f" {_share(row.probability)}"
        if calibration is not None and not row.abstained:
            (p,) = calibration.apply([row.probability])
            text += f", calibrated {_share(p)}" if calibration.calibrator != AS_IT_IS else ""
            text += ": withheld" if p < calibration.threshold else ""
    if row.alternatives:
        others = ", ".join(f"{html.escape(other) or '(nothing)'} {_share(p)}" for other, p in row.alternatives[:3])
        text += f' <span class="quiet">then {others}</span>'
    return text


def _share(p: float) -> str:
    return f"{100 * p:.0f}\u00a0%" if p >= 0.01 else "&lt;\u00a01\u00a0%"


def _evidence(row: Prediction, index: EvidenceIndex) -> list[str]:
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
