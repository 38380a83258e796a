import json
import math
from dataclasses import replace

import numpy as np
import pytest

from loci.evaluation.calibration import Temperature
from loci.evaluation.error_kinds import Kind
from loci.evaluation.json_data import plain
from loci.evaluation.metrics import exact_match, wilson
from loci.evaluation.rows import Prediction
from loci.evaluation.scorecard import Context, judged, score
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
            Prediction(
                question=f"Where was Person {i} born?",
                prediction=f"Place {said}",
                answers=(f"Place {truth[i]}",),
                subject=f"Person {i}",
                probability=float(confidence[i]),
                alternatives=tuple((f"Place {g}", float((1 - confidence[i]) / 4)) for g in guess[i, 1:]),
                group=f"group {i % 4}",
                split="unseen" if unseen else "held-out",
            )
        )
    return rows


def corpus_of(rows):
    return Corpus.from_lines(
        [f"{row.subject}. {row.subject} is from {row.answers[0]} ." for row in rows if row.split != "unseen"]
    )


KNOWN = {f"Persona {i}": f"Place {i % 7}" for i in range(30)}


def test_twenty_thousand_rows():
    rows = make_rows(20_000)
    card = score(rows, Context(KNOWN, corpus_of(rows)), np.random.default_rng(0))
    assert card.rows == 20_000
    assert list(card.accuracy) == ["held-out", "unseen"]
    assert card.accuracy["held-out"] == exact_match(row for row in rows if row.split == "held-out")
    assert card.trust is not None
    # Confidence is honest about four people in five and worthless about the fifth.
    assert card.trust.error == pytest.approx(0.2 * 0.5, abs=0.03)
    assert card.trust.error > card.trust.error_floor.high
    assert card.trust.recognises.low < 0.5 < card.trust.recognises.high
    assert card.trust.isotonic is not None
    assert card.trust.before is not None
    assert card.trust.isotonic.error < card.trust.before.error
    assert [s.level for s in card.trust.priced] == [0.5, 0.75, 0.9]
    assert all(s.with_threshold.value >= -0.01 for s in card.trust.priced)
    for threshold, _, simulated in card.trust.conformal:
        assert threshold.unbounded or simulated.value == pytest.approx(threshold.coverage, abs=0.02)
    assert card.fabrication["unseen"][Kind.RIGHT].value < 0.2
    assert card.ceiling is not None
    assert card.ceiling.steps[0].kept.n == 16_000
    assert card.groups is not None
    assert len(card.groups.groups) == 4
    assert card.stereotype is not None
    assert card.popularity is not None


def test_the_same_generator_gives_the_same_card():
    rows = make_rows(200)
    first, second = (plain(score(rows, Context(KNOWN), np.random.default_rng(3))) for _ in range(2))
    assert first == second
    json.dumps(first, allow_nan=False)


def test_what_cannot_be_known_is_none():
    bare = [Prediction("q1", "a", answers=("a",)), Prediction("q2", "b", answers=("a",)), Prediction("q3", "c")]
    card = score(bare, Context(), np.random.default_rng(0))
    assert (card.trust, card.groups, card.stereotype, card.ceiling) == (None, None, None, None)
    assert card.accuracy == {"all": wilson(1, 2)}
    assert card.abstention == {"all": wilson(0, 3)}
    nothing = score([Prediction("q", "c")], Context(), np.random.default_rng(0))
    assert nothing.accuracy == {}
    assert nothing.popularity is None


def test_too_few_people_to_fit_anything():
    card = score([Prediction("q1", "a", answers=("a",), probability=0.5)], Context(), np.random.default_rng(0))
    assert card.trust is not None
    assert (card.trust.before, card.trust.temperature, card.trust.priced) == (None, None, ())


def test_people_asked_about_in_training_are_left_out_of_judgement():
    rows = [Prediction("q", "a", answers=("a",), split=split) for split in ("seen", "held-out", "unseen")]
    assert [row.split for row in judged(rows)] == ["held-out", "unseen"]
    assert judged(rows[:1]) == rows[:1]


def test_a_silent_model_has_no_popularity():
    rows = [replace(row, abstained=True) for row in make_rows(50)]
    card = score(rows, Context(KNOWN), np.random.default_rng(0))
    assert card.popularity is None
    assert card.abstention["held-out"].value == 1
    assert card.fabrication["held-out"][Kind.WITHHELD].value == 1


def test_thinned_keeps_the_ends_and_the_area():
    card = score(make_rows(3000), Context(), np.random.default_rng(0))
    assert card.trust is not None
    curve = thinned(card.trust.curve, 10)
    assert len(curve.coverage) == 10
    assert curve.coverage[-1] == 1
    assert curve.area == card.trust.curve.area


def test_plain():
    assert plain(wilson(1, 2))["value"] == 0.5
    assert plain(wilson(0, 0))["value"] is None
    assert plain({Kind.RIGHT: (np.float64(1.5), np.int64(2), math.inf)}) == {"right": [1.5, 2, None]}
    assert plain([Temperature(2.0), np.array([[1, 2]])]) == [{"value": 2.0}, [[1, 2]]]
    with pytest.raises(TypeError):
        plain(object())
