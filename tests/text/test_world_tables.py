from __future__ import annotations

import itertools
from collections import Counter

import pytest

from loci.text.world.parse import is_tree
from loci.text.world.sentences import FACTS, PIECE, SLOTS, templates
from loci.text.world.tables import (
    ANY,
    FEMALE,
    KINDS,
    MALE,
    cities,
    lemmas,
    name_capacity,
    occupations,
    origins,
    product_words,
    relations,
    rows,
    several_words,
)


def full_names() -> list[str]:
    return [
        f"{given.name} {family.after(given.gender)}"
        for origin in origins()
        for given in origin.given
        for family in origin.family
    ]


def test_the_tables_are_as_rich_as_promised() -> None:
    assert len(origins()) >= 8
    assert all(len(origin.given) >= 60 and len(origin.family) >= 80 for origin in origins())
    assert len(cities(False)) >= 250
    assert any(" " in city.name for city in cities(True))
    assert not any(" " in city.name for city in cities(False))
    assert len(occupations()) >= 60
    assert len(templates()) >= 40
    assert name_capacity() >= 1_000_000


def test_a_hundred_thousand_people_need_no_middle_name_to_differ() -> None:
    names = full_names()
    assert len(names) >= 100_000
    assert len(set(names)) == len(names)
    assert min(origin.pairs for origin in origins()) * len(origins()) >= 100_000


def test_no_name_is_the_beginning_of_another() -> None:
    names = sorted(full_names())
    assert [(a, b) for a, b in itertools.pairwise(names) if b.startswith(a)] == []


def test_middle_names_make_no_other_name() -> None:
    # "Jacob Henry Studer" must not contain a "Henry Studer", nor a "Jacob Hen".
    for origin in origins():
        given = {name.name for name in origin.given}
        for gender in (FEMALE, MALE, ANY):
            middles = origin.middles(gender)
            assert len(set(middles)) == len(middles) == 26
            assert not given & set(middles)
            assert not any(middle.startswith(family.name) for middle in middles for family in origin.family)


def test_the_first_cities_give_every_origin_a_home() -> None:
    first = cities(False)[: len(origins())]
    assert {city.origin for city in first} == {origin.name for origin in origins()}
    assert {city.origin for city in cities(True)} == {origin.name for origin in origins()} | {None}


def test_cities_are_distinct_and_stand_in_no_other_word_of_a_line() -> None:
    names = [city.name for city in cities(True)]
    assert len(set(names)) == len(names)
    words = [name.name for origin in origins() for name in (*origin.given, *origin.middle)]
    words += [form for origin in origins() for family in origin.family for form in family]
    words += [city.country for city in cities(True)]
    words += [piece for template in templates() for piece in template.pieces]
    words += [cell for job in occupations() for cell in (job.name, job.field or "", job.workplace)]
    words += [word for words in product_words() for word in words]
    found = [(city, other) for city in names for other in [*words, *names] if city in other and city != other]
    assert found == []
    assert not set(names) & set(words)


def test_names_of_several_words_say_how_they_hang_together() -> None:
    needed = {name for city in cities(True) for name in (city.name, city.country) if " " in name}
    assert set(several_words()) == needed


def test_every_word_of_an_occupation_has_a_part_of_speech() -> None:
    for job in occupations():
        assert len(job.name.split(" ")) == len(job.upos)
        assert job.upos[-1] == "NOUN"
        article, noun = job.workplace.split(" ", 1)
        assert article == ("an" if noun[0] in "aeiou" and not noun.startswith("uni") else "a")


FACT_OF = {
    **{"workplace": "work", "field": "study", "age": "death", "designer": "design", "tester": "test"},
    **{"birth.year": "birth_year", "birth.date": "birth_year"},
}


@pytest.mark.parametrize("template", templates(birth_years=True), ids=lambda template: template.id)
def test_a_template_is_a_projective_tree_that_fits_its_facts(template) -> None:
    heads = [position.head for position in template.positions]
    assert is_tree(heads)
    arcs = [(min(child, head), max(child, head)) for child, head in enumerate(heads, start=1) if head]
    assert not any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert template.pieces[-1] == "."
    slots = {*template.slots}
    stated = {FACT_OF.get(slot, slot.split(".")[0]) for slot in slots} & FACTS
    assert stated == template.facts
    assert all(template.slots[at + 1] in SLOTS for at, slot in enumerate(template.slots) if slot == "a")
    assert ("field" in slots) <= ("field" in template.needs)
    assert slots & {"subject", "subject's"}
    for upos, position in zip(template.uposes, template.positions, strict=True):
        assert (upos == "PUNCT") == (position.deprel == "punct")
        assert (position.deprel == "root") == (position.head == 0)


def test_each_fact_has_several_wordings_of_its_own() -> None:
    alone = Counter(next(iter(template.facts)) for template in templates() if len(template.facts) == 1)
    assert set(alone) == FACTS
    assert min(alone.values()) >= 4
    # Whoever the person is and whatever the mode, each fact must be tellable in a later sentence.
    plain = {fact for t in templates() if not t.needs and not t.has_pronoun and len(t.facts) == 1 for fact in t.facts}
    assert plain == FACTS


def test_templates_have_ids_and_texts_of_their_own() -> None:
    table = rows("sentences")
    assert len({row[0] for row in table}) == len(table)
    # The same words may serve the living and the dead with another verb, never twice the same.
    assert len({(row[2], row[3]) for row in table}) == len(table)


def test_inflected_words_of_templates_have_their_lemma() -> None:
    verbs = {
        piece.lower()
        for row in rows("sentences")
        for piece, upos in zip(PIECE.findall(row[3]), row[4].split(), strict=True)
        if upos in ("VERB", "AUX") and piece[0] != "{"
    }
    unlisted = {verb for verb in verbs if not any(form == verb for form, _ in lemmas())}
    assert unlisted == {"become", "work"}


@pytest.mark.parametrize("relation", [r for kind in KINDS for r in relations(kind).values()], ids=lambda r: r.name)
def test_a_relation_is_asked_with_its_subject_at_the_start_in_the_middle_and_at_the_end(relation) -> None:
    assert relation.fact in FACTS
    assert relation.slot in SLOTS
    where = set()
    for question in relation.questions:
        before, after = question.removeprefix("The ").split("{subject}")
        assert question.endswith("?")
        where.add("start" if not before else "end" if after == "?" else "middle")
    assert where == {"start", "middle", "end"}


def test_no_two_relations_are_asked_alike() -> None:
    asked = [question for kind in KINDS for relation in relations(kind).values() for question in relation.questions]
    assert len(set(asked)) == len(asked)
