"""Degrees of confidence after answers, and names that count."""

from dataclasses import replace

import numpy as np
import pytest

from loci.data.degrees import EDGES, GIVEN, VALUES, degree_id, degree_of
from loci.data.objectives import make_objective
from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.questions import Question
from loci.text.vocab import Vocab

VOCAB = Vocab.from_text("Where was Ada Moss born? Hill abcdefghij .")


def test_a_degree_follows_the_answer_and_counts():
    plain = make_objective("question-answer", VOCAB, 96, {})
    rng = np.random.default_rng(0)
    question = Question("Where was Ada Moss born?", ("Hill",), "Ada Moss", 1)
    without, sure = (plain(replace(question, degree=degree), rng) for degree in (None, GIVEN))
    assert sure.ids[:-1].tolist() == without.ids.tolist()
    assert sure.ids[-1] == degree_id(VOCAB, GIVEN)
    assert sure.loss_mask[-1]


def test_degrees_rise_with_confidence():
    assert degree_of(0.99, told=False) == 0
    found = [degree_of(confidence) for confidence in (0.0, *EDGES, 1.0)]
    assert found == sorted(found)
    assert set(found) == set(range(1, GIVEN))
    assert list(VALUES) == sorted(VALUES)
    with pytest.raises(LociError, match="degrees"):
        degree_id(Vocab.from_text("ab"), 3)


def test_a_name_counts_where_it_is_to_be_learned():
    rng = np.random.default_rng(0)
    question = Question("Where was Ada Moss born?", ("Hill",), "Ada Moss", 1)
    example = make_objective("question-answer", VOCAB, 96, {"count_subject": True})(question, rng)
    assert VOCAB.decode(example.ids[example.loss_mask]) == "Ada Moss born?⁇Hill⁇"
    line = next(iter(Corpus.from_lines(["Ada Moss was born."])))
    whole, text = (
        make_objective("memorize", VOCAB, 96, {"count_subject": counts})(line, rng) for counts in (True, False)
    )
    assert whole.loss_mask.all()
    assert not text.loss_mask[: len("Ada Moss. ")].any()
