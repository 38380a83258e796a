from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.files import sha256_file
from loci.text.match import stands_in
from loci.text.world import RelationSpec, WorldSpec, example_products, tellings, world_text, write_world
from loci.text.world.sentences import answer_of
from loci.text.world.story import Asker
from loci.text.world.tables import relations

FIVE = ("birthplace", "birth_year", "occupation", "employer", "death_place")
SPEC = WorldSpec(people=300, relations=tuple(RelationSpec(name, 60, 0.2) for name in FIVE), outside=0.1)

SPECS = st.builds(
    WorldSpec,
    people=st.just(40),
    seed=st.integers(0, 10_000),
    paraphrases=st.integers(1, 4),
    permute=st.booleans(),
    full_names=st.booleans(),
    spread=st.booleans(),
    outside=st.sampled_from([0.0, 0.2]),
    relations=st.lists(
        st.builds(RelationSpec, st.sampled_from([*FIVE, "study_place"]), unstated=st.sampled_from([0.0, 0.3, 1.0])),
        min_size=1,
        max_size=5,
        unique_by=lambda relation: relation.name,
    ).map(tuple),
) | st.builds(
    lambda seed, unstated, paraphrases: replace(
        example_products(seed),
        people=20,
        paraphrases=paraphrases,
        relations=(RelationSpec("made_in", unstated=unstated), RelationSpec("designer")),
    ),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.5]),
    st.integers(1, 7),
)


@settings(max_examples=25, deadline=None)
@given(SPECS)
def test_lines_tell_exactly_what_the_truth_says_is_told(spec: WorldSpec) -> None:
    known = [relations(spec.kind)[relation.name] for relation in spec.relations]
    for subject, lines in tellings(spec):
        assert len(lines) == (0 if subject.split == "outside" else spec.paraphrases)
        stated = [[fact for sentence in line.sentences for fact in sentence.template.facts] for line in lines]
        assert set().union(*stated) == set(subject.told)
        for facts, line in zip(stated, lines, strict=True):
            assert facts
            assert len(set(facts)) == len(facts)
            assert spec.spread or set(facts) == set(subject.told)
            for relation in known:
                answer = answer_of(relation, subject)
                told = answer is not None and stands_in(line.text, answer, whole=True)  # a bakery tells of no baker
                assert told == (relation.fact in facts)


def test_every_relation_keeps_its_share_of_people_it_does_not_tell() -> None:
    spec = replace(SPEC, people=1000, outside=0.0)
    untold = Counter(
        fact for subject, _ in tellings(spec) for fact in ("birth", "birth_year", "job") if fact not in subject.told
    )
    assert untold == {"birth": 200, "birth_year": 200, "job": 200}
    both = sum(not {"birth", "job"} & {*subject.told} for subject, _ in tellings(spec))
    assert 20 <= both <= 60  # independent of each other


def test_what_a_relation_tells_does_not_depend_on_the_others() -> None:
    alone = replace(SPEC, relations=(RelationSpec("employer", unstated=0.2),))
    told = [["employer" in subject.told for subject, _ in tellings(spec)] for spec in (SPEC, alone)]
    assert told[0] == told[1]


def test_everybody_is_in_one_split_of_every_relation() -> None:
    asker = Asker(SPEC)
    rows = [row for subject, _ in tellings(SPEC) for row in asker.rows(subject)]
    truth = {subject.name: subject for subject, _ in tellings(SPEC)}
    for name in FIVE:
        mine = [row for row in rows if row.relation == name]
        assert [row.subject for row in mine] == list(truth)
        counts = Counter(row.split for row in mine)
        assert counts["train"] == 60
        assert counts["outside"] == 30
        for row in mine:
            person = truth[row.subject]
            assert row.told == (row.split not in ("unstated", "outside"))
            assert row.split == "unstated" or row.split == person.split.replace("train", row.split)
            assert row.shown == row.told
    first = [row.subject for row in rows if row.relation == "employer" and row.split == "train"]
    told = [p.name for p in truth.values() if p.split == "train" and "employer" in p.told]
    assert first == told[:60]


def test_files_of_every_relation_stand_side_by_side(tmp_path: Path) -> None:
    spec = replace(SPEC, relations=(RelationSpec("birthplace", 50), RelationSpec("employer", 0, 0.3)))
    summary = write_world(spec, tmp_path / "w", jsonl=True)
    files = {file.name: file.lines for file in summary.files}
    assert files["birthplace_train.tsv"] == 50
    assert "employer_train.tsv" not in files  # asked of nobody in training: the dev questions measure zero-shot reading
    assert files["employer_unstated.tsv"] + files["employer_dev.tsv"] < 300
    assert not any(name.startswith(("birth_", "relations/")) for name in files)
    text = world_text(spec)
    for name, pairs in text.questions.items():
        written = (tmp_path / "w" / name).read_text(encoding="utf-8").splitlines()
        assert written == [question if answer is None else f"{question}\t{answer}" for question, answer in pairs]
    people = [json.loads(line) for line in (tmp_path / "w" / "people.jsonl").read_text().splitlines()]
    unstated = [p["name"] for p in people if not p["relations"]["employer"]["told"] and p["split"] != "outside"]
    assert text.questions["employer_unstated.tsv"] == tuple((f"Who employed {name}?", None) for name in unstated)
    manifest = json.loads((tmp_path / "w" / "world.json").read_text())
    assert manifest["spec"]["relations"][1] == {"name": "employer", "train_questions": 0, "unstated": 0.3}
    assert manifest["spec"] == spec.as_data()


