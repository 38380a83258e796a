import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.template import BIRTHPLACE, Template

DEATH = Template("Where did {subject} die?")
names = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)


def test_the_default_asks_for_births():
    assert BIRTHPLACE.ask("Ada Lovelace") == "Where was Ada Lovelace born?"
    assert BIRTHPLACE.subject_of("Where was Ada Lovelace born?") == "Ada Lovelace"


@pytest.mark.parametrize(
    "question", ["Where did Ada die?", "Where was  born?", "Where was born?", "Where was Ada  born?", "", "Where was"]
)
def test_a_question_that_does_not_fit_has_no_subject(question):
    assert BIRTHPLACE.subject_of(question) is None


@given(names, st.sampled_from([BIRTHPLACE, DEATH, Template("{subject}"), Template("{subject}'s birthplace")]))
def test_asking_and_finding_the_subject_are_inverse(name, template):
    assert template.subject_of(template.ask(name)) == name


@pytest.mark.parametrize("text", ["Where?", "{subject} and {subject}", "{subject}\tborn", " {subject}?", "{Subject}?"])
def test_a_template_holds_the_subject_once_on_one_line(text):
    with pytest.raises(LociError):
        Template(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Where was {subject} born?", "birthplace"),
        ("Where is the {subject} made?", "where-made"),
        ("What is the capital of {subject}?", "what-capital"),
        ("What is {subject}'s occupation?", "what-occupation"),
        ("{subject} is?", "is"),
        ("{subject}", "question"),
    ],
)
def test_a_template_names_its_relation(text, name):
    assert Template(text).relation == name
