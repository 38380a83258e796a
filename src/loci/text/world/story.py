"""Lines about a person or product, and the questions: what is asked about whom, and in which file.

Which sentences tell the facts, in which order, and how each calls whom it is about. Without relations in the spec, the
question files are the course's: birthplaces, and with them two other relations of the train and dev people. With
relations, each has the same files: `RELATION_train.tsv` and so on. Knows nothing of writing. A
line starts with the name as a heading, "Name. ", and ends in " .", as in the course's corpus.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

from loci.errors import LociError
from loci.text.world.draws import Dice, permuted
from loci.text.world.parse import Token
from loci.text.world.population import DEV, OUTSIDE, STORY_STREAM, TEST, TRAIN, UNSTATED, WORDING_KEY, key_of
from loci.text.world.sentences import FULL, PRONOUN, SHORT, Subject, Template, answer_of, templates, text_of, tokens_of
from loci.text.world.spec import WorldSpec
from loci.text.world.tables import Relation, relations

OPENING_FULL_CHANCE = 0.5
LATER_PRONOUN_CHANCE = 0.75
AGAIN_CHANCE = 0.25  # that a fact which one line tells is told by another too, where facts are spread over lines
TRIES_TO_DIFFER = 20


class Sentence(NamedTuple):
    """A sentence of a line: where it starts (in characters from 0), its wording, and how that was filled."""

    offset: int
    template: Template
    subject: Subject
    mention: str
    ends_line: bool

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return text_of(self.template, self.subject, self.mention, ends_line=self.ends_line)

    @property
    def tokens(self) -> list[Token]:
        """The tree of the sentence."""
        return tokens_of(self.template, self.subject, self.mention, ends_line=self.ends_line)


class Line(NamedTuple):
    """One line of the corpus with the parses of its sentences. The heading is no sentence."""

    text: str
    sentences: tuple[Sentence, ...]


def lines_about(subject: Subject, spec: WorldSpec) -> list[Line]:
    """The lines about a person or product: `spec.paraphrases` of them, different while there are enough wordings.

    Each tells the same facts, or with `spec.spread` some of them: all lines together tell all.
    """
    if not subject.told:
        return []
    dice = Dice(spec.seed, STORY_STREAM, subject.id)
    used: set[str] = set()
    lines: list[Line] = []
    for facts in _spread(subject.told, spec.paraphrases, dice) if spec.spread else [subject.told] * spec.paraphrases:
        for _ in range(TRIES_TO_DIFFER):
            line = _line(subject, facts, spec, dice, used)
            if all(line.text != other.text for other in lines):
                break
        used.update(sentence.template.id for sentence in line.sentences)
        lines.append(line)
    return lines


def _spread(told: tuple[str, ...], lines: int, dice: Dice) -> list[tuple[str, ...]]:
    """The facts of each line: every fact goes to one line, and now and then to another as well."""
    mixed = dice.shuffled(told)
    own = [{*mixed[line::lines], *mixed[line % len(mixed) : line % len(mixed) + 1]} for line in range(lines)]
    return [tuple(fact for fact in told if fact in facts or dice.chance(AGAIN_CHANCE)) for facts in own]


def _line(subject: Subject, facts: tuple[str, ...], spec: WorldSpec, dice: Dice, used: set[str]) -> Line:
    order = dice.shuffled(facts) if spec.permute else list(facts)
    years = any(relation.name == "birth_year" for relation in spec.relations)
    chosen: list[Template] = []
    offers = subject.offers | {"opening"}
    while order:
        options = _options(order[0], frozenset(order), offers, not spec.full_names, years)
        fresh = [template for template in options if template.id not in used] if used else options
        chosen.append(dice.choice(fresh or options))
        order = [fact for fact in order if fact not in chosen[-1].facts]
        offers = subject.offers

    heading = subject.mentions[0]
    text = f"{heading[0].upper()}{heading[1:]}."
    sentences = []
    for number, template in enumerate(chosen, start=1):
        mention = _mention_for(template, spec, dice, opening=number == 1)
        sentences.append(Sentence(len(text) + 1, template, subject, mention, ends_line=number == len(chosen)))
        text += f" {sentences[-1].text}"
    return Line(text, tuple(sentences))


@cache
def _options(
    first: str, facts: frozenset[str], offers: frozenset[str], pronouns: bool, years: bool
) -> tuple[Template, ...]:
    """Wordings that state the fact `first` and nothing beyond `facts`, and need nothing beyond `offers`."""
    return tuple(
        template
        for template in templates(birth_years=years)
        if first in template.facts
        and template.facts <= facts
        and template.needs <= offers
        and (pronouns or not template.has_pronoun)
    )


def _mention_for(template: Template, spec: WorldSpec, dice: Dice, *, opening: bool) -> str:
    if spec.full_names:
        return FULL
    if opening:
        return FULL if "opening" in template.needs or dice.chance(OPENING_FULL_CHANCE) else SHORT
    return PRONOUN if dice.chance(LATER_PRONOUN_CHANCE) else SHORT


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
                told = f"only {self._asked[relation.name]} of the train people have lines that tell {relation.name}"
                remedy = "raise people or train_share, or ask for fewer questions"
                raise LociError(f"{told}, {relation.train_questions} train questions were asked for", remedy=remedy)

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
