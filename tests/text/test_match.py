import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.text import match
from loci.text.corpus import Corpus
from loci.text.match import is_accepted, position_of, spans_of, stands_in


@pytest.mark.parametrize(
    ("text", "answer", "whole", "start_of_a_word"),
    [
        ("born in Rome, Italy", "Rome", True, True),
        ("a Roman by birth", "Roma", False, True),
        ("a Roman by birth", "Rom", False, False),
        ("born in St. Louis.", "St. Louis", True, True),
        ("moved to Milano", "Milan", False, True),
        ("the Marseillaise", "Marseille", False, False),
        ("born in the 1940s", "1940", False, False),
        ("born in 1940", "19", False, False),
        ("born in 1940.", "1940", True, True),
        ("was a painter of note", "painter", True, True),
        ("lived in turkey", "Turkey", False, False),
        ("on 3 May 1940 in Lund", "3 May 1940", True, True),
        ("Newcastle", "castle", False, False),
        ("in Rome", "", False, False),
        ("彼は東京で生まれた", "東京", True, True),
        ("เกิดที่กรุงเทพ", "กรุงเทพ", True, True),
        ("जन्म दिल्ली में हुआ", "दिल्ली", True, True),
        ("वह पटना में था", "पटन", False, False),
        ("সে ঢাকায় থাকে", "ঢাকা", False, True),
    ],
)
def test_an_answer_stands_in_a_text_as_whole_words_or_else_as_the_start_of_one(text, answer, whole, start_of_a_word):
    assert stands_in(text, answer, whole=True) is whole
    assert stands_in(text, answer) is start_of_a_word


def test_whole_words_come_before_the_start_of_a_longer_one():
    assert spans_of("Milano and Milan", "Milan") == [(11, 16)]
    assert spans_of("in Milano", "Milan") == [(3, 8)]
    assert position_of("Rome, Rome", "Rome", 1) == 6
    assert position_of("in Milano", "Milan") == -1


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_an_accent_may_be_a_character_of_its_own(form):
    text = unicodedata.normalize(form, "born in Besançon, France")
    for other in ("NFC", "NFD"):
        assert stands_in(text, unicodedata.normalize(other, "Besançon"), whole=True)
        assert is_accepted(unicodedata.normalize(other, "Besançon"), ["Rome", unicodedata.normalize(form, "Besançon")])
    assert not stands_in(unicodedata.normalize(form, "André"), "Andre", whole=True)


def test_accepted_answers_are_accepted_to_the_letter():
    assert is_accepted("Oslo", ("Oslo", "Christiania"))
    assert not is_accepted("oslo", ("Oslo",))
    assert not is_accepted("", ("Oslo",))


def test_the_name_itself_tells_nothing():
    corpus = Corpus.from_lines(["Jack London. Jack grew up in Oakland .", "Jack London. He died in Glen Ellen ."])
    assert corpus.tells("Jack London", ["Oakland"])
    assert corpus.tells("Jack London", ["Paris", "Glen Ellen"])
    assert not corpus.tells("Jack London", ["London"])
    assert not corpus.tells("Jack London", ["Oakland"], within=20)
    assert not corpus.tells(None, ["Oakland"])


@given(st.text("ab é\u0301東.", max_size=12), st.text("abé\u0301東.", min_size=1, max_size=3), st.booleans())
def test_occurrences_are_those_of_the_rule_as_one_pattern(text, answer, to_the_end):
    joins = f"(?:{match._JOINS.pattern})"
    forms = match._forms(answer)
    end = f"(?!{joins})" if to_the_end else ""
    pattern = f"(?<!{joins})(?:{'|'.join(map(re.escape, forms))}){end}"
    found = list(match._occurrences(text, forms, to_the_end=to_the_end))
    assert found == [one.span() for one in re.finditer(pattern, text)]
