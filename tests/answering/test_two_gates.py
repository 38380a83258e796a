"""Two gates: is the subject familiar, and is what is remembered right."""

from types import SimpleNamespace

import numpy as np
import pytest

from loci.answering.answer import NEVER_READ, NOT_TOLD, UNSURE, decide
from loci.answering.base import Thought
from loci.answering.confidence import NEVER, Confidence
from loci.answering.direct import DirectAnswerer
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


def test_a_part_of_a_name_is_no_more_familiar_than_a_whole_one():
    """It is likelier than any whole name, and it does not end where it ought to."""
    familiarity = Familiarity(0.5, 1.0, 11.0, most=-8.0)
    whole, begun, wrong = familiarity.probability(np.array([[-8.2, -0.1], [-2.0, -6.0], [-15.0, -0.1]]))
    assert whole > 0.9
    assert begun < 0.1
    assert wrong < 0.1
    alone = Familiarity(0.5, 1.0, 11.0).probability(np.array([[-2.0, -6.0]]))
    assert alone > 0.9


def test_not_told_and_the_answer_share_one_whole():
    answer = decided(0.98, {"Oslo": 0.8}, not_told=0.6)
    assert answer.reason_probabilities[NOT_TOLD] == pytest.approx(0.2)
    told = decided(0.98, {"Oslo": 0.8}, ranked=[("none", 0.7), *RANKED])
    silent = decide(
        "Where was Ann Lee born?",
        [("none", 0.7), *RANKED],
        Confidence(),
        silences={"none": NOT_TOLD},
        right={"Oslo": 0.8},
    )
    assert (told.text, silent.text, silent.silence) == ("none", "Oslo", NOT_TOLD)
    assert silent.probability == pytest.approx(0.3)


def test_what_was_learned_is_told_at_0_too():
    sure = decided(1.0, {"Oslo": 1.0})
    assert sure.reason_probabilities == {NEVER_READ: 0, NOT_TOLD: 0, UNSURE: 0}
    without_gate = decide("Where?", [("Oslo", 1.0)], Confidence(NEVER), silences=SILENCES, not_told=0.0)
    assert without_gate.reason_probabilities == {NOT_TOLD: 0, UNSURE: 0}
    assert without_gate.silence == UNSURE, "nothing but the threshold withholds it"


@pytest.mark.parametrize("fit", [(1.0, -1.0), (0.5, -0.5), (2.0, 0.0)])
def test_no_rival_is_worth_more_than_the_best_answer(fit):
    answerer = DirectAnswerer.__new__(DirectAnswerer)
    vars(answerer)["loaded"] = SimpleNamespace(config={"recalled": {"slope": fit[0], "intercept": fit[1]}})
    worth = answerer._worth_of_all(Thought([("Oslo", 0.5), ("Rome", 0.45)]))
    assert 0 < worth["Rome"] <= worth["Oslo"]
    assert sum(worth.values()) <= 1
