"""Whom a run was taught about, as short hashes of names: enough to recognise a name, too little to read it.

Where train questions ask about several relations, whom in which: of one person one fact may be taught and another held
back. Evaluation alone uses it. Knows nothing of models or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from loci.files import sha256_text
from loci.text.questions import Questions

TaughtData = Iterable[str] | Mapping[str, Iterable[str]]
"""As run.json has it: hashes, or those of each relation where there are several."""


@dataclass(frozen=True)
class Taught:
    """Hashes of the subjects that train questions ask about."""

    subjects: frozenset[str]
    by_relation: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Those of each relation; empty for one relation, and where a run of an earlier version does not tell."""

    @classmethod
    def of(cls, questions: Questions) -> Taught:
        """What these train questions teach."""
        if len(questions.relations) < 2:
            return cls.from_data(map(subject_hash, questions.subjects))
        asked = questions.by_relation()
        return cls.from_data({name: map(subject_hash, own.subjects) for name, own in asked.items()})

    @classmethod
    def from_data(cls, data: TaughtData) -> Taught:
        """From what run.json says."""
        if not isinstance(data, Mapping):
            return cls(frozenset(data))
        own = {name: frozenset(hashes) for name, hashes in data.items()}
        return cls(frozenset().union(*own.values()), own)

    def as_data(self) -> list[str] | dict[str, list[str]]:
        """Plain JSON data for run.json."""
        if not self.by_relation:
            return sorted(self.subjects)
        return {name: sorted(hashes) for name, hashes in self.by_relation.items()}

    def about(self, subject: str, relation: str | None = None) -> bool:
        """Whether this was taught about the subject; of an unknown relation, whether anything was."""
        own = self.by_relation.get(relation, frozenset()) if self.by_relation and relation else self.subjects
        return subject_hash(subject) in own


def subject_hash(subject: str) -> str:
    """What a run keeps of a subject."""
    return sha256_text(subject)[:12]
