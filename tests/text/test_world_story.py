from __future__ import annotations

import statistics
from dataclasses import replace

import conllu as reader
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.text.world import Person, RelationSpec, WorldSpec, example_products, lines_about, people, tellings
from loci.text.world.parse import Position, assemble, conllu_block, is_tree, proper_name, word, written
from loci.text.world.population import Population
from loci.text.world.sentences import FULL, PRONOUN, SHORT, templates, tokens_of

WORLDS = st.builds(
    WorldSpec,
    people=st.just(40),
    seed=st.integers(0, 10_000),
    paraphrases=st.integers(1, 4),
    permute=st.booleans(),
    full_names=st.booleans(),
    unstated=st.sampled_from([0.0, 0.2]),
    outside=st.sampled_from([0.0, 0.2]),
    multiword_places=st.booleans(),
)


@settings(max_examples=20, deadline=None)
@given(WORLDS)
def test_lines_of_any_world_tell_what_they_should(spec: WorldSpec) -> None:
    told = list(tellings(spec))
    corpus = "\n".join(line.text for _, lines in told for line in lines)
    for person, lines in told:
        assert len(lines) == (0 if person.split == "outside" else spec.paraphrases)
        assert len({line.text for line in lines}) == len(lines)
        if not lines:
            assert person.name not in corpus
        for line in lines:
            assert line.text.startswith(f"{person.name}. ")
            assert line.text.endswith(" .")
            assert "  " not in line.text
            assert isinstance(person, Person)
            assert line.text.count(person.birth_place.name) == person.stated
            stated = [fact for s in line.sentences for fact in s.template.facts]
            assert sorted(stated) == sorted(person.told)  # each fact once
            if spec.full_names:
                nameless = line.text.replace(person.name, "")  # He is a surname too
                assert not {"he", "she", "they", "his", "her", "their"} & set(nameless.lower().split())
                assert line.text.count(person.name) == len(line.sentences) + 1


by_id = {template.id: template for template in templates()}


RELATION_WORLDS = st.builds(
    WorldSpec,
    people=st.just(20),
    seed=st.integers(0, 10_000),
    paraphrases=st.integers(1, 3),
    permute=st.booleans(),
    spread=st.booleans(),
    kind=st.just("people"),
    relations=st.just((RelationSpec("birthplace"), RelationSpec("birth_year", unstated=0.3), RelationSpec("employer"))),
) | st.builds(lambda seed: replace(example_products(seed), people=20), st.integers(0, 10_000))


@settings(max_examples=12, deadline=None)
@given(WORLDS | RELATION_WORLDS)
def test_every_gold_parse_is_a_tree_of_its_text_at_its_place(spec: WorldSpec) -> None:
    for _, lines in tellings(spec):
        for number, line in enumerate(lines, start=1):
            end: int | None = None
            for place, sentence in enumerate(line.sentences, start=1):
                block = conllu_block(sentence.tokens, sent_id=f"x-{place}", line=number, offset=sentence.offset)
                (tree,) = reader.parse(block)
                heads = [token["head"] for token in tree]
                assert is_tree(heads)
                tree.to_tree()  # raises where the reader finds no tree
                text = tree.metadata["text"]
                assert text == reproduced(tree)
                offset = int(tree.metadata["loci_offset"])
                assert line.text[offset : offset + len(text)] == text
                assert int(tree.metadata["loci_line"]) == number
                if end is not None:
                    assert offset == end + 1
                end = offset + len(text)
            assert end == len(line.text)


def reproduced(tree: reader.TokenList) -> str:
    text = ""
    for token in tree:
        text += token["form"]
        if (token["misc"] or {}).get("SpaceAfter") != "No":
            text += " "
    return text.strip()


def test_lines_fit_the_block_of_the_course() -> None:
    spec = WorldSpec(people=2000)
    lengths = sorted(len(line.text) for _, lines in tellings(spec) for line in lines)
    assert 105 <= statistics.median(lengths) <= 118
    assert sum(length <= 128 for length in lengths) / len(lengths) > 0.65
    assert lengths[int(0.05 * len(lengths))] >= 60
    assert lengths[int(0.95 * len(lengths))] <= 165


def test_without_permutation_the_birth_comes_first() -> None:
    spec = WorldSpec(people=300)
    for permute in (False, True):
        firsts = [
            "birth" in lines[0].sentences[0].template.facts for _, lines in tellings(replace(spec, permute=permute))
        ]
        assert all(firsts) != permute
    assert 0.2 < sum(firsts) / len(firsts) < 0.8


def test_many_paraphrases_stay_different() -> None:
    spec = WorldSpec(people=60, paraphrases=10, permute=True)
    for _, lines in tellings(spec):
        assert len({line.text for line in lines}) == 10
    used = {sentence.template.id for _, lines in tellings(spec) for line in lines for sentence in line.sentences}
    assert len(used) > 80


