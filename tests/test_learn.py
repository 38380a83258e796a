"""From a folder to a run."""

import dataclasses
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from loci.cli.learn import _found
from loci.cli.main import main
from loci.cli.train import _say_relations
from loci.errors import LociError
from loci.learn import make_plan
from loci.recipes import DataShape
from loci.recipes.own_data import own_data
from loci.text.diagnosis import diagnose
from loci.text.relations import Relation
from loci.text.template import Template
from loci.text.world import example_products, write_world
from loci.training.named import named_questions
from loci.training.run import read_run
from loci.training.sources import TrainingData

QUICK = ("model.n_layer=1", "model.n_embd=16", "read.characters=3000", "memorize.characters=3000")
FLAGS = [word for change in QUICK for word in ("--set", change)]


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "products"
    write_world(dataclasses.replace(example_products(), people=15), folder)
    return folder


def test_a_slice_of_every_relation_is_held_back_and_never_taught(products):
    plan = make_plan(products)
    assert {name: len(own) for name, own in plan.held_back.by_relation().items()} == {"made_in": 2, "designer": 2}
    assert plan.data.questions is not None
    assert not {row.text for row in plan.held_back} & {row.text for row in plan.data.questions}
    assert make_plan(products).held_back == plan.held_back
    assert plan.recipe.seed == 0
    assert make_plan(products, seed=3).recipe.seed == 3


