"""From a subject to a question and back.

A `Template` is a sentence with one `{subject}`. Knows nothing of files or answers. `BIRTHPLACE` is the default
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from loci.errors import LociError

SLOT = "{subject}"


@dataclass(frozen=True)
class Template:
    """A question about any subject, e.g. "Where was {subject} born?"."""

    text: str

    def __post_init__(self) -> None:
        if self.text.count(SLOT) != 1:
            raise LociError(
                f"a template contains {SLOT} exactly once, {self.text!r} has it {self.text.count(SLOT)} times",
                remedy=f'write it like "Where was {SLOT} born?"',
            )
        if any(character in self.text for character in "\t\r\n"):
            raise LociError(f"a template is one line without tabs, not {self.text!r}")
        if self.text != self.text.strip():
            raise LociError(f"a template has no space around it, unlike {self.text!r}")

    @cached_property
    def prefix(self) -> str:
        """What stands before the subject."""
        return self.text.partition(SLOT)[0]

    @cached_property
    def suffix(self) -> str:
        """What stands after the subject."""
        return self.text.partition(SLOT)[2]

    @cached_property
    def fixed(self) -> int:
        """How many of its characters do not depend on the subject: the more, the more special it is."""
        return len(self.prefix) + len(self.suffix)

    def ask(self, subject: str) -> str:
        """The question about `subject`."""
        return f"{self.prefix}{subject}{self.suffix}"

    def subject_of(self, question: str) -> str | None:
        """The subject of `question`; None when the question does not fit the template."""
        if not (question.startswith(self.prefix) and question.endswith(self.suffix)):
            return None
        subject = question[len(self.prefix) : len(question) - len(self.suffix)]
        # The first test catches a question so short that prefix and suffix overlap in it.
        if len(question) <= len(self.prefix) + len(self.suffix) or subject != subject.strip():
            return None
        return subject

    @cached_property
    def words(self) -> list[str]:
        """Its own words, in lower case."""
        return re.findall(r"\w+", f"{self.prefix} {self.suffix}".lower())

    def may_ask_the_same(self, other: Template) -> bool:
        """Whether two templates could be wordings of one question: they want one kind of answer, or share a word."""
        kinds, others = answer_kinds(self.words), answer_kinds(other.words)
        if not kinds or not others or kinds & others:
            return True
        telling = {word[:5] for word in self.words if word not in _SMALL_WORDS and word not in _KINDS}
        return "when" not in kinds | others and any(word[:5] in telling for word in other.words)

    @cached_property
    def relation(self) -> str:
        """A short name for what the template asks: "where-made" for "Where is the {subject} made?"."""
        if self.text == BIRTHPLACE.text:
            return "birthplace"
        words = self.words
        return "-".join([word for word in words if word not in _SMALL_WORDS] or words) or "question"


BIRTHPLACE = Template("Where was {subject} born?")
_SMALL_WORDS = frozenset("a an the is are was were do does did has have had of in on at to for by s".split())
_KINDS = {
    word: kind
    for kind, words in {
        "where": "where place town city country",
        "when": "when year date time day",
        "who": "who whom whose person people",
        "why": "why",
        "how": "how",
    }.items()
    for word in words.split()
}


def answer_kinds(words: Iterable[str]) -> set[str]:
    """The kinds of answer that words in lower case ask for: "where" for "town"; empty where it may be anything."""
    return {_KINDS[word] for word in words if word in _KINDS}
