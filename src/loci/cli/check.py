"""Check a corpus, a question file or a folder of them; write a clean copy with --repair.

Exit code 0 when everything can be used, 1 when there are errors, 2 when the path is no use.

examples:
  loci check data                                  a folder: wiki.txt, *train*.tsv, *dev*.tsv, *test*.tsv
  loci check dev.tsv --corpus wiki.txt             one file of questions, held against a corpus
  loci check data --repair clean                   clean copies, and clean/repairs.tsv with every change
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from loci.cli.output import print_json, print_table
from loci.text.diagnosis import Diagnosis, diagnose
from loci.text.findings import KINDS, REFUSED, SEVERITIES, Finding, shown
from loci.text.relations import relations_from
from loci.text.repair import Repaired, write_repaired

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

SHOWN_OF_A_KIND = 8
_MARKS = {"error": ("✖", "red"), "warning": ("▲", "yellow"), "note": ("·", "cyan")}


def check(
    path: Path,
    /,
    *,
    repair: Path | None = None,
    json: bool = False,
    block_size: int | None = None,
    corpus: Path | None = None,
    template: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    all: bool = False,
) -> int:
    """Check a corpus or question files, and repair them.

    Args:
        path: A corpus, a question file, or a folder of them.
        repair: A new folder for clean copies and repairs.tsv, the list of what was changed.
        json: Print the diagnosis as JSON.
        block_size: How many characters the model takes at once: then longer questions are errors (default: 128, as
            published, and longer ones are warnings).
        corpus: The corpus to hold the questions against, if it is not in the same folder.
        template: A form of the questions, like "Where was {subject} born?"; may be given several times (default: found
            from the questions, and from relations.toml).
        all: Show every finding, not only the first few of a kind.
    """
    relations = relations_from(template)
    diagnosis = diagnose(path, block_size=block_size, corpus=corpus, relations=relations, clean=repair is not None)
    repaired = write_repaired(diagnosis, repair) if repair is not None else None
    remaining = diagnosis
    if repaired is not None:
        guest = corpus if any(file.guest for file in diagnosis.files) else None  # not copied: still to be held against
        remaining = diagnose(repaired.folder, block_size=block_size, corpus=guest, relations=relations)
    if json:
        data = diagnosis.as_dict()
        if repaired is not None:
            written = {name: getattr(repaired, name) for name in ("folder", "written", "copied", "lost")}
            counts = {"changes": len(repaired.changes), "errors_left": remaining.count("error")}
            data["repair"] = {**written, **counts}
        print_json(data)
    else:
        from rich.console import Console

        _print(Console(highlight=False, markup=False, emoji=False), diagnosis, repaired, remaining, everything=all)
    return 0 if remaining.ok and not (repaired and repaired.lost) else 1


def _print(
    console: Console, diagnosis: Diagnosis, repaired: Repaired | None, remaining: Diagnosis, *, everything: bool
) -> None:
    _print_corpora(diagnosis)
    _print_subjects(diagnosis)
    _print_questions(diagnosis)
    for (_, kind), group in itertools.groupby(diagnosis.findings, key=lambda found: (found.severity, found.kind)):
        _print_kind(console, diagnosis, kind, list(group), everything)
    console.print(_summary(diagnosis), soft_wrap=True)
    if repaired is not None:
        console.print(_repair_summary(repaired, remaining), soft_wrap=True)


def _print_corpora(diagnosis: Diagnosis) -> None:
    rows = []
    for file in diagnosis.files:
        if figures := file.corpus:
            lengths = figures.lengths
            counts = (figures.lines, figures.subjects, figures.no_subject, figures.characters, figures.symbols)
            spread = (lengths.shortest, lengths.median, lengths.p90, lengths.longest) if lengths else ()
            rows.append((diagnosis.name_of(file.path), *counts, " · ".join(f"{n:,.0f}" for n in spread)))
    names = ("lines", "subjects", "no subject", "characters", "symbols", "length: min · median · p90 · max")
    if rows:
        print_table(("corpus", *names), rows, right=True)
        print()


def _print_subjects(diagnosis: Diagnosis) -> None:
    """How the subjects were found, and what could not be placed."""
    found = diagnosis.subjects
    if found is None:
        return
    rows = [
        (way.way, way.lines, ", ".join(f"{one.subject} ({one.where})" for one in way.examples)) for way in found.ways
    ]
    if nowhere := found.not_placed.lines:
        texts = ", ".join(f"{shown(one.text, 32)} ({one.where})" for one in found.not_placed.examples)
        rows.append(("not placed", nowhere, texts))
    print_table((f"{_plural(found.subjects, 'subject')} found by", "lines", "for example"), rows)
    print()


def _print_questions(diagnosis: Diagnosis) -> None:
    """A row for each relation that a file asks."""
    rows: list[tuple[object, ...]] = []
    for file in diagnosis.files:
        for name, _, figures in file.relations:
            n = figures.answered
            top = f"{figures.top_answer} {_share(figures.top_count, n)}" if figures.top_answer else "–"
            shares = (top, _share(figures.in_own_line, n), _share(figures.taught, n))
            answers = figures.distinct_answers if n else None
            rows.append((diagnosis.name_of(file.path), file.role, name or "–", figures.questions, answers, *shares))
    forms = {name: templates for file in diagnosis.files for name, templates, _ in file.relations if templates}
    notes = [f"{name}: {' · '.join(templates[:3])}" for name, templates in forms.items()]
    if any(file.questions and file.questions.in_own_line is not None for file in diagnosis.files):
        notes.append(
            "answers: how many different ones. in own line: a line about the subject contains the answer, which is the "
            "most the corpus can teach. taught: some train question has the same answer."
        )
    names = ("questions", "role", "relation", "asked", "answers", "most common", "in own line", "taught")
    if rows:
        print_table(names, rows, names=True, note="\n".join(notes))
        print()


def _share(count: int | None, total: int) -> str:
    return "–" if count is None or not total else f"{count:,} ({count / total:.1%})"


def _print_kind(console: Console, diagnosis: Diagnosis, kind: str, group: list[Finding], everything: bool) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    mark, colour = _MARKS[group[0].severity]
    meaning, remedy = KINDS[kind]
    console.print(Text.assemble((f"{mark} {kind}", f"bold {colour}"), (f" × {len(group):,}", colour), f"  {meaning}"))
    if group[0].severity != "note":
        console.print(Padding(Text(remedy, style="dim"), (0, 0, 0, 2)))
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    shown = group if everything else group[:SHOWN_OF_A_KIND]
    for found in shown:
        name = diagnosis.name_of(found.path) if found.path else ""
        where = f"{name}:{found.line}" if found.line is not None else name
        rows.add_row(
            Text(f"    {where}"), Text(found.message + (" (repaired while reading)" if found.repaired else ""))
        )
    console.print(rows)
    if len(group) > len(shown):
        console.print(Text(f"    … and {len(group) - len(shown):,} more (--all shows them)", style="dim"))
    console.print()


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _summary(diagnosis: Diagnosis) -> Text:
    from rich.text import Text

    counts = [
        Text(_plural(count, severity), style=_MARKS[severity][1])
        for severity in SEVERITIES
        if (count := diagnosis.count(severity))
    ]
    found = Text(", ").join(counts) if counts else Text("No problems found")
    verdict = ("Everything can be used as it is.", "bold green")
    if not diagnosis.ok:
        names = ", ".join(map(diagnosis.name_of, diagnosis.unusable())) or str(diagnosis.path)
        errors = (found for found in diagnosis.findings if found.severity == "error")
        refused = next((f" loci learn would refuse: {one.remedy}." for one in errors if one.kind in REFUSED), "")
        verdict = (f"Not usable as it is: {names}.{refused}", "bold red")
    changes = len(diagnosis.changes)
    hint = f" A repair (--repair OUT) would make {_plural(changes, 'change')}." if changes else ""
    return Text.assemble(found, ". ", verdict, hint)


def _repair_summary(repaired: Repaired, remaining: Diagnosis) -> str:
    names = ", ".join(repaired.written)
    text = f"Wrote {names} and repairs.tsv ({_plural(len(repaired.changes), 'change')}) to {repaired.folder}."
    if repaired.copied:
        text += f" Copied {', '.join(repaired.copied)} as it stands."
    if repaired.lost:
        text += f" Could not save {', '.join(repaired.lost)}."
    if not remaining.ok:
        left = _plural(remaining.count("error"), "error")
        text += f" Left for you to decide: {left}, see loci check {repaired.folder}"
    return text
