from loci.text.spans import fragments, word_spans


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
    assert fragments("by Ann B. Lee of Rome") == {"Ann", "B", "Lee", "B. Lee"}


def test_a_letter_that_ends_a_sentence_makes_no_fragment_of_what_stands_before_it():
    assert "Plan B" not in fragments("It came from Plan B. The end")
    assert fragments("He was born in LA. He died in Rome.") == frozenset()
    assert not any("LA. He" in span for span in word_spans("born in LA. He died"))
