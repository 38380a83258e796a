import math

import pytest
import torch

from loci.answering import greedy as answer_module
from loci.answering.greedy import I_DONT_KNOW, answer_questions
from loci.answering.n_best import n_best_rows
from loci.errors import LociError
from loci.generation.decode import Generated
from loci.model import GPT, GPTConfig
from loci.text.questions import Question, Questions
from loci.text.template import BIRTHPLACE
from loci.text.vocab import MASK_ID, Vocab
from loci.training.checkpoint import LoadedModel

VOCAB = Vocab.from_text("Where was Ann Bo Cyd born? Rome Oslo")


@pytest.fixture
def loaded(tmp_path):
    """A model whose every answer is a fixed text: its head reads nothing but the position in it."""
    model = GPT(GPTConfig(len(VOCAB), block_size=64, n_layer=1, n_head=2, n_embd=16))
    return LoadedModel(model.eval(), VOCAB, {"corpus_hash": "feed"}, "beef", tmp_path)


def asked(*texts, answers=("Rome",)):
    rows = tuple(Question(text, answers, BIRTHPLACE.subject_of(text), i + 1) for i, text in enumerate(texts))
    return Questions(None, rows, BIRTHPLACE)


def test_rows_keep_order_truth_and_hashes(loaded):
    questions = asked("Where was Ann born?", "Where was Bo born?", "Where was Cyd Ann Bo born?")
    rows = answer_questions(loaded, questions, split="held-out")
    assert [row.question for row in rows] == [question.text for question in questions]
    assert [row.subject for row in rows] == ["Ann", "Bo", "Cyd Ann Bo"]
    assert {(row.model, row.data, row.split) for row in rows} == {("beef", "feed", "held-out")}
    assert all(len(row.prediction) <= 32 for row in rows)


def test_the_probability_is_that_of_the_whole_answer(loaded):
    (row,) = answer_questions(loaded, asked("Where was Ann born?"))
    ids = [*VOCAB.encode("Where was Ann born?"), MASK_ID, *VOCAB.encode(row.prediction)]
    if len(row.prediction) < 32:
        ids.append(MASK_ID)
    with torch.inference_mode():
        log_p = loaded.model(torch.tensor([ids])).logits[0].log_softmax(-1)
    start = len("Where was Ann born?") + 1
    expected = sum(float(log_p[place - 1, ids[place]]) for place in range(start, len(ids)))
    assert row.probability == pytest.approx(math.exp(expected), rel=1e-4)


def test_a_question_the_model_cannot_read_is_named_by_line(loaded):
    with pytest.raises(LociError, match=r"line 2.*'Z'") as caught:
        answer_questions(loaded, asked("Where was Ann born?", "Where was Z born?"))
    assert caught.value.remedy
    with pytest.raises(LociError, match=r"line 1.*leaves none"):
        answer_questions(loaded, asked("Where was " + "Bo " * 20 + "born?"))


def test_no_questions_no_rows(loaded):
    assert answer_questions(loaded, asked()) == []


def test_an_answer_the_model_could_never_write_is_no_fault_of_the_question(loaded):
    for answer in ("Łódź", "Rome " * 20):
        (row,) = answer_questions(loaded, asked("Where was Ann born?", answers=(answer,)))
        (beam,) = n_best_rows(loaded, asked("Where was Ann born?", answers=(answer,)))
        assert row.correct is beam.correct is False


def test_silence_that_was_taught_is_silence(loaded, monkeypatch):
    vocab = Vocab.from_text(f"Where was Ann born? {I_DONT_KNOW}")
    model = GPT(GPTConfig(len(vocab), block_size=64, n_layer=1, n_head=2, n_embd=16)).eval()
    said = Generated(tuple(vocab.encode(I_DONT_KNOW).tolist()), math.log(0.9), True)
    monkeypatch.setattr(answer_module, "generate", lambda *args, **options: [said])
    (row,) = answer_questions(LoadedModel(model, vocab, {}, "beef", loaded.path), asked("Where was Ann born?"))
    assert (row.prediction, row.probability, row.abstained) == ("", 0.0, True)
