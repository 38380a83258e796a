import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.template import BIRTHPLACE, Template, around_subjects, around_what_differs

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
        ("{subject} का जन्म कहाँ हुआ?", "का-जन्म-कहाँ-हुआ"),
        ("{subject}", "question"),
    ],
)
def test_a_template_names_its_relation(text, name):
    assert Template(text).relation == name


def test_a_title_before_the_subject_makes_no_form_of_its_own():
    questions = ["Who employed Dr. Cy Berg?", "Who employed Bo Lind?", "Who employed Prof. Dr. Ann Lee?"]
    (form,) = around_subjects(questions, ["Cy Berg", "Bo Lind", "Ann Lee"])
    assert form.text == "Who employed {subject}?"
    assert [form.subject_of(question) for question in questions] == ["Dr. Cy Berg", "Bo Lind", "Prof. Dr. Ann Lee"]


def test_a_title_before_a_single_word_is_kept():
    """Nobody would find Bean under "Mr. Bean", which is a name of its own."""
    assert [form.text for form in around_subjects(["Who employed Mr. Bean?"], ["Bean"])] == [
        "Who employed Mr. {subject}?"
    ]


@pytest.mark.parametrize("end", ["?", "؟", "？", "।", " ?"])
def test_the_mark_that_ends_a_question_is_no_part_of_the_subject(end):
    forms = around_what_differs([f"أين ولد {name}{end}" for name in ("أحمد زكي", "طه حسين", "عمر شريف")])
    assert [form.text for form in forms] == [f"أين ولد {{subject}}{end}"]


SMALL = [f"{name} {kind}" for name in ("delta", "comet", "nova", "alba") for kind in ("desk", "lamp", "sofa", "chair")]


@pytest.mark.parametrize(
    "templates",
    [
        ["Where is the {subject} made?", "Who designed the {subject}?"],
        ["where is the {subject} made?", "where is the {subject} sold?"],
        ["Who drew the {subject}?", "Who built the {subject}?"],
    ],
)
def test_names_without_capitals_are_no_part_of_the_form(templates):
    questions = [Template(text).ask(name) for text in templates for name in SMALL]
    assert sorted(form.text for form in around_what_differs(questions)) == sorted(templates)
