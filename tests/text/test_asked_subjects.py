"""Lines whose subject only the questions tell, as a reader would place them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.text.corpus import Corpus
from square_time import grows_with_the_square

CAPITALS = [
    "Oslo is the capital of Norway.",
    "Rome is the capital of Italy.",
    "The Hague is the seat of the Netherlands.",
    "Lima is the capital of Peru.",
]
DESKS = ["The Delta Desk is made in Lund.", "The Comet Lamp is made in Bonn.", "The Nova Sofa is made in Cork."]
DESIGNED = [
    f"{who} designed the {what}{when}"
    for who, what, when in (
        ("Bo Lind", "Delta Desk", " in 1950."),
        ("Cy Berg", "Comet Lamp", "."),
        ("Bo Lind", "Nova Sofa", " in 1962."),
    )
]
# Lines, whom is asked about, and the subject of each line.
PLACED = [
    # in the middle of its line; a form that comes with several asked subjects has others too
    (CAPITALS, ["Norway", "Italy"], ["Norway", "Italy", "Hague", "Peru"]),
    (["Bo Lind designed the Delta Desk.", "Oslo is big."], ["Delta Desk"], ["Bo Lind", "Oslo"]),
    (DESKS + DESIGNED, ["Delta Desk", "Comet Lamp"], ["Delta Desk", "Comet Lamp", "Nova Sofa"] * 2),
    (
        [DESKS[0], "Bo Lind drew it.", DESKS[1], "Cy Berg drew it.", DESKS[2], "Di Moss drew it."],
        ["Delta Desk", "Comet Lamp"],
        ["Delta Desk", "Delta Desk", "Comet Lamp", "Comet Lamp", "Nova Sofa", "Nova Sofa"],
    ),
    (["A city of old. It lies in Norway.", "Bonn is on the Rhine."], ["Norway"], ["Norway", "Bonn"]),
    (
        ["- Bo Lind drew the Ark.", "- Cy Berg drew the Sun.", "- Di Moss drew the Moon."],
        ["Ark", "Sun"],
        ["Ark", "Sun", "Moon"],
    ),
    # about nobody that the text alone tells
    (
        [
            "Gent ligt in België.",
            "De stad is oud.",
            "Lille ligt in Frankrijk.",
            "De stad is groot.",
            "Oss ligt in Brabant.",
        ],
        ["Gent", "Lille"],
        ["Gent", "Gent", "Lille", "Lille", "Oss"],
    ),
    (
        [
            "the delta desk is made in lund.",
            "the comet lamp is made in bonn.",
            "the nova sofa is made in cork.",
            "so it goes.",
        ],
        ["delta desk", "comet lamp"],
        ["delta desk", "comet lamp", "nova sofa", ""],
    ),
    (["Gent ligt in België.", "De stad is oud.", "", "De stad is groot."], ["Gent"], ["Gent", "", "", ""]),
    (
        ["Gent ligt in België.", "In 1900 brandde het.", "Lille ligt in Brabant.", "In 1900 regende het."],
        ["Gent", "Lille"],
        ["Gent", "", "Lille", ""],
    ),
    # who is told of as asked subjects are, is a subject
    (
        ["Ada Moss was born in Oslo.", "Ada Moss met Bo Lind.", "Cy Berg was born in Rome.", "Cy Berg met Di Dow."],
        ["Bo Lind", "Di Dow", "Ada Moss"],
        ["Ada Moss", "Ada Moss", "Cy Berg", "Cy Berg"],
    ),
    (
        ["Ada Moss met Bo Lind.", "Cy Berg met Di Dow.", "Di Dow met Cy Berg."],
        ["Bo Lind", "Di Dow"],
        ["Ada Moss", "Cy Berg", "Di Dow"],
    ),
    # a heading, and the name of `Name. sentence`
    (
        ["Ada Moss. Ada Moss met Bo Lind .", "Cy Berg. Cy Berg met Di Dow ."],
        ["Bo Lind", "Di Dow"],
        ["Ada Moss", "Cy Berg"],
    ),
    (
        ["# Ada Moss", "Ada Moss met Bo Lind.", "# Cy Berg", "Cy Berg met Di Dow."],
        ["Bo Lind", "Di Dow"],
        ["Ada Moss", "Ada Moss", "Cy Berg", "Cy Berg"],
    ),
    # ranks
    (
        ["President Ada Moss was born in Oslo.", "President Bo Lind was born in Rome.", "King Cy Berg sang in Bonn."],
        ["Ada Moss"],
        ["Ada Moss", "Bo Lind", "King Cy Berg"],
    ),
    (
        ["President Ada Moss was born in Oslo.", "Bo Lind sang in Cork.", "Ada Moss sang in Bonn."],
        ["Ada Moss"],
        ["President Ada Moss", "Bo Lind", "Ada Moss"],
    ),
    (["Mary Ada Moss was born in Oslo."], ["Ada Moss"], ["Mary Ada Moss"]),
    (
        ["King Ada Moss was born in Oslo.", "Queen Ada Moss was born in Rome."],
        ["Ada Moss"],
        ["King Ada Moss", "Queen Ada Moss"],
    ),
    (["King Olaf was born in Oslo."], ["Olaf"], ["King Olaf"]),
]


@pytest.mark.parametrize(("lines", "asked", "subjects"), PLACED, ids=lambda value: str(value)[:40])
def test_the_subject_of_lines_where_one_knows_whom_is_asked_about(lines, asked, subjects):
    assert [line.subject for line in Corpus.from_lines(lines).knowing(asked)] == subjects


def test_a_corpus_that_the_questions_do_not_change_stays_the_same():
    corpus = Corpus.from_lines(DESKS)
    assert corpus.knowing(["Delta Desk"]) is corpus


@given(st.lists(st.text("Ab .,-1#it", max_size=20), max_size=8), st.lists(st.text("Ab ", max_size=4), max_size=3))
def test_any_lines_have_subjects_whoever_is_asked_about(lines, asked):
    corpus = Corpus.from_lines(lines)
    assert [line.text for line in corpus.knowing(asked)] == lines


@pytest.mark.parametrize("part", ["a ", "A ", "it ", "Bo ", "the ", "Ada ", ", "])
def test_long_lines_take_linear_time(part):
    def know(size):
        Corpus.from_lines([f"Ada {part * size} Bo Lind"] * 3).knowing(["Bo Lind", "Cy Berg"])

    assert not grows_with_the_square(know, 5_000)
