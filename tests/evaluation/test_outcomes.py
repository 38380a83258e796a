from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.answer import Silence, decide
from loci.answering.confidence import Confidence
from loci.evaluation.asking import rows_of
from loci.evaluation.metrics import exact_match, wilson
from loci.evaluation.outcomes import as_given, best_answers, outcomes
from loci.evaluation.rows import NEVER_READ, Row
from loci.text.questions import Questions


def row(said, silence=None, p=None, **more):
    reasons = ((silence, p), ("other", 0.01)) if p is not None else ()
    return Row("q", said, answers=("Oslo",), silence=silence, reasons=reasons, **more)


ROWS = [
    *[row("Oslo")] * 4,
    row("Rome"),
    row("Oslo", "unsure", 0.6),
    row("Rome", "unsure", 0.8),
    row("Rome", "not told", 0.9, abstained=True),
    row("Oslo", abstained=True),
    Row("no truth", "Oslo"),
]


def test_best_answers_answers_given_and_silences():
    found = outcomes(ROWS)
    assert found.right == wilson(6, 9)
    assert (found.answered_rightly, found.answered_wrongly) == (wilson(4, 9), wilson(1, 9))
    assert found.silent == wilson(4, 10)
    assert {why: one.rate for why, one in found.silences.items()} == {
        "not told": wilson(1, 10),
        "unsure": wilson(2, 10),
    }
    assert found.silences["unsure"].probability.value == pytest.approx(0.7)
    assert found.silences["not told"].probability.n == 1
    # What neither a threshold nor a model withheld is the third figure, and neither of the two.
    assert exact_match(ROWS) == wilson(5, 9)


def test_an_answer_that_nobody_could_know_is_wrong_and_there_is_no_best_one():
    rows = [Row("q", "Rome", split=NEVER_READ), Row("q", "Rome", split=NEVER_READ, silence="unsure")]
    found = outcomes(rows)
    assert (found.right.n, found.answered_wrongly, found.silent) == (0, wilson(1, 2), wilson(1, 2))
    assert found.silences["unsure"].probability.n == 0  # rows of another system may tell no probability


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from([None, "unsure"]))))
def test_what_is_scored_is_right_wrong_or_silent(told):
    rows = [row("Oslo" if right else "Rome", silence, abstained=abstained) for right, abstained, silence in told]
    found = outcomes(rows)
    rightly, wrongly, silent = (r.successes for r in (found.answered_rightly, found.answered_wrongly, found.silent))
    assert rightly + wrongly + silent == len(rows)
    assert rightly == exact_match(as_given(rows)).successes <= found.right.successes
    assert found.right == exact_match(best_answers(rows))
    assert [one.prediction for one in best_answers(rows)] == [one.prediction for one in rows]
    assert outcomes([replace(one, reasons=(("unsure", 0.5),)) for one in as_given(rows)]).silent == found.silent


def test_rows_say_why_the_run_is_silent_at_its_threshold():
    """Sure, too unsure, and never read about: only the last is the model's own silence."""
    asked = Questions.from_pairs([(f"Where was {name} born?", "Oslo") for name in ("Ann Lee", "Bo Ray", "Cy Fox")])
    ranked = [[("Oslo", 0.9)], [("Oslo", 0.3)], [("unknown", 0.8), ("Oslo", 0.1)]]
    answers = [
        decide(one.text, thought, Confidence(0.5), silences={"unknown": "never read about"})
        for one, thought in zip(asked, ranked, strict=True)
    ]
    rows = rows_of(answers, asked)
    assert [one.silence for one in rows] == [None, "unsure", "never read about"]
    assert [one.abstained for one in rows] == [False, False, True]
    assert [one.abstained for one in rows_of(answers, asked, withhold=True)] == [False, True, True]
    assert dict(rows[2].reasons) == pytest.approx({"never read about": 0.8, "unsure": 0.1})
    found = outcomes(rows)
    assert (found.right, found.answered_rightly, found.silent) == (wilson(3, 3), wilson(1, 3), wilson(2, 3))


def test_reasons_that_round_to_more_than_one_make_a_row():
    asked = Questions.from_pairs([("Where was Ann Lee born?", "Oslo")])
    thought = [("unknown", 0.7), ("nobody", 0.3000001), ("Oslo", 0.0)]
    silences: dict[str, Silence] = dict.fromkeys(("unknown", "nobody"), "never read about")
    (found,) = rows_of([decide(asked[0].text, thought, Confidence(0.5), silences=silences)], asked)
    assert dict(found.reasons)["never read about"] == 1.0
