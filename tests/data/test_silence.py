"""Examples that teach silence, and degrees."""

import numpy as np
import pytest

from loci.data.degrees import EDGES, GIVEN, VALUES, degree_id, degree_of
from loci.data.objectives import make_objective
from loci.data.silence import StrangerPool
from loci.errors import LociError
from loci.text.questions import Question
from loci.text.strangers import Strangers
from loci.text.template import BIRTHPLACE
from loci.text.vocab import MASK_ID, Vocab

SUBJECTS = ["Ada Moss", "Jan Bell", "Olga Stone", "Peter Hill"]
VOCAB = Vocab.from_text("".join(SUBJECTS) + BIRTHPLACE.text + "abcdefghij .")


@pytest.mark.parametrize("line", [False, True])
def test_a_stranger_is_met_with_the_end_at_once(line):
    objective = make_objective("stranger", VOCAB, 96, {"line": line})
    rng = np.random.default_rng(0)
    for _ in range(50):
        example = objective(StrangerPool(Strangers(SUBJECTS), BIRTHPLACE), rng)
        assert example.loss_mask.tolist() == [False] * (len(example) - 1) + [True]
        assert example.ids[-1] == MASK_ID
        given = VOCAB.decode(example.ids[:-1])
        name = given.removesuffix(". ") if line else BIRTHPLACE.subject_of(given.removesuffix("⁇"))
        assert name
        assert name not in SUBJECTS


def test_a_degree_follows_the_answer_and_counts():
    plain = make_objective("question-answer", VOCAB, 96, {})
    rng = np.random.default_rng(0)
    question = Question("Where was Ada Moss born?", ("Hill",), "Ada Moss", 1)
    without, sure = (plain(Question(**{**vars(question), "degree": degree}), rng) for degree in (None, GIVEN))
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
