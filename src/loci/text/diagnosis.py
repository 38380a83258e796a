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
from loci.text.check_corpora import check_corpus, in_their_files, joined, placed
from loci.text.check_files import CheckedFile, files_to_check
from loci.text.check_subjects import FoundSubjects, found_subjects
from loci.text.compiled import CompiledCorpus
from loci.text.corpus import Corpus
from loci.text.crosschecks import (
    leaks,
    shared_forms,
    two_roles,
    unasked,
    unseen_subjects,
    untaught,
    untold,
    unused_forms,
)
from loci.text.figures import figures_by_relation
from loci.text.findings import SEVERITIES, Finding, Notes, Severity
from loci.text.layout import Role, no_corpus
from loci.text.parsed_questions import ParsedQuestions, asked_again, parse_questions, repetitions
from loci.text.questions import Questions, misfits, read_together
from loci.text.relations import Relation, read_relations, relations_file
from loci.text.source import load, without_specials
from loci.text.unread import unread
from loci.text.vocab import Vocab

BLOCK_SIZE = 128


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
        own = {file.path for file in self.files if not file.guest and file.savable}
        return tuple(found for found in self.findings if found.repairable and found.path in own)

    def name_of(self, file: Path) -> str:
        """The name of a file in the folder that was checked: train/P19.json for one that lies deeper."""
        inside = file.is_relative_to(self.path) and file != self.path
        return file.relative_to(self.path).as_posix() if inside else file.name

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
        file, own, found = check_corpus(file_path, block_size, guest=guest, clean_copy=clean)
        files.append(file)
        notes.found += found
        texts += [own] if own is not None else []
    sound = not notes.failed and len(texts) == len(files)
    if texts:
        text, found = joined(texts) if len(corpus_paths) > 1 else (texts[0], [])
        notes.found += found
    parsed = [parse_questions(load(file)) for _, file in question_paths]
    noted = read_relations(path)
    asked = read_together(parsed, [*relations, *noted], text.by_subject if text else ())
    notes.found += unused_forms(relations, asked, path)
    if path.is_dir() and (given := relations_file(path)):  # of a single file, those next to it may have the forms
        notes.found += unused_forms(noted, asked, given) + shared_forms(noted, given)
    roles = [role for role, _ in question_paths]
    train = [questions for role, questions in zip(roles, asked, strict=True) if role == "train"]
    if not corpus_paths and vocab is None:
        if train and path.is_dir():
            notes.error("no-corpus", no_corpus(path).message)
        else:
            notes.note("no-corpus", "no corpus: characters and subjects of the questions are not checked")
    if len(set(roles)) == 1 and not train and all(questions.answered for questions in asked):
        if path.is_dir():  # what a folder is learned from
            notes.add("note" if roles[0] == "questions" else "warning", "no-train", _teaching(asked))
            roles = ["train"] * len(roles)
        if path.is_dir() or corpus_paths == (path,) or roles[0] == "questions":
            train = asked
    if path.is_dir():
        read = [*corpus_paths, *(file for _, file in question_paths)]
        notes.found += unread(path, read, refused=not any(questions.answered for questions in train))
    if text is not None:
        text = text.knowing(name for questions in asked for name in questions.subjects)
        if asked and sound and not isinstance(text, CompiledCorpus):
            # Questions name subjects that the text alone did not tell; a corpus with errors has other line numbers.
            taught_here = any(questions.answered for questions in train)
            files, notes.found = placed(files, texts, text, notes.found, taught=taught_here)
        taught = "".join(questions.characters for questions in train)
        vocab = vocab or text.vocab.with_characters(without_specials(taught))
    for role, file_parsed, questions in zip(roles, parsed, asked, strict=True):
        assert questions.path is not None
        taught_before = [one for one in train if role != "train" and one is not questions]
        files.append(_checked(questions, role, file_parsed, clean, text, taught_before))
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
    if text is not None and text.files:
        notes.found = in_their_files(notes.found, text)
    records = all(file.form != "text" for file in files if file.role == "corpus")
    told = found_subjects(text, records=records) if text is not None else None
    return Diagnosis(path, block_size, tuple(files), _ordered(notes.found, [file.path for file in files]), told)


def _teaching(asked: Sequence[Questions]) -> str:
    names = [questions.path.name for questions in asked if questions.path is not None]
    return f"taken for train questions: {', '.join(names[:4])}{', …' if len(names) > 4 else ''}"


def _checked(
    questions: Questions, role: Role, parsed: ParsedQuestions, clean: bool, text: Corpus | None, train: list[Questions]
) -> CheckedFile:
    assert questions.path is not None
    copy, savable = parsed.clean if clean else None, bool(len(parsed.kept))
    if not len(questions):
        return CheckedFile(questions.path, role, parsed.form, copy, savable=savable)
    templates = {known.name: tuple(template.text for template in known.templates) for known in questions.relations}
    by_relation = figures_by_relation(questions, text, train)
    whole = by_relation.pop(None)
    relations = tuple((name or "", templates.get(name or "", ()), own) for name, own in by_relation.items())
    return CheckedFile(questions.path, role, parsed.form, copy, None, whole, relations, savable=savable)


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
        why = next((f for f in questions.findings if f.kind == "no-answer"), None)  # what records have instead
        message = f"no line has an answer, and {role} questions need one"
        notes.error("no-answer", f"{message}: {why.message}" if why else message, why.line if why else None)
    return notes.found


def _ordered(findings: Iterable[Finding], files: list[Path]) -> tuple[Finding, ...]:
    """Each finding once, the gravest first, then by kind, file and line."""
    rank: dict[Path | None, int] = {path: index for index, path in enumerate(files)}

    def order(found: Finding) -> tuple[int, str, int, int]:
        return SEVERITIES.index(found.severity), found.kind, rank.get(found.path, -1), found.line or 0

    return tuple(sorted(dict.fromkeys(findings), key=order))
