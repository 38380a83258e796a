from __future__ import annotations

import pytest
import torch
from tiny_models import STOP, tiny

from loci.errors import LociError
from loci.generation import Sampler, Window, generate, stream


@pytest.mark.parametrize("variant", ["vanilla", "rope", "perceiver", "synthesizer"])
@pytest.mark.parametrize("sampler", [None, Sampler(top_k=5)])
def test_a_stream_is_what_generate_gives(variant: str, sampler: Sampler | None) -> None:
    model = tiny(variant)
    for window in (None, Window(6, 3)):
        streamed = stream(
            model, [3, 4], length=16, sampler=sampler, generator=torch.Generator().manual_seed(1), window=window
        )
        [whole] = generate(
            model, [[3, 4]], max_new=16, sampler=sampler, generator=torch.Generator().manual_seed(1), window=window
        )
        assert tuple(streamed) == whole.ids


def test_it_comes_one_by_one_and_leaves_the_callers_settings_alone() -> None:
    model = tiny().train()
    ids = stream(model, [3], length=5)
    next(ids)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    assert model.training
    assert len(list(ids)) == 4


def test_it_ends_before_the_stop_id() -> None:
    model = tiny(seed=1)
    ids = list(
        stream(model, [3], length=500, sampler=Sampler(), generator=torch.Generator().manual_seed(0), stop_id=STOP)
    )
    assert len(ids) < 500
    assert STOP not in ids


def test_bad_input_is_an_error_at_the_call() -> None:
    with pytest.raises(LociError, match="length"):
        stream(tiny(), [3], length=0)
    with pytest.raises(LociError, match="generator"):
        stream(tiny(), [3], length=3, sampler=Sampler())
