from pathlib import Path

import numpy as np
import pytest
import torch

from loci.answering.answerer import make_answerer
from loci.attention_lab.looking import look
from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK, Vocab
from loci.training.checkpoint import LoadedModel

VOCAB = Vocab.from_text("Where was Ada Lovelace born? Mary Ann-Zoë St. Osylondk")
QUESTION = "Where was Ada Lovelace born?"


def tiny(**changes):
    config = GPTConfig(len(VOCAB), block_size=64, n_layer=2, n_head=2, n_embd=16).replace(**changes)
    return GPT(config, generator=torch.Generator().manual_seed(0)).eval()


def seen(model, question=QUESTION, **options):
    loaded = LoadedModel(model, VOCAB, {}, "beef", Path("nowhere"))
    (answer,) = make_answerer(loaded).answer(Questions(None, (Question(question, (), None, 1),)))
    return look(model, VOCAB, answer, generator=torch.Generator().manual_seed(0), draws=2, **options)


def test_everything_has_the_length_of_what_was_read():
    view = seen(tiny(), given="London")
    width = len(QUESTION) + 1 + len("London")
    assert view.symbols == tuple(QUESTION + MASK + "London")
    assert view.n_prompt == len(QUESTION) + 1
    assert view.attention.shape == (2, 2, width, width)
    assert view.rollout.shape == (2, width, width)
    assert view.lens.best.shape == (3, len("London") + 1)
    assert view.trace.restored.shape == (3, len(QUESTION) + 1, 2)
    assert view.answer_symbols == (*"London", MASK)
    assert view.given
    assert view.lens.probability[-1, 0].log().item() == pytest.approx(view.trace.clean, rel=1e-4)
    assert view.probability == pytest.approx(view.lens.probability[-1].prod().item())
    assert np.allclose(view.attention.sum(axis=-1), 1, atol=1e-5)


def test_without_an_answer_the_model_gives_its_own():
    view = seen(tiny(positions="rope"))
    assert not view.given
    assert view.answer
    assert 0 < view.probability < 1


@pytest.mark.parametrize(
    ("question", "subject", "found"),
    [(QUESTION, None, "Ada Lovelace"), ("Where was ada born?", None, "ada"), (QUESTION, "Lovelace", "Lovelace")],
)
def test_the_name_is_found(question, subject, found):
    start, stop = seen(tiny(), question, subject=subject).subject
    assert question[start:stop] == found


def test_bad_questions_are_refused():
    with pytest.raises(LociError, match="no 'Bob' in the question"):
        seen(tiny(), subject="Bob")
    with pytest.raises(LociError, match="no name was found"):
        seen(tiny(), "Where was she born?")
    with pytest.raises(LociError, match="does not know 'X'"):
        seen(tiny(), "Where was Xi born?")
    with pytest.raises(LociError, match="the model 32"):
        seen(tiny(block_size=32), given="London")
    with pytest.raises(LociError, match="no state for each layer"):
        seen(tiny(trunk="perceiver", bottleneck_dim=8))
