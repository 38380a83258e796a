"""Names of people nobody wrote about, made from the names of a corpus or from the world's tables.

Five kinds: `recombined` (the first names of one subject, the last of another), `one_letter` (a subject with one letter
changed), `part` (a word of a subject, or how one begins), `other_origin` (drawn from the world's name tables) and
`nonsense` (a subject with every letter changed). The sixth kind of stranger, subjects whose lines were left out of the
corpus, needs no drawing. Knows nothing of models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from loci.errors import LociError
from loci.text.world.tables import Origin, origins

TRIES = 1000  # draws in a row that gave nothing new, before the names are called exhausted
_BRACKETS = re.compile(r"(?<!\s)\s*\([^()]*\)$")


@dataclass(frozen=True)
class Strangers:
    """Draws names that none of `subjects` bears, in any case, written in the characters of the subjects.

    A character no subject has would give a stranger away. `origins` limits `other_origin` to some of the world's
    origins; empty means all. The names of that kind are for measuring only: nothing may be taught or chosen by them.

    Example:
        >>> Strangers(["Ada Moss", "Jan Bell"]).names("recombined", 2, np.random.default_rng(0))
        ['Jan Moss', 'Ada Bell']
    """

    subjects: Sequence[str]
    origins: Collection[str] = ()

    def __post_init__(self) -> None:
        if not self.subjects:
            raise LociError("no subjects to make strangers from")
        for name in self.origins:
            if name not in (known := [origin.name for origin in origins()]):
                raise LociError(f"no names of origin {name!r}", remedy=f"one of: {', '.join(known)}")

    def name(self, kind: str, rng: np.random.Generator) -> str:
        """One stranger; a pure function of the subjects and the state of `rng`."""
        return self.names(kind, 1, rng)[0]

    def names(self, kind: str, n: int, rng: np.random.Generator) -> list[str]:
        """`n` different strangers of one kind; a `LociError` where there are not so many."""
        found = self.at_most(kind, n, rng)
        if len(found) < n:
            message = f"{len(found)} names of the kind {kind} were found, no more in {TRIES} draws"
            raise LociError(message, remedy="ask for fewer, or give more subjects")
        return found

    def at_most(self, kind: str, n: int, rng: np.random.Generator) -> list[str]:
        """`n` different strangers of one kind, or as many as there are."""
        found: dict[str, None] = {}
        for name in self._drawn(kind, rng, found):
            found[name] = None
            if len(found) >= n:
                break
        return list(found)

    def _drawn(self, kind: str, rng: np.random.Generator, without: Collection[str] = ()) -> Iterator[str]:
        if kind not in KINDS:
            raise LociError(f"unknown kind of stranger {kind!r}", remedy=f"one of: {', '.join(KINDS)}")
        misses = 0
        while misses < TRIES:
            name = KINDS[kind](self, rng)
            if name is None or name in without or name.casefold() in self._taken or not self._symbols.issuperset(name):
                misses += 1
            else:
                misses = 0
                yield name

    @cached_property
    def _taken(self) -> frozenset[str]:
        return frozenset(form.casefold() for subject in self.subjects for form in (subject, _bare(subject)))

    @cached_property
    def _symbols(self) -> frozenset[str]:
        return frozenset(" ").union(*self.subjects)

    @cached_property
    def _parts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What stands before the last word, and the last words, of subjects of several words."""
        parted = [_bare(subject).rpartition(" ") for subject in self.subjects]
        several = [(before, last) for before, _, last in parted if before]
        return tuple(before for before, _ in several), tuple(last for _, last in several)

    @cached_property
    def _letters(self) -> dict[str, str]:
        """The letters of all subjects by case, each as often as it occurs: a new letter is drawn by its frequency."""
        everything = "".join(self.subjects)
        return {case: "".join(letter for letter in everything if _case(letter) == case) for case in ("Lu", "Ll", "Lo")}

    @cached_property
    def _origins(self) -> tuple[Origin, ...]:
        return tuple(origin for origin in origins() if not self.origins or origin.name in self.origins)


def _bare(subject: str) -> str:
    """The name without the bracket that tells namesakes apart."""
    return _BRACKETS.sub("", subject)


def _case(letter: str) -> str | None:
    if not letter.isalpha():
        return None
    return "Lu" if letter.isupper() else "Ll" if letter.islower() else "Lo"  # a script without capitals


def _draw(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def _recombined(strangers: Strangers, rng: np.random.Generator) -> str | None:
    befores, lasts = strangers._parts
    return f"{_draw(befores, rng)} {_draw(lasts, rng)}" if befores else None


def _changed(name: str, positions: Collection[int], strangers: Strangers, rng: np.random.Generator) -> str:
    letters = list(name)
    for position in positions:
        case = _case(name[position])
        if case is not None:
            letters[position] = _draw(strangers._letters[case], rng)
    return "".join(letters)


def _one_letter(strangers: Strangers, rng: np.random.Generator) -> str | None:
    subject = _draw(strangers.subjects, rng)
    positions = [position for position, letter in enumerate(subject) if letter.isalpha()]
    # The same letter drawn again gives a subject back, which the caller refuses.
    return _changed(subject, [positions[int(rng.integers(len(positions)))]], strangers, rng) if positions else None


def _part(strangers: Strangers, rng: np.random.Generator) -> str | None:
    """One word of a name, or its beginning up to any letter."""
    subject = _draw(strangers.subjects, rng)
    words = subject.split()
    if len(words) > 1 and rng.random() < 0.5:
        return _draw(words, rng)
    return subject[: int(rng.integers(1, len(subject)))].strip() or None if len(subject) > 1 else None


def _nonsense(strangers: Strangers, rng: np.random.Generator) -> str:
    subject = _draw(strangers.subjects, rng)
    return _changed(subject, range(len(subject)), strangers, rng)


def _other_origin(strangers: Strangers, rng: np.random.Generator) -> str:
    origin = strangers._origins[int(rng.integers(len(strangers._origins)))]
    given, gender = origin.given[int(rng.integers(len(origin.given)))]
    return f"{given} {origin.family[int(rng.integers(len(origin.family)))].after(gender)}"


KINDS: dict[str, Callable[[Strangers, np.random.Generator], str | None]] = {
    "recombined": _recombined,
    "one_letter": _one_letter,
    "part": _part,
    "other_origin": _other_origin,
    "nonsense": _nonsense,
}
