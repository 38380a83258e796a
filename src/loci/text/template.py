"""From a subject to a question and back.

A `Template` is a sentence with one `{subject}`. Knows nothing of files or answers. `BIRTHPLACE` is the default of the
whole house, and the only place that knows of births.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
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
                f"a template holds {SLOT} exactly once, {self.text!r} holds it {self.text.count(SLOT)} times",
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
        """What stands behind the subject."""
        return self.text.partition(SLOT)[2]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the template's questions inside a longer text."""
        return re.compile(f"{re.escape(self.prefix)}(.+?){re.escape(self.suffix)}")

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
    def relation(self) -> str:
        """A short name for what the template asks: "where-made" for "Where is the {subject} made?"."""
        if self.text == BIRTHPLACE.text:
            return "birthplace"
        words = re.findall(r"\w+", f"{self.prefix} {self.suffix}".lower())
        return "-".join([word for word in words if word not in _SMALL_WORDS] or words) or "question"


BIRTHPLACE = Template("Where was {subject} born?")
_SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "by",
        "s",
    ]
)


def infer_template(questions: Iterable[str]) -> Template | None:
    """The template most of `questions` share, told from the words they begin and end with; None if there is none."""
    by_ends: dict[tuple[str, str], set[str]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for question in questions:
        words = question.split()
        if len(words) < 2:
            continue
        ends = (words[0], words[-1])
        counts[ends] += 1
        by_ends.setdefault(ends, set()).add(question)
    if not counts:
        return None
    ends, count = counts.most_common(1)[0]
    group = by_ends[ends]
    if count * 2 < counts.total() or len(group) < 2:
        return None
    # Whole words only: subjects that happen to begin with the same letter must not lend it to the template.
    prefix = _common_prefix(group)
    prefix = prefix[: prefix.rfind(" ") + 1]
    rests = [question[len(prefix) :] for question in group]
    suffix = _common_prefix([rest[::-1] for rest in rests])[::-1]
    boundary = re.search(r"\W", suffix)
    suffix = suffix[boundary.start() :] if boundary else ""
    if not prefix and not suffix.strip("?!. "):
        return None
    if SLOT in prefix + suffix or any(len(rest) <= len(suffix) for rest in rests):
        return None
    return Template(f"{prefix}{SLOT}{suffix}".strip())


def _common_prefix(texts: Iterable[str]) -> str:
    ordered = sorted(texts)  # what the first and the last in order share, all share
    shared = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(ordered[0], ordered[-1], strict=False))
    return "".join(character for character, _ in shared)
