"""Lines about a person or product: which sentences tell the facts, in which order, and how each calls it.

Knows nothing of files. A line starts with the name as a heading, "Name. ", and ends in " .", as in the course's corpus.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from loci.text.world.draws import Dice
from loci.text.world.parse import Token
from loci.text.world.population import STORY_STREAM
from loci.text.world.sentences import FULL, PRONOUN, SHORT, Subject, Template, templates, text_of, tokens_of
from loci.text.world.spec import WorldSpec

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
