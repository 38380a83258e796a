"""The files of a corpus, checked one by one, and what the questions tell about their lines.

Several files are one corpus (`Corpus.joined`), whose lines are counted through: findings name the file and its own
line. Knows nothing of questions but the corpus that was read with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from loci.text.check_files import CheckedFile
from loci.text.compiled import CompiledCorpus, is_large, read_large
from loci.text.corpus import Corpus, Line, parse_corpus
from loci.text.crosschecks import long_lines, several_lines
from loci.text.figures import corpus_figures, mapped_figures
from loci.text.findings import Finding, Notes, shown
from loci.text.formats import FORMATS
from loci.text.line_findings import note_lines
from loci.text.source import load


def check_corpus(
    path: Path, block_size: int, *, guest: bool, clean_copy: bool
) -> tuple[CheckedFile, Corpus | None, list[Finding]]:
    """One file with its figures, what can be used of it, and what is wrong with it."""
    if not clean_copy and is_large(path) and isinstance(mapped := read_large(path), CompiledCorpus):
        notes = Notes(path)
        note_lines(mapped.lines, notes)
        found = notes.found + long_lines(mapped, block_size) + several_lines(mapped)
        return CheckedFile(path, "corpus", "text", None, mapped_figures(mapped), guest=guest), mapped, found
    source = load(path)
    parsed = parse_corpus(source)
    findings = list(parsed.findings)
    usable = not any(found.severity == "error" for found in findings)
    corpus = None
    if usable:
        corpus = Corpus(path, parsed.lines, parsed.raw)
        findings += long_lines(corpus, block_size) + several_lines(corpus)
    elif parsed.clean:  # hold the questions against what a repair would leave
        corpus = replace(Corpus.from_lines(parsed.clean), path=path)
    clean, savable = "".join(f"{line}\n" for line in parsed.clean) or None, bool(parsed.clean)
    if parsed.form != "text":  # records are repaired as records: a clean copy keeps its form
        copied = FORMATS[parsed.form].clean
        clean = copied(source) if copied is not None and clean_copy and not guest else None
        savable = savable and copied is not None
    figures = corpus_figures(parsed.lines, parsed.raw) if parsed.lines else None
    file = CheckedFile(path, "corpus", parsed.form, clean, figures, guest=guest, savable=savable)
    return file, corpus, findings


def joined(texts: Sequence[Corpus]) -> tuple[Corpus, list[Finding]]:
    """The corpora of the files of a folder as one, and a note that says which lines are whose."""
    first = texts[0].path
    assert first is not None
    whole, notes = Corpus.joined(first.parent, texts), Notes(first.parent)
    ranges = []
    for text, (file, before) in zip(texts, whole.files, strict=True):
        last = before + (text.lines[-1].number if len(text) else 0)
        ranges.append(f"{file.name} ({before + 1:,} to {last:,})")
    shown_files = ", ".join(ranges[:8]) + (", …" if len(ranges) > 8 else "")
    notes.note("joined-texts", f"{len(texts)} files are read as one text, their lines counted through: {shown_files}")
    return whole, notes.found


def in_their_files(findings: Iterable[Finding], corpus: Corpus) -> list[Finding]:
    """Findings about the lines of a joined corpus, each with its file and the line there."""

    def moved(one: Finding) -> Finding:
        if one.path != corpus.path or one.line is None:
            return one
        file, number = corpus.place(one.line)
        return replace(one, path=file, line=number)

    return [moved(one) for one in findings]


def placed(
    files: Sequence[CheckedFile], texts: Sequence[Corpus], corpus: Corpus, findings: Iterable[Finding], *, taught: bool
) -> tuple[list[CheckedFile], list[Finding]]:
    """Figures and findings of corpora whose lines the questions' subjects have helped to place.

    Where questions are `taught`, a text most of whose lines are about nobody is worth a warning: reading cannot be
    learned from them.
    """
    found, lines, checked = list(findings), iter(corpus), []
    for file, text in zip(files, texts, strict=True):
        pairs = list(zip(itertools.islice(lines, len(text)), text, strict=True))
        nowhere = [own for line, own in pairs if not line.subject and line.text.strip()]
        filled, subjects = sum(bool(own.text.strip()) for _, own in pairs), {line.subject for line, _ in pairs} - {""}
        found = _still_nowhere(found, file.path, nowhere, filled, taught=taught)
        figures = file.corpus and replace(file.corpus, subjects=len(subjects), no_subject=len(nowhere))
        checked.append(replace(file, corpus=figures))
    return checked, found


def _still_nowhere(
    findings: Sequence[Finding], path: Path, nowhere: Sequence[Line], filled: int, *, taught: bool
) -> list[Finding]:
    numbers = {line.number for line in nowhere}
    kept = []
    for found in findings:
        if found.path != path or found.kind != "no-subject":
            kept.append(found)
        elif found.line is not None:
            kept += [found] if found.line in numbers else []
        elif not taught:
            kept.append(found)
        else:
            notes = Notes(path)
            if len(nowhere) * 2 > filled:
                some = f"such as line {nowhere[0].number}, {shown(nowhere[0].text.strip(), 48)}"
                message = f"{len(nowhere):,} of {filled:,} lines have no subject, {some}: no question teaches from them"
                notes.warning("no-subject", message)
            else:
                for line in nowhere:
                    notes.warning("no-subject", f"no subject found: {shown(line.text.strip())}", line.number)
            kept += notes.found
    return kept
