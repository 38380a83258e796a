"""What was found wrong in a file, as data: a `Finding` says where, what, how grave, and what to do.

Knows the kinds of trouble and their standing remedies; knows nothing of how they are found or put right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any, Literal

from loci.errors import LociError

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

# kind: (what it means, what to do). The kind is the stable name: scripts may rely on it.
KINDS: dict[str, tuple[str, str]] = {
    "binary": ("the file is not text", "give the text file itself: unpack or export it first"),
    "encoding": ("bytes that are not UTF-8", "save it as UTF-8; loci check --repair reads such lines as Windows-1252"),
    "empty": ("nothing in the file can be used", "check that the file was copied whole"),
    "not-questions": (
        "no line looks like a question",
        "give a question file: question, tab, answer on each line, or questions alone, which end with a question mark",
    ),
    "not-json": ("a record cannot be read as JSON", "correct or remove the record"),
    "odd-lines": ("JSON records that are not one a line", "write each record on a line of its own"),
    "unknown-record": (
        "a JSON record of no known form",
        "records need question and answer, or subject, relation and answer, or sub_label and obj_label, or title and "
        "text",
    ),
    "odd-answer": (
        "an answer that is no text",
        'write a text ("answer": "Oslo"), or a list of texts, all accepted ("answers": ["Oslo", "Christiania"]); or '
        "remove the record",
    ),
    "empty-document": ("a document without text", "write its text, or remove the record"),
    "bom": ("a byte-order mark before the text", "save as UTF-8 without a byte-order mark"),
    "crlf": ("Windows line ends", "save with \\n line ends"),
    "lone-cr": ("a carriage return alone ends a line", "save with \\n line ends"),
    "no-final-newline": ("the last line has no newline", "end the file with a newline"),
    "empty-line": ("a blank line", "remove it"),
    "surrounding-space": ("space around a line, question or answer", "remove it"),
    "control-character": ("an invisible control character", "remove it"),
    "special-symbol": ("the text contains the pad □ or the mask ⁇", "remove it: the model gives it another meaning"),
    "typed-mask": (
        "?? typed where the mask ⁇ may be meant",
        "a data file needs no mask: correct the line, or leave it if two question marks are meant",
    ),
    "spaces-for-tab": ("spaces or nothing where a tab belongs", "put one tab between question and answer"),
    "tab-in-line": ("a tab inside a line of a text", "put a space there"),
    "multiline-cell": ("a quoted cell goes over several lines", "write it on one line"),
    "unclosed-quote": (
        "a quote is opened and never closed",
        "close it at the end of its cell, or remove it; a repair leaves the line out",
    ),
    "joined-rows": ("several questions on one line: a newline is missing", "put each question on its own line"),
    "extra-column": (
        "more than two columns",
        "in a .csv, put a cell with a comma of its own in quotes; add a first line that names the columns, such as "
        "question, tab, relation, tab, answer; several accepted "
        'answers are a JSON list under the name answers: ["Oslo", "Christiania"]; or keep two columns',
    ),
    "repeated-header": ("a header line among the questions", "remove it"),
    "empty-question": ("an answer without a question", "write the question, or remove the line"),
    "empty-answer": ("the answer column is empty", "write the answer, or remove the line"),
    "no-answer": (
        "no answer in a file that needs answers",
        "write tab and answer after the question (into a record, the field answer), or remove it",
    ),
    "duplicate": ("the same line or question again", "keep one"),
    "contradiction": (
        "the same question with another answer",
        "both may be true (a town and its country), or two people share the name: keep one, or leave both knowingly",
    ),
    "no-train": (
        "no question file is named for training",
        "right if these are to teach; else name the files *train*, *dev* and *test*",
    ),
    "leak": ("a train question is asked again in the test", "remove it from one of the two files"),
    "no-subject": (
        "the subject cannot be found",
        "lines read «Subject. sentence» or name the subject; questions share a form (--template, relations.toml)",
    ),
    "no-form": (
        "no subject is found in any train question",
        'say where it stands: --template "Where was {subject} born?", or a relations.toml next to the questions',
    ),
    "untold-relation": (
        "no train question of a relation has its answer in the corpus",
        "check how the corpus spells its subjects and answers, or remove the relation's questions",
    ),
    "untaught-relation": (
        "a relation of dev or test questions that no train question asks",
        "add train questions of the relation: a model is taught the relations of its train questions; or remove these",
    ),
    "unused-form": (
        "a form was given that no question has",
        "spell it as the questions do, with {subject} for the name, or remove it from relations.toml or --template",
    ),
    "unread-file": (
        "a file is named for train, dev or test questions, but is not read",
        "save it as .tsv (question, tab, answer), .csv, .json or .jsonl, or name it otherwise",
    ),
    "unnamed-split": (
        "a file of questions and answers is not read: its name says no split, and others' do",
        "put train, dev or test into its name",
    ),
    "unread-text": (
        "a text is not read",
        "write sentences, one document a line; keep lists and questions in other folders or as .tsv",
    ),
    "unread-form": (
        "a text is not read: it is of another form",
        "save it as .txt, one document a line; unpack what is packed",
    ),
    "unread-folder": (
        "texts of a folder in the folder are not read",
        "move them next to the other files, or give that folder itself",
    ),
    "folder-for-file": (
        "a folder has a name that says a data file",
        "move the files in it next to the others, or name it otherwise",
    ),
    "broken-link": ("a link leads nowhere", "put the file itself there, or remove the link"),
    "joined-texts": ("several files are read as one corpus", "right if all of them are to be learned; else move some"),
    "shared-form": (
        "one form asks several relations",
        "ask each relation in words of its own",
    ),
    "alike-forms": (
        "forms that seem to hold a part of the names",
        "give the forms with --template, or in relations.toml",
    ),
    "unquotable-answer": (
        "answers that a reader cannot quote",
        "spell the answers as runs of words of the line; these are only learned by heart",
    ),
    "two-roles": ("names that are both a subject and an answer", "right if both are meant"),
    "unseen-subject": (
        "a question about a subject that no line is about",
        "add a line about the subject, or remove the question",
    ),
    "unasked-subject": (
        "subjects that no question is about",
        "right if nobody is to be asked about them; else a question file has lost rows",
    ),
    "several-lines": (
        "several lines share a subject",
        "right if they are about one person; namesakes cannot be told apart",
    ),
    "long-line": (
        "lines longer than the block",
        "the model never sees a whole such line at once; with a larger --block-size it does",
    ),
    "too-long": ("question and answer do not fit the block", "shorten it, or train with a larger block"),
    "unknown-character": (
        "a character that neither the corpus nor the train questions contain",
        "the model has no symbol for it: add a corpus line that has it, or remove the question",
    ),
    "no-corpus": (
        "no corpus to check against",
        "a corpus is wiki.txt, other *.txt and *.md files, or JSON records with title and text; loci check also takes "
        "one with --corpus",
    ),
}

REFUSED = ("no-form", "untold-relation", "no-corpus", "unread-file", "folder-for-file", "broken-link")
"""Errors of files that can be read, but not be learned from."""


@dataclass(frozen=True)
class Finding:
    """One thing found in a file. `before` and `after` show a repair; `after` None means the line is left out."""

    path: Path | None
    line: int | None
    kind: str
    severity: Severity
    message: str
    repaired: bool = False  # reading has put it right in memory: nothing to do, but stated
    before: str | None = None
    after: str | None = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return KINDS[self.kind][1]

    @property
    def repairable(self) -> bool:
        """Whether `loci check --repair` puts it right. What reading repairs, it repairs on disk too."""
        return self.before is not None

    def __str__(self) -> str:
        return str(LociError(self.message, path=self.path, line=self.line))

    def as_dict(self) -> dict[str, Any]:
        """This finding as plain JSON data."""
        names = ("line", "kind", "severity", "message", "remedy", "repairable", "repaired")
        return {"path": str(self.path) if self.path else None} | {name: getattr(self, name) for name in names}


class Notes:
    """Collects the findings of one file."""

    def __init__(self, path: Path | None, found: Iterable[Finding] = ()):
        self.path = path
        self.found = list(found)

    def add(
        self,
        severity: Severity,
        kind: str,
        message: str,
        line: int | None = None,
        *,
        before: str | None = None,
        after: str | None = None,
        repaired: bool = False,
    ) -> None:
        """Add a finding; with `before` it is one that a repair puts right."""
        self.found.append(Finding(self.path, line, kind, severity, message, repaired, before, after))

    error = partialmethod(add, "error")
    warning = partialmethod(add, "warning")
    note = partialmethod(add, "note")

    @property
    def failed(self) -> bool:
        """Whether there is an error among the findings."""
        return any(found.severity == "error" for found in self.found)


def raise_first_error(findings: Iterable[Finding]) -> None:
    """Raise the first error among `findings` in the file's order, if there is one; say how many follow."""
    errors = sorted((f for f in findings if f.severity == "error"), key=lambda f: f.line or 0)
    if not errors:
        return
    first = errors[0]
    hints = [first.remedy]
    if first.repairable:
        hints.append("loci check --repair does it")
    if len(errors) > 1:
        hints.append(f"{len(errors) - 1:,} more: loci check lists them all")
    raise LociError(first.message, path=first.path, line=first.line, remedy="; ".join(hints))


def name_seen_from(path: Path, other: Path | None) -> str:
    """The name of a file in a finding about another one, with its folder where that is not the same."""
    return path.name if other is None or path.parent == other.parent else f"{path.parent.name}/{path.name}"


def shown(text: str, width: int = 60) -> str:
    """`text` for a message: quoted, cut to `width`, invisible characters made visible."""
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return f"«{visible(cut)}»"


def visible(text: str) -> str:
    """`text` on one line, with invisible characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
