"""The whole picture of a corpus, a question file or a folder of them: figures and findings.

Calls the parsers and the cross-checks and puts together what they say; judges nothing itself and changes nothing on
disk. Reading (`Corpus.read`, `Questions.read`) and this use the same parsers, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.text.check_files import files_to_check
from loci.text.check_subjects import FoundSubjects, found_subjects
from loci.text.compiled import CompiledCorpus, is_large, read_large
from loci.text.corpus import Corpus, parse_corpus
from loci.text.crosschecks import (
    leaks,
    long_lines,
    several_lines,
    two_roles,
    unasked,
    unseen_subjects,
    untaught,
    untold,
    unused_forms,
)
from loci.text.figures import CorpusFigures, QuestionFigures, corpus_figures, figures_by_relation, mapped_figures
from loci.text.findings import SEVERITIES, Finding, Notes, Severity
from loci.text.formats import FORMATS
from loci.text.layout import Role, question_suffixes, unread_files
from loci.text.line_findings import note_lines
from loci.text.parsed_questions import asked_again, parse_questions, repetitions
from loci.text.questions import Questions, misfits, read_together
from loci.text.relations import RELATIONS_FILE, Relation, read_relations
from loci.text.source import load, without_specials
from loci.text.vocab import Vocab

BLOCK_SIZE = 128


@dataclass(frozen=True)
class CheckedFile:
    """One file with its figures. `clean` is its text as a repaired copy has it; None when nothing can be saved."""

    path: Path
    role: Role
    form: str
    clean: str | None
    corpus: CorpusFigures | None = None
    questions: QuestionFigures | None = None
    relations: tuple[tuple[str, tuple[str, ...], QuestionFigures], ...] = ()
    """Of each relation asked: its name, its templates and its own figures."""
    guest: bool = False  # not to be repaired: a corpus from elsewhere, or records repaired as questions


@dataclass(frozen=True)
class Diagnosis:
    """What `loci check` found out."""

    path: Path
    block_size: int
    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    subjects: FoundSubjects | None = None
    """Whom the corpus is about, and how that was found."""

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

    def unusable(self) -> tuple[Path, ...]:
        """The files with errors, in order."""
        wrong = {found.path for found in self.findings if found.severity == "error"}
        return tuple(dict.fromkeys(file.path for file in self.files if file.path in wrong))

    def as_dict(self) -> dict[str, Any]:
        """The diagnosis as plain JSON data."""
        files = []
        for file in self.files:
            figures = file.corpus or file.questions
            relations = [
                {"relation": name, "templates": list(templates), **asdict(own)}
                for name, templates, own in file.relations
            ]
            named = {"path": str(file.path), "role": file.role, "form": file.form}
            asked = {"relations": relations} if file.questions else {}
            files.append({**named, **(asdict(figures) if figures else {}), **asked})
        return {
            "path": str(self.path),
            "ok": self.ok,
            "block_size": self.block_size,
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "files": files,
            "subjects": asdict(self.subjects) if self.subjects else None,
            "findings": [found.as_dict() for found in self.findings],
        }


def diagnose(
    path: str | Path,
    *,
    block_size: int | None = None,
    vocab: Vocab | None = None,
    corpus: str | Path | None = None,
    relations: Sequence[Relation] = (),
    clean: bool = True,
) -> Diagnosis:
    """Check a file or a folder. `vocab` and `corpus` are what the questions are held against, if not the folder's own.

    Without `relations` they are found from the questions, and from a relations.toml next to them. Without a
    `block_size` a question that is too long for the published block is a warning only: recipes have larger ones. With
    `clean` False no clean copies are made: the lines of a large corpus are looked at one by one, never all in memory.
    """
    must_fit, block_size = block_size is not None, BLOCK_SIZE if block_size is None else block_size
    if block_size < 1:
        raise LociError(f"a block has at least one symbol, not {block_size}", remedy="the published block is 128")
    path = Path(path)
    corpus_paths, question_paths = files_to_check(path, Path(corpus) if corpus is not None else None)
    files: list[CheckedFile] = []
    notes = Notes(path)
    text: Corpus | None = None
    texts: list[Corpus] = []
    both = {file.resolve() for _, file in question_paths}  # repaired as questions
    for file_path in corpus_paths:
        elsewhere = file_path != path and file_path.resolve().parent != path.resolve()
        guest = elsewhere or file_path.resolve() in both
        file, own, found = _check_corpus(file_path, block_size, guest, clean)
        files.append(file)
        notes.found += found
        texts += [own] if own is not None else []
    if texts:
        text = texts[0] if len(corpus_paths) == 1 else Corpus.joined(corpus_paths[0].parent, texts)
    elif not corpus_paths and vocab is None:
        notes.note("no-corpus", "no corpus: characters and subjects of the questions are not checked")
    parsed = [parse_questions(load(file)) for _, file in question_paths]
    noted = read_relations(path)
    asked = read_together(parsed, [*relations, *noted], text.by_subject if text else ())
    notes.found += unused_forms(relations, asked, path)
    if path.is_dir():  # of a single file next to them, the others may have the forms
        notes.found += unused_forms(noted, asked, path / RELATIONS_FILE)
        notes.found += _unread(path, [*corpus_paths, *(file for _, file in question_paths)])
    roles = [role for role, _ in question_paths]
    train = [questions for role, questions in zip(roles, asked, strict=True) if role == "train"]
    if len(set(roles)) == 1 and not train and all(questions.answered for questions in asked):
        if path.is_dir():  # what a folder is learned from
            notes.add("note" if roles[0] == "questions" else "warning", "no-train", _teaching(asked))
            roles = ["train"] * len(roles)
        if path.is_dir() or corpus_paths == (path,) or roles[0] == "questions":
            train = asked
    if text is not None:
        text = text.knowing(name for questions in asked for name in questions.subjects)
        if len(texts) == 1 and text is not texts[0] and not notes.failed and not isinstance(text, CompiledCorpus):
            # Questions name subjects that the text alone did not tell; a corpus with errors has other line numbers.
            files[0], notes.found = _placed(files[0], text, notes.found)
        taught = "".join(questions.characters for questions in train)
        vocab = vocab or text.vocab.with_characters(without_specials(taught))
    for role, file_parsed, questions in zip(roles, parsed, asked, strict=True):
        assert questions.path is not None
        copy = file_parsed.clean if clean else None
        taught_before = [one for one in train if role != "train" and one is not questions]
        files.append(_checked(questions, role, file_parsed.form, copy, text, taught_before))
        notes.found += questions.findings
        notes.found += _check_questions(questions, role, text, vocab, block_size, must_fit)
        if role in ("dev", "test"):
            notes.found += [leak for taught_file in taught_before for leak in leaks(taught_file, questions)]
            notes.found += untaught(taught_before, questions)
    for split in dict.fromkeys(roles):
        together = [questions for role, questions in zip(roles, asked, strict=True) if role == split]
        notes.found += repetitions(asked_again(together))
    if text is not None:
        teaching = [questions for role, questions in zip(roles, asked, strict=True) if role == "train"]
        notes.found += untold(teaching, text)
    notes.found += two_roles(asked)
    if text is not None and text.path is not None and asked and path.is_dir() and path in (text.path, text.path.parent):
        notes.found += unasked(text, asked)
    told = found_subjects(text, records=files[0].form != "text") if text is not None else None
    return Diagnosis(path, block_size, tuple(files), _ordered(notes.found, [file.path for file in files]), told)


def _unread(folder: Path, read: Sequence[Path]) -> list[Finding]:
    found: list[Finding] = []
    for file in unread_files(folder, read):
        notes = Notes(file)
        notes.warning(
            "unread-file", f"is not read: questions are in files that end in {', '.join(question_suffixes())}"
        )
        found += notes.found
    return found


def _teaching(asked: Sequence[Questions]) -> str:
    names = [questions.path.name for questions in asked if questions.path is not None]
    return f"taken for train questions: {', '.join(names[:4])}{', …' if len(names) > 4 else ''}"


def _check_corpus(
    path: Path, block_size: int, guest: bool, clean_copy: bool
) -> tuple[CheckedFile, Corpus | None, list[Finding]]:
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
    clean = "".join(f"{line}\n" for line in parsed.clean) or None
    if parsed.form != "text":  # records are repaired as records: a clean copy keeps its form
        copied = FORMATS[parsed.form].clean
        clean = copied(source) if copied is not None and clean_copy and not guest else None
    figures = corpus_figures(parsed.lines, parsed.raw) if parsed.lines else None
    return CheckedFile(path, "corpus", parsed.form, clean, figures, guest=guest), corpus, findings


def _placed(file: CheckedFile, corpus: Corpus, findings: Iterable[Finding]) -> tuple[CheckedFile, list[Finding]]:
    """Figures and findings of a corpus whose lines the questions' subjects have helped to place."""
    nowhere = {line.number for line in corpus if not line.subject and line.text.strip()}
    kept = [found for found in findings if found.kind != "no-subject" or found.line is None or found.line in nowhere]
    figures = file.corpus and replace(file.corpus, subjects=len(corpus.by_subject), no_subject=len(nowhere))
    return replace(file, corpus=figures), kept


