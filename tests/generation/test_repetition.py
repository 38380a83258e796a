import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.generation.markov import MarkovModel, generate_markov
from loci.generation.repetition import Loop, distinct_n, find_loop, seq_rep_n
from loci.generation.sampling import Sampler

texts = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def test_repetition_by_hand():
    ids = [1, 2, 1, 2, 1]
    assert distinct_n(ids, 1) == pytest.approx(2 / 5)
    assert distinct_n(ids, 2) == pytest.approx(2 / 4)
    assert seq_rep_n(ids, 2) == pytest.approx(1 / 2)
    assert seq_rep_n(ids, 5) == 0
    assert seq_rep_n([7] * 10, 4) == pytest.approx(6 / 7)


@given(texts, st.integers(1, 5))
def test_shares_are_shares_and_longer_runs_repeat_less(ids, n):
    if len(ids) < n + 1:
        return
    assert 0 <= seq_rep_n(ids, n) < 1
    runs = [len(ids) - k + 1 for k in (n, n + 1)]
    repeated = [seq_rep_n(ids, k) * total for k, total in zip((n, n + 1), runs, strict=True)]
    assert repeated[1] <= repeated[0] + 1e-9  # a run of n+1 that comes twice holds a run of n that does


def brute_force(ids, repeats):
    """Every entry and period, as the definition says."""
    n = len(ids)
    for entry in range(n):
        for period in range(1, (n - entry) // repeats + 1):
            if all(ids[t] == ids[t + period] for t in range(entry, n - period)):
                return Loop(entry, period)
    return None


@given(texts, st.integers(2, 4))
def test_find_loop_is_the_definition(ids, repeats):
    assert find_loop(ids, repeats=repeats) == brute_force(ids, repeats)


@given(texts, st.lists(st.integers(0, 3), min_size=1, max_size=5), st.integers(8, 12))
def test_a_loop_that_is_there_is_found(head, cycle, times):
    loop = find_loop(head + cycle * times)
    assert loop is not None
    assert loop.entry <= len(head)
    assert len(cycle) % loop.period == 0


def test_no_loop():
    assert find_loop([1, 2, 3, 4]) is None
    assert find_loop([]) is None
    assert find_loop([5, 5]) is None
    assert find_loop([5, 5, 5]) == Loop(0, 1)
    assert find_loop([9, 1, 2, 1, 2, 1, 2, 1]) == Loop(1, 2)
    assert find_loop([9, 1, 2, 1, 2, 1, 2, 1], least=7) == Loop(1, 2)
    assert find_loop([9, 1, 2, 1, 2, 1, 2, 1], least=8) is None
    assert find_loop([4, 4, 4, 1, 2, 3, 7, 7, 7], least=4) is None


def deterministic_loop(step, start, order):
    """By definition: the first run of `order` ids that comes a second time closes the loop."""
    ids, first_seen, place = list(start), {}, len(start) - order
    while (state := tuple(ids[place : place + order])) not in first_seen:
        first_seen[state] = place
        ids.append(step(state))
        place += 1
    return Loop(first_seen[state], place - first_seen[state])


@given(st.integers(1, 4), st.integers(0, 3), st.data())
def test_a_deterministic_process_of_order_k_must_loop_in_time(symbols, order, data):
    seed = data.draw(st.integers(0, 9999))
    table = np.random.default_rng(seed).integers(0, symbols, size=(symbols,) * order)
    start = data.draw(st.lists(st.integers(0, symbols - 1), min_size=order, max_size=order))
    loop = deterministic_loop(lambda state: int(table[state]), start, order)
    assert loop.period >= 1
    assert loop.entry + loop.period <= symbols**order  # the repeated run begins within the first |V|^k + 1
    ids = list(start)
    while len(ids) < loop.entry + 4 * loop.period + order:
        ids.append(int(table[tuple(ids[len(ids) - order :])]))
    assert ids[loop.entry + loop.period : loop.entry + 2 * loop.period] == ids[loop.entry : loop.entry + loop.period]
    found = find_loop(ids)
    assert found is not None
    assert found.entry <= loop.entry


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(1, 3))
def test_a_counting_model_at_zero_temperature_loops_within_its_bound(text, order):
    model = MarkovModel.fit([text], order, 4)
    bound = 4**order + order
    start = [text[place % len(text)] for place in range(order)]
    (written,) = generate_markov(model, [start], max_new=4 * bound)
    assert find_loop(start + written) is not None
    loop = deterministic_loop(lambda ids: int(model.logits(ids).argmax()), start, order)
    assert loop.entry + loop.period <= bound


def test_counts_and_backing_off():
    model = MarkovModel.fit([[0, 1, 2, 0, 1, 3, 0, 1, 2]], order=2, vocab_size=5)
    logits = model.logits([9, 0, 1])
    assert logits.exp().tolist() == pytest.approx([0, 0, 2 / 3, 1 / 3, 0])
    assert int(model.logits([0, 1]).argmax()) == 2
    assert model.state([3, 1]) == (1,)  # "3 1" never occurred, "1" did
    assert model.state([4]) == ()
    assert model.logits([4]).exp().tolist() == pytest.approx([3 / 9, 3 / 9, 2 / 9, 1 / 9, 0])


def test_nothing_is_counted_across_texts():
    model = MarkovModel.fit([[0, 1], [2, 3]], order=1, vocab_size=4)
    assert 2 not in model.counts[(1,)]


def test_sampling_follows_the_counts_and_its_generator():
    model = MarkovModel.fit([[0, 1, 0, 1, 0, 1, 0, 2]], order=1, vocab_size=3)
    prompts = [[0]] * 2000
    sampler = Sampler()
    first, second = (
        generate_markov(model, prompts, max_new=1, sampler=sampler, generator=torch.Generator().manual_seed(5))
        for _ in range(2)
    )
    assert first == second
    assert np.mean([row == [1] for row in first]) == pytest.approx(3 / 4, abs=0.04)


def test_a_repetition_penalty_leaves_the_loop():
    model = MarkovModel.fit([[0, 1, 0, 1, 0, 1, 2, 0, 1, 0, 1, 3]], order=1, vocab_size=4)
    greedy = generate_markov(model, [[0]], max_new=12)[0]
    assert set(greedy) == {0, 1}
    penalised = generate_markov(model, [[0]], max_new=12, sampler=Sampler(temperature=0.0, repetition_penalty=20.0))[0]
    assert set(penalised) > {0, 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distinct_n([1], 0), "at least one id"),
        (lambda: seq_rep_n([1, 2], 3), "no run of 3"),
        (lambda: find_loop([1], repeats=1), "at least 2"),
        (lambda: MarkovModel(-1, 3), "order must be"),
        (lambda: MarkovModel.fit([], 2, 3), "no text to count"),
        (lambda: generate_markov(MarkovModel.fit([[0]], 1, 2), [[0]], max_new=0), "max_new"),
        (lambda: generate_markov(MarkovModel.fit([[0]], 1, 2), [[7]], max_new=1), "outside the vocabulary"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
