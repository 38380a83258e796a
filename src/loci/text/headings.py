"""The headings of a corpus: a name on a line of its own after a blank line, or a line marked with # or ==.

A plain heading holds until the next blank line. Where many paragraphs are names between blank lines these are headings
too, and several of them hold until the next; elsewhere such a name may be a signature. Of marked headings those of one
level count. Knows nothing of the other rules for subjects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from loci.text.names import is_name

#: Sections of an article about somebody; a person of that name would be rare.
_SECTIONS = frozenset(
    "early life|life|career|early career|later life|personal life|private life|family|education|death|legacy|works|"
    "selected works|bibliography|biography|awards|honours|honors|references|notes|sources|see also|external links|"
    "further reading|background|history|childhood|youth|marriage|publications|discography|filmography".split("|")
)
_SEVERAL = 2
_MANY = 3  # of so many paragraphs one must be a heading between blank lines


def headings(texts: Sequence[str]) -> Iterator[str]:
    """The heading above each line, "" where there is none; a heading stands above itself."""
    marks = [_mark(text) for text in texts]
    level = _level([mark for mark in marks if mark is not None])
    plain = _plain_headings(texts) if not level else frozenset()
    apart = sum(not texts[at + 1].strip() for at in plain)
    current, until_blank, is_new = "", False, False
    for index, (text, mark) in enumerate(zip(texts, marks, strict=True)):
        if mark is not None:
            # The title of all articles is about none of them, and the sections are about whom their article is about.
            current = mark[1] if mark[0] == level else "" if mark[0] < level else current
        elif not text.strip():
            current = "" if until_blank and not is_new else current
        elif index in plain:
            until_blank = apart < _SEVERAL or bool(texts[index + 1].strip())
            current, is_new = text.strip(), True
        else:
            is_new = False
        yield current if text.strip() else ""


def _level(marks: Sequence[tuple[int, str]]) -> int:
    """The level of headings that name subjects: the highest at which several names stand, else the highest; or 0.

    `# My products` stands once, above `## Delta Desk` and others.
    """
    names = Counter(level for level, name in marks if is_name(name) and name.lower() not in _SECTIONS)
    several = [level for level, count in names.items() if count >= _SEVERAL]
    return min(several or [level for level, _ in marks], default=0)


def _plain_headings(texts: Sequence[str]) -> frozenset[int]:
    """Where names stand on lines of their own after a blank line, above a sentence."""
    paragraphs = [at for at, text in enumerate(texts) if text.strip() and (not at or not texts[at - 1].strip())]
    below = _filled_below(texts)
    found = [at for at in paragraphs if _is_heading(texts[at], below[at])]
    apart = [at for at in found if not texts[at + 1].strip()]
    return frozenset(found).difference(apart if len(apart) * _MANY < len(paragraphs) else ())


def _filled_below(texts: Sequence[str]) -> list[str]:
    """For each line the next one that says anything, "" behind the last."""
    found, following = [], ""
    for text in reversed(texts):
        found.append(following)
        following = text if text.strip() else following
    return found[::-1]


def _mark(text: str) -> tuple[int, str] | None:
    """The level and the words of a line marked as a heading: `## Ana Lima` or `== Ana Lima ==`."""
    text = text.strip()
    body = text.lstrip(text[0]) if text[:1] in ("#", "=") else text
    name = body.rstrip().rstrip("#=").strip()
    return (len(text) - len(body), name) if len(body) < len(text) and name and name[0] not in "#=" else None


def _is_heading(text: str, following: str) -> bool:
    sentence = following.split()
    named = text.strip().lower() not in _SECTIONS and text.rstrip()[-1:] not in ".!?:;," and is_name(text)
    return named and len(sentence) > 3 and not is_name(following)