def _checked(
    questions: Questions, role: Role, form: str, clean: str | None, corpus: Corpus | None, train: list[Questions]
) -> CheckedFile:
    assert questions.path is not None
    if not len(questions):
        return CheckedFile(questions.path, role, form, clean)
    templates = {known.name: tuple(template.text for template in known.templates) for known in questions.relations}
    by_relation = figures_by_relation(questions, corpus, train)
    whole = by_relation.pop(None)
    relations = tuple((name or "", templates.get(name or "", ()), own) for name, own in by_relation.items())
    return CheckedFile(questions.path, role, form, clean, questions=whole, relations=relations)


def _check_questions(
    questions: Questions, role: Role, corpus: Corpus | None, vocab: Vocab | None, block_size: int, must_fit: bool
) -> list[Finding]:
    notes = Notes(questions.path)
    for found in misfits(questions, vocab, block_size):
        mild = found.kind == "too-long" and not must_fit
        notes.found.append(replace(found, severity="warning") if mild else found)
    if corpus is not None:
        notes.found += unseen_subjects(questions, corpus)
    if role in ("train", "dev") and len(questions) and not questions.answered:
        notes.error("no-answer", f"no line has an answer, and {role} questions need one")
    return notes.found


def _ordered(findings: Iterable[Finding], files: list[Path]) -> tuple[Finding, ...]:
    """Each finding once, the gravest first, then by kind, file and line."""
    rank: dict[Path | None, int] = {path: index for index, path in enumerate(files)}

    def order(found: Finding) -> tuple[int, str, int, int]:
        return SEVERITIES.index(found.severity), found.kind, rank.get(found.path, -1), found.line or 0

    return tuple(sorted(dict.fromkeys(findings), key=order))
