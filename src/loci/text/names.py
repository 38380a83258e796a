"""What looks like a name, and the bracket behind it that tells namesakes apart.

Knows words alone: no lines, and nothing of whom a line is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loci.text.scripts import PUNCTUATION

#: Whose full stop ends no name; Sir and Dame have none, and a name may end in Col.
NAME_ABBREVIATIONS = frozenset("Dr Mr Mrs Ms Prof Rev Capt Lt St Ste".split())
LONGEST_NAME = 12
#: Small words inside a name.
PARTICLES = frozenset(
    "of the and de da di do du des del della dos das la le les van von der den ter ten zu af av al el bin ibn y e à "
    "on in upon for to at".split()
)
PRONOUNS = frozenset("he she it they his her hers its their theirs him them".split())
#: Verbs that often follow a subject.
VERBS = frozenset("is was are were has had have became becomes will can could did does".split())
#: Words that begin a sentence and no name.
OPENERS = frozenset(
    "in on at by from to for with without after before since during until while when where who what which whose why "
    "how as if although though because born also then there here this that these those one some many most both each "
    "every no not and or but yet so however later today i we you my our your of".split()
)
_BRACKET = re.compile(r" \(([^(),;:]+)(, born \d{4})?\)")
_LONGEST_BRACKET = 3  # words
_QUOTES = frozenset('"“”„«»')
_OF_A_LIFE = frozenset("died née né nee".split())


def may_be_name(head: str) -> bool:
    """Whether this could be a name: short, without a verb, not begun with a pronoun, not ended by a title."""
    words = head.split(None, LONGEST_NAME)
    if not 0 < len(words) <= LONGEST_NAME or words[-1] in NAME_ABBREVIATIONS:
        return False
    return not begins_with_pronoun(words) and VERBS.isdisjoint(words)


def begins_with_pronoun(words: Sequence[str]) -> bool:
    """Whether a sentence begins with a pronoun; "He Kexin" is a name."""
    first, second = words[0].lower(), words[1] if len(words) > 1 else ""
    return first in PRONOUNS and not (first in ("he", "she", "it", "they") and second[:1].isupper())


def is_name(head: str) -> bool:
    """Whether this looks like a name: no small letter begins a word, small words inside names apart."""
    if not may_be_name(head):
        return False
    words = without_bracket(head).split()
    return (
        words[0].lower() not in OPENERS
        and all(like_a_name(word) or word in PARTICLES for word in words)
        and words[-1] not in PARTICLES
    )


def like_a_name(word: str) -> bool:
    """Whether a word could be one of a name: it begins with no small letter, or the second is a capital: iPhone."""
    begin = word.lstrip(PUNCTUATION)
    return (
        not begin[:1].islower() or begin[1:2].isupper() or re.match(r"[a-zà-ÿ]{1,2}['’][^\W\d_a-z]", word) is not None
    )  # d'Agar


def bracket_at(text: str, position: int) -> str:
    """` (footballer)` or ` (footballer, born 1985)` behind a name that others bear too; "" for dates and others."""
    found = _BRACKET.match(text, position)
    if not found or not _tells_apart(found[1]) or (found[2] and not found[1].split()[-1].islower()):
        return ""
    return found[0]


def unquoted(name: str) -> str:
    """A title without the quotes around all of it; those of "Weird Al" Yankovic stay."""
    inside = name[1:-1]
    quoted = name[:1] in _QUOTES and name[-1:] in _QUOTES and _QUOTES.isdisjoint(inside)
    return inside.rstrip(",") if inside and quoted else name


def without_bracket(name: str) -> str:
    """The name that namesakes share: "John Smith" of "John Smith (footballer)"."""
    bare = name[: max(0, name.rfind(" ("))]
    return bare if bare and bracket_at(name, len(bare)) == name[len(bare) :] else name


def _tells_apart(inside: str) -> bool:
    """Whether it says who or what is meant, "footballer" or "1995 film", and not when one lived."""
    words = inside.split()
    if not 0 < len(words) <= _LONGEST_BRACKET or "born" in inside or not _OF_A_LIFE.isdisjoint(words):
        return False
    if not re.search(r"\d", inside):
        return True
    # A year before what it is; "May 1901", "b. 1900" and "1840 Columbus" are of a life.
    return re.fullmatch(r"\d{4}s?", words[0]) is not None and words[-1].islower()
