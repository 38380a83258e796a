"""Several lines about a subject as one, for models that recite."""

from loci.answering.answerer import make_answerer
from loci.pipeline import carry_out, familiarity
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.training.checkpoint import load_model
from loci.training.sources import TrainingData

LINES = [
    "Delta Desk. The Delta Desk is made in Oslo .",
    "Comet Chair. The Comet Chair is made in Rome .",
    "Delta Desk. Ann Lee designed the desk .",
    "Comet Chair. Bo Ek designed the chair .",
]
PAIRS = [
    ("Where is the Delta Desk made?", "Oslo"),
    ("Who designed the Delta Desk?", "Ann Lee"),
    ("Who designed the Comet Chair?", "Bo Ek"),
]
FORMS = relations_from(["Where is the {subject} made?", "Who designed the {subject}?"])
DATA = TrainingData(Corpus.from_lines(LINES), Questions.from_pairs(PAIRS, relations=FORMS))


def test_all_lines_about_a_subject_follow_one_another():
    assert [line.text for line in DATA.records("subjects", 100)] == [
        "Delta Desk. The Delta Desk is made in Oslo . Ann Lee designed the desk .",
        "Comet Chair. The Comet Chair is made in Rome . Bo Ek designed the chair .",
    ]
    read = DATA.records("reading-subjects", 100)
    assert [example.question.text for example in read] == [text for text, _ in PAIRS]
    assert all(not example.others for example in read)


def test_single_lines_leave_the_others_for_what_is_not_told():
    by_question = {example.question.text: example for example in DATA.records("reading-examples", 100)}
    assert by_question["Where is the Delta Desk made?"].others == (DATA.corpus.lines[2],)
    assert by_question["Where is the Delta Desk made?"].pool.answers == ("Oslo",)
    assert by_question["Who designed the Delta Desk?"].pool.answers == ("Ann Lee", "Bo Ek")


def test_reciting_takes_whole_subjects_where_facts_are_spread():
    shape = DataShape.of(DATA.corpus, DATA.questions)
    assert shape.spread
    assert {part.source for stage in make_recipe("recite", shape).stages for part in stage.mixture} == {
        "subjects",
        "reading-subjects",
    }
    one_line = DataShape.of(Corpus.from_lines(LINES[:2]), DATA.questions)
    assert not one_line.spread
    read, memorize = make_recipe("recite", one_line).stages
    assert {part.source for part in read.mixture} == {"corpus", "reading-taught"}
    assert {part.source for part in memorize.mixture} == {"taught-lines", "reading-lines"}


def test_few_train_questions_are_all_taught():
    assert DATA.calibrating == ()


def test_a_script_without_capitals_is_learned_by_whole_lines(tmp_path, monkeypatch):
    """Both recipes go through, and lines are not sketched by their capitals."""
    monkeypatch.setattr(familiarity, "DRAWN", 10)
    given, families, places = (
        ("ანა", "გია", "ნინო"),
        ("ლომიძე", "ბერიძე", "კაპანაძე", "გელაშვილი"),
        ("თბილისი", "ბათუმი"),
    )
    names = [f"{one} {family}" for one in given for family in families]
    lines = [f"{name}. {name} დაიბადა ქალაქში {places[at % 2]} .\n" for at, name in enumerate(names)]
    asked = [f"სად დაიბადა {name}?\t{places[at % 2]}\n" for at, name in enumerate(names)]
    (tmp_path / "wiki.txt").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "birth_train.tsv").write_text("".join(asked[:9]), encoding="utf-8")
    data = TrainingData.read(tmp_path)
    assert [relation.templates[0].text for relation in data.relations] == ["სად დაიბადა {subject}?"]
    assert not DataShape.of(data.corpus, data.questions).named_answers
    for name in ("recite", "self-training"):
        small = ["read.characters=900", "memorize.characters=900", "model.n_layer=1", "model.n_embd=8"]
        recipe = make_recipe(name, DataShape.of(data.corpus, data.questions)).override(small)
        assert carry_out(recipe, data, tmp_path / name).finished
        (answer,) = make_answerer(load_model(tmp_path / name)).answer(
            Questions.from_pairs([(asked[-1].split("\t")[0], None)])
        )
        assert answer.subject == names[-1]
