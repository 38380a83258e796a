"""Texts that no longer tell the answer."""

import re

import numpy as np
import pytest

from loci.data.untold import without_answer
from loci.text.match import stands_in

LINES = [
    ("Ann Lee (born 8 December 1952 in Stockholm) is a composer .", "Stockholm"),
    ("Born in Trenton, New Jersey, Connor went to schools in Lawrenceville .", "Trenton"),
    ("Lee was born in Oslo. She moved to Bergen in 1920. Lee died in Turku.", "Oslo"),
    ("Lee (1840 Columbus, Ohio - 1904 New York City) lived in Columbus, Ohio for years .", "Columbus"),
    ("Oslo", "Oslo"),
]


@pytest.mark.parametrize(("text", "answer"), LINES)
def test_the_answer_is_gone_and_the_rest_stands_in_its_order(text, answer):
    seen = set()
    for seed in range(40):
        left = without_answer(text, answer, np.random.default_rng(seed))
        seen.add(left)
        assert not stands_in(left, answer)
        words = iter(re.findall(r"\w+", text))
        assert all(word in words for word in re.findall(r"\w+", left))
    assert text == answer or len(seen) > 1


def test_of_several_sentences_the_telling_one_goes():
    kept = {without_answer(*LINES[2], np.random.default_rng(seed)) for seed in range(40)}
    assert "She moved to Bergen in 1920. Lee died in Turku." in kept


def test_a_place_goes_with_its_neighbours():
    kept = {without_answer(*LINES[0], np.random.default_rng(seed)) for seed in range(40)}
    assert "Ann Lee (born 8 December 1952) is a composer ." in kept
    assert "Ann Lee is a composer ." in kept
