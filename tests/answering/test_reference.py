import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.reference import PRONOUNS, Resolver, longest_subject
from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.template import BIRTHPLACE, Template

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Ann Lee was born in Oslo .",
        "Ann. Ann was a mathematician .",
        "J. E. P. Aldous. Born in Sheffield .",
        "Crime (novel). It was written in Rome .",
    ]
)
BIRTH = Resolver((BIRTHPLACE,), CORPUS)
DEATH = Resolver((BIRTHPLACE, Template("Where did {subject} die?")), CORPUS)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What did Ann Lee do?", "Ann Lee"),
        ("What did Ann do?", "Ann"),
        ("What did Anna Leeds do?", None),
        ("Tell me about J. E. P. Aldous.", "J. E. P. Aldous"),
        ("Who wrote Crime (novel)?", "Crime (novel)"),
        ("Ann Lee", "Ann Lee"),
        ("", None),
    ],
)
def test_the_longest_subject_that_stands_in_a_text(text, subject):
    assert longest_subject(text, CORPUS) == subject


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
