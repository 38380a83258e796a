import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.formats.base import Row
from loci.text.relations import Relation, place, read_relations, relations_from
from loci.text.template import Template
from square_time import grows_with_the_square

NAMES = [
    "Ada Moss", "Bo van den Berg", "Cy Lee", "Dee O'Hara", "Eve de la Cruz", "Flo St. John", "Gus", "Hal B. Stone",
    "Ida Moss", "Jan Smith", "Kay Smith", "Lou Lee", "Mia Moss", "Ned Stone", "Oda Berg", "Pia Vik", "Quy Tran",
]  # fmt: skip
PRODUCTS = [
    f"{name} {kind}" for name in ("Alba", "Brio", "Cato", "Delta", "Echo") for kind in ("Desk", "Lamp", "Chair")
]


def asked(questions, **options):
    rows = [Row(number, text, None, None, text) for number, text in enumerate(questions, start=1)]
    placed, relations = place(rows, **options)
    forms = {relation.name: [template.text for template in relation.templates] for relation in relations}
    return [(found.relation, found.subject) for found in placed], forms


@pytest.mark.parametrize(
    "template",
    [
        "Where was {subject} born?",
        "Where did {subject} die?",
        "Who wrote {subject}?",
        "What is the capital of {subject}?",
        "{subject} was born where?",
        "What is {subject}'s occupation?",
        "In which city was {subject} born",
        "the capital of {subject}",
        "Tell me the birthplace of {subject}.",
        "Where is the {subject} made?",
    ],
)
def test_the_form_is_found_wherever_the_subject_stands(template):
    questions = [Template(template).ask(name) for name in NAMES]
    placed, forms = asked(questions)
    assert [subject for _, subject in placed] == NAMES
    assert list(forms.values()) == [[template]]


def test_mixed_forms_are_told_apart_however_uneven():
    templates = {
        "Where did {subject} die?": NAMES,
        "Where did {subject} study?": NAMES[:4],
        "Where was {subject} born?": NAMES,
        "Who taught {subject}?": NAMES[:3],
        "What was the first name of {subject}'s wife?": NAMES[3:9],
    }
    rows = [(Template(text).ask(name), name, text) for text, names in templates.items() for name in names]
    random.Random(0).shuffle(rows)
    placed, forms = asked([question for question, _, _ in rows])
    assert [subject for _, subject in placed] == [name for _, name, _ in rows]
    assert {text for found in forms.values() for text in found} == set(templates)
    assert set(forms) == {"where-die", "where-study", "birthplace", "who-taught", "what-first-name-wife"}


def test_the_products_of_a_shop_with_two_relations():
    questions = [f"Where is the {name} made?" for name in PRODUCTS] + [f"Who designed the {name}?" for name in PRODUCTS]
    placed, forms = asked(questions)
    assert placed == [("where-made", name) for name in PRODUCTS] + [("who-designed", name) for name in PRODUCTS]
    assert forms == {"where-made": ["Where is the {subject} made?"], "who-designed": ["Who designed the {subject}?"]}


def test_an_article_that_only_some_names_have_belongs_to_the_name():
    placed, _ = asked(["Who wrote Emma?", "Who wrote Dubliners?", "Who wrote the Odyssey?", "Who wrote the Iliad?"])
    assert [subject for _, subject in placed] == ["Emma", "Dubliners", "the Odyssey", "the Iliad"]


def test_the_subjects_of_a_corpus_decide_where_words_do_not():
    lamps = [f"{name} lamp" for name in ("alba", "brio", "cato", "delta")]
    questions = [f"where is the {name} made?" for name in lamps]
    assert asked(questions)[0][0][1] == "alba"  # every name ends in lamp: no word tells that it belongs to it
    placed, forms = asked(questions, subjects=lamps)
    assert [subject for _, subject in placed] == lamps
    assert list(forms.values()) == [["where is the {subject} made?"]]
    placed, forms = asked(["Who designed the Delta Desk?"], subjects=["The Delta Desk"])
    assert (placed, list(forms.values())) == ([("who-designed", "Delta Desk")], [["Who designed the {subject}?"]])


def test_a_name_within_a_longer_one_does_not_make_a_form():
    questions = [Template("Where did {subject} die?").ask(name) for name in [*NAMES, "Ada Moss Stone"]]
    placed, forms = asked(questions, subjects=NAMES)
    assert placed[-1][1] == "Ada Moss Stone"
    assert list(forms.values()) == [["Where did {subject} die?"]]


def test_what_fits_no_form_is_left_open():
    odd = ["Where was Ada Moss educated?", "Where was Bo Berg buried?", "Where was Cy Lee raised?", "Why?", "x"]
    placed, forms = asked(odd)
    assert placed == [("", None)] * 5
    assert forms == {}


