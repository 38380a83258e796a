from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.data.batches import BatchStream, Source
from loci.data.draws import RowDraws
from loci.data.example import IGNORED, Example, collate
from loci.errors import LociError
from loci.text.corpus import Line
from loci.text.vocab import PAD_ID


def example(*ids: int, given: int = 0) -> Example:
    array = np.array(ids, dtype=np.int64)
    return Example(array, np.arange(len(array)) >= given)


def as_itself(record, rng):
    """An objective whose example is the record's number, repeated as often as the record says."""
    number, length = record
    return Example(np.full(length, number, dtype=np.int64), np.ones(length, dtype=bool))


def stream(n=10, *, lengths=lambda i: 5, **options):
    records = [(i + 2, lengths(i)) for i in range(n)]
    return BatchStream([Source(records, as_itself)], **{"batch_size": 4, "seed": (0, 0), **options})


def test_collate_shifts_pads_and_ignores():
    batch = collate([example(5, 6, 7), example(8, 9, given=1)])
    assert batch.x.tolist() == [[5, 6], [8, PAD_ID]]
    assert batch.y.tolist() == [[6, 7], [9, IGNORED]]
    assert batch.n_characters == 3
    assert collate([example(5, 6, 7)], width=6).x.tolist() == [[5, 6, PAD_ID, PAD_ID, PAD_ID]]


def test_targets_outside_the_loss_mask_are_ignored():
    assert collate([example(5, 6, 7, given=2)]).y.tolist() == [[IGNORED, 7]]


def test_unshuffled_passes_keep_the_files_order_and_end_short():
    made = stream(10, shuffle=False)
    firsts = [made.batch(step).x[:, 0].tolist() for step in range(4)]
    assert firsts == [[2, 3, 4, 5], [6, 7, 8, 9], [10, 11], [2, 3, 4, 5]]
    assert made.steps_for(650) == 650 * 3


def test_the_published_number_of_steps():
    assert stream(2937, batch_size=128, shuffle=False).steps_for(650) == 14_950


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5))
@settings(max_examples=60)
def test_shuffled_passes_give_every_record_once(n, batch_size, pool):
    made = stream(n, batch_size=batch_size, pool=pool, lengths=lambda i: 2 + i % 7)
    steps = pool * n  # a whole number of passes and of pools
    seen = Counter(int(first) for step in range(steps) for first in made.batch(step).x[:, 0])
    assert set(seen.values()) == {steps * batch_size // n}


@given(st.integers(0, 200), st.integers(1, 6))
@settings(max_examples=40)
def test_a_batch_depends_on_the_step_alone(step, pool):
    fresh = stream(30, pool=pool, lengths=lambda i: 2 + i % 9)
    used = stream(30, pool=pool, lengths=lambda i: 2 + i % 9)
    for earlier in range(0, step, 7):
        used.batch(earlier)
    assert np.array_equal(fresh.batch(step).x, used.batch(step).x)


def test_seeds_and_stages_differ():
    batches = {tuple(stream(30, seed=seed).batch(0).x[:, 0]) for seed in ((0, 0), (0, 1), (1, 0))}
    assert len(batches) == 3


def test_pools_leave_little_padding():
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 100, size=256)

    def padding(pool: int) -> float:
        made = stream(256, batch_size=8, pool=pool, lengths=lambda i: int(lengths[i]))
        batches = [made.batch(step) for step in range(64)]
        return 1 - sum(b.n_characters for b in batches) / sum(b.x.size for b in batches)

    assert padding(32) < 0.1 < 0.3 < padding(1)


@given(st.floats(0.05, 20))
@settings(max_examples=30)
def test_shares_of_a_mixture_are_kept(share):
    first = Source([(2, 3)] * 5, as_itself)
    second = Source([(3, 3)] * 7, as_itself, share=share)
    made = BatchStream([first, second], batch_size=16, seed=(0,), pool=2)
    ids = np.concatenate([made.batch(step).x[:, 0] for step in range(100)])
    assert abs((ids == 3).mean() - share / (1 + share)) < 2 / 1600 + 1e-9
    assert len(ids) == 1600


def test_every_source_gives_its_records_in_turn():
    """Row by row: whose turn it is and which of its records comes is known without the rows before."""
    sources = [Source([(1, 3)] * 5, as_itself, share=share) for share in (0.3, 0.5, 0.15, 0.05)]
    made = BatchStream(sources, batch_size=16, seed=(0,))
    given = [0, 0, 0, 0]
    for which, nth in zip(*made._turns(np.arange(2000)), strict=True):
        assert nth == given[which]
        given[which] += 1
    assert given == [600, 1000, 300, 100]


