"""Relations as data: what is asked about subjects, and in which forms; and the relation of every question of a file.

A relation has a name, templates, and how long a quoted answer is at most. Templates are given (`--template`,
`relations.toml`), or found: from the subjects a file names, from the subjects of a corpus, and from the words that
questions share (`loci.text.template`). Knows nothing of models.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.text.formats.base import Row
from loci.text.given_forms import forms_under, given_form, line_of
from loci.text.spans import LONGEST_SPAN, MOST_WORDS, is_joiner, longest_and_joiners
from loci.text.template import BIRTHPLACE, MOST_FORMS, SLOT, Template, around_subjects, around_what_differs

RELATIONS_FILE = "relations.toml"

LARGEST = 1 << 22
"""Bytes of a relations.toml."""


@dataclass(frozen=True)
class Relation:
    """What is asked about subjects. Questions are asked with the first template; all are understood."""

    name: str
    templates: tuple[Template, ...]
    names: bool = True
    """Whether its subjects are written with capitals."""
    longest: int = LONGEST_SPAN
    """Words that a quoted answer has at most."""
    joiners: frozenset[str] = frozenset()
    """What may stand between the words of a quoted answer besides a space (`loci.text.spans`)."""

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.templates:
            raise LociError(f"a relation has a name and a template, {self.name!r} has {len(self.templates)} templates")
        if not 1 <= self.longest <= MOST_WORDS:
            raise LociError(f"an answer of {self.name!r} has 1 to {MOST_WORDS} words, not {self.longest}")
        if not all(map(is_joiner, self.joiners)):
            raise LociError(f"the joiners of {self.name!r} are up to three characters, and no brackets or quotes")

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        data = {"name": self.name, "templates": [template.text for template in self.templates], "names": self.names}
        if self.longest != LONGEST_SPAN:
            data["longest"] = self.longest
        return {**data, "joiners": sorted(self.joiners)} if self.joiners else data

    @classmethod
    def from_dict(cls, data: Any) -> Relation:
        """A relation from its JSON data; a `LociError` where it is none."""
        if not isinstance(data, dict) or not isinstance(data.get("templates"), list):
            raise LociError(f"a relation has a name and templates, unlike {str(data)[:60]!r}")
        templates = tuple(Template(str(text)) for text in data["templates"])
        longest, joiners = data.get("longest", LONGEST_SPAN), data.get("joiners", [])
        are_texts = isinstance(joiners, list) and all(isinstance(one, str) for one in joiners)
        if type(longest) is not int or not are_texts:
            raise LociError(f"longest is a number and joiners a list of texts, unlike {str((longest, joiners))[:60]}")
        name, names = str(data.get("name", "")), data.get("names") is not False
        return cls(name, templates, names, longest, frozenset(joiners))

    def quoting(self, answers: Iterable[str]) -> Relation:
        """The same, with spans long enough to quote these answers.

        No shorter than where nothing is known: few answers may all be short.
        """
        longest, joiners = longest_and_joiners(answers)
        return replace(self, longest=min(max(longest, LONGEST_SPAN), MOST_WORDS), joiners=joiners)

    def ask(self, subject: str) -> str:
        """The question about `subject`."""
        return self.templates[0].ask(subject)


def relations_from(templates: Iterable[str]) -> tuple[Relation, ...]:
    """Relations of templates given as text; those of one name are one relation."""
    named: dict[str, list[Template]] = {}
    for template in map(given_form, templates):
        named.setdefault(template.relation, []).append(template)
    return tuple(Relation(name, tuple(dict.fromkeys(found))) for name, found in named.items())


def relations_file(path: Path) -> Path | None:
    """The relations.toml of a folder, or that next to a file, in capitals too; None where there is none."""
    folder = path if path.is_dir() else path.parent
    if (file := folder / RELATIONS_FILE).is_file() or not folder.is_dir():
        return file if file.is_file() else None
    named = sorted(one for one in folder.iterdir() if one.name.lower() == RELATIONS_FILE)
    return next((one for one in named if one.is_file()), None)


def read_relations(path: Path) -> tuple[Relation, ...]:
    """The relations that the relations.toml of a folder gives, or that next to a file; none where there is none.

    Each is a line: `made-in = "Where is the {subject} made?"`, or a list of such texts.
    """
    file = relations_file(path)
    if file is None:
        return ()
    try:
        if file.stat().st_size > LARGEST:
            raise ValueError(f"it is over {LARGEST >> 20} MB large")
        text = file.read_text(encoding="utf-8-sig")  # some editors write a byte-order mark, which TOML does not know
        data = tomllib.loads(text)
    except (ValueError, RecursionError, OSError) as error:
        remedy = f'it is UTF-8 text with lines like made-in = "Where is {SLOT} made?"'
        at = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        said, line = (str(error)[: at.start()], int(at[1])) if at else (str(error), None)
        if isinstance(error, UnicodeDecodeError):
            line = error.object.count(b"\n", 0, error.start) + 1
            said = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise LociError(f"cannot be read: {said}", path=file, line=line, remedy=remedy) from None
    found = []
    for name, value in data.items():
        try:
            found.append(Relation(name, tuple(map(given_form, forms_under(name, value)))))
        except LociError as error:
            message, line = f"{name}: {error.message}" if name.strip() else error.message, line_of(name, text)
            raise LociError(message, path=file, line=line, remedy=error.remedy) from None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Placed:
    """A row with its question, subject and relation; the last two empty where no form fits."""

    question: str
    subject: str | None
    relation: str
    template: Template | None = None


def place(
    rows: Sequence[Row], given: Sequence[Relation] = (), subjects: Collection[str] = ()
) -> tuple[list[Placed], tuple[Relation, ...]]:
    """Find subject and relation of every row, and the relations of all; `subjects` are those of a corpus, if known."""
    forms = Forms([rows], given, subjects)
    placed = list(forms.placed(0))
    return placed, forms.used()


def _one_relation(members: Iterable[tuple[Placed, tuple[str, ...]]]) -> list[Template]:
    """The forms of questions that may all ask the same: no subject has different answers, no form stands apart.

    None of them where they cannot.
    """
    first: dict[str | None, tuple[Template | None, tuple[str, ...]]] = {}
    forms: dict[Template, None] = {}
    for found, accepted in members:
        template, known = first.setdefault(found.subject, (found.template, accepted))
        if template != found.template and known and accepted and set(known).isdisjoint(accepted):
            return []
        if found.template is not None:
            forms[found.template] = None
    apart = list(forms)
    together = apart[:1]
    for form in together:
        together += [other for other in apart if other not in together and form.may_ask_the_same(other)]
    return apart if len(together) == len(apart) else []


class Forms:
    """The templates given and found for the rows of some files, and the relation of each row."""

    def __init__(
        self,
        files: Sequence[Sequence[Row]],
        given: Sequence[Relation] = (),
        subjects: Collection[str] = (),
        named: Sequence[str] = (),
    ):
        """`named` is for each file the relation that its name suggests, "" where it suggests none."""
        self.files, self.relations, self.named = files, given, named or [""] * len(files)
        self.names = {template: relation.name for relation in given for template in relation.templates}
        self.given = _special_first([*self.names, BIRTHPLACE])
        self.votes: dict[Template, Counter[str]] = {}
        self.by_file: dict[Template, str] = {}
        self._relations: dict[Template, str] = {}
        self._used: dict[str, Counter[Template]] = {}
        self._small: Counter[str] = Counter()
        own: Counter[Template] = Counter()
        loose: dict[str, None] = {}
        telling = False
        self._facts: set[tuple[str | None, Template | None]] = set()  # the kinds of facts without a question
        for row in self._rows():
            telling = telling or row.relation is not None
            if row.question is None:
                self._facts.add((row.relation, row.template))
            if row.question is not None and row.subject is not None:
                own.update(filter(None, [_template_around(row.question, row.subject)]))
            elif row.question is not None and self._fitting(row.question, self.given) is None:
                loose[row.question] = None
        self.found = _special_first(template for template, _ in own.most_common(MOST_FORMS))
        left = [question for question in loose if self._fitting(question, self.found) is None]
        self.found = _special_first({*self.found, *around_subjects(left, subjects)})
        left = [question for question in left if self._fitting(question, self.found) is None]
        self.found = _special_first({*self.found, *around_what_differs(left)})
        for row in self._rows() if telling else ():  # a file that names relations names those of its forms
            if row.question is not None and row.relation is not None and (template := self._template_of(row)):
                self.votes.setdefault(template, Counter())[row.relation] += 1
        for name in dict.fromkeys(filter(None, self.named)):
            own_files = [file for file, other in zip(files, self.named, strict=True) if other == name]
            for template in _one_relation(self._unnamed(row for file in own_files for row in file)):
                self.by_file.setdefault(template, name)  # one form is one relation, in whatever files it stands
        self._relations.clear()

    def _rows(self) -> Iterator[Row]:
        return (row for file in self.files for row in file)

    def _unnamed(self, rows: Iterable[Row]) -> Iterator[tuple[Placed, tuple[str, ...]]]:
        """Those whose form nobody gave a name, with their answers."""
        for row in rows:
            placed = self._place(row)
            if not row.relation and placed.template is not None and placed.template not in self.names:
                yield placed, row.answers or ()

    def placed(self, file: int) -> Iterator[Placed]:
        """The rows of a file, one after the other; what they use is counted."""
        for row in self.files[file]:
            found = self._place(row)
            if found.relation and found.template is not None:
                self._used.setdefault(found.relation, Counter())[found.template] += 1
                self._small[found.relation] += found.subject is not None and found.subject.islower()
            yield found

    def used(self) -> tuple[Relation, ...]:
        """The relations of the rows placed so far, in the order met; those given where there are none."""
        found = []
        for name, counts in self._used.items():
            templates = tuple(template for template, _ in counts.most_common())
            found.append(Relation(name, templates, self._small[name] * 2 < counts.total()))
        return tuple(found or self.relations)

    def _fitting(self, question: str, templates: Iterable[Template]) -> Template | None:
        for template in templates:
            if template.subject_of(question) is not None:
                return template
        return None

    def _template_of(self, row: Row) -> Template | None:
        assert row.question is not None
        if row.subject is not None:
            return _template_around(row.question, row.subject)
        return self._fitting(row.question, self.given) or self._fitting(row.question, self.found)

    def _relation_of(self, template: Template) -> str:
        if template not in self._relations:
            voted = self.votes.get(template, Counter()).most_common(1)
            found = voted[0][0] if voted else self.by_file.get(template) or template.relation
            self._relations[template] = self.names.get(template) or found
        return self._relations[template]

    def _given_for(self, row: Row, asked: Template) -> Relation | None:
        """The given relation of a fact: the one of its name, or of its form; the only one for facts of one kind."""
        names = {row.relation, *row.predicates, asked.relation}
        for known in self.relations:
            if known.name in names or asked in known.templates:
                return known
        return self.relations[0] if len(self.relations) == len(self._facts) == 1 else None

    def _place(self, row: Row) -> Placed:
        """The question, subject and relation of a row."""
        if row.question is None:
            assert row.subject is not None
            assert row.template is not None
            named = self._given_for(row, row.template)
            template = row.template if named is None else named.templates[0]
            name = row.relation or (self._relation_of(template) if named is None else named.name)
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
