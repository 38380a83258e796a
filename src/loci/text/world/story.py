"""Lines about a person: which sentences tell the facts, in which order, and how each calls the person.

Knows nothing of files. A line starts with the name as a heading, "Name. ", and ends in " .", as in the course's corpus.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from loci.text.world.draws import Dice
from loci.text.world.parse import Token
from loci.text.world.population import Person
from loci.text.world.sentences import FULL, PRONOUN, SHORT, Template, templates, text_of, tokens_of
from loci.text.world.spec import WorldSpec

STORY_STREAM = 4  # beside those of the population
OPENING_FULL_CHANCE = 0.5
LATER_PRONOUN_CHANCE = 0.75
TRIES_TO_DIFFER = 20


class Sentence(NamedTuple):
    """A sentence of a line: where it starts (in characters from 0), its wording, and how that was filled."""

    offset: int
    template: Template
    person: Person
    mention: str
    ends_line: bool

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return text_of(self.template, self.person, self.mention, ends_line=self.ends_line)

    @property
    def tokens(self) -> list[Token]:
        """The tree of the sentence."""
        return tokens_of(self.template, self.person, self.mention, ends_line=self.ends_line)


class Line(NamedTuple):
    """One line of the corpus with the parses of its sentences. The heading is no sentence."""

    text: str
    sentences: tuple[Sentence, ...]


def lines_about(person: Person, spec: WorldSpec) -> list[Line]:
    """The person's lines: the same facts in `spec.paraphrases` wordings, different while there are enough of them."""
    if not person.told:
        return []
    dice = Dice(spec.seed, STORY_STREAM, person.id)
    used: set[str] = set()
    lines: list[Line] = []
    for _ in range(spec.paraphrases):
        for _ in range(TRIES_TO_DIFFER):
            line = _line(person, spec, dice, used)
            if all(line.text != other.text for other in lines):
                break
        used.update(sentence.template.id for sentence in line.sentences)
        lines.append(line)
    return lines


def _line(person: Person, spec: WorldSpec, dice: Dice, used: set[str]) -> Line:
    order = dice.shuffled(person.told) if spec.permute else list(person.told)
    chosen: list[Template] = []
    while order:
        options = _options(order[0], frozenset(order), _offers(person, opening=not chosen), not spec.full_names)
        fresh = [template for template in options if template.id not in used] if used else options
        chosen.append(dice.choice(fresh or options))
        order = [fact for fact in order if fact not in chosen[-1].facts]

    text = f"{person.name}."
    sentences = []
    for number, template in enumerate(chosen, start=1):
        mention = _mention_for(template, spec, dice, opening=number == 1)
        sentences.append(Sentence(len(text) + 1, template, person, mention, ends_line=number == len(chosen)))
        text += f" {sentences[-1].text}"
    return Line(text, tuple(sentences))


def _offers(person: Person, *, opening: bool) -> frozenset[str]:
    """What a wording that is used of the person next may need."""
    offers = {"alive" if person.alive else "dead", "field" if person.occupation.field else "trade"}
    return frozenset(offers | {"opening"} if opening else offers)


@cache
def _options(first: str, facts: frozenset[str], offers: frozenset[str], pronouns: bool) -> tuple[Template, ...]:
    """Wordings that state the fact `first` and nothing beyond `facts`, and need nothing beyond `offers`."""
    return tuple(
        template
        for template in templates()
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
