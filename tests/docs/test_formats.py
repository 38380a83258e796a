"""Every example in docs/formats.md is read by the reader that Loci itself uses, and by no laxer one."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from markdown_blocks import blocks

from loci.answering.confidence import read_calibration
from loci.answering.subject import Resolver
from loci.attention_lab.parses import read_conllu
from loci.evaluation.comparison.artifacts import read_groups, read_places
from loci.evaluation.external_predictions import read_external
from loci.evaluation.rows import Row, read_rows
from loci.files import read_struct, sha256_file
from loci.manifest import MANIFEST, read_manifest, write_manifest
from loci.model import GPTConfig
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.relations import Relation, read_relations, relations_from
from loci.text.template import BIRTHPLACE
from loci.text.vocab import Vocab
from loci.text.world.spec import RelationSpec, WorldSpec
from loci.text.world.writer import write_world
from loci.training.checkpoint import CheckpointConfig, TrainingState
from loci.training.run import FORMAT, METRICS, RUN, read_metrics, read_run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
ADA, BELL = "Ada Moss", "J. E. P. Bell"


def examples():
    found = [(*block.info.split(), block.text) for block in blocks(PAGE.read_text(encoding="utf-8"))]
    assert all(len(parts) == 4 for parts in found), "a block of this page says language, kind and file name"
    return [(kind, name, text) for _, kind, name, text in found]


def corpus(path):
    found = Corpus.read(path)
    assert [line.subject for line in found] == [ADA, BELL, ADA]
    assert found.findings == ()


def questions(path):
    found = Questions.read(path)
    assert found.subjects == (ADA, BELL)
    assert [row.answer for row in found] == (["Oslo", "Cork"] if "test" not in path.name else [None, None])
    assert found.repairs == ()


def documents(path):
    assert [line.text for line in Corpus.read(path)] == [
        "Ada Moss. Ada Moss was born in Oslo.",
        "Ada Moss. She studied in Lund.",
        "J. E. P. Bell. Bell, born in Cork, painted in Rome.",
    ]


def templates(path):
    birthplace, employer = read_relations(path)
    assert birthplace.templates == (BIRTHPLACE,)
    assert [template.subject_of(f"{ADA} worked for whom?") for template in employer.templates] == [None, ADA]


def relations(path):
    questions(path)
    assert [line.subject for line in Corpus.read(path)] == [ADA, BELL]


def groups(path):
    assert read_groups(path) == {ADA: "nordic", BELL: "irish"}


def places(path):
    assert read_places(path) == {"Oslo", "New York"}


def history(path):
    said = path.read_text(encoding="utf-8").splitlines()
    resolver = Resolver(relations_from([BIRTHPLACE.text]))
    assert resolver.last_subject(said) == ADA
    assert resolver.last_subject(said[:2]) == BELL


def people(path):
    assert read_groups(path) == {ADA: "nordic"}
    assert read_places(path) == {"Oslo", "Lund", "Rome"}
    write_world(WorldSpec(people=20, seed=0), path.parent / "world")
    ours = json.loads((path.parent / "world" / "people.jsonl").read_text(encoding="utf-8").splitlines()[0])
    shown = json.loads(path.read_text(encoding="utf-8"))
    assert list(shown) == list(ours)
    assert {name: list(part) for name, part in shown.items() if isinstance(part, dict)}.items() <= {
        "birth": ["place", "country", "date"],
        "study": ["place", "field"],
        "work": ["place", "at"],
        "move": ["place", "year"],
    }.items()


def world_question(path):
    spec = WorldSpec(people=20, relations=(RelationSpec("employer"),))
    write_world(spec, path.parent / "relations", jsonl=True)
    ours = (path.parent / "relations" / "jsonl" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    shown = json.loads(path.read_text(encoding="utf-8"))
    assert list(shown) == list(json.loads(ours[0]))
    (row,) = Questions.read(path)
    assert (row.subject, row.answers) == (ADA, ("Rome Workshop",))


def conllu(path):
    (parse,) = read_conllu(path).parses
    assert parse.words[:2] == ("Ada", "Moss")
    assert parse.relations[3] == "root"


def rows(path):
    first, second, third = read_rows(path)
    assert (first.correct, second.correct, third.correct) == (True, False, None)
    assert set(json.loads(path.read_text(encoding="utf-8").splitlines()[0])) == {f.name for f in fields(Row)}


def external(path):
    asked = Questions.from_pairs([(f"Where was {ADA} born?", "Oslo"), (f"Where was {BELL} born?", "Cork")])
    found = read_external(path, asked)
    assert found[0].correct
    assert found[0].probability == (None if path.suffix == ".txt" else 0.9)


def run(path):
    assert path.name == RUN
    write_manifest(path.parent, "run", FORMAT, {RUN: sha256_file(path)})
    info = read_run(path.parent)
    assert (info.recipe.name, info.recipe.stages[0].characters) == ("tiny", 2e6)
    assert info.data["corpus"] == str(path.parent.parent.resolve() / "world" / "wiki.txt")


def manifest(path):
    assert path.name == MANIFEST
    assert list(read_manifest(path.parent, "run", FORMAT, remedy="").sha256) == [RUN]


def metrics(path):
    assert path.name == METRICS
    assert [row["total_steps"] for row in read_metrics(path.parent)] == [1, 2]


def calibration(path):
    found = read_calibration(path.parent)
    assert found.apply([0.6]) == pytest.approx([0.4])
    assert json.loads(path.read_text(encoding="utf-8")) == found.as_dict()


def config(path):
    data = read_struct(path, CheckpointConfig, remedy="")
    model = GPTConfig.from_dict(data.model)
    assert len(Vocab(data.vocabulary)) == model.vocab_size
    (birthplace,) = map(Relation.from_dict, data.relations)
    assert (birthplace.longest, birthplace.joiners) == (4, {", "})


def state(path):
    found = read_struct(path, TrainingState, remedy="")
    assert (found.stage, found.step) == (1, 40)


READERS = {
    "corpus": corpus,
    "questions": questions,
    "documents": documents,
    "templates": templates,
    "relations": relations,
    "groups": groups,
    "places": places,
    "history": history,
    "people": people,
    "world_question": world_question,
    "conllu": conllu,
    "rows": rows,
    "external": external,
    "run": run,
    "manifest": manifest,
    "metrics": metrics,
    "calibration": calibration,
    "config": config,
    "state": state,
}


@pytest.mark.parametrize(("kind", "name", "text"), examples(), ids=lambda value: str(value)[:30].split("\n")[0])
def test_an_example_is_what_the_reader_reads(kind, name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    READERS[kind](path)


def test_every_kind_has_an_example():
    assert {kind for kind, _, _ in examples()} == set(READERS)


def test_the_page_names_every_field_of_a_row():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{field.name}`" in text for field in fields(Row))