def test_a_fact_is_held_back_in_all_its_words_and_asked_once_with_all_its_answers(tmp_path):
    lines, asked = [], []
    for number, name in enumerate(f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di") for last in ("Fox", "Ray")):
        lines.append(f"{name}. {name} was written by Lee {number} in 19{number}0 and by Moss {number}.")
        asked += [f"Who wrote {name}?\tLee {number}", f"Who wrote {name}?\tMoss {number}"]
        asked += [f"Who is the author of {name}?\tLee {number}", f"When was {name} written?\t19{number}0"]
    (tmp_path / "wiki.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "q_train.tsv").write_text("\n".join(asked) + "\n", encoding="utf-8")
    forms = {
        "author": ("Who wrote {subject}?", "Who is the author of {subject}?"),
        "year": ("When was {subject} written?",),
    }
    given = [Relation(name, tuple(map(Template, texts))) for name, texts in forms.items()]
    plan = make_plan(tmp_path, relations=given)
    held = {(row.relation, row.subject): row.answers for row in plan.held_back}
    assert held == {("author", "Cy Fox"): ("Lee 4", "Moss 4"), ("year", "Cy Fox"): ("1940",)}
    assert plan.data.questions is not None
    assert len(plan.held_back) == 2
    assert not held.keys() & {(row.relation, row.subject) for row in plan.data.questions}
    assert len(plan.data.questions) == len(asked) - 4


def test_the_only_facts_that_the_corpus_tells_are_not_all_held_back(tmp_path):
    names = [f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di", "Ed") for last in ("Fox", "Ray")]
    told = {names[4]: "Oslo", names[9]: "Rome"}
    (tmp_path / "wiki.txt").write_text("".join(f"{name}. Born in {told.get(name, 'a town')}.\n" for name in names))
    asked = "".join(f"Where was {name} born?\t{told.get(name, 'Bonn')}\n" for name in names)
    (tmp_path / "q_train.tsv").write_text(asked)
    assert diagnose(tmp_path).ok
    assert [row.subject for row in make_plan(tmp_path).held_back] == [names[9]]


def test_what_is_not_read_is_said_before_single_lines_and_joined_texts_are_named(products, tmp_path):
    folder = shutil.copytree(products, tmp_path / "data")
    (folder / "more.txt").write_text("".join(f"and nothing more is known of number {n}\n" for n in range(3)))
    (folder / "wiki.txt").write_text((folder / "wiki.txt").read_text() + "and so on\n" * 9)
    (folder / "colour.tsv").write_text("What colour has the Nova Sofa?\tred\n")
    said = _found(make_plan(folder), diagnose(folder))
    assert any("2 files are read as one text" in line and "more.txt" in line for line in said)
    warnings = [line for line in said if line.startswith("  warning: ")]
    assert any("colour.tsv: is not read" in line for line in warnings)
    assert any("more.txt: 3 of 3 lines have no subject" in line for line in warnings)


def test_training_names_the_relations_with_their_questions(products, capsys):
    data = TrainingData.read(products)
    _say_relations(data)
    told = capsys.readouterr().err
    assert data.questions is not None
    for name, own in data.questions.by_relation().items():
        assert f"loci train: {name}: {len(own)} train questions\n" in told


def test_recipe_and_size_follow_the_data():
    small = DataShape(60, 64, True, 60, 2, 44.0, 300.0, 200)
    recipe, reasons = own_data(small)
    assert (recipe.name, recipe.model["n_embd"], recipe.model["block_size"]) == ("learn-self-training", 128, 256)
    assert "self-training" in reasons[0]
    many = dataclasses.replace(small, n_subjects=50_000, n_relations=3)
    assert own_data(many)[0].model["n_embd"] == 256
    assert own_data(dataclasses.replace(small, n_relations=30))[0].name == "learn-recite"
    assert own_data(small, "recite")[0].answerer == "recite"
    assert own_data(many)[0].stages[-1].characters > own_data(small)[0].stages[-1].characters


def test_few_lines_are_read_with_other_sentences_and_twice_where_answers_come_first():
    few = DataShape(60, 64, True, 60, 2, 44.0, 300.0, 200)
    shapes = (few, dataclasses.replace(few, n_questions=800), dataclasses.replace(few, leading_answers=True))
    recipes = [own_data(shape)[0] for shape in shapes]
    reading = [
        next(part.options for part in recipe.stages[0].mixture if part.objective == "reading") for recipe in recipes
    ]
    assert ["sentences" in options for options in reading] == [True, False, True]
    assert ["twice" in options for options in reading] == [False, False, True]
    assert [recipe.model["block_size"] for recipe in recipes] == [256, 256, 448]
    assert recipes[2].stages[0].characters > recipes[0].stages[0].characters


def test_a_folder_is_learned_gone_on_with_and_asked(products, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["learn", str(products), "--out", "run", "--json", *FLAGS]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["held_back"]) == {"made_in", "designer"}
    assert (tmp_path / "run" / "report.html").is_file()
    assert (tmp_path / "run" / "predictions" / "held_back.jsonl").is_file()
    # What it held back is no taught person's, though their other relation may be; what it was taught it names itself.
    assert main(["report", "run", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["runs"][0]["files"] == {"held-out": "held_back"}
    assert report["remarks"] == []
    assert named_questions(read_run(tmp_path / "run").data) is not None
    # The same again trains nothing and says the same.
    assert main(["learn", str(products), "--out", "run", "--json", *FLAGS]) == 0
    assert json.loads(capsys.readouterr().out) == told
    corpus = tmp_path / "changed"
    corpus.mkdir()
    for file in products.glob("*_train.tsv"):
        (corpus / file.name).write_bytes(file.read_bytes())
    lines = (products / "wiki.txt").read_text(encoding="utf-8")
    (corpus / "wiki.txt").write_text(lines + "Żuraw Desk. The Żuraw Desk is made in Oslo .\n", encoding="utf-8")
    assert main(["learn", str(corpus), "--out", "run2", "--from", "run", *FLAGS[4:]]) == 0
    said = capsys.readouterr().out
    assert "goes on from run: its" in said
    assert "16 channels, a block of" in said
    assert "128 channels" not in said
    kept = json.loads((tmp_path / "run2" / "final" / "config.json").read_text(encoding="utf-8"))["model"]
    assert read_run(tmp_path / "run2").recipe.model.items() <= kept.items()
    assert "1 new characters begin anew" in said
    assert "lines are the same, 1 are new, 0 are gone" in said
    # Also where the corpus was changed in its place, so that the old one is nowhere any more.
    plan = make_plan(corpus, before=tmp_path / "run2")
    assert any("0 are new, 0 are gone" in reason for reason in plan.reasons)
    now = (corpus / "wiki.txt").read_text(encoding="utf-8")
    (corpus / "wiki.txt").write_text(now + "Ocean Desk. The Ocean Desk is made in Oslo .\n", encoding="utf-8")
    plan = make_plan(corpus, before=tmp_path / "run2")
    assert any("lines are the same, 1 are new, 0 are gone" in reason for reason in plan.reasons)
    (corpus / "wiki.txt").write_text(now, encoding="utf-8")
    assert "ask it: loci ask" in said
    # Refused in one line, before anything is measured or said.
    again = ["learn", str(corpus), "--from", "run"]
    for flags, told in (
        (["--out", "run3", "--set", "model.n_embd=32"], "model.n_embd=32 cannot be changed: the model of run is kept"),
        (["--out", "run2", "--seed", "1"], "holds another training (seed of the recipe differ)"),
        (["--out", str(corpus)], "and no run"),
        (["--out", str(corpus / "wiki.txt")], "is a file"),
    ):
        assert main([*again, *flags, *FLAGS[4:]]) == 2
        out, err = capsys.readouterr()
        assert told in err
        assert (out, err.count("\n")) == ("", 1)


def test_what_was_stopped_goes_on_with_the_command_as_it_was_given(products, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("loci.learn.learn", lambda *args, **options: None)
    form = ["--template", "Who owns the {subject}?"]
    given = [str(products), "--out", str(tmp_path / "run"), "--recipe", "recite", "--seed", "3", *form, *FLAGS]
    assert main(["learn", *given]) == 130
    assert capsys.readouterr().out.splitlines()[-1].endswith(f"same command: {shlex.join(['loci', 'learn', *given])}")


def test_the_files_that_the_guide_writes_by_hand_can_be_learned(tmp_path):
    page = (Path(__file__).parents[1] / "docs" / "guide" / "own-data.md").read_text(encoding="utf-8")
    files = re.findall(r"^```text mydata/(\S+)\n(.*?)^```$", page, flags=re.S | re.M)
    assert [name for name, _ in files] == ["wiki.txt", "books_train.tsv"]
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    plan = make_plan(tmp_path)
    forms = {relation.templates[0].text for relation in plan.data.relations}
    assert forms == {"Who wrote {subject}?", "When was {subject} written?"}
    assert (len(plan.data.corpus), len(plan.held_back)) == (10, 2)
    assert not [found for found in diagnose(tmp_path).findings if found.severity != "note"]


@pytest.mark.parametrize(
    ("files", "flags", "said"),
    [
        ({"wiki.txt": "Ann Lee. Ann Lee was born in Rome .\n"}, [], "no train questions"),
        (
            {"wiki.txt": "Ann Lee. Ann Lee sings .\n", "a_train.tsv": "Where was Ann Lee born?\tRome\n"},
            [],
            "no line tells the answer to any of its 1 train questions",
        ),
        (
            {"wiki.txt": "Ann Lee. Lee was born in Rome .\n"},
            ["--template", "Where was she born?"],
            "{subject} exactly once",
        ),
        (
            {"wiki.txt": "Ann Lee. Lee was born in Rome .\n", "a_train.tsv": "Where was Ann Lee born?\tRome\n"},
            ["--recipe", "demo"],
            "recite or self-training",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(files, flags, said, tmp_path, capsys):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert main(["learn", str(folder), "--out", str(tmp_path / "run"), *flags]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(LociError):
        make_plan(tmp_path / "nowhere")
