"""Reading CoNLL-U: ten tab-separated columns per word, a blank line after each sentence.

Checks what the lab relies on (columns, running numbers, heads that make a tree) and names the line of what is wrong.
Multiword tokens (`3-4  don't`) give their words' positions in the text; empty nodes (`8.1`) belong to enhanced graphs
and are left out. Knows nothing of attention.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from loci.attention_lab.parses import Parse, tree_fault
from loci.errors import LociError, naming
from loci.text.findings import raise_first_error
from loci.text.source import load

COLUMNS = 10


@dataclass(frozen=True)
class Treebank:
    """The sentences of a file, and how many were left out because a word is spelt differently in the text."""

    parses: tuple[Parse, ...]
    respelt: int


@dataclass
class _Sentence:
    """A sentence being read."""

    line: int
    text: str = ""
    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    multiword_until: int = 0
    multiword_rest: str = ""
    multiword_end: str = ""
    respelt: bool = False


def read_conllu(path: str | Path, *, limit: int | None = None) -> Treebank:
    """The first `limit` sentences of a file (all, if None)."""
    path = Path(path)
    source = load(path)
    raise_first_error(source.findings)
    with naming(path, remedy="CoNLL-U has ten tab-separated columns per word, and numbers words and heads from 1"):
        return parse_conllu(source.text, limit=limit)


def parse_conllu(text: str, *, limit: int | None = None) -> Treebank:
    """The first `limit` sentences of a text in CoNLL-U."""
    if limit is not None and limit < 1:
        raise LociError(f"the limit must be at least 1, it is {limit}")
    parses: list[Parse] = []
    respelt = 0
    for sentence in _sentences(text):
        parse = _finish(sentence)
        if parse is None:
            respelt += 1
            continue
        parses.append(parse)
        if limit is not None and len(parses) == limit:
            break
    if not parses:
        raise LociError("contains no sentence", remedy="CoNLL-U has ten tab-separated columns per word")
    return Treebank(tuple(parses), respelt)


def _sentences(text: str) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            if sentence is not None:
                yield sentence
            sentence = None
        elif not line.startswith("#"):
            sentence = sentence or _Sentence(number)
            _add_row(sentence, line.split("\t"), number)
    if sentence is not None:  # the last blank line is often missing
        yield sentence


def _add_row(sentence: _Sentence, columns: list[str], line: int) -> None:
    if len(columns) != COLUMNS:
        raise LociError(
            f"a word has {COLUMNS} columns, this line has {len(columns)}",
            line=line,
            remedy="columns are set apart by tabs",
        )
    number, form, head, relation, misc = columns[0], columns[1], columns[6], columns[7], columns[9]
    space = "" if "SpaceAfter=No" in misc.split("|") else " "
    if "." in number:
        return
    if "-" in number:
        first, _, last = number.partition("-")
        if not (
            first.isdecimal() and last.isdecimal() and int(first) == len(sentence.words) + 1 and int(last) >= int(first)
        ):
            raise LociError(f"{number!r} is not a range of the words that follow", line=line)
        sentence.multiword_until, sentence.multiword_rest, sentence.multiword_end = int(last), form, space
        return
    if not number.isdecimal() or int(number) != len(sentence.words) + 1:
        raise LociError(f"word number {number!r}, {len(sentence.words) + 1} was expected", line=line)
    if not head.isdecimal():
        raise LociError(
            f"head {head!r} is not a number", line=line, remedy="0 is the root, other heads are word numbers"
        )
    if not form.strip():
        raise LociError("a word without a form", line=line)
    sentence.words.append(form)
    sentence.heads.append(int(head) - 1)
    sentence.relations.append(relation)
    sentence.lines.append(line)
    _place(sentence, form, space)


def _place(sentence: _Sentence, form: str, space: str) -> None:
    """Write the word into the text and note where it is."""
    start = len(sentence.text)
    inside = len(sentence.words) <= sentence.multiword_until
    if inside:  # the words of a multiword token must spell it, else their positions are unknown
        sentence.respelt |= not sentence.multiword_rest.startswith(form)
        sentence.multiword_rest = sentence.multiword_rest[len(form) :]
        last = len(sentence.words) == sentence.multiword_until
        sentence.respelt |= last and bool(sentence.multiword_rest)
        space = sentence.multiword_end if last else ""
    sentence.text += form + space
    sentence.spans.append((start, start + len(form)))


def _finish(sentence: _Sentence) -> Parse | None:
    if sentence.multiword_until > len(sentence.words):
        raise LociError("a multiword token ranges beyond the sentence", line=sentence.line)
    if not sentence.words:
        raise LociError("a sentence without words", line=sentence.line)
    if fault := tree_fault(sentence.heads):
        raise LociError(fault.reason, line=sentence.lines[fault.word], remedy="a parse is one tree with one root")
    if sentence.respelt:
        return None
    return Parse(
        sentence.text.rstrip(" "),
        tuple(sentence.words),
        tuple(sentence.heads),
        tuple(sentence.relations),
        tuple(sentence.spans),
        sentence.line,
    )
