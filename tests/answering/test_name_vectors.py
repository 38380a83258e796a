import numpy as np
import pytest
import torch

from loci.answering.name_vectors import name_vectors
from loci.model import GPT, GPTConfig
from loci.model.variants import VARIANTS
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel

VOCAB = Vocab.from_text("Where was Ann Bo Cyd born? Rome Oslo")
ASKED = {name: f"Where was {name} born?" for name in ("Ann", "Bo", "Cyd Ann Bo", "Ann Bo")}


@pytest.fixture(params=["rope", "perceiver", "synthesizer"])
def loaded(request, tmp_path):
    config = GPTConfig(len(VOCAB), block_size=32, n_layer=3, n_head=2, n_embd=16, bottleneck_dim=8)
    config = VARIANTS[request.param].apply(config)
    return LoadedModel(GPT(config, generator=torch.Generator().manual_seed(0)).eval(), VOCAB, {}, "beef", tmp_path)


def test_a_vector_is_the_state_at_the_names_last_character(loaded):
    found = name_vectors(loaded, ASKED)
    assert set(found) == set(ASKED)
    for name, question in ASKED.items():
        with torch.inference_mode():
            hidden, _ = loaded.model.hidden(torch.from_numpy(VOCAB.encode(question))[None])
        place = len("Where was ") + len(name) - 1
        assert question[place] == name[-1]
        assert found[name] == pytest.approx(hidden[0, place].numpy(), abs=1e-5)


def test_batches_change_nothing(loaded):
    whole, single = name_vectors(loaded, ASKED), name_vectors(loaded, ASKED, batch_size=1)
    for name in ASKED:
        assert np.allclose(whole[name], single[name], atol=1e-5)


def test_what_cannot_be_read_is_left_out(loaded):
    odd = {"Żaba": "Where was Żaba born?", "Ann": "Where was Bo born?", "Bo": "Bo " * 12 + "Bo", "": "Where?"}
    odd["Cyd"] = "Where was Ann " * 5 + "Cyd born?"
    assert set(name_vectors(loaded, odd)) == {"Bo"}
    assert name_vectors(loaded, {}) == {}
