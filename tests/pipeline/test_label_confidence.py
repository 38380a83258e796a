"""The confidence of labels, and labels on disk."""

from dataclasses import replace

import numpy as np

from loci.pipeline.labelers.confidence import FEWEST, Label, fit_confidence
from loci.pipeline.labels_file import read_labels, write_labels
from loci.text.questions import Questions


def drawn(n, rng):
    """Labels whose chance of being right is their probability, less where the prior is small."""
    labels = [
        Label("x", float(p), float(q), 0.0)
        for p, q in zip(rng.uniform(0.3, 1, n), rng.uniform(0.01, 0.5, n), strict=True)
    ]
    right = [rng.random() < one.probability * (0.5 + one.prior) for one in labels]
    return labels, right


def test_confidence_is_the_share_that_is_right():
    rng = np.random.default_rng(0)
    confidence = fit_confidence(*drawn(3000, rng))
    labels, right = drawn(3000, rng)
    sure = np.array([confidence(one) for one in labels])
    for low, high in ((0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):
        there = (sure >= low) & (sure < high)
        assert abs(sure[there].mean() - np.mean(np.array(right)[there])) < 0.06


def test_with_few_questions_the_readers_probability_stands():
    labels, right = drawn(FEWEST - 1, np.random.default_rng(0))
    assert fit_confidence(labels, right)(Label("x", 0.7, 0.1, 0.0)) == 0.7


def test_all_right_leaves_a_finite_fit():
    labels, _ = drawn(100, np.random.default_rng(0))
    assert 0.5 < fit_confidence(labels, [True] * 100)(labels[0]) <= 1.0


def test_labels_keep_their_degrees_on_disk(tmp_path):
    pairs = [("Where was Ann Lee born?", "Oslo"), ("Where was Bo Ek born?", "Rome")]
    made = Questions.from_pairs(pairs)
    labels = replace(made, rows=tuple(replace(row, degree=d) for row, d in zip(made.rows, (9, 0), strict=True)))
    for questions in (labels, made):
        write_labels(questions, tmp_path / "labels.tsv")
        kept = read_labels(tmp_path / "labels.tsv")
        assert [(row.text, row.answer, row.degree) for row in kept] == [
            (row.text, row.answer, row.degree) for row in questions
        ]
