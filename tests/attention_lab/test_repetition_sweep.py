import pytest
import torch

from loci.attention_lab.repetition_sweep import default_sweep, measure, sweep
from loci.errors import LociError
from loci.generation.markov import MarkovModel, generate_markov
from loci.generation.sampling import Sampler

TEXT = b"the cat sat on the mat and the dog sat on the log and then the cat ran to the man who had the hat "


def test_measure_by_hand():
    point = measure([[1, 2, 3, 4, 5, 6], [7, 8, 8, 8, 8, 8]], 2, setting="temperature", value=0.5)
    assert point.seq_rep.value == pytest.approx((0 + 3 / 5) / 2)
    assert point.distinct.value == pytest.approx(1 - 3 / 10)
    assert (point.looped.successes, point.looped.n) == (1, 2)
    assert (point.entry, point.period) == (1, 1)
    assert measure([[1, 2, 3]], 1).entry is None


def test_equal_samplers_write_once():
    calls = []

    def write(sampler):
        calls.append(sampler)
        return [[1, 2, 3]]

    settings = {"a": [(1.0, Sampler())], "b": [(2.0, Sampler()), (3.0, Sampler(top_k=2))]}
    points = sweep(write, 1, settings)
    assert len(calls) == 2
    assert [(point.setting, point.value) for point in points] == [("a", 1), ("b", 2), ("b", 3)]


def test_a_counting_model_repeats_less_the_warmer_it_writes():
    model = MarkovModel.fit([TEXT], 2, 256)

    def write(sampler):
        generator = torch.Generator().manual_seed(0)
        return generate_markov(model, [list(b"th"), list(b"do")], max_new=200, sampler=sampler, generator=generator)

    points = {(point.setting, point.value): point for point in sweep(write, 4)}
    assert len(points) == sum(map(len, default_sweep().values()))
    assert points["temperature", 0.0].looped.value == 1
    assert points["temperature", 1.0].looped.value == 0
    assert points["temperature", 0.0].seq_rep.value > points["temperature", 1.0].seq_rep.value + 0.1
    assert points["top-k", 1.0].seq_rep.value > points["top-k", 32.0].seq_rep.value
    assert points["repetition penalty", 1.5].seq_rep.value < points["repetition penalty", 1.0].seq_rep.value


def test_nothing_to_measure():
    with pytest.raises(LociError, match="no text to measure"):
        measure([], 2)
