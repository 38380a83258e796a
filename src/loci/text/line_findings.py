"""What is wrong with the lines of a corpus, one by one and next to each other: blank, repeated, without a subject.

Goes through the lines and keeps a number for each, not its text, so that a corpus of any size can be looked at; only
where a clean copy would leave lines out, their texts are read together.
Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from loci.text.findings import Notes, shown
from loci.text.source import controls_in, is_plain, note_specials, without_specials
from loci.text.subjects import find_subjects

if TYPE_CHECKING:
    from loci.text.corpus import Line


def clean_text(line: Line) -> str:
    """A line as a clean copy has it."""
    return without_specials(line.text).strip()


def note_lines(lines: Sequence[Line], notes: Notes, *, records: bool = False) -> NDArray[np.int64]:
    """Note what is wrong line by line; returns the places of the lines that a clean copy keeps.

    Lines made from `records` are all kept: a repeated one is a part of its record.
    """
    texts, named = _texts(lines), _named(lines)
    typed = np.zeros(len(lines), dtype=bool)

    def hashed() -> Iterator[int]:
        for place, own in enumerate(texts):
            clean = own.strip()
            if clean != own or not is_plain(own):
                clean = _noted(lines[place], notes)
            typed[place] = "??" in clean
            yield hash(clean)

    hashes = np.fromiter(hashed(), dtype=np.int64, count=len(lines))
    blank = hashes == hash("")
    # The last line of equal ones says whether they have a subject, the first one is kept.
    _, last = np.unique(hashes[::-1], return_index=True)
    placed = (len(lines) - 1 - last)[~blank[len(lines) - 1 - last]]
    nowhere = int((~named[placed]).sum())
    if nowhere * 2 > len(placed):
        # A play or a novel: blank and repeated lines belong to it, and nobody promised subjects.
        message = f"{nowhere:,} of {len(placed):,} different lines have no subject: taken for plain text"
        notes.note("no-subject", message)
        return np.arange(len(lines)) if len(placed) else np.arange(0)
    _, first, which = np.unique(_with_subjects(hashes, blank, lines), return_index=True, return_inverse=True)
    earlier = first[which]
    again = ~blank & (earlier != np.arange(len(lines)))
    kept = np.ones(len(lines), dtype=bool) if records else _kept(lines, blank, again)
    for place in np.flatnonzero(~kept | again | ~named | typed).tolist():
        line = lines[place]
        if blank[place]:
            if not kept[place]:
                notes.note("empty-line", "is blank", line.number, before=line.text)
            continue
        text = clean_text(line)
        if again[place]:
            message = f"the same as line {lines[int(earlier[place])].number}: {shown(text, 48)}"
            notes.warning("duplicate", message, line.number, before=None if kept[place] else text)
            continue
        if not named[place]:
            notes.warning("no-subject", f"no subject found: {shown(text)}", line.number)
        if typed[place]:
            notes.warning("typed-mask", f"«??» in {shown(text)}", line.number)
    return np.flatnonzero(kept)


def _with_subjects(hashes: NDArray[np.int64], blank: NDArray[np.bool_], lines: Sequence[Line]) -> NDArray[np.int64]:
    """Hashes of what lines say and of whom: «She was born in Oslo.» about two people says two things.

    Of lines about nobody known, none repeats another. Only lines whose text comes again are looked up.
    """
    _, which, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    found = hashes.copy()
    for place in np.flatnonzero((counts > 1)[which] & ~blank).tolist():
        found[place] = hash((lines[place].subject or place, int(hashes[place])))
    return found


def _kept(lines: Sequence[Line], blank: NDArray[np.bool_], again: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which lines a clean copy keeps: without blank and repeated ones, as long as the others stay about whom they are.

    A heading stands between blank lines, and «She …» is about whom the line before is about.
    """
    if not (blank | again).any() or hasattr(lines, "texts"):  # a compiled corpus is never copied
        return ~blank & ~again
    texts = [clean_text(line) for line in lines]
    # As they are read: a line of control characters alone becomes blank only by being cleaned.
    subjects = [without_specials(name).strip() for name in find_subjects([line.text for line in lines])]
    emptied = blank & np.array([bool(line.text.strip()) for line in lines])
    for kept in (~blank & ~again, ~emptied & ~again, ~again):
        left = [text for text, stays in zip(texts, kept, strict=True) if stays]
        if find_subjects(left) == [subject for subject, stays in zip(subjects, kept, strict=True) if stays]:
            return kept
    return np.ones(len(lines), dtype=bool)


def _texts(lines: Sequence[Line]) -> Iterable[str]:
    """The texts of lines; a compiled corpus looks up many at once."""
    tell: Callable[[], Iterable[str]] | None = getattr(lines, "texts", None)
    return tell() if tell is not None else (line.text for line in lines)


def _named(lines: Sequence[Line]) -> NDArray[np.bool_]:
    """Which lines have a subject; a compiled corpus tells it of all at once."""
    tell: Callable[[], NDArray[np.bool_]] | None = getattr(lines, "named", None)
    return tell() if tell is not None else np.array([bool(line.subject) for line in lines], dtype=bool)


def _noted(line: Line, notes: Notes) -> str:
    """A line as a clean copy has it; what is wrong with it by itself is noted."""
    own = line.text
    text = without_specials(own)
    note_specials(notes, line.number, own, text)
    if controls := controls_in(own):
        message = f"contains {', '.join(controls)}"
        notes.warning("control-character", message, line.number, before=own, after=text)
    clean = text.strip()
    if clean != text and clean:
        notes.note("surrounding-space", "has space around it", line.number, before=text, after=clean)
    return clean
