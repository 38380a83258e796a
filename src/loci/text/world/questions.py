"""The questions of a world: what is asked about whom, and in which file.

Knows nothing of writing. Without relations in the spec, the files are the course's: birthplaces, and with them two
other relations of the train and dev people. With relations, each has the same files: `RELATION_train.tsv` and so on.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from loci.errors import LociError
from loci.text.world.draws import permuted
from loci.text.world.population import DEV, OUTSIDE, TEST, TRAIN, UNSTATED, WORDING_KEY, key_of
from loci.text.world.sentences import Subject, answer_of
from loci.text.world.spec import WorldSpec
from loci.text.world.story import Line
from loci.text.world.tables import Relation, relations

BIRTH_FILES = {
    TRAIN: "birth_places_train.tsv",
    DEV: "birth_dev.tsv",
    TEST: "birth_test_inputs.tsv",
    UNSTATED: "birth_unstated.tsv",
    OUTSIDE: "birth_outside.tsv",
}
OTHER_FILES = {"death_place": "relations/death_{}.tsv", "occupation": "relations/work_{}.tsv"}
UNASKED = "unasked"  # told, about a train person, beyond the number of train questions


class Row(NamedTuple):
    """One question: its split, the truth (None where there is none), whether a line tells it, and its file, if any."""

    relation: str
    split: str
    subject: str
    question: str
    answer: str | None
    told: bool
    file: str | None
    shown: bool
    """Whether the file gives the answer."""

    @property
    def line(self) -> str:
        """The line of the file."""
        return f"{self.question}\t{self.answer}" if self.shown else self.question


class Asker:
    """Makes the questions about one subject after the other; counts the train questions of each relation."""

    def __init__(self, spec: WorldSpec) -> None:
        self._spec = spec
        self._known = relations(spec.kind)
        self._keys = {name: key_of(spec.seed, WORDING_KEY, number) for number, name in enumerate(self._known)}
        self._asked: Counter[str] = Counter()

    def rows(self, subject: Subject) -> list[Row]:
        """Every question of the world about `subject`."""
        if not self._spec.relations:
            return self._course_rows(subject)
        return [self._row(subject, relation.name, relation.train_questions) for relation in self._spec.relations]

    def check(self) -> None:
        """Raise a `LociError` when a relation got fewer train questions than the spec asks for."""
        for relation in self._spec.relations:
            if relation.train_questions is not None and self._asked[relation.name] < relation.train_questions:
                raise LociError(
                    f"only {self._asked[relation.name]} of the train people have lines that tell {relation.name}, "
                    f"{relation.train_questions} train questions were asked for",
                    remedy="raise people or train_share, or ask for fewer questions",
                )

    def _course_rows(self, person: Subject) -> list[Row]:
        split = person.split
        birth = self._known["birthplace"]
        asked = [self._made(person, birth, split, BIRTH_FILES[split], shown=split != TEST)]
        if split in (TRAIN, DEV):
            others = [(self._known[name], file.format(split)) for name, file in OTHER_FILES.items()]
            asked += [self._made(person, other, split, file) for other, file in others if other.fact in person.told]
        return asked

    def _row(self, subject: Subject, name: str, most: int | None) -> Row:
        relation, split = self._known[name], subject.split
        if split != OUTSIDE and relation.fact not in subject.told:
            split = UNSTATED
        elif split == TRAIN:
            split = UNASKED if most is not None and self._asked[name] >= most else TRAIN
            self._asked[name] += split == TRAIN
        # What no line tells has no right answer but silence.
        file = None if split == UNASKED else f"{name}_{split}.tsv"
        return self._made(subject, relation, split, file, shown=split not in (UNSTATED, OUTSIDE))

    def _made(self, subject: Subject, relation: Relation, split: str, file: str | None, *, shown: bool = True) -> Row:
        name, at = subject.name, 0
        if self._spec.wordings > 1:
            at = permuted(subject.id, self._spec.people, self._keys[relation.name]) % self._spec.wordings
        question = relation.questions[at].replace("{subject}", name)
        told = relation.fact in subject.told
        return Row(relation.name, split, name, question, answer_of(relation, subject), told, file, shown)


class Alphabet:
    """The characters that a world's lines and questions use.

    The course's vocabulary is made of the corpus alone, so the corpus must hold every character of its questions. In a
    small world, or with people outside the corpus, a letter may be missing: a last line about nobody then holds it.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._asked: set[str] = set()

    def add(self, lines: list[Line], rows: list[Row]) -> None:
        """Take note of a person's lines and questions."""
        for line in lines:
            self._told.update(line.text)
        for row in rows:
            self._asked.update(row.line)

    def last_line(self) -> str | None:
        """The line that supplies the missing characters, or None when there are none."""
        missing = sorted(self._asked - self._told - {"\t"})
        return f"Alphabet. {' '.join(missing)} ." if missing else None
