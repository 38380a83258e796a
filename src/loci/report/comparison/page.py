"""The page of a comparison: which sections, in which order, and the notes at its end.

Knows a computed study; computes nothing itself.
"""

from __future__ import annotations

from loci.report.comparison.examples import add_examples
from loci.report.comparison.overview import add_accuracy, add_ceiling, add_headline, add_training
from loci.report.comparison.study import Study
from loci.report.comparison.trust import add_trust
from loci.report.comparison.words import listed
from loci.report.comparison.worries import add_bias, add_fabrication
from loci.report.page import Cell, Page


def comparison_page(study: Study, *, title: str | None = None, seed: int | None = None) -> Page:
    """The whole page. `seed`: of the generator that the study was computed with, for the notes."""
    names = [entry.name for entry in study.entries]
    asked = max(len(entry.rows) for entry in study.entries)
    page = Page(
        title or ("What it knows" if len(names) == 1 else "What they know"),
        f"{listed(names)}: up to {asked:,} questions each; the numbers in front are of {study.split} people.",
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
        + (f"Resampling used seed {seed}." if seed is not None else ""),
    )
    rows: list[list[Cell]] = []
    for entry in study.entries:
        models = {row.model for row in entry.rows if row.model}
        data = {row.data for row in entry.rows if row.data}
        rows.append([entry.name, len(entry.rows), ", ".join(sorted(models)) or "–", ", ".join(sorted(data)) or "–"])
    page.add_table(
        ["run", "rows", "weights", "corpus"], rows, "Short hashes tell whether two rows are of one model and text."
    )