def test_every_template_is_used_and_articles_are_right() -> None:
    used, words = set(), []
    all_relations = tuple(map(RelationSpec, ("birthplace", "birth_year", "occupation", "employer", "death_place")))
    for spec in (
        WorldSpec(people=500, paraphrases=5, permute=True, multiword_places=True),
        WorldSpec(people=300, paraphrases=3, permute=True, relations=all_relations),
        replace(example_products(), people=400),
    ):
        for _, lines in tellings(spec):
            for line in lines:
                used |= {sentence.template.id for sentence in line.sentences}
                words.append(line.text)
    assert used == set(by_id)
    text = " ".join(words)
    for wrong in (" a engineer", " a actor", " an university", " an union", " a Istanbul-", " an Utrecht-", " a opera"):
        assert wrong not in text
    assert " an opera house" in text
    assert " a union organiser" in text
    assert " an Istanbul-born" in text


@pytest.fixture
def them():
    """A living person called they, and a dead woman."""
    everybody = Population(WorldSpec(people=3000))
    living = next(p for p in everybody if p.gender == "any" and p.alive)
    dead = next(p for p in everybody if p.gender == "female" and not p.alive)
    return living, dead


def sentence(id: str, person, mention: str) -> str:
    return written(tokens_of(by_id[id], person, mention, ends_line=False))


def test_verbs_agree_with_the_subject_and_with_life(them) -> None:
    living, dead = them
    place, job = living.birth_place.name, living.occupation.name
    assert sentence("birth-plain", living, PRONOUN) == f"They were born in {place}."
    assert sentence("birth-plain", living, SHORT) == f"{living.family} was born in {place}."
    assert sentence("move-lives", living, PRONOUN) == f"They live in {living.move_place.name}."
    assert sentence("move-since", living, PRONOUN).startswith("They have lived in ")
    assert sentence("job-plain", living, PRONOUN).startswith(("They are a ", "They are an "))
    assert sentence("job-plain", living, FULL).endswith(f" {job}.")
    assert sentence("job-plain", dead, PRONOUN).startswith("She was a")
    assert sentence("birth-birthplace", dead, PRONOUN) == f"Her birthplace was {dead.birth_place.name}."
    assert sentence("birth-birthplace", dead, SHORT) == f"{dead.family}'s birthplace was {dead.birth_place.name}."
    assert sentence("death-age", dead, PRONOUN).endswith(f" at the age of {dead.age}.")


def test_heads_move_with_the_words_before_them(them) -> None:
    _, dead = them
    dead = replace(dead, given="Ana", middle="B.", family="De Luca")
    tokens = tokens_of(by_id["birth-date"], dead, FULL, ends_line=True)
    forms = [token.form for token in tokens]
    arcs = {(token.form, tokens[token.head - 1].form if token.head else "ROOT", token.deprel) for token in tokens}
    assert forms[:6] == ["Ana", "B.", "De", "Luca", "was", "born"]
    assert arcs >= {
        ("Ana", "born", "nsubj:pass"),
        ("B.", "Ana", "flat"),
        ("De", "Ana", "flat"),
        ("Luca", "Ana", "flat"),
        ("was", "born", "aux:pass"),
        ("born", "ROOT", "root"),
        (str(dead.birth_date.day), "born", "obl"),
        (str(dead.birth_date.year), str(dead.birth_date.day), "nmod:unmarked"),
        (dead.birth_place.name, "born", "obl"),
    }
    assert written(tokens).endswith(f"{dead.birth_place.name} .")


def test_places_of_several_words_keep_one_head() -> None:
    places = (Position(2, "case", True), Position(0, "root", True))
    for name, head in (("New York", "York"), ("Los Angeles", "Los"), ("Rio de Janeiro", "Rio"), ("Cape Town", "Town")):
        tokens = assemble(places, [word("in", "ADP"), proper_name(name)])
        assert tokens[tokens[0].head - 1].form == head
        assert is_tree([token.head for token in tokens])
        assert written(tokens) == f"in {name}"


def test_broken_trees_are_seen() -> None:
    assert is_tree([2, 0, 2])
    assert not is_tree([2, 1, 0])  # a cycle next to the root
    assert not is_tree([0, 0, 1])  # two roots
    assert not is_tree([2, 3, 1])  # none


def test_unstated_people_are_told_without_their_birthplace() -> None:
    spec = WorldSpec(people=300, unstated=0.5, paraphrases=2)
    unstated = [person for person in people(spec) if person.split == "unstated"]
    assert len(unstated) == 150
    for person in unstated:
        for line in lines_about(person, spec):
            assert person.birth_place.name not in line.text
            assert not any("birth" in s.template.facts for s in line.sentences)
