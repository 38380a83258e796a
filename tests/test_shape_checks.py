"""A tensor of another shape than its signature says is an error in every test, the first time and every time."""

import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError

from loci.attention_lab.distribution import attend
from loci.model import GPT, GPTConfig


def test_a_wrong_shape_is_an_error_every_time_also_after_a_right_one():
    query, keys = np.zeros(4), np.zeros((3, 4))
    attend(query, keys, np.zeros((3, 2)))
    for _ in range(2):
        with pytest.raises(TypeCheckError, match="values"):
            attend(query, keys, np.zeros((2, 2)))
        attend(query, keys, np.zeros((3, 2)))


def test_a_wrong_type_of_numbers_and_a_wrong_result_are_errors(monkeypatch):
    model = GPT(GPTConfig(8, block_size=8, n_layer=1, n_head=1, n_embd=4))
    model(torch.zeros(2, 3, dtype=torch.long))
    with pytest.raises(TypeCheckError):
        model(torch.zeros(2, 3))
    monkeypatch.setattr(model.head, "forward", lambda hidden: hidden[:, :2])
    with pytest.raises(TypeCheckError):
        model(torch.zeros(2, 4, dtype=torch.long))
