import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.data.objectives import (
    OBJECTIVES,
    LanguageModel,
    QuestionAnswer,
    SpanCorruption,
    make_objective,
    span_length,
)
from loci.data.prompts import question_prompt
from loci.errors import LociError
from loci.text.corpus import Line
from loci.text.questions import Question
from loci.text.vocab import MASK, MASK_ID, Vocab

ALPHABET = "abcdefghij ."
VOCAB = Vocab.from_text(ALPHABET)
documents = st.text(ALPHABET, min_size=1, max_size=300)
seeds = st.integers(0, 2**32 - 1)


def line(text: str) -> Line:
    return Line(1, text.split(". ")[0], text)


@given(documents, seeds, st.booleans(), st.integers(8, 200))
def test_corruption_reassembles_to_a_prefix_of_the_document(text, seed, closing, block_size):
    objective = SpanCorruption(VOCAB, block_size, closing)
    example = objective(line(text), np.random.default_rng(seed))
    shown = VOCAB.decode(example.ids)
    parts = shown.split(MASK)
    assert len(parts) == (4 if closing else 3)
    prefix, suffix, masked = parts[:3]
    assert text.startswith(prefix + masked + suffix)
    assert len(masked) >= 1
    assert not closing or parts[3] == ""
    assert len(prefix + masked + suffix) <= max(objective.longest, 4)
    assert len(example) <= block_size
    assert example.loss_mask.all()


def test_every_length_of_the_published_range_occurs_and_none_beyond():
    objective = SpanCorruption(VOCAB, 128, True)
    rng = np.random.default_rng(0)
    document = VOCAB.encode("a" * 400)
    lengths = {len(objective.corrupt(document, rng)) - 3 for _ in range(5000)}
    assert lengths == set(range(4, 113))


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 30, 112])
def test_a_quarter_is_masked_on_average(n):
    rng = np.random.default_rng(n)
    draws = np.array([span_length(n, rng) for _ in range(40_000)])
    assert draws.min() >= 1
    assert draws.max() <= n
    standard_error = draws.std() / np.sqrt(len(draws))
    assert abs(draws.mean() - n / 4) < 4 * standard_error + 1e-12


def test_the_span_stands_anywhere():
    objective = SpanCorruption(VOCAB, 128, False)
    rng = np.random.default_rng(0)
    shown = [VOCAB.decode(objective.corrupt(VOCAB.encode("abcdefgh"), rng).ids) for _ in range(400)]
    starts = {text.index(MASK) for text in shown}
    assert 0 in starts  # the prefix may be empty
    assert any(text.split(MASK)[1] == "" for text in shown)  # and so may the suffix


@pytest.mark.parametrize("text", ["a", "ab", "abc"])
def test_documents_shorter_than_the_shortest_cut_lose_one_character(text):
    example = SpanCorruption(VOCAB, 128, True)(line(text), np.random.default_rng(1))
    prefix, suffix, masked, end = VOCAB.decode(example.ids).split(MASK)
    assert (len(masked), end, prefix + masked + suffix) == (1, "", text)


def test_question_answer_counts_only_the_answer_and_its_masks():
    question = Question("a b c?".replace("?", "."), ("hij",), "b", 1)
    example = QuestionAnswer(VOCAB, 128)(question, np.random.default_rng(0))
    assert VOCAB.decode(example.ids) == "a b c.⁇hij⁇"
    assert VOCAB.decode(example.ids[example.loss_mask]) == "⁇hij⁇"
    assert list(question_prompt(VOCAB, question.text)) == list(example.ids[:7])
    assert example.ids[-1] == MASK_ID


def test_a_question_longer_than_the_block_is_refused_with_its_line():
    question = Question("a" * 30, ("b",), None, 17)
    with pytest.raises(LociError, match=r"line 17.*33 characters, the block has 32") as caught:
        QuestionAnswer(VOCAB, 32)(question, np.random.default_rng(0))
    assert caught.value.remedy


@given(documents, seeds)
def test_the_language_model_sees_a_window_of_the_line_and_its_end(text, seed):
    example = LanguageModel(VOCAB, 64)(line(text), np.random.default_rng(seed))
    assert VOCAB.decode(example.ids) in text + MASK
    assert len(example) == min(64, len(text) + 1)


@given(documents, seeds)
def test_objectives_are_pure(text, seed):
    for name in ("corruption-2021", "corruption-2024", "language-model"):
        objective = make_objective(name, VOCAB, 64, {})
        first, second = (objective(line(text), np.random.default_rng(seed)) for _ in range(2))
        assert np.array_equal(first.ids, second.ids)


def test_unknown_objectives_and_options_are_named():
    with pytest.raises(LociError, match="corruption-2021"):
        make_objective("corruption", VOCAB, 64, {})
    with pytest.raises(LociError, match="shortest_cut"):
        make_objective("corruption-2021", VOCAB, 64, {"shortest_cut": 3})
    assert set(OBJECTIVES) >= {"corruption-2021", "corruption-2024", "question-answer", "language-model"}
