"""The whole picture of a corpus, a question file or a folder of them: figures and findings.

Calls the parsers and the cross-checks and puts together what they say; judges nothing itself and changes nothing on
disk. Reading (`Corpus.read`, `Questions.read`) and this use the same parsers, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.text import google_re
from loci.text.corpus import Corpus, parse_corpus
from loci.text.crosschecks import leaks, long_lines, several_lines, subjects_asked, unasked
from loci.text.figures import CorpusFigures, QuestionFigures, corpus_figures, question_figures
from loci.text.findings import SEVERITIES, Finding, Severity, finding
from loci.text.formats import parse_questions
from loci.text.layout import Role, find_corpus, split_of, survey
from loci.text.questions import Questions, misfits, question_of, relate
from loci.text.records import holds_records
from loci.text.source import Source, load, without_specials
from loci.text.template import BIRTHPLACE, Template, infer_template
from loci.text.vocab import Vocab

_SAMPLE = 200  # lines that tell whether a file of unknown name holds questions


@dataclass(frozen=True)
class CheckedFile:
    """One file with its figures. `clean` is its text as a repaired copy has it; None when nothing can be saved."""

    path: Path
    role: Role
    form: str
    corpus: CorpusFigures | None
    questions: QuestionFigures | None
    template: str | None
    clean: str | None
    guest: bool = False  # not to be repaired: a corpus from elsewhere, or records repaired as questions


@dataclass(frozen=True)
class Diagnosis:
    """What `loci check` found out."""

    path: Path
    block_size: int
    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]

    def count(self, severity: Severity) -> int:
        """How many findings of this severity."""
        return sum(found.severity == severity for found in self.findings)

    @property
    def ok(self) -> bool:
        """Whether every file can be used as it is."""
        return self.count("error") == 0

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The findings that a repaired copy puts right."""
        own = {file.path for file in self.files if not file.guest}
        return tuple(found for found in self.findings if found.repairable and found.path in own)

    def as_dict(self) -> dict[str, Any]:
        """The diagnosis as plain JSON data."""
        files = []
        for file in self.files:
            figures = {
                **(asdict(file.corpus) if file.corpus else {}),
                **(asdict(file.questions) if file.questions else {}),
            }
            named = {"path": str(file.path), "role": file.role, "form": file.form, "template": file.template}
            files.append({**named, **figures})
        return {
            "path": str(self.path),
            "ok": self.ok,
            "block_size": self.block_size,
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "files": files,
            "findings": [found.as_dict() for found in self.findings],
        }


def diagnose(
    path: str | Path,
    *,
    block_size: int = 128,
    vocab: Vocab | None = None,
    corpus: str | Path | None = None,
    template: Template | None = None,
) -> Diagnosis:
    """Check a file or a folder. `vocab` and `corpus` are what the questions are held against, if not the folder's own.

    Without a `template` the default is tried, then the one the questions themselves share.
    """
    if block_size < 1:
        raise LociError(f"a block holds at least one symbol, not {block_size}", remedy="the published block is 128")
    path = Path(path)
    corpus_path, question_paths = _files_of(path, Path(corpus) if corpus is not None else None)
    files: list[CheckedFile] = []
    findings: list[Finding] = []
    text: Corpus | None = None
    if corpus_path is not None:
        guest = corpus_path != path and corpus_path.resolve().parent != path.resolve()
        file, text, findings = _check_corpus(corpus_path, block_size, guest)
        files.append(file)
    elif vocab is None:
        message = "no corpus: characters and subjects of the questions are not checked"
        findings.append(finding("no-corpus", "note", message, path))
    asked = [_ask(role, file, template) for role, file in question_paths]
    train = [file.questions for file in asked if file.role == "train"]
    symbols = vocab or (text.vocab if text else None)
    for file_asked in asked:
        files.append(file_asked.checked(text, train))
        findings += file_asked.findings
        findings += _check_questions(file_asked, text, symbols, block_size)
        if file_asked.role in ("dev", "test"):
            findings += [leak for taught in train for leak in leaks(taught, file_asked.questions)]
    if text is not None and asked and text.path is not None and text.path.parent == path:
        findings += unasked(text, [file.questions for file in asked])
    return Diagnosis(path, block_size, tuple(files), _ordered(findings, [file.path for file in files]))


