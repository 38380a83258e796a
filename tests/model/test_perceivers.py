"""Where latents anchor, what they see, and that the linear way is the written-out one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.attention.windowed import band, pairs_of_pieces, running_mean
from loci.model.tap import Tap
from loci.model.trunk.perceiver_causal import even_anchors, summarises

BASE = GPTConfig(vocab_size=7, block_size=12, n_layer=3, n_head=2, n_embd=8, bottleneck_dim=4, local_window=3)


@given(st.integers(1, 300), st.data())
def test_latents_stand_evenly_over_the_whole_block(block: int, data: st.DataObject) -> None:
    m = data.draw(st.integers(1, block))
    anchors = even_anchors(BASE.replace(block_size=block, bottleneck_dim=m))
    assert anchors[0] == 0
    assert len(anchors) == m
    lengths = [after - anchor for anchor, after in itertools.pairwise((*anchors, block))]
    assert set(lengths) <= {block // m, -(-block // m)}


def test_the_summary_exists_only_where_a_piece_outgrows_the_window() -> None:
    assert not summarises(BASE.replace(local_window=3))
    assert summarises(BASE.replace(local_window=2))
    assert not summarises(BASE.replace(block_size=128, bottleneck_dim=64, local_window=16))


@settings(max_examples=25)
@given(
    block=st.integers(2, 40), data=st.data(), window=st.integers(1, 12), positions=st.sampled_from(["learned", "rope"])
)
def test_banded_and_written_out_attention_agree(block: int, data: st.DataObject, window: int, positions: str) -> None:
    m, length = data.draw(st.integers(1, block)), data.draw(st.integers(1, block))
    config = BASE.replace(block_size=block, bottleneck_dim=m, local_window=window, positions=positions)
    model = GPT(VARIANTS["perceiver"].apply(config), generator=torch.Generator().manual_seed(0)).double().eval()
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.normal_(0, 0.5, generator=torch.Generator().manual_seed(index))
    ids = torch.randint(0, 7, (2, length), generator=torch.Generator().manual_seed(block))
    banded = model(ids).logits
    dense, trace = model(ids, trace=True)
    torch.testing.assert_close(banded, dense, rtol=0, atol=1e-10)
    up = trace[-1]
    latents = sum(anchor < length for anchor in even_anchors(config))
    assert up.shape == (2, 2, length, latents + length)
    assert (up[..., latents:].triu(1) == 0).all()


@torch.no_grad()
@pytest.mark.parametrize("window", [2, 3])
def test_the_trace_of_the_way_up_reproduces_what_was_read(window: int) -> None:
    config = VARIANTS["perceiver"].apply(BASE).replace(local_window=window)
    trunk: Any = GPT(config, generator=torch.Generator().manual_seed(0)).double().eval().trunk
    x = torch.randn(2, 11, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    places = torch.arange(11)[None]
    k, v = trunk.down_block.keys_values(x, places, None)
    latents = trunk._deepen(x[:, trunk.anchors], torch.arange(4)[None], k, v, None, None)
    memory = trunk.up_block.latent_keys_values(latents, trunk.anchors[None])
    tap = Tap(["pattern"])
    read = trunk.up_block.read(x, places, memory, trunk.anchors, cache=None, tap=tap, values=None)
    weights = tap.kept["pattern"]
    _, own = trunk.up_block.attn.keys_values(trunk.up_block.ln1(x), places)
    mixed = (weights @ torch.cat((memory[1], own), dim=2)).transpose(1, 2).flatten(2)
    torch.testing.assert_close(read, trunk.up_block.attn.proj(mixed), rtol=0, atol=1e-12)


@torch.no_grad()
def test_latents_read_all_up_to_their_stand_and_nothing_after() -> None:
    model = GPT(VARIANTS["perceiver"].apply(BASE)).eval()
    _, trace = model(torch.arange(12)[None] % 7, trace=True)
    down = trace[0][0, 0]
    for latent, anchor in enumerate((0, 3, 6, 9)):
        assert (down[latent, : anchor + 1] > 0).all()
        assert (down[latent, anchor + 1 :] == 0).all()
    up = trace[-1][0, 0]
    assert (up[8, :3] > 0).all()
    assert up[8, 3] == 0
    assert (up[8, 4:].nonzero()[:, 0] == torch.tensor([6, 7, 8])).all()


def test_the_course_perceiver_is_declared_blind_and_ours_is_not() -> None:
    assert type(GPT(VARIANTS["perceiver-course"].apply(BASE)).trunk).blind_after(BASE) == 4
    assert type(GPT(VARIANTS["perceiver"].apply(BASE)).trunk).blind_after(BASE) is None


def test_helpers_by_hand() -> None:
    x = torch.arange(1.0, 7.0).view(1, 1, 6, 1)
    assert running_mean(x, torch.tensor([0, 0, 0, 3, 3, 5])).flatten().tolist() == [1, 1.5, 2, 4, 4.5, 6]
    assert pairs_of_pieces(x, 3).flatten().tolist() == [0, 0, 0, 1, 2, 3, 1, 2, 3, 4, 5, 6]
    near = band(2, 2, torch.device("cpu")).long()
    assert near.tolist() == [[[0, 0, 1, 0], [0, 0, 1, 1]], [[0, 1, 1, 0], [0, 0, 1, 1]]]


def test_our_perceiver_learns_to_copy_from_beyond_its_window() -> None:
    """Trainable where it matters: the answer is the first character, eleven places back and outside every window."""
    config = VARIANTS["perceiver"].apply(BASE.replace(embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, n_embd=32))
    generator = torch.Generator().manual_seed(0)
    model = GPT(config, generator=generator)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(110):
        ids = torch.randint(0, 7, (32, 12), generator=generator)
        loss = torch.nn.functional.cross_entropy(model(ids).logits[:, -1], ids[:, 0])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.3  # from ln 7 = 1.95
