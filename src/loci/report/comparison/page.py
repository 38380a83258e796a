"""The page of a comparison: which sections, in which order, and the notes at its end.

Knows a computed comparison; computes nothing itself.
"""

from __future__ import annotations

import html

from loci.evaluation.comparison.comparison import Comparison
from loci.report.comparison.errors import add_bias, add_error_kinds
from loci.report.comparison.examples import add_examples
from loci.report.comparison.overview import add_accuracy, add_funnel, add_headline, add_training, headline
from loci.report.comparison.selective import add_selective
from loci.report.comparison.wording import listed, people
from loci.report.page import Cell, Markup, Page

SECTIONS = (
    add_headline,
    add_accuracy,
    add_funnel,
    add_selective,
    add_error_kinds,
    add_bias,
    add_training,
    add_examples,
)


def comparison_page(comparison: Comparison, *, title: str | None = None, seed: int | None = None) -> Page:
    """The whole page. `seed`: of the generator that the comparison was computed with, for the notes."""
    names = comparison.names
    asked = max(len(entry.rows) for entry in comparison.entries)
    page = Page(
        title or ("What it knows" if len(names) == 1 else "What they know"),
        f"{listed(names)}: up to {asked:,} questions each. The large numbers are about {headline(comparison)}.",
    )
    for add in SECTIONS:
        add(page, comparison)
    _add_notes(page, comparison, seed)
    return page


def _add_notes(page: Page, comparison: Comparison, seed: int | None) -> None:
    page.add_section(
        "Notes",
        "All numbers are computed from prediction rows alone; `loci report --json` prints them. People are *taught* if "
        "a train question is about them, *held-out* if the model only read about them, *not told* if their lines leave "
        "the fact out, *never read about* if no line is about them. Of each kind the questions of one file count. "
        + (f"Resampling used seed {seed}." if seed is not None else ""),
    )
    for remark in comparison.remarks:
        page.add_text(Markup(f"<p>{html.escape(remark)}</p>"))
    rows: list[list[Cell]] = []
    for entry in comparison.entries:
        files = ", ".join(f"{people(split)}: {file}" for split, file in entry.files.items())
        hashes = ({row.model for row in entry.rows if row.model}, {row.data for row in entry.rows if row.data})
        rows.append([entry.name, len(entry.rows), files, *(", ".join(sorted(found)) or "–" for found in hashes)])
    page.add_table(
        ["run", "rows", "questions", "weights", "corpus"],
        rows,
        "Short hashes tell whether two rows are of one model and text.",
    )
