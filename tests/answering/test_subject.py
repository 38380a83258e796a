import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.subject import PRONOUNS, Resolver, find_subject
from loci.errors import LociError
from loci.text.template import BIRTHPLACE, Template

BIRTH = Resolver((BIRTHPLACE,))
DEATH = Resolver((BIRTHPLACE, Template("Where did {subject} die?")))


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
        ("where was ann lee born?", None),
        ("Ann Lee", "Ann Lee"),
        ("Is it so?", None),
        ("", None),
    ],
)
def test_a_subject_is_told_by_its_capitals(text, subject):
    assert find_subject(text, ()) == subject


def test_a_given_subject_comes_first_then_the_templates():
    assert find_subject("Where was ann lee born?", (BIRTHPLACE,)) == "ann lee"
    assert find_subject("Where was Ann Lee born?", (BIRTHPLACE,), given="Lee") == "Lee"
    assert find_subject("Where was he born?", (BIRTHPLACE,), given="he") is None


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


@given(st.text("abc XYZ.", min_size=1).map(str.strip).filter(lambda s: s and s.lower() not in PRONOUNS))
def test_questions_of_a_template_keep_their_words_and_name_their_subject(name):
    found = Resolver((BIRTHPLACE,)).resolve(BIRTHPLACE.ask(name), ["Where was Ann Lee born?"])
    assert (found.question, found.subject, found.pronoun) == (BIRTHPLACE.ask(name), name, None)
