"""Concurrent searches: the same one is computed once, and texts are encoded together."""

import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any, cast

import pytest

from nt2vr.models.encoder import Encoder
from nt2vr.search.concurrency import InFlight, TextBatches

LIMIT_S = 10


def in_threads(*works: Callable[[], Any]) -> list[Thread]:
    threads = [Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def join(threads: Sequence[Thread]) -> None:
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


@pytest.mark.parametrize("fails", [False, True])
def test_what_several_threads_ask_for_at_once_is_computed_once(fails: bool) -> None:
    shared, go, computed, results = InFlight[str](), Event(), [], []

    def compute() -> str:
        computed.append(1)
        assert go.wait(LIMIT_S)
        if fails:
            raise ValueError("no")
        return "yes"

    def ask() -> None:
        try:
            results.append(shared.get("a", compute))
        except ValueError as error:
            results.append(str(error))

    threads = in_threads(ask)
    wait_until(lambda: bool(computed))
    threads += in_threads(*[ask] * 4)
    assert shared.get("b", lambda: "another") == "another"  # waits for nobody
    time.sleep(0.05)  # time for the four to join in; if they are late, they compute again and the test fails
    go.set()
    join(threads)
    assert results == ["no" if fails else "yes"] * 5
    assert len(computed) == 1
    with pytest.raises(ValueError, match="no") if fails else pytest.MonkeyPatch.context():
        shared.get("a", compute)
    assert len(computed) == 2  # nothing is remembered


class SlowEncoder:
    """Records its batches; the first takes until `go` is set."""

    def __init__(self) -> None:
        self.go, self.batches = Event(), list[list[str]]()

    def encode_text(self, texts: Sequence[str]) -> None:
        self.batches.append(list(texts))
        assert self.go.wait(LIMIT_S)


def test_texts_of_concurrent_searches_are_encoded_in_one_batch() -> None:
    batches, slow, other = TextBatches(), SlowEncoder(), SlowEncoder()
    encoder = cast(Encoder, slow)
    other.go.set()
    threads = in_threads(lambda: batches.encode(encoder, ["a"]))
    wait_until(lambda: slow.batches == [["a"]])
    threads += in_threads(*(lambda texts=texts: batches.encode(encoder, texts) for texts in (["b", "c"], ["d", "b"])))
    wait_until(lambda: len(batches._waiting[encoder][1]) == 4)
    batches.encode(cast(Encoder, other), ["e"])  # another model's texts wait for nobody
    slow.go.set()
    join(threads)
    assert slow.batches[0] == ["a"]
    assert sorted(slow.batches[1]) == ["b", "c", "d"]
    assert len(slow.batches) == 2 and other.batches == [["e"]]
