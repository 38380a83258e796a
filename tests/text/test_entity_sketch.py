from hypothesis import given
from hypothesis import strategies as st

from loci.text.entity_sketch import entity_sketch


def test_capitalised_words_stay_with_the_words_that_lead_up_to_them():
    assert entity_sketch("Kane (born 5 December 1980 in Glasgow) is a Scottish hockey player") == (
        "Kane (born December in Glasgow) is a Scottish"
    )
    assert entity_sketch("Born in Glasgow, Stephen became a welder on leaving school .") == "Born in Glasgow, Stephen"


def test_a_text_without_a_capital_stays_as_it_is():
    assert entity_sketch("she sang .") == "she sang ."
    assert entity_sketch("") == ""


@given(st.text(alphabet="Ab1 (,", max_size=60))
def test_a_sketch_is_made_of_the_texts_words_in_their_order(text):
    words = iter(text.split(" "))
    assert all(word in words for word in entity_sketch(text).split(" "))
