"""Two gates: is the subject familiar, and is what is remembered right."""

import pytest

from loci.answering.answer import NEVER_READ, NOT_TOLD, UNSURE, decide
from loci.answering.confidence import Confidence
from loci.answering.familiarity import Familiarity

SILENCES = {"": NEVER_READ}
RANKED = [("Oslo", 0.6), ("Rome", 0.1)]


def decided(familiar, right, *, ranked=RANKED, not_told=0.0, gate=0.4):
    return decide(
        "Where was Ann Lee born?",
        ranked,
        Confidence(familiarity=Familiarity(gate, 1.0, 0.0)),
        silences=SILENCES,
        n=2,
        right=right,
        familiar=familiar,
        not_told=not_told,
    )


def test_a_familiar_subject_gets_the_chance_that_the_memory_is_right():
    answer = decided(0.6, {"Oslo": 0.95, "Rome": 0.02})
    assert answer.known
    assert answer.probability == 0.95
    assert answer.reason_probabilities[NEVER_READ] == pytest.approx(0.4)


def test_below_the_gate_nothing_is_said_however_sure_the_memory():
    answer = decided(0.39, {"Oslo": 0.99})
    assert (answer.known, answer.declined, answer.silence, answer.text) == (False, True, NEVER_READ, "Oslo")
    assert answer.probability < 0.4


@pytest.mark.parametrize(("not_told", "reason"), [(0.7, NOT_TOLD), (0.01, UNSURE)])
def test_a_doubtful_memory_is_withheld_with_its_reason(not_told, reason):
    answer = decided(0.98, {"Oslo": 0.2}, not_told=not_told)
    assert (answer.known, answer.silence, answer.text) == (False, reason, "Oslo")
