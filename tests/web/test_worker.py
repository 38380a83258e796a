import threading
import time

import pytest

from loci.web.worker import Busy, Worker

LONG = 120  # seconds until a test gives up: on a busy machine a thread may wait for long


@pytest.fixture
def worker():
    made = Worker(limit=8)
    yield made
    made.close()


def held(worker):
    """Keep the worker busy until the returned event is set."""
    entered, release = threading.Event(), threading.Event()

    def wait(items):
        entered.set()
        release.wait(10)
        return items

    future = worker.call("hold", [0], wait)
    assert entered.wait(LONG)
    return release, future


def test_what_waits_for_the_same_key_is_answered_in_one_batch_and_in_order(worker):
    release, _ = held(worker)
    sizes = []

    def double(items):
        sizes.append(len(items))
        return [2 * item for item in items]

    futures = [worker.call("ask", [n, n + 10], double) for n in range(3)]
    alone = worker.call("other", [7], lambda items: [-item for item in items])
    release.set()
    assert [future.result(LONG) for future in futures] == [[0, 20], [2, 22], [4, 24]]
    assert alone.result(LONG) == [-7]
    assert sizes == [6]


def test_a_full_queue_refuses_and_recovers(worker):
    release, _ = held(worker)
    futures = [worker.call(n, [n], lambda items: items) for n in range(7)]  # one more is being worked on
    with pytest.raises(Busy):
        worker.call("late", [1], lambda items: items)
    assert worker.counts.refused == 1
    release.set()
    assert [future.result(LONG) for future in futures] == [[n] for n in range(7)]
    assert worker.call("later", [1], lambda items: items).result(LONG) == [1]


def test_one_bad_question_does_not_spoil_the_batch(worker):
    release, _ = held(worker)

    def inverse(items):
        return [1 / item for item in items]

    good, bad, other = (worker.call("ask", [n], inverse) for n in (2, 0, 4))
    release.set()
    assert good.result(LONG) == [0.5]
    assert other.result(LONG) == [0.25]
    with pytest.raises(ZeroDivisionError):
        bad.result(LONG)


def test_texts_take_turns_with_questions_and_stop_when_nobody_listens(worker):
    told: list[str] = []
    begun = threading.Event()
    writing = worker.write(iter(lambda: time.sleep(0.002) or "a", None), lambda text: (told.append(text), begun.set()))
    assert begun.wait(LONG)
    assert worker.call("ask", [1], lambda items: items).result(LONG) == [1]  # an endless text delays nobody
    writing.cancel()
    deadline = time.monotonic() + LONG
    while worker.waiting and time.monotonic() < deadline:
        time.sleep(0.01)
    assert worker.waiting == 0
    count = len(told)
    time.sleep(0.05)
    assert len(told) == count > 0


def test_a_text_that_fails_says_so():
    worker = Worker()

    def pieces():
        yield "a"
        raise ValueError("no more")

    told: list[object] = []
    done = threading.Event()
    worker.write(pieces(), lambda piece: (told.append(piece), done.set() if isinstance(piece, Exception) else None))
    assert done.wait(LONG)
    worker.close()
    assert told[0] == "a"
    assert isinstance(told[1], ValueError)
