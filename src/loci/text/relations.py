"""Relations as data: what is asked about subjects, and in which forms. Finds the forms of questions of every kind.

A relation has a name and templates. They are given (`--template`, `relations.toml`), or found: from the subjects a file
names, from the subjects of a corpus, and from the words that questions share around what differs. Knows nothing of
answers or models.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.text.formats.base import Row
from loci.text.subjects import SubjectIndex
from loci.text.template import BIRTHPLACE, SLOT, Template

RELATIONS_FILE = "relations.toml"
_MOST_FORMS = 200
_SAMPLE = 5_000  # questions that are looked at together to find forms
_MOSTLY = 0.8  # so many questions must have a common word at an edge for it to belong to the form
_OFTEN = 0.1  # so many must begin with a word for it to be one that asks, not a name
_RARE = 0.1  # a form that fits a tenth of what another fits, and nothing else, is an accident of names


@dataclass(frozen=True)
class Relation:
    """What is asked about subjects. Questions are asked with the first template; all are understood."""

    name: str
    templates: tuple[Template, ...]
    names: bool = True
    """Whether its subjects are written with capitals."""

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.templates:
            raise LociError(f"a relation has a name and a template, {self.name!r} has {len(self.templates)} templates")

    def ask(self, subject: str) -> str:
        """The question about `subject`."""
        return self.templates[0].ask(subject)


def relations_from(templates: Iterable[str]) -> tuple[Relation, ...]:
    """Relations of templates given as text; those of one name are one relation."""
    named: dict[str, list[Template]] = {}
    for template in map(Template, templates):
        named.setdefault(template.relation, []).append(template)
    return tuple(Relation(name, tuple(dict.fromkeys(found))) for name, found in named.items())


def read_relations(path: Path) -> tuple[Relation, ...]:
    """The relations that the relations.toml of a folder gives, or that next to a file; none where there is none.

    Each is a line: `made-in = "Where is the {subject} made?"`, or a list of such texts.
    """
    file = (path if path.is_dir() else path.parent) / RELATIONS_FILE
    if not file.is_file():
        return ()
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise LociError(f"cannot be read: {error}", path=file) from None
    found = []
    for name, value in data.items():
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            remedy = f'write {name} = "Where is {SLOT} made?"'
            raise LociError(f"{name} is neither a template nor a list of templates", path=file, remedy=remedy)
        try:
            found.append(Relation(name, tuple(map(Template, texts))))
        except LociError as error:
            raise LociError(f"{name}: {error.message}", path=file, remedy=error.remedy) from None
    return tuple(found)


@dataclass(frozen=True)
class Placed:
    """A row with its question, subject and relation; the last two empty where no form fits."""

    question: str
    subject: str | None
    relation: str
    template: Template | None = None


def place(
    rows: Sequence[Row], given: Sequence[Relation] = (), subjects: Collection[str] = ()
) -> tuple[list[Placed], tuple[Relation, ...]]:
    """Find subject and relation of every row, and the relations of all. `subjects` are those of a corpus, if known."""
    forms = _Forms(rows, given, subjects)
    placed = [forms.place(row) for row in rows]
    used: dict[str, list[Placed]] = {}
    for found in placed:
        if found.relation and found.template is not None:
            used.setdefault(found.relation, []).append(found)
    return placed, tuple(_relation(name, members) for name, members in used.items()) or tuple(given)


def _relation(name: str, members: Sequence[Placed]) -> Relation:
    counts = Counter(found.template for found in members if found.template is not None)
    small = sum(found.subject is not None and found.subject.islower() for found in members)
    return Relation(name, tuple(template for template, _ in counts.most_common()), small * 2 < len(members))


class _Forms:
    """The templates given and found for some rows, and the relation of each."""

    def __init__(self, rows: Sequence[Row], given: Sequence[Relation], subjects: Collection[str]):
        self.relations = given
        self.names = {template: relation.name for relation in given for template in relation.templates}
        self.given = _special_first([*self.names, BIRTHPLACE])
        self.votes: dict[Template, Counter[str]] = {}
        own: Counter[Template] = Counter()
        loose: dict[str, None] = {}
        for row in rows:
            if row.question is not None and row.subject is not None:
                own.update(filter(None, [_template_around(row.question, row.subject)]))
            elif row.question is not None and self._fitting(row.question, self.given) is None:
                loose[row.question] = None
        self.found = _special_first(template for template, _ in own.most_common(_MOST_FORMS))
        left = [question for question in loose if self._fitting(question, self.found) is None]
        self.found = _special_first({*self.found, *_around_subjects(left, subjects)})
        left = [question for question in left if self._fitting(question, self.found) is None]
        self.found = _special_first({*self.found, *_around_what_differs(left)})
        for row in rows:  # a file that names relations names those of its forms
            if row.question is not None and row.relation is not None and (template := self._template_of(row)):
                self.votes.setdefault(template, Counter())[row.relation] += 1

    def _fitting(self, question: str, templates: Iterable[Template]) -> Template | None:
        return next((template for template in templates if template.subject_of(question) is not None), None)

    def _template_of(self, row: Row) -> Template | None:
        assert row.question is not None
        if row.subject is not None:
            return _template_around(row.question, row.subject)
        return self._fitting(row.question, self.given) or self._fitting(row.question, self.found)

    def _relation_of(self, template: Template) -> str:
        voted = self.votes.get(template, Counter()).most_common(1)
        return self.names.get(template) or (voted[0][0] if voted else template.relation)

    def place(self, row: Row) -> Placed:
        """The question, subject and relation of a row."""
        if row.question is None:
            assert row.subject is not None
            assert row.template is not None
            named = next((known for known in self.relations if known.name == row.relation), None)
            if named is None and len(self.relations) == 1:
                named = self.relations[0]
            template = row.template if named is None else named.templates[0]
            name = row.relation or self.names.get(template) or template.relation
            return Placed(template.ask(row.subject), row.subject, name, template)
        found = self._template_of(row)
        subject = row.subject or (found.subject_of(row.question) if found else None)
        return Placed(row.question, subject, row.relation or (self._relation_of(found) if found else ""), found)


def _special_first(templates: Iterable[Template]) -> list[Template]:
    return sorted(templates, key=lambda template: (-template.fixed, template.text))


def _template_around(question: str, subject: str) -> Template | None:
    """The template of a question that names the subject once, as whole words."""
    before, found, after = question.partition(subject)
    if not found or subject in after or SLOT in question or before[-1:].isalnum() or after[:1].isalnum():
        return None
    return Template(f"{before}{SLOT}{after}")


def _around_subjects(questions: Sequence[str], subjects: Collection[str]) -> list[Template]:
    """The templates of the questions that name a subject of the corpus.

    A name in the corpus may be part of a longer one that is not there. Then a form appears that fits few questions, all
    of which a common form fits too: it does not count.
    """
    index = SubjectIndex(subjects)
    members: dict[Template, list[str]] = {}
    for question in questions:
        found = index.find(question)
        if found and SLOT not in question:
            template = Template(f"{question[: found[1]]}{SLOT}{question[found[2] :]}".strip())
            members.setdefault(template, []).append(question)
    kept: list[Template] = []
    for template, own in sorted(members.items(), key=lambda item: -len(item[1]))[:_MOST_FORMS]:
        common = (other for other in kept if len(members[other]) * _RARE >= len(own))
        if not any(all(other.subject_of(question) for question in own) for other in common):
            kept.append(template)
    return kept


def _around_what_differs(questions: Sequence[str]) -> list[Template]:
    """The templates that questions share: the words at their beginnings and ends that come again and again."""
    found: list[Template] = []
    left = list(questions)
    while left:
        sample = left[:: 1 + len(left) // _SAMPLE]
        tails: dict[str, list[list[str]]] = {}
        for question in sample:
            tail = re.search(r"\s*[?!.]*$", question)
            assert tail is not None
            tails.setdefault(tail.group(), []).append(question[: tail.start()].split(" "))
        new = [template for tail, members in tails.items() for template in _split(members, 0, 0, tail)]
        rest = [question for question in left if not any(template.subject_of(question) for template in new)]
        found += new
        if len(rest) == len(left):
            break
        left = rest
    return found


def _split(members: list[list[str]], left: int, right: int, tail: str) -> Iterator[Template]:
    """The templates of questions that share their first `left` and last `right` words, as lists of words."""
    if len(members) < 2:
        return
    for side in ("left", "right"):
        edges = [_edge(words, left, right, side) for words in members]
        form = _form_words(members, edges, begins=side == "left" and not left)
        if sum(edge in form for edge in edges) >= _MOSTLY * len(members):
            for word in form:
                same = [words for words, edge in zip(members, edges, strict=True) if edge == word]
                yield from _split(same, left + (side == "left"), right + (side == "right"), tail)
            return
    yield from _leaf(members, left, right, tail)


def _form_words(members: list[list[str]], edges: list[str | None], *, begins: bool) -> set[str]:
    """The words at an edge that belong to the form: small ones that come again, and any that nearly all have.

    Where questions begin every word has a capital: there it is one that comes often, before a small word.
    """
    counts = Counter(filter(None, edges))
    before_small = Counter(words[0] for words in members if words[1:] and words[1][:1].islower())
    form = set()
    for word, count in counts.items():
        often = count >= _OFTEN * len(members) and before_small[word] >= _MOSTLY * count
        if count > 1 and (count >= _MOSTLY * len(members) or (often if begins else word[0].islower())):
            form.add(word)
    return form


def _edge(words: list[str], left: int, right: int, side: str) -> str | None:
    """The next word at a side; None when only one is left, which is the subject."""
    if len(words) - left - right < 2:
        return None
    return words[left] if side == "left" else words[-right - 1]


def _leaf(members: list[list[str]], left: int, right: int, tail: str) -> Iterator[Template]:
    middles = [words[left : len(words) - right] for words in members]
    prefix, suffix = " ".join(members[0][:left]), " ".join(members[0][len(members[0]) - right :])
    with_capitals = [words for words in middles if any(word[:1].isupper() for word in words)]
    cut = [words for words in with_capitals if words[0][:1].islower() or words[-1][:1].islower()]
    if not re.search(r"\w", prefix + suffix) or SLOT in prefix + suffix:
        return
    if len(cut) * 2 > len(middles) or any(not word for words in middles for word in (words[0], words[-1])):
        return  # names do not begin or end with small words: these questions share too little
    for ending in ("'s", "’s"):
        if sum(words[-1].endswith(ending) for words in middles) >= _MOSTLY * len(middles):
            yield Template(f"{prefix} {SLOT}{ending} {suffix}".strip() + tail)
            return
    yield Template(f"{prefix} {SLOT} {suffix}".strip() + tail)
