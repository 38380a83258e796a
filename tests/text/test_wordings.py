import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.text.relations import Relation, relations_from
from loci.text.template import BIRTHPLACE, Template
from loci.text.wordings import find_subject

BIRTH = (Relation("birthplace", (BIRTHPLACE,)),)
SHOP = relations_from(["Where is the {subject} made?", "Who designed the {subject}?", "What is {subject}'s price?"])
PEOPLE = relations_from(
    ["Where was {subject} born?", "When was {subject} born?", "Where did {subject} die?", "What did {subject} study?"]
)
SMALL = (Relation("inventor", (Template("Who invented the {subject}?"),), names=False),)

# question, relations, name of the relation found, subject found, how
ODD = [
    ("Where was Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "template"),
    ("Where was J. E. P. Bell born?", BIRTH, "birthplace", "J. E. P. Bell", "template"),
    ("Where was ada moss born?", BIRTH, "birthplace", "Ada Moss", "template"),
    # no question mark, case, punctuation, space
    ("Where was Ada Moss born", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("where was Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("where was ada moss born", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("where was ludwig van beethoven born", BIRTH, "birthplace", "Ludwig van Beethoven", "near template"),
    ("where was jean-luc o'hara born?", BIRTH, "birthplace", "Jean-Luc O'Hara", "near template"),
    ("where was ian mcgrath born", BIRTH, "birthplace", "Ian McGrath", "near template"),
    ("where was j. e. p. bell born", BIRTH, "birthplace", "J. E. P. Bell", "near template"),
    ("WHERE WAS ADA MOSS BORN?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where was ADA MOSS born?", BIRTH, "birthplace", "Ada Moss", "template"),
    ("Where was IBM born?", BIRTH, "birthplace", "IBM", "template"),
    ("Where was DJ AM born?", BIRTH, "birthplace", "DJ AM", "template"),
    ("Where was BMW 507 born?", BIRTH, "birthplace", "BMW 507", "template"),
    ("Where was JRR TOLKIEN born?", BIRTH, "birthplace", "JRR TOLKIEN", "template"),
    ("Where was  Ada Moss  born ?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where was Ada Moss born??", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where was “Ada Moss” born?!", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where was John Smith (footballer) born", BIRTH, "birthplace", "John Smith (footballer)", "near template"),
    # typing errors
    ("Where was Ada Moss bron?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where was Ada Moss borne?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where wsa Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Were was Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Where did Ada Moss dine?", PEOPLE, None, "Ada Moss", "words"),
    ("Wher was Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "near template"),
    ("Who desgined the Delta Desk?", SHOP, "who-designed", "Delta Desk", "near template"),
    ("who designd the delta desk", SHOP, "who-designed", "Delta Desk", "near template"),
    # an article more or less, a possessive
    ("Who designed Delta Desk?", SHOP, "who-designed", "Delta Desk", "near template"),
    ("Where is Delta Desk made", SHOP, "where-made", "Delta Desk", "near template"),
    ("what is the Delta Desk’s price", SHOP, "what-price", "the Delta Desk", "near template"),
    # other wordings
    ("Ada Moss was born where?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("ada moss was born where", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Tell me where Ada Moss was born.", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Do you know where Ada Moss was born?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("In which city was Ada Moss born?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("In what country was Ludwig van Beethoven born?", BIRTH, "birthplace", "Ludwig van Beethoven", "words"),
    ("Birthplace of Ada Moss?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("What is the birthplace of Ada Moss?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("What is Ada Moss's birthplace?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("birthplace of ada moss", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Ada Moss: where born?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Ada Moss, where was she born?", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Please say where exactly the painter Ada Moss was born", BIRTH, "birthplace", "Ada Moss", "words"),
    ("Which designer is the Delta Desk by?", SHOP, "who-designed", "Delta Desk", "words"),
    ("The Delta Desk is made where?", SHOP, "where-made", "Delta Desk", "words"),
    ("Gus was born where?", BIRTH, "birthplace", "Gus", "words"),
    # several relations
    ("when was ada moss born", PEOPLE, "when-born", "Ada Moss", "near template"),
    ("Ada Moss was born when?", PEOPLE, "when-born", "Ada Moss", "words"),
    ("In which year was Ada Moss born?", PEOPLE, "when-born", "Ada Moss", "words"),
    ("In which town was Ada Moss born?", PEOPLE, "birthplace", "Ada Moss", "words"),
    ("Ada Moss died where?", PEOPLE, "where-die", "Ada Moss", "words"),
    ("Ada Moss studied what?", PEOPLE, "what-study", "Ada Moss", "words"),
    # what nothing tells
    ("When was Ada Moss born?", BIRTH, None, "Ada Moss", "words"),
    ("In what year was Ada Moss born?", BIRTH, None, "Ada Moss", "words"),
    ("Who designed the town of Lund?", BIRTH, None, "Lund", "words"),
    ("Where did Ada Moss live?", BIRTH, None, "Ada Moss", "words"),
    ("Ada Moss", BIRTH, None, "Ada Moss", "words"),
    ("Where was she born?", BIRTH, "birthplace", None, "template"),
    ("where was he born", BIRTH, "birthplace", None, "near template"),
    ("Is it so?", BIRTH, None, None, "nothing"),
    ("", BIRTH, None, None, "nothing"),
    # subjects without capitals
    ("Who invented the telephone?", SMALL, "inventor", "telephone", "template"),
    ("who invnted the steam engine", SMALL, "inventor", "steam engine", "near template"),
]


@pytest.mark.parametrize(("question", "relations", "relation", "subject", "how"), ODD, ids=[row[0] for row in ODD])
def test_odd_wordings(question, relations, relation, subject, how):
    found = find_subject(question, relations)
    assert (found.relation.name if found.relation else None, found.subject, found.how) == (relation, subject, how)


# Each has words of "Where was … born?" and asks something else.
OTHER = [
    # of somebody else, or of several
    "Where were {}'s children born?",
    "Where was {}'s mother born?",
    "Where was {}’s mother born?",
    "Where was the wife of Ada Moss born?",
    "Where were {} and his brother born?",
    "Who was born in the same place as {}?",
    "Who was born where {} died?",
    "Whose birthplace is {}?",
    "How many people were born in the city of {}?",
    # for yes or no
    "Was {} born in London?",
    "Is {} born in a town?",
    "Was {} born?",
    "Is the birthplace of {} a city?",
    # for another kind of answer
    "Which team was {} born to lead?",
    "What was {} born to do?",
    "Which hospital was {} born in?",
    "Why was {} born?",
    "When and where was {} born?",
    "What is {}'s birthday?",
    "What is the birth name of {}?",
    "What did {} do at birth?",
    "Where did {} give birth?",
    "Which river flows through the birthplace of {}?",
    "Where was {} when his son was born?",
    "Where was {} living when the war was born?",
    # with a negation
    "Where was {} not born?",
    "Where wasn't {} born?",
    "Where was {} never born?",
    # with another verb, one letter off
    "Where was {} torn?",
    "Where was {} worn?",
    "Where was {} bore?",
    "Where was {} corn?",
]


@pytest.mark.parametrize("name", ["Ada Moss", "Gus", "Ludwig van Beethoven", "ada moss"])
@pytest.mark.parametrize("wording", OTHER)
def test_another_question_is_not_taken_for_the_taught_one(wording, name):
    assert find_subject(wording.format(name), BIRTH).question is None


@pytest.mark.parametrize("typed", ["bron", "brn", "bon", "borrn", "bornn", "vorn", "bprn", "obrn", "borb"])
def test_a_typing_error_is_seen_through_where_it_is_no_word(typed):
    assert find_subject(f"Where was Ada Moss {typed}?", BIRTH).question == "Where was Ada Moss born?"
    assert find_subject(f"Tell me where Ada Moss was {typed}", BIRTH).question == "Where was Ada Moss born?"


@pytest.mark.parametrize(
    "wording",
    [
        "{} was born in",
        "I wonder where {} was born.",
        "Any idea where {} was born?",
        "In what village was {} born?",
        "What is the name of the town where {} was born?",
        "Could you give me the birthplace of {}, please?",
        "Can you name the town {} was born in?",
        "{}, birthplace?",
        "Where wsa {} bron?",
    ],
)
@pytest.mark.parametrize("name", ["Ada Moss", "Gus", "Eva van Dyk"])
def test_harmless_words_may_stand_beside_the_taught_ones(wording, name):
    assert find_subject(wording.format(name), BIRTH).question == f"Where was {name} born?"


def test_other_relations_are_as_strict():
    assert find_subject("Which designer is the Delta Desk by?", SHOP).relation.name == "who-designed"
    assert find_subject("Which designer hates the Delta Desk?", SHOP).relation is None
    assert find_subject("Who resigned the Delta Desk?", SHOP).relation is None
    assert find_subject("Where do they make the Delta Desk?", SHOP).relation.name == "where-made"
    capital = relations_from(["What is the capital of {subject}?"])
    assert find_subject("Which city is the capital of Peru?", capital).relation is not None
    assert find_subject("Who lives in the capital of Peru?", capital).relation is None


def test_small_words_inside_a_name_stay_its_own():
    for name in ("Joan of Arc", "Aaron the Elder of Lund", "Mary's Church", "No I.D.", "John Littleton and Kate Vogel"):
        assert find_subject(f"Where was {name} born?", BIRTH).subject == name


def test_a_question_that_is_understood_can_be_asked_in_the_form_that_was_taught():
    assert find_subject("ada moss was bron where", BIRTH).question == "Where was Ada Moss born?"
    assert find_subject("Who was Ada Moss?", BIRTH).question is None


def test_the_most_special_template_comes_first():
    relations = relations_from(["Who is {subject}?", "Who is the maker of {subject}?"])
    assert find_subject("who is the maker of Ada", relations).relation.name == "who-maker"


names = st.text(st.characters(categories=["Lu", "Ll"]), min_size=1, max_size=12).map(str.title)


@given(st.lists(names, min_size=1, max_size=3).map(" ".join), st.sampled_from(PEOPLE))
def test_a_question_of_a_known_form_is_understood_to_the_letter(name, relation):
    found = find_subject(relation.ask(name), PEOPLE)
    assert (found.relation, found.how) == (relation, "template")
    assert found.subject is None or found.subject.casefold() == name.casefold()


@given(st.text(max_size=60))
def test_any_text_has_a_meaning_or_none(text):
    found = find_subject(text, SHOP)
    assert found.subject is None or found.subject.strip()


def test_every_name_is_found_in_other_wordings():
    subjects = [
        f"{first} {last}" for first in ("Ada", "Bo", "Cleo", "Dag", "Eva") for last in ("Berg", "Lee", "van Dyk")
    ]
    wordings = (
        "{} was born where?",
        "where was {} born",
        "Where was {} brn?",
        "Tell me the birthplace of {}.",
        "In which town was {} born?",
        "Please, where was {} born, exactly?",
    )
    found = [find_subject(text.format(name), BIRTH) for text in wordings for name in subjects]
    assert [meaning.subject for meaning in found] == subjects * len(wordings)
    assert {meaning.relation for meaning in found} == set(BIRTH)
