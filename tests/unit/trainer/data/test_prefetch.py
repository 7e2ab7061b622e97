"""Batches drawn ahead in a thread."""

import threading
from collections.abc import Iterator

import pytest

from trainer.data.batches import Batch
from trainer.data.prefetch import AHEAD, prefetched


def numbered(count: int, drawn: list[int]) -> Iterator[Batch]:
    for number in range(count):
        drawn.append(number)
        yield Batch(None, [str(number)])


def test_batches_come_in_order_each_once_and_only_a_few_are_drawn_ahead() -> None:
    drawn: list[int] = []
    seen = []
    for batch in prefetched(numbered(9, drawn), lambda batch: batch):
        seen.append(int(batch.captions[0]))
        assert len(drawn) <= len(seen) + AHEAD
    assert seen == drawn == list(range(9))


def test_batches_are_made_ready_in_another_thread_which_ends_when_they_are_closed() -> None:
    threads: list[threading.Thread] = []

    def ready(batch: Batch) -> Batch:
        threads.append(threading.current_thread())
        return batch

    batches = prefetched(numbered(9, []), ready)
    next(batches)
    assert threads[0] is not threading.current_thread()
    batches.close()
    assert not threads[0].is_alive()


def test_an_error_in_drawing_reaches_the_loop() -> None:
    def failing() -> Iterator[Batch]:
        yield Batch(None, ["a"])
        raise OSError("gone")

    batches = prefetched(failing(), lambda batch: batch)
    next(batches)
    with pytest.raises(OSError, match="gone"):
        next(batches)
