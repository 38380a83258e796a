"""The page of a comparison: which sections, in which order, and the notes at its end.

Knows a computed comparison; computes nothing itself.
"""

from __future__ import annotations

import html

from loci.evaluation.comparison.comparison import Comparison
from loci.report.comparison.errors import bias_section, error_section
from loci.report.comparison.examples import example_section
from loci.report.comparison.overview import accuracy_section, cards, funnel_section, headline, training_section
from loci.report.comparison.selective import selective_sections
from loci.report.comparison.wording import listed, people
from loci.report.page import Cell, Markup
from loci.report.parts import Report, Section, Table


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
            "of one file count. " + (f"Resampling used seed {seed}." if seed is not None else ""),
            *(Markup(f"<p>{html.escape(remark)}</p>") for remark in comparison.remarks),
            Table(
                ["run", "rows", "questions", "weights", "corpus"],
                rows,
                "Short hashes tell whether two rows are of one model and text.",
            ),
        ],
    )
