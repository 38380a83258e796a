"""Several lines about a subject as one, for models that recite."""

from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.relations import relations_from
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
    assert make_recipe("recite", one_line).stages[1].mixture[0].source == "corpus"


def test_few_train_questions_are_all_taught():
    assert DATA.calibrating == ()
