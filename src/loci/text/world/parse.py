"""Dependency trees: tokens, phrases that put themselves together into sentences, and their CoNLL-U form.

Knows nothing of people or of what a sentence says. Relations are those of Universal Dependencies, as English treebanks
use them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loci.text.world.tables import lemmas, several_words


class Token(NamedTuple):
    """One word of a sentence: `head` counts tokens from 1, 0 is the root."""

    form: str
    lemma: str
    upos: str
    head: int
    deprel: str
    space_after: bool


class Word(NamedTuple):
    """One word of a phrase: `head` is the position of its head in the phrase, None for the phrase's own head."""

    form: str
    lemma: str
    upos: str
    head: int | None
    deprel: str
    space_after: bool = True


class Phrase(NamedTuple):
    """What fills one position of a sentence; the word at `head` takes the position's relation."""

    words: tuple[Word, ...]
    head: int


class Position(NamedTuple):
    """One position of a sentence: which governs it (from 1, 0 for the root), how, and whether a space follows."""

    head: int
    deprel: str
    space_after: bool


def lemma_of(form: str, upos: str) -> str:
    """The lemma of a form."""
    if upos == "PROPN":
        return form
    return lemmas().get((form.lower(), upos), form.lower())


def word(form: str, upos: str) -> Phrase:
    """A phrase of one word."""
    return Phrase((Word(form, lemma_of(form, upos), upos, None, ""),), 0)


def head_first(forms: Sequence[str], uposes: Sequence[str], relation: str) -> Phrase:
    """A phrase whose first word governs all others by one relation, as names and dates do."""
    words = (
        Word(form, lemma_of(form, upos), upos, 0 if at else None, relation if at else "")
        for at, (form, upos) in enumerate(zip(forms, uposes, strict=True))
    )
    return Phrase(tuple(words), 0)


def head_last(forms: Sequence[str], uposes: Sequence[str], relations: Sequence[str]) -> Phrase:
    """A phrase whose last word governs the others, as "civil engineer"; `relations` are those of the others."""
    last = len(forms) - 1
    words = (
        Word(form, lemma_of(form, upos), upos, None if at == last else last, relation)
        for at, (form, upos, relation) in enumerate(zip(forms, uposes, [*relations, ""], strict=True))
    )
    return Phrase(tuple(words), last)


def proper_name(name: str) -> Phrase:
    """A place, or a person, of one word or several."""
    forms = name.split(" ")
    relation = several_words().get(name, "flat")
    if relation == "flat":
        return head_first(forms, ["PROPN"] * len(forms), relation)
    others = len(forms) - 1
    return head_last(forms, ["ADJ" if relation == "amod" else "PROPN"] * others + ["PROPN"], [relation] * others)


def noun_phrase(text: str, uposes: Sequence[str]) -> Phrase:
    """A noun after what qualifies it: articles, adjectives, other nouns."""
    relation = {"DET": "det", "ADJ": "amod", "NOUN": "compound"}
    return head_last(text.split(" "), uposes, [relation[upos] for upos in uposes[:-1]])


def assemble(positions: Sequence[Position], phrases: Sequence[Phrase]) -> list[Token]:
    """The tokens of a sentence whose positions are filled by phrases: heads move with the words before them."""
    starts, at = [], 1
    for phrase in phrases:
        starts.append(at)
        at += len(phrase.words)
    tokens = []
    for position, phrase, start in zip(positions, phrases, starts, strict=True):
        last = len(phrase.words) - 1
        for number, part in enumerate(phrase.words):
            if part.head is not None:
                head, deprel = start + part.head, part.deprel
            else:
                head = starts[position.head - 1] + phrases[position.head - 1].head if position.head else 0
                deprel = position.deprel
            space = position.space_after if number == last else part.space_after
            tokens.append(Token(part.form, part.lemma, part.upos, head, deprel, space))
    return tokens


def written(tokens: Iterable[Token]) -> str:
    """The sentence as it is written, without a space at its end."""
    return "".join(token.form + " " * token.space_after for token in tokens).rstrip(" ")


def is_tree(heads: Sequence[int]) -> bool:
    """Whether exactly one token is the root and every other reaches it."""
    return list(heads).count(0) == 1 and not find_cycle([head - 1 for head in heads])


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of the first cycle on the way from word to head, counted from 0, −1 for a root; none in a tree."""
    rooted = {-1}  # words whose way up is known to end at a root
    for at in range(len(heads)):
        way: dict[int, None] = {}  # in order, and looked up at once
        while at not in rooted and at not in way:
            way[at] = None
            at = heads[at]
        if at in way:
            return list(way)[list(way).index(at) :]
        rooted.update(way)
    return []


def conllu_block(tokens: Sequence[Token], *, sent_id: str, line: int, offset: int) -> str:
    """The sentence as a CoNLL-U block; `line` (from 1) and `offset` (from 0, in characters) say where it stands."""
    rows = [
        f"# sent_id = {sent_id}",
        f"# text = {written(tokens)}",
        f"# loci_line = {line}",
        f"# loci_offset = {offset}",
    ]
    last = len(tokens)
    for number, (form, lemma, upos, head, deprel, space_after) in enumerate(tokens, start=1):
        misc = "_" if space_after or number == last else "SpaceAfter=No"
        rows.append(f"{number}\t{form}\t{lemma}\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{misc}")
    return "\n".join(rows) + "\n\n"
