import json
import math
from dataclasses import replace

import numpy as np
import pytest

from loci.answering.confidence import Temperature
from loci.evaluation.bias import popularity
from loci.evaluation.error_kinds import ErrorKind, fabrication_rate
from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import exact_match, wilson
from loci.evaluation.rows import Row
from loci.evaluation.scorecard import Context, not_taught, score
from loci.evaluation.selective import thinned
from loci.text.corpus import Corpus


def make_rows(n, seed=0, places=40):
    """A model that is right as often as it says about held-out people, and guesses about unseen ones."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, places + 1)
    shares /= shares.sum()
    truth, guess = rng.choice(places, n, p=shares), rng.choice(places, (n, 4), p=shares)
    confidence = rng.random(n)
    right = rng.random(n) < confidence
    rows = []
    for i in range(n):
        unseen = i % 5 == 0
        said = truth[i] if right[i] and not unseen else guess[i, 0]
        rows.append(
            Row(
                question=f"Where was Person {i} born?",
                prediction=f"Place {said}",
                answers=(f"Place {truth[i]}",),
                subject=f"Person {i}",
                probability=float(confidence[i]),
                alternatives=tuple((f"Place {g}", float((1 - confidence[i]) / 4)) for g in guess[i, 1:]),
                group=f"group {i % 4}",
                split="never-read" if unseen else "held-out",
            )
        )
    return rows


def corpus_of(rows):
    return Corpus.from_lines(
        [f"{row.subject}. {row.subject} is from {row.answers[0]} ." for row in rows if row.split != "never-read"]
    )


KNOWN = {f"Persona {i}": f"Place {i % 7}" for i in range(30)}


def test_twenty_thousand_rows():
    rows = make_rows(20_000)
    card = score(rows, Context(KNOWN, corpus_of(rows)), np.random.default_rng(0))
    assert card.rows == 20_000
    assert list(card.people) == ["held-out", "never-read"]
    assert card.people["held-out"].right == exact_match(row for row in rows if row.split == "held-out")
    assert card.selective is not None
    # Confidence is honest about four people in five and worthless about the fifth.
    assert card.selective.ece == pytest.approx(0.2 * 0.5, abs=0.03)
    assert card.selective.ece > card.selective.ece_floor.high
    assert card.selective.auroc_knowable.low < 0.5 < card.selective.auroc_knowable.high
    assert card.selective.isotonic is not None
    assert card.selective.before is not None
    assert card.selective.isotonic.ece < card.selective.before.ece
    assert [s.level for s in card.selective.costs] == [0.5, 0.75, 0.9]
    assert all(s.with_threshold.value >= -0.01 for s in card.selective.costs)
    for threshold, _, simulated in card.selective.conformal:
        assert threshold.unbounded or simulated.value == pytest.approx(threshold.coverage, abs=0.02)
    assert card.error_kinds["never-read"][ErrorKind.RIGHT].value < 0.2
    assert card.error_funnel is not None
    assert card.error_funnel.steps[0].kept.n == 16_000
    assert card.groups is not None
    assert len(card.groups.groups) == 4
    assert card.stereotype is not None
    assert card.popularity is not None


def test_the_same_generator_gives_the_same_card():
    rows = make_rows(200)
    first, second = (to_json(score(rows, Context(KNOWN), np.random.default_rng(3))) for _ in range(2))
    assert first == second
    json.dumps(first, allow_nan=False)


def test_what_cannot_be_known_is_none():
    bare = [Row("q1", "a", answers=("a",)), Row("q2", "b", answers=("a",)), Row("q3", "c")]
    card = score(bare, Context(), np.random.default_rng(0))
    assert (card.selective, card.groups, card.stereotype, card.error_funnel) == (None, None, None, None)
    assert (card.people["all"].right, card.people["all"].silent) == (wilson(1, 2), wilson(0, 3))
    nothing = score([Row("q", "c")], Context(), np.random.default_rng(0))
    assert nothing.people["all"].right.n == 0
    assert nothing.popularity is None


def test_too_few_people_to_fit_anything():
    card = score([Row("q1", "a", answers=("a",), probability=0.5)], Context(), np.random.default_rng(0))
    assert card.selective is not None
    assert (card.selective.before, card.selective.temperature, card.selective.costs) == (None, None, ())


def test_people_asked_about_in_training_are_left_out_of_judgement():
    rows = [Row("q", "a", answers=("a",), split=split) for split in ("taught", "held-out", "never-read")]
    assert [row.split for row in not_taught(rows)] == ["held-out", "never-read"]
    assert not_taught(rows[:1]) == rows[:1]


def test_a_silent_model_has_no_popularity():
    rows = [replace(row, abstained=True) for row in make_rows(50)]
    card = score(rows, Context(KNOWN), np.random.default_rng(0))
    assert card.popularity is None
    assert card.people["held-out"].silent.value == 1
    assert card.error_kinds["held-out"][ErrorKind.WITHHELD].value == 1


def test_thinned_keeps_the_ends_and_the_area():
    card = score(make_rows(3000), Context(), np.random.default_rng(0))
    assert card.selective is not None
    curve = thinned(card.selective.curve, 10)
    assert len(curve.coverage) == 10
    assert curve.coverage[-1] == 1
    assert curve.aurc == card.selective.curve.aurc


def test_json_data():
    assert to_json(wilson(1, 2))["value"] == 0.5
    assert to_json(wilson(0, 0))["value"] is None
    assert to_json({ErrorKind.RIGHT: (np.float64(1.5), np.int64(2), math.inf)}) == {"right": [1.5, 2, None]}
    assert to_json([Temperature(2.0), np.array([[1, 2]])]) == [{"value": 2.0}, [[1, 2]]]
    with pytest.raises(TypeError):
        to_json(object())


def test_what_a_run_withholds_at_its_threshold_is_not_given():
    """Errors, groups, popularity and the funnel count answers given; probabilities are judged of all best answers."""
    rows = make_rows(400)
    held = [replace(row, silence="unsure") if row.probability < 0.5 else row for row in rows]
    context, given = Context(KNOWN, corpus_of(rows)), [row for row in rows if row.probability >= 0.5]
    card, plain = (score(some, context, np.random.default_rng(0)) for some in (held, rows))
    told = [row for row in given if row.split == "held-out"]
    wrong = sum(not row.correct for row in told)
    assert (
        fabrication_rate(card.error_kinds["held-out"]).successes
        == wrong
        == card.people["held-out"].answered_wrongly.successes
    )
    assert card.error_kinds["held-out"][ErrorKind.WITHHELD] == card.people["held-out"].silent
    assert card.popularity == popularity(told)
    assert sum(group.accuracy.successes for group in card.groups.groups) == len(told) - wrong
    assert card.stereotype.share.n == sum(not row.correct for row in given)
    steps = {step.name: step.kept.successes for step in card.error_funnel.steps}
    assert steps["its best answer"] == plain.error_funnel.steps[-1].kept.successes > steps["answered rightly"]
    assert (card.selective.ece, card.selective.curve.aurc) == (plain.selective.ece, plain.selective.curve.aurc)
    ours, theirs = card.selective.costs[0], plain.selective.costs[0]
    assert (ours.threshold, ours.with_threshold) == (theirs.threshold, theirs.with_threshold)
    assert ours.as_given.value > theirs.as_given.value
