import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loci.attention_lab.design import (
    EXERCISE_INPUTS,
    EXERCISE_REQUESTS,
    coefficients,
    input_vectors,
    parse_inputs,
    parse_requests,
    parse_sum,
    self_attention,
    show_sum,
    symbol_vectors,
    symbols_of,
)
from loci.attention_lab.solver import Impossible, Solution, solve
from loci.errors import LociError


def outputs(solution, inputs, beta=6.0, seed=0):
    m = len(solution.symbols)
    vectors = symbol_vectors(np.random.default_rng(seed), m, m + 3, beta)
    _, found = self_attention(input_vectors(inputs, solution.symbols, vectors), solution.in_space(vectors))
    return found @ vectors.T / beta**2  # coefficients of the symbols


def assert_solves(solution, inputs, requests):
    assert isinstance(solution, Solution), solution
    found = outputs(solution, inputs)
    for position, wanted in requests.items():
        assert found[position - 1] == pytest.approx(coefficients([wanted], solution.symbols)[0], abs=1e-6)


def ask(inputs, requests, **options):
    return solve(parse_inputs(inputs), parse_requests(requests), **options)


def test_the_exercise_is_solved_with_its_own_value_matrix():
    solution = solve(EXERCISE_INPUTS, EXERCISE_REQUESTS)
    assert_solves(solution, EXERCISE_INPUTS, EXERCISE_REQUESTS)
    assert isinstance(solution, Solution)
    assert solution.attended == {2: (1,), 1: (3,)}
    assert solution.head.value == pytest.approx(np.diag([0.0, 1, -1, 0]))  # u_b u_bᵀ − u_c u_cᵀ
    assert np.abs(solution.head.query).sum() == pytest.approx(2)


@pytest.mark.parametrize(
    ("inputs", "requests"),
    [
        ("a, b, c", "1=b, 2=c, 3=a"),
        ("a, b, c", "1=a, 2=a, 3=a"),
        ("a+b, b+c, c+a", "1=c, 2=a, 3=b"),
        ("a, b", "1=0.5a + 0.5b"),
        ("a, b, c", "1=a+b, 2=a, 3=b"),
        ("a+b, a+c", "1=b, 2=c"),
        ("a, a, b", "1=b, 2=b, 3=a"),
        ("a, 2a", "1=a"),
        ("0, a", "2=a"),
    ],
)
def test_designs_that_exist_are_found(inputs, requests):
    assert_solves(ask(inputs, requests), parse_inputs(inputs), parse_requests(requests))


def test_equal_inputs_cannot_have_different_outputs():
    answer = ask("a, b, a", "1=a, 3=b")
    assert isinstance(answer, Impossible)
    assert answer.universal
    assert "inputs 1 and 3 are equal (a)" in answer.reason


def test_outputs_cannot_span_more_than_the_inputs():
    answer = ask("a+b, a+b, 2a+2b", "1=a, 3=b")
    assert answer.universal
    assert "span 2 dimensions, the inputs 1" in answer.reason


def test_a_sum_that_is_always_copied_whole_cannot_be_two_things():
    # x3 = x1 + x2, so V x3 = V x1 + V x2 is settled by the others.
    answer = ask("a, b, a+b, c", "1=a, 2=b, 4=c, 3=d", largest_set=1)
    assert isinstance(answer, Impossible)
    assert answer.universal  # four independent outputs from rank three
    answer = ask("a, b", "1=a, 2=0", largest_set=1)
    assert isinstance(answer, Solution)


def test_no_value_matrix():
    # Attending to a, to 2a or to both only ever offers V a multiple of a: images b and 3b are no choice of it.
    answer = ask("a, 2a", "1=b, 2=3b")
    assert isinstance(answer, Impossible)
    assert not answer.universal
    assert "no V" in answer.reason


def test_no_scores():
    # V = I would do, but a zero input has a zero query, which looks everywhere alike.
    answer = ask("a, 0, b", "2=b", largest_set=1)
    assert isinstance(answer, Impossible)
    assert "no scores lead to it" in answer.reason
    averaged = ask("a, 0, b", "2=b", largest_set=3)  # V can mend what the even look mixes
    assert_solves(averaged, parse_inputs("a, 0, b"), {2: {"b": 1.0}})


def test_a_mixture_cannot_be_singled_out():
    # x3 lies halfway between x1 and x2: attending to it alone is impossible, to all three alike is not.
    answer = ask("2a, 2b, a+b, c", "4=d", largest_set=1)
    assert isinstance(answer, Solution)
    assert answer.attended[4] != (3,)


sums = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([-1.0, 1.0, 2.0]), max_size=2)


@settings(max_examples=25)
@given(st.lists(sums, min_size=1, max_size=4), st.data())
def test_what_is_found_holds_and_what_is_impossible_fails(inputs, data):
    positions = data.draw(st.lists(st.integers(1, len(inputs)), min_size=1, max_size=2, unique=True))
    requests = {position: data.draw(sums) for position in positions}
    assume(symbols_of([*inputs, *requests.values()]))
    answer = solve(inputs, requests)
    if isinstance(answer, Solution):
        assert_solves(answer, inputs, requests)
    elif answer.universal:
        # Random heads with random sharpness never come near.
        symbols = symbols_of([*inputs, *requests.values()])
        x, y = coefficients(inputs, symbols), coefficients(list(requests.values()), symbols)
        assert np.linalg.matrix_rank(y) > np.linalg.matrix_rank(x) or len({tuple(row) for row in x}) < len(x)
    else:
        assert answer.reason


@settings(max_examples=12)
@given(st.integers(2, 4), st.integers(0, 999))
def test_independent_inputs_may_ask_for_anything_they_span(n, seed):
    # Independent inputs: every position can look wherever it likes and V is free on each, so any outputs can be had.
    rng = np.random.default_rng(seed)
    inputs = [{"abcd"[i]: 1.0} for i in range(n)]
    wanted = rng.integers(-2, 3, size=(n, n)).astype(float)
    requests = {i + 1: {"abcd"[j]: wanted[i, j] for j in range(n)} for i in range(n)}
    assume(np.linalg.matrix_rank(wanted) == n)
    assert_solves(solve(inputs, requests), inputs, requests)


def test_sums_are_read_and_shown():
    assert parse_sum("d + 2b - 0.5*c") == {"d": 1, "b": 2, "c": -0.5}
    assert parse_sum("-a+a") == {"a": 0}
    assert parse_sum(" 0 ") == {}
    assert show_sum({"d": 1.0, "b": 2.0, "c": -0.5, "e": 0.0}) == "d + 2b − 0.5c"
    assert show_sum({"a": -1.0}) == "−a"
    assert show_sum({}) == "0"
    assert parse_requests("2=b, 1 = b-c") == {2: {"b": 1}, 1: {"b": 1, "c": -1}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parse_sum("a b"), "cannot read 'b'"),
        (lambda: parse_sum("a ++ b"), "cannot read"),
        (lambda: parse_sum(""), "empty"),
        (lambda: parse_inputs("a,,b"), "empty"),
        (lambda: parse_requests("b"), "not a request"),
        (lambda: parse_requests("x=b"), "not a request"),
        (lambda: parse_requests("1=a,1=b"), "twice"),
        (lambda: ask("a", "2=a"), "no position 2"),
        (lambda: ask("a", "1=a", largest_set=0), "at least one input"),
        (lambda: solve([], {1: {}}), "at least one input"),
        (lambda: ask("0", "1=0"), "no symbol"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
