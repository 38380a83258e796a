from loci.text.spans import word_spans


def test_spans_run_over_spaces_and_not_over_commas():
    assert word_spans("in New York, Ohio", 2) == ["in", "in New", "New", "New York", "York", "Ohio"]


def test_a_possessive_is_offered_without_its_ending_and_a_compound_by_its_parts():
    assert word_spans("Auckland's Marie-Anne", 1) == ["Auckland's", "Auckland", "Marie-Anne", "Marie", "Anne"]


def test_each_span_once():
    assert word_spans("Rome and Rome", 1) == ["Rome", "and"]
    assert word_spans(" .,") == []
