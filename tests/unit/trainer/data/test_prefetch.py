"""Batches drawn ahead in a thread."""

from collections.abc import Iterator

from trainer.data.batches import Batch
from trainer.loop import AHEAD, prefetched


def numbered(count: int, drawn: list[int]) -> Iterator[Batch]:
    for number in range(count):
        drawn.append(number)
        yield Batch(None, [str(number)])


def test_batches_come_in_order_each_once_and_only_a_few_are_drawn_ahead() -> None:
    drawn: list[int] = []
    seen = []
    for batch in prefetched(numbered(9, drawn), pins=False):
        seen.append(int(batch.captions[0]))
        assert len(drawn) <= len(seen) + AHEAD
    assert seen == drawn == list(range(9))
