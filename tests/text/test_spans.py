import re
from pathlib import Path

import pytest

from loci.text.corpus import Corpus
from loci.text.match import stands_in
from loci.text.spans import LONGEST_UNSPACED, UNSPACED, fragments, longest_and_joiners, word_spans


def test_spans_run_over_spaces_and_not_over_commas():
    assert word_spans("in New York, Ohio", 2) == ["in", "in New", "New", "New York", "York", "Ohio"]


def test_a_possessive_is_offered_without_its_ending_and_a_compound_by_its_parts():
    assert word_spans("Auckland's Marie-Anne", 1) == ["Auckland's", "Auckland", "Marie-Anne", "Marie", "Anne"]


def test_each_span_once():
    assert word_spans("Rome and Rome", 1) == ["Rome", "and"]
    assert word_spans(" .,") == []


def test_fragments_stand_only_inside_longer_names():
    assert fragments("born in Nowy Targ, Poland, near Saint-Denis", 1) == {"Nowy", "Targ", "Saint", "Denis"}
    assert fragments("of New York City", 2) == {"New", "York", "City", "New York", "York City"}


def test_what_also_stands_alone_is_no_fragment():
    assert fragments("Luxembourg City, Luxembourg; Auckland's North Shore", 1) == {"City", "North", "Shore"}
    assert fragments("no names here", 2) == frozenset()


def test_the_full_stop_of_an_initial_ends_no_name():
    found = word_spans("by Ann B. Lee of St. Louis. It", 3)
    assert "Ann B. Lee" in found
    assert "St. Louis" in found
    assert not any("Louis. It" in span for span in found)
    assert fragments("by Ann B. Lee of Rome") == {"Ann", "Ann B", "B", "Lee", "B. Lee"}


def test_a_letter_that_ends_a_sentence_makes_no_fragment_of_what_stands_before_it():
    assert "Plan B" not in fragments("It came from Plan B. The end")
    assert fragments("He was born in LA. He died in Rome.") == frozenset()
    assert not {"U.S.", "U.S"} & fragments("She was born in the U.S. Ada studied law.")
    assert "Washington D.C." not in fragments("from Washington D.C. Bo Ek designed it.")
    assert not any("LA. He" in span for span in word_spans("born in LA. He died"))


ODD_ANSWERS = [
    "May 12, 1901", "1,500", "$1,500.5", "12/05/1901", "12%", "12 %", "$5", "AT&T", "C++", "C#", "U.S.", "Ph.D.",
    "J.C. Bell", "Marks & Spencer", "Ann Lee Jr.", "Washington, D.C.", "Paris, France", "碎叶城", "1901年5月", "กรุงเทพ",
    "नई दिल्ली", "ঢাকা", "தஞ்சாவூர்", "Besanc\u0327on",
]  # fmt: skip


@pytest.mark.parametrize("answer", ODD_ANSWERS)
def test_numbers_signs_and_abbreviations_can_be_quoted(answer):
    longest, joiners = longest_and_joiners([answer, "Rome"])
    for line in (f"It was {answer} then.", f"In Rome, {answer}, or {answer}."):
        assert answer in word_spans(line, longest, joiners)


def test_commas_join_only_where_answers_have_them():
    assert longest_and_joiners(["Rome", "New York", "May 12, 1901"]) == (3, frozenset())
    assert longest_and_joiners(["Rome", "Paris, France"]) == (2, {", "})
    assert "Paris, France" not in word_spans("in Paris, France")
    assert "May 12, 1901" in word_spans("born May 12, 1901 in Rome")


def test_what_has_a_sign_or_a_stop_is_offered_without_it_too():
    assert word_spans("$5 or 12% of U.S. R&B", 1) == (
        ["$5", "5", "or", "12%", "12", "of", "U.S.", "U.S", "R&B", "R", "B"]
    )


def test_scripts_without_spaces_are_quoted_by_the_character_and_are_those_of_the_rule_for_answers():
    spans = word_spans("李白生于碎叶城，是诗人。", 2)
    assert {"李白", "碎叶城"} <= set(spans)
    assert not any("，" in span or len(span) > 4 for span in spans)
    assert len(word_spans("碎" + "叶城" * 200, 1000)) <= 400 * LONGEST_UNSPACED
    letters = [chr(code) for code in range(0x3000, 0x30000, 7) if chr(code).isalpha()] + list("กขລကខaяა")
    assert all(stands_in(2 * letter, letter) == bool(re.match(f"[{UNSPACED}]", letter)) for letter in letters)


def test_vowel_signs_belong_to_their_words():
    assert word_spans("जन्म दिल्ली में हुआ।", 1) == ["जन्म", "दिल्ली", "में", "हुआ"]
    assert word_spans("❤\ufe0f 👨\u200d👩 \u0301 ok", 1) == ["ok"]  # a mark that follows no letter is no word


def test_the_names_of_the_courses_lines_are_offered_as_before():
    """Relations whose train answers are single words have the spans they had when words were letters and hyphens."""
    file = Path(__file__).parents[3] / "shared/data/course/wiki.txt"
    if not file.exists():
        pytest.skip("the course's files are not here")
    for line in Corpus.read(file):
        words = re.findall(r"\w+(?:[-'’.]\w+)*", line.body)
        parts = [part for word in words for part in (word, re.sub("['’]s$", "", word), *word.split("-"))]
        new = {span for span in word_spans(line.body, 1) if span[0].isupper()}
        assert new - {*parts} == {span for span in new if re.search(r"[.&]", span)} - {*parts}
        assert {part for part in parts if part[:1].isupper()} <= new
