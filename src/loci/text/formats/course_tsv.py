"""The course's files: a corpus with one line a document; questions with question, tab, answer on each line, or alone.

Copies of these files are broken in many ways, so most of this is about what a line could have meant.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from loci.text.findings import Notes, shown
from loci.text.formats.base import Format, Passage, Row, Rows, filled_lines, note_space
from loci.text.formats.table import is_header
from loci.text.packed import Packer, Texts
from loci.text.source import (
    ZERO_WIDTH,
    Source,
    controls_in,
    is_plain,
    note_specials,
    specials_in,
    without_specials,
    without_zero_width,
)
from loci.text.vocab import MASK

_MASK_FOR_TAB = re.compile(rf"\? *{MASK}")
_SPACES_FOR_TAB = re.compile(r"(.*?\?) {2,}(\S.*)")
_OPENING = re.compile(r"[^\W\d_a-z]\w* \w+ ")
_SPACE_AND_TABS = re.compile(r"[ \t]+")
_NO_TAB = re.compile(r"(.*\?)(?: (?=[^\s?])|(?=\w))([^?]*)")


def questions(source: Source, notes: Notes) -> Rows:
    """The rows of a plain table."""
    numbers, told, plain = array("i"), Packer(), is_plain(source.text)
    for number, line in filled_lines(source, notes):
        for text in (line,) if plain and _is_simple(line) else _told(notes, number, line):
            numbers.append(number)
            told.add(text)
    rows = ToldRows(numbers, told.texts())
    if not any(row.answers for row in rows):
        for row in rows:
            if row.answers == ():
                message = "the answer column is empty throughout: read as questions without answers"
                question = row.question
                notes.warning("empty-answer", message, row.number, before=row.clean, after=question, repaired=True)
    return Rows(rows)


class ToldRows(Sequence[Row]):
    """Rows in little memory: each as its question, and a tab and an answer where there is an answer column.

    Where there are more columns than can be told apart, all are kept, as answers.
    """

    def __init__(self, numbers: array[int], told: Texts):
        self.numbers, self.told = numbers, told

    def __len__(self) -> int:
        return len(self.told)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> ToldRows: ...
    def __getitem__(self, index: int | slice) -> Row | ToldRows:
        if isinstance(index, slice):
            return ToldRows(self.numbers[index], self.told[index])
        return _as_row(self.numbers[index], self.told[index])

    def __iter__(self) -> Iterator[Row]:
        return map(_as_row, self.numbers, self.told)


def _as_row(number: int, told: str) -> Row:
    question, tab, answer = told.partition("\t")
    answers = tuple(filter(None, answer.split("\t"))) if tab else None
    return Row(number, question, answers, None, told if answer else question)


def _is_simple(line: str) -> bool:
    """Whether a line without unusual characters is a question, a tab and an answer, and nothing else can be meant."""
    question, _, answer = line.partition("\t")
    if not answer or "\t" in answer or question.strip() != question or answer.strip() != answer:
        return False
    return bool(question) and "question" not in line.lower() and len(_split_joined(line)) == 1


def _told(notes: Notes, number: int, line: str) -> list[str]:
    # Cleaned before it is taken apart: what is told of the clean line stays true when it is read again.
    text = _clean_line(notes, number, line)
    parts = _split_joined(text.lstrip())
    if len(parts) == 1:
        parts = [text]  # its spaces are told of below
    else:
        message = f"{len(parts)} questions on one line: a newline is missing before {shown(parts[1], 40)}"
        notes.error("joined-rows", message, number, before=line, after=" ⏎ ".join(parts))
    return [told for part in parts if (told := _told_by(notes, number, part))]


def _clean_line(notes: Notes, number: int, line: str) -> str:
    text = line
    if specials_in(line):
        if "\t" not in line:  # the training form question⁇answer⁇: the mask stands for the tab
            text = _MASK_FOR_TAB.sub("?\t", line)
        text = without_specials(text)
        note_specials(notes, number, line, text)
    if controls := controls_in(line):
        text = without_specials(text)
        message = f"contains {', '.join(controls)}"
        notes.warning("control-character", message, number, before=line, after=text, repaired=True)
    return text


def _split_joined(line: str) -> list[str]:
    """The questions on one line where a newline was lost: the first two words come again. Usually just the line."""
    opening = _OPENING.match(line)
    if opening is None or line.count(opening.group()) < 2:
        return [line]
    starts = [match.start() for match in re.finditer(re.escape(opening.group()), line)]
    parts = [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
    return parts if all("?" in part for part in parts) else [line]


def _told_by(notes: Notes, number: int, line: str) -> str | None:
    question, answer = _cells(notes, number, line)
    if not question:
        notes.error("empty-question", f"no question before the answer {shown(answer or '')}", number, before=line)
        return None
    clean = f"{question}\t{answer}" if answer else question
    if is_header(clean):
        notes.warning("repeated-header", "a header line among the questions", number, before=line, repaired=True)
        return None
    return question if answer is None else f"{question}\t{answer}"


def _cells(notes: Notes, number: int, text: str) -> tuple[str, str | None]:
    """Question and answer of a line; the answer is None when there is no answer column.

    Which of several filled columns is the answer cannot be told: all are left as they stand.
    """
    cells = text.split("\t")
    question, *rest = (cell.strip() for cell in cells)
    filled = [cell for cell in rest if cell]
    if not filled:
        if question != cells[0]:
            note_space(notes, number, text, question)
        return _split_at_spaces(notes, number, question) or (question, "" if rest else None)
    answer = "\t".join(rest) if len(filled) > 1 else filled[0]
    clean = f"{question}\t{answer}"
    if len(filled) > 1:
        message = f"{len(filled)} columns after the question: {shown(' | '.join(filled))}"
        notes.error("extra-column", message, number)
    if len(filled) == 1 < len(rest):
        message = "empty columns next to the answer"
        notes.warning("extra-column", message, number, before=text, after=clean, repaired=True)
    elif [question, *rest] != cells:
        note_space(notes, number, text, clean)
    return question, answer


def _split_at_spaces(notes: Notes, number: int, text: str) -> tuple[str, str] | None:
    """Question and answer of a line with spaces or nothing where the tab belongs; None when there is no such place."""
    if match := _SPACES_FOR_TAB.fullmatch(text):
        message, clean = f"spaces instead of the tab before {shown(match[2], 40)}", f"{match[1]}\t{match[2]}"
        notes.warning("spaces-for-tab", message, number, before=text, after=clean, repaired=True)
        return match[1], match[2]
    if match := _NO_TAB.fullmatch(text):
        # What follows may also be part of the question, so reading does not decide; a repair states that it did.
        message, clean = f"text after the question mark but no tab: {shown(text)}", f"{match[1]}\t{match[2]}"
        notes.error("spaces-for-tab", message, number, before=text, after=clean)
        return match[1], match[2]
    return None


def passages(source: Source, notes: Notes) -> list[Passage]:
    """Every line of a corpus; whom it is about is found later, from all of them together."""
    odd = any(character in source.text for character in f"\t{ZERO_WIDTH}")
    lines = enumerate(source.lines(), start=1)
    return [Passage(number, _legible(notes, number, text) if odd else text) for number, text in lines]


def _legible(notes: Notes, number: int, line: str) -> str:
    """A line without what hides a name: characters of no width, and tabs inside it."""
    text = without_zero_width(line)
    if text != line:
        names = ", ".join(name for name in controls_in(line) if name not in controls_in(text))
        message = f"contains {names}, which has no width"
        notes.warning("control-character", message, number, before=line, after=text, repaired=True)
    return _without_tabs(notes, number, text)


def _without_tabs(notes: Notes, number: int, line: str) -> str:
    """A line with spaces for the tabs inside it: only a space after a full stop ends a name there."""
    before, tab, _ = line.strip().partition("\t")
    if not tab:
        return line
    text = _SPACE_AND_TABS.sub(lambda found: " " if "\t" in found[0] else found[0], line)
    message = f"a tab after {shown(before.rstrip()[-40:])} is read as a space"
    notes.warning("tab-in-line", message, number, before=line, after=text, repaired=True)
    return text


TSV = Format("question, tab, answer", (".tsv",), lambda source: True, questions=questions)
TEXT = Format("a corpus, one line a document", (".txt", ".md"), lambda source: True, passages=passages)
