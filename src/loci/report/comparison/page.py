"""The page of a comparison: which sections, in which order, and the notes at its end.

Knows a computed study; computes nothing itself.
"""

from __future__ import annotations

import html

from loci.evaluation.comparison.comparison import Study
from loci.report.comparison.errors import add_bias, add_fabrication
from loci.report.comparison.examples import add_examples
from loci.report.comparison.overview import add_accuracy, add_ceiling, add_headline, add_training
from loci.report.comparison.selective import add_trust
from loci.report.comparison.wording import listed
from loci.report.page import Cell, Markup, Page


def comparison_page(study: Study, *, title: str | None = None, seed: int | None = None) -> Page:
    """The whole page. `seed`: of the generator that the study was computed with, for the notes."""
    names = [entry.name for entry in study.entries]
    asked = max(len(entry.rows) for entry in study.entries)
    page = Page(
        title or ("What it knows" if len(names) == 1 else "What they know"),
        f"{listed(names)}: up to {asked:,} questions each; the numbers in front are of {study.people}.",
    )
    add_headline(page, study)
    add_accuracy(page, study)
    add_ceiling(page, study)
    add_trust(page, study)
    add_fabrication(page, study)
    add_bias(page, study)
    add_training(page, study)
    add_examples(page, study)
    _add_notes(page, study, seed)
    return page


def _add_notes(page: Page, study: Study, seed: int | None) -> None:
    page.add_section(
        "Notes",
        "All numbers are computed from prediction rows alone; `loci report --json` prints them. "
        "*Seen* people were asked about in training, *held-out* people only read about, *unstated* people read about "
        "without the fact, *unseen* people never met. Trust and bias are judged on people who are not *seen*. "
        "Of each sort the questions of one file count. "
        + (f"Resampling used seed {seed}." if seed is not None else ""),
    )
    for remark in study.remarks:
        page.add_text(Markup(f"<p>{html.escape(remark)}</p>"))
    rows: list[list[Cell]] = []
    for entry in study.entries:
        models = {row.model for row in entry.rows if row.model}
        data = {row.data for row in entry.rows if row.data}
        files = ", ".join(f"{split}: {file}" for split, file in entry.files.items())
        hashes = (", ".join(sorted(found)) or "–" for found in (models, data))
        rows.append([entry.name, len(entry.rows), files, *hashes])
    page.add_table(
        ["run", "rows", "questions", "weights", "corpus"],
        rows,
        "Short hashes tell whether two rows are of one model and text.",
    )