def drawn(record, rng):
    return Example(np.append(record, rng.integers(0, 2**40, size=3)), np.ones(4, dtype=bool))


@pytest.mark.parametrize(("pool", "shuffle"), [(1, False), (1, True), (4, True)])
def test_a_row_draws_the_same_whatever_is_drawn_with_it(pool, shuffle):
    """Other records, and how often the objective draws for them, change nothing."""

    def greedy(record, rng):
        rng.random(int(record) % 5)
        return drawn(record, rng) if record != 4 else Example(np.append(4, rng.random(9) * 0), np.ones(10, dtype=bool))

    def rows(objective):
        made = BatchStream([Source(list(range(2, 12)), objective)], batch_size=5, seed=(7,), pool=pool, shuffle=shuffle)
        steps = [made.batch(step) for step in range(8)]
        return {tuple(row) for batch in steps for row in batch.x[:, :3].tolist() if row[0] in (5, 10)}

    assert rows(drawn) == rows(greedy)  # 5 and 10 draw nothing beforehand in both
    assert len(rows(drawn)) > 2


def test_rows_seeds_and_purposes_have_draws_of_their_own():
    first, again, other = RowDraws([1, 2]), RowDraws([1, 2]), RowDraws([1, 3])
    some = [first.at(row).random(4).tolist() for row in (0, 1, 2, 2**40)]
    assert some == [again.at(row).random(4).tolist() for row in (0, 1, 2, 2**40)]
    assert len({value for row in (*some, other.at(0).random(4).tolist()) for value in row}) == 20
    first.at(0).integers(3, dtype=np.uint32)  # half a word is left over
    assert first.at(1).random(4).tolist() == some[1]


@pytest.mark.parametrize(("low", "high"), [(4, 113), (0, 1), (-3, 2), (7, 7 + 3 * 2**30)])
def test_the_first_draws_of_many_rows_are_those_of_each(low, high):
    """The last range makes numpy reject a quarter of the words and draw again."""
    draws, rows = RowDraws([5, 1]), np.array([*range(400), 2**33, 2**40 + 7])
    assert draws.integers(rows, low, high).tolist() == [draws.at(int(row)).integers(low, high) for row in rows]


class Counting:
    """Lines as they are; tells how long they will be, and counts those it makes."""

    made = 0

    def example_lengths(self, characters, draws, rows):
        return characters

    def __call__(self, record, rng):
        self.made += 1
        return Example(np.full(record.length, 2, dtype=np.int64), np.ones(record.length, dtype=bool))


def test_only_own_rows_are_made_where_lengths_can_be_told():
    """Mixed with another source, whose rows must all be made to be sorted; the batches are those of one process."""
    lines = [Line(n, "", "x" * (2 + n % 7)) for n in range(30)]

    def mixed(counting, **more):
        sources = [Source(lines, counting), Source([(3, 4), (4, 9)], as_itself)]
        return BatchStream(sources, batch_size=6, seed=(3,), pool=4, **more)

    counting = [Counting(), Counting(), Counting()]
    one, *two = mixed(counting[0]), *(mixed(counting[1 + rank], rank=rank, world=2) for rank in range(2))
    for step in range(8):
        whole, parts = one.batch(step), [stream.parts(step) for stream in two]
        assert sum(part.characters for part in parts) == whole.n_characters
        rows = [int(part.parts[0].x[place // 2, 0]) for place in range(len(whole.x)) for part in [parts[place % 2]]]
        assert rows == whole.x[:, 0].tolist()
    assert counting[0].made == 24
    assert counting[1].made + counting[2].made == 24


def test_ranks_share_a_batch_without_overlap():
    whole = stream(40, batch_size=8).batch(3).x[:, 0].tolist()
    parts = [stream(40, batch_size=8, rank=rank, world=2).batch(3).x[:, 0].tolist() for rank in range(2)]
    assert parts == [whole[0::2], whole[1::2]]


def test_nothing_to_learn_from_is_said():
    with pytest.raises(LociError, match="no records"):
        Source([], as_itself)
    with pytest.raises(LociError, match="share"):
        Source([(1, 2)], as_itself, share=0)