def _files_of(path: Path, corpus: Path | None) -> tuple[Path | None, list[tuple[Role, Path]]]:
    """The corpus and the question files to check."""
    if corpus is not None:
        corpus = find_corpus(corpus)
    if path.is_dir():
        layout = survey(path)
        if corpus is None and layout.corpus is None and layout.corpus_candidates:
            find_corpus(path)  # several could be it: raises, and names them
        corpus = corpus or layout.corpus
        if corpus is None and not layout.questions:
            remedy = "a folder holds wiki.txt, corpus.txt or a single *.txt, and *train*, *dev*, *test* .tsv files"
            raise LociError("no corpus and no questions in this folder", path=path, remedy=remedy)
        return corpus, list(layout.questions)
    source = load(path)
    if _holds_questions(source):
        own = path if google_re.holds_sentences(source) else None  # the sentences are the corpus of the questions
        return corpus or own, [(split_of(path), path)]
    if corpus is not None:
        remedy = "--corpus is what questions are held against"
        raise LociError("is a corpus itself", path=path, remedy=remedy)
    return path, []


def _holds_questions(source: Source) -> bool:
    """Whether a single file is to be checked as questions, told by its name or by most of its first lines."""
    if holds_records(source) or (source.path is not None and source.path.suffix.lower() == ".tsv"):
        return True
    lines = {without_specials(line).strip() for line in source.lines()[:_SAMPLE]} - {""}
    like = sum("?\t" in line or "?  " in line or line.endswith("?") for line in lines)
    return like * 2 > len(lines)


def _check_corpus(path: Path, block_size: int, guest: bool) -> tuple[CheckedFile, Corpus | None, list[Finding]]:
    source = load(path)
    parsed = parse_corpus(source)
    findings = list(parsed.findings)
    usable = not any(found.severity == "error" for found in findings)
    corpus = None
    if usable:
        corpus = Corpus(path, parsed.lines, parsed.raw)
    elif parsed.clean:  # hold the questions against what a repair would leave
        corpus = replace(Corpus.from_lines(parsed.clean), path=path)
    figures = None
    if parsed.lines:
        texts, subjects = [line.text for line in parsed.lines], [line.subject for line in parsed.lines]
        figures = corpus_figures(texts, subjects, parsed.raw)
    if usable and corpus is not None:
        findings += long_lines(corpus, block_size) + several_lines(corpus)
    records = google_re.holds_relations(source)
    clean = "".join(f"{line}\n" for line in parsed.clean) or None
    form = "google-re" if records else "text"
    # Records are repaired as records, by their questions' side: a clean copy keeps its form.
    checked = CheckedFile(path, "corpus", form, figures, None, None, None if records else clean, guest or records)
    return checked, corpus, findings


@dataclass(frozen=True)
class _Asked:
    """A question file on its way through the checks."""

    role: Role
    questions: Questions
    form: str
    findings: tuple[Finding, ...]
    clean: str | None

    def checked(self, corpus: Corpus | None, train: list[Questions]) -> CheckedFile:
        assert self.questions.path is not None
        taught = train if self.role != "train" else []
        figures = question_figures(self.questions, corpus, taught) if len(self.questions) else None
        template = self.questions.template.text
        return CheckedFile(self.questions.path, self.role, self.form, None, figures, template, self.clean)


def _ask(role: Role, path: Path, template: Template | None) -> _Asked:
    source = load(path)
    parsed = parse_questions(source, template or BIRTHPLACE)
    if template is None and not any(row.subject for row in parsed.rows):
        shared = infer_template(row.question for row in parsed.rows)
        if shared is not None:
            template = shared
            parsed = parse_questions(source, shared)
    related, kept = relate(parsed)
    rows = tuple(question_of(row, template or BIRTHPLACE) for row in parsed.rows)
    questions = Questions(path, rows, template or BIRTHPLACE)
    clean = parsed.text_of(kept) if kept else None
    return _Asked(role, questions, parsed.form, parsed.findings + related, clean)


def _check_questions(asked: _Asked, corpus: Corpus | None, vocab: Vocab | None, block_size: int) -> list[Finding]:
    questions = asked.questions
    found = subjects_asked(questions, corpus) + misfits(questions, vocab, block_size)
    if asked.role in ("train", "dev") and len(questions) and not questions.answered:
        message = f"no line has an answer, and {asked.role} questions need one"
        found.append(finding("no-answer", "error", message, questions.path))
    return found


def _ordered(findings: Iterable[Finding], files: list[Path]) -> tuple[Finding, ...]:
    """Each finding once, the gravest first, then by kind, file and line."""
    rank = {path: index for index, path in enumerate(files)}
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda found: (
                SEVERITIES.index(found.severity),
                found.kind,
                rank.get(found.path, -1) if found.path else -1,
                found.line or 0,
            ),
        )
    )