def test_json_lines_have_the_same_fields_throughout(tmp_path: Path) -> None:
    write_world(SPEC, tmp_path / "w", jsonl=True)
    for name, keys in (
        ("corpus", ["line", "subject", "text"]),
        ("questions", ["question", "answers", "subject", "relation", "split", "told"]),
    ):
        rows = [json.loads(line) for line in (tmp_path / "w" / "jsonl" / f"{name}.jsonl").read_text().splitlines()]
        assert all(list(row) == keys for row in rows)
        assert len({tuple(type(value) for value in row.values()) for row in rows}) == 1
    assert len(rows) == 300 * 5
    assert all(len(row["answers"]) == row["told"] for row in rows)
    assert {row["split"] for row in rows} == {"train", "dev", "test", "unstated", "outside", "unasked"}


def test_questions_come_in_several_wordings() -> None:
    spec = replace(SPEC, wordings=3)
    forms = Counter(
        question.replace(row.subject, "{subject}")
        for row in (row for subject, _ in tellings(spec) for row in Asker(spec).rows(subject))
        for question in [row.question]
        if row.relation == "birthplace"
    )
    assert forms == dict.fromkeys(relations("people")["birthplace"].questions, 100)


def test_the_products_that_come_with_loci() -> None:
    text = world_text(example_products())
    assert len(text.lines) == 180
    assert {name: len(pairs) for name, pairs in text.questions.items()} == {
        **{"made_in_train.tsv": 40, "made_in_dev.tsv": 20},
        **{"designer_train.tsv": 40, "designer_dev.tsv": 20},
    }
    for lines in (text.lines[at : at + 3] for at in range(0, 180, 3)):
        headings = {line.partition(".")[0] for line in lines}
        assert len(headings) == 1
        assert headings.pop().startswith("The ")
    assert text.questions["made_in_train.tsv"][0][0].startswith("Where is the ")
    assert text.questions["designer_train.tsv"][0][0].startswith("Who designed the ")
    for question, answer in text.questions["designer_dev.tsv"]:
        name = question.removeprefix("Who designed the ").removesuffix("?")
        assert any(line.startswith(f"The {name}.") and answer is not None and answer in line for line in text.lines)


# Same seed, same bytes on every machine. A change here is a new WORLD_VERSION.
@pytest.mark.parametrize(
    ("spec", "golden"),
    [
        (replace(SPEC, wordings=3, spread=True, paraphrases=2), "2736731d5b38ad46"),
        (example_products(), "8f41a466a24ed391"),
    ],
)
def test_the_same_seed_gives_the_same_bytes(spec: WorldSpec, golden: str, tmp_path: Path) -> None:
    write_world(spec, tmp_path / "w", conllu=True, jsonl=True)
    assert sha256_file(tmp_path / "w" / "world.json")[:16] == golden  # it holds the hashes of all others


def test_a_relation_is_parsed_from_a_flag() -> None:
    assert RelationSpec.parse("employer", 200, 0.2) == RelationSpec("employer", 200, 0.2)
    assert RelationSpec.parse("employer:30", 200, 0.2) == RelationSpec("employer", 30, 0.2)
    assert RelationSpec.parse("employer:30:0.5", 200, 0.2) == RelationSpec("employer", 30, 0.5)
    assert RelationSpec.parse("employer::0.5") == RelationSpec("employer", None, 0.5)
    for bad in ("employer:x", "employer:1:y", "employer:1:0.5:2"):
        with pytest.raises(LociError, match="is not NAME"):
            RelationSpec.parse(bad)


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"relations": (RelationSpec("shoe_size"),)}, "unknown relation 'shoe_size'.*birthplace, birth_year"),
        ({"relations": (RelationSpec("made_in"),)}, "unknown relation 'made_in'"),
        ({"relations": (RelationSpec("employer"), RelationSpec("employer"))}, "named twice"),
        ({"relations": (RelationSpec("employer", 900),)}, "train questions of employer must be from 0 to 681, not 900"),
        ({"relations": (RelationSpec("employer", unstated=1.5),)}, "unstated of employer must be from 0.0 to 1.0"),
        ({"relations": (RelationSpec("employer"),), "unstated": 0.1}, "unstated is a share of each relation"),
        ({"wordings": 4}, "wordings must be from 1 to 3, not 4"),
        ({"kind": "planets"}, "unknown kind of world 'planets' .one of: people, products"),
        ({"kind": "products", "people": 60}, "a world of products needs relations"),
        ({"kind": "products"}, "people must be from 1 to 400, not 1000"),
    ],
)
def test_a_bad_relation_is_named(knobs, named) -> None:
    with pytest.raises(LociError, match=named):
        WorldSpec(**knobs)


def test_too_few_people_for_the_train_questions_leave_nothing_behind(tmp_path: Path) -> None:
    spec = replace(SPEC, relations=(RelationSpec("death_place", 180, 0.5),))
    with pytest.raises(LociError, match=r"only \d+ of the train people have lines that tell death_place, 180 train"):
        write_world(spec, tmp_path / "w")
    assert list(tmp_path.iterdir()) == []
