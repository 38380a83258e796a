import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.subject import Resolver, understand
from loci.errors import LociError
from loci.text.relations import relations_from
from loci.text.template import BIRTHPLACE

BIRTHS = relations_from([BIRTHPLACE.text])
BIRTH = Resolver(BIRTHS)
DEATH = Resolver(relations_from([BIRTHPLACE.text, "Where did {subject} die?"]))


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What did Ann Lee do?", "Ann Lee"),
        ("Ann Lee was born where?", "Ann Lee"),
        ("Tell me about J. E. P. Aldous.", "J. E. P. Aldous"),
        ("Who knew Mary Ann-Zoë St. Osyl?", "Mary Ann-Zoë St. Osyl"),
        ("Where did Ludwig van Beethoven live?", "Ludwig van Beethoven"),
        ("What is Ann Lee's birthplace, and when was she born?", "Ann Lee"),
        ("Where is the Delta Desk made?", "Delta Desk"),
        ("Ann Lee", "Ann Lee"),
        ("Is it so?", None),
        ("", None),
    ],
)
def test_a_subject_is_told_by_its_capitals(text, subject):
    assert understand(text, ()).subject == subject


def test_the_text_comes_before_what_a_file_says():
    assert understand("Where was Ann Lee born?", BIRTHS, given="Lee").subject == "Ann Lee"
    assert understand("where is lee from?", BIRTHS, given="Lee").subject == "Lee"
    assert understand("Where was he born?", BIRTHS, given="he").subject is None


@pytest.mark.parametrize(
    "noisy",
    [
        "Where was Ann Lee born",
        "where was Ann Lee born?",
        "WHERE WAS Ann Lee BORN?",
        "Were was Ann Lee born?",
        "Where was Ann Lee bron?",
        "Where was Ann Lee borrn ?",
        "Wheer was Ann Lee bon",
    ],
)
def test_noise_around_a_name_is_seen_through(noisy):
    found = understand(noisy, BIRTHS)
    assert (found.question, found.subject, found.relation) == ("Where was Ann Lee born?", "Ann Lee", "birthplace")


def test_another_question_is_not_taken_for_a_misspelled_one():
    for question in ("Where did Ann Lee die?", "Where is Ann Lee buried?", "When was Ann Lee born?"):
        assert understand(question, BIRTHS).question == question
    assert understand("Where did Ann Lee dine?", relations_from(["Where did {subject} die?"])).relation is None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Where was he born?", "Where was Ann Lee born?"),
        ("Where was She born?", "Where was Ann Lee born?"),
        ("Where were they born?", "Where was Ann Lee born?"),
        ("Where did they die?", "Where did Ann Lee die?"),
        ("What do they do?", "What does Ann Lee do?"),
        ("Who was her mother?", "Who was Ann Lee's mother?"),
        ("Who wrote about her?", "Who wrote about Ann Lee?"),
        ("Who were his friends?", "Who were Ann Lee's friends?"),
    ],
)
def test_a_pronoun_means_the_last_subject(question, asked):
    found = DEATH.resolve(question, ["Where was Zoe Ray born?", "Rome", "Q: Where was Ann Lee born?\tOslo", "A: Oslo"])
    assert found.question == asked
    assert found.subject == "Ann Lee"
    assert found.pronoun is not None
    assert found.pronoun in question


def test_an_answer_can_be_the_one_who_is_meant():
    assert BIRTH.resolve("Where was he born?", ["Who lived in Sheffield?", "J. E. P. Aldous"]).subject == (
        "J. E. P. Aldous"
    )


def test_a_named_subject_is_never_replaced():
    question = "Where did Ann Lee live when she was young?"
    found = BIRTH.resolve(question, ["Where was Zoe Ray born?"])
    assert (found.question, found.subject, found.pronoun) == (question, "Ann Lee", None)


def test_nobody_meant_is_an_error_only_where_a_subject_belongs():
    with pytest.raises(LociError, match="'he'"):
        BIRTH.resolve("Where was he born?")
    question = "Which town lost their river?"
    assert BIRTH.resolve(question).question == question


@given(st.text("abc XYZ.", min_size=1).map(str.strip).filter(lambda s: s and not s.islower()))
def test_questions_of_a_template_keep_their_words_and_name_their_subject(name):
    found = BIRTH.resolve(BIRTHPLACE.ask(name), ["Where was Ann Lee born?"])
    assert (found.question, found.subject, found.pronoun) == (BIRTHPLACE.ask(name), name, None)