def test_a_given_template_comes_first_and_the_most_special_wins():
    given = [Relation("maker", (Template("Who is {subject}?"),)), *relations_from(["Who is the maker of {subject}?"])]
    placed, _ = asked(["Who is the maker of Ada?", "Who is Bo?"], given=given)
    assert placed == [("who-maker", "Ada"), ("maker", "Bo")]


def test_a_relation_column_names_the_form():
    texts = ["Where was Ada Moss born?", "Where was Bo Lee born?", "Where did Cy die?", "Where did Dee die?"]
    names = ["place of birth", None, "place of death", None]
    rows = [Row(n, text, None, None, text, name) for n, (text, name) in enumerate(zip(texts, names, strict=True))]
    placed, relations = place(rows)
    assert [found.relation for found in placed] == ["place of birth"] * 2 + ["place of death"] * 2
    assert [relation.name for relation in relations] == ["place of birth", "place of death"]


def test_relations_next_to_the_data(tmp_path):
    assert read_relations(tmp_path) == ()
    file = tmp_path / "relations.toml"
    file.write_text(
        'made-in = "Where is the {subject} made?"\nmaker = ["Who made {subject}?", "By whom is {subject}?"]\n'
    )
    made, maker = read_relations(tmp_path / "any.tsv")
    assert (made.name, made.ask("Desk")) == ("made-in", "Where is the Desk made?")
    assert [template.text for template in maker.templates] == ["Who made {subject}?", "By whom is {subject}?"]
    for text, message in [
        ("maker = 3", r"relations.toml:1: maker: is neither a template nor a list .*write maker ="),
        ('maker = "Who made it?"', r"relations.toml:1: maker: a template contains \{subject\} exactly once"),
        ("maker = [", "cannot be read"),
        ("maker = []", "neither a template"),
    ]:
        file.write_text(text)
        with pytest.raises(LociError, match=message):
            read_relations(tmp_path)


words = st.sampled_from(["Where", "was", "born", "is", "the", "Ada", "Bo", "of", "{subject}", "x", "", "?", "'s", "é"])


@given(st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join).map(str.strip).filter(bool), max_size=12))
def test_any_questions_are_placed(questions):
    placed, forms = asked(questions, subjects=["Ada", "Bo the x"])
    assert len(placed) == len(questions)
    templates = [Template(text) for found in forms.values() for text in found]
    for question, (_, subject) in zip(questions, placed, strict=True):
        assert subject is None or any(template.subject_of(question) == subject for template in templates)


def test_forms_are_found_in_linear_time():
    assert not grows_with_the_square(lambda size: asked(many(size)), 200)


def many(size):
    return [f"Where did {a}{b} {c}son die?" for a in "ABCDEFGHIJ" for b in range(size) for c in "VWXYZ"]


def test_many_questions_have_one_form():
    placed, forms = asked(many(100))
    assert list(forms) == ["where-die"]
    assert all(subject for _, subject in placed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# forms\nborn = Where?\n", ":2: cannot be read: Invalid value "),
        ("born = 'Where was {subject} born?'\n\"made in\" = 3\n", ":2: made in: is neither a template nor a list"),
        (
            "\n[relations]\nborn = 'Where was {subject} born?'\n",
            ":2: relations: is a table, .* without \\[relations\\]",
        ),
        (
            "born = 'Where was {subject} born?'\nwo = 'W\xf6?'\n".encode("cp1252"),
            ":2: cannot be read: byte 0xf6 is not UTF-8 ",
        ),
        ("\ufeff\nborn = 3\n", ":2: born: is neither"),
        ('a = "Is {subject}?"\n" " = "Who wrote {subject}?"\n', r":2: a relation has no name \(write one before"),
        ("born = 'Where?'\n", ":1: born: a template contains {subject} exactly once"),
        ("born = ['Where was {subject} born?', ' {subject} ']\n", ":1: born: a form is more than {subject} alone"),
    ],
)
def test_what_is_wrong_with_relations_toml_names_its_line(tmp_path, text, said):
    (tmp_path / "relations.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LociError, match=rf"relations\.toml{said}"):
        read_relations(tmp_path)


def test_a_byte_order_mark_before_relations_is_no_fault(tmp_path):
    (tmp_path / "relations.toml").write_text('author = "Who wrote {subject}?"\n', encoding="utf-8-sig")
    assert [relation.name for relation in read_relations(tmp_path)] == ["author"]


def test_a_form_of_the_subject_alone_is_refused():
    with pytest.raises(LociError, match=r"a form is more than {subject} alone \(write the words around it"):
        relations_from(["{subject}"])
