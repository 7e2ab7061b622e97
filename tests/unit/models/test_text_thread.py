"""Tests of the thread that encodes the texts of all searches."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.text_thread import TextThread


def length_and_first_letter(texts: list[str]) -> NDArray[np.float32]:
    return np.array([[len(text), ord(text[0])] for text in texts], np.float32)


def test_each_of_many_callers_gets_the_embeddings_of_its_own_texts() -> None:
    thread, barrier = TextThread(), Barrier(8)

    def ask(number: int) -> list[list[float]]:
        barrier.wait()
        texts = ["abcdefgh"[number] * (count + 1) for count in range(number + 1)]
        embeddings: list[list[float]] = thread.encode(texts, length_and_first_letter).tolist()
        return embeddings

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    for number, embeddings in enumerate(answers):
        assert embeddings == [[count + 1, ord("a") + number] for count in range(number + 1)]


def test_texts_that_wait_for_the_same_model_share_a_batch() -> None:
    thread, is_busy, may_end = TextThread(), Event(), Event()
    batches: list[list[str]] = []

    def encode(texts: list[str]) -> NDArray[np.float32]:
        batches.append(texts)
        is_busy.set()
        may_end.wait(10)
        return length_and_first_letter(texts)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(thread.encode, ["first"], encode)
        is_busy.wait(10)
        others = [pool.submit(thread.encode, [text], encode) for text in ("second", "third")]
        while len(thread._waiting[encode]) < 2:
            pass
        may_end.set()
        assert first.result().tolist() == [[5, ord("f")]]
        assert [other.result().tolist() for other in others] == [[[6, ord("s")]], [[5, ord("t")]]]
    assert batches[0] == ["first"]
    assert sorted(batches[1]) == ["second", "third"]
    assert len(batches) == 2


def test_an_error_reaches_the_caller_and_the_thread_goes_on() -> None:
    thread = TextThread()

    def fail(texts: list[str]) -> NDArray[np.float32]:
        raise ValueError(texts[0])

    with pytest.raises(ValueError, match="a dog"):
        thread.encode(["a dog"], fail)
    assert thread.encode(["a"], length_and_first_letter).tolist() == [[1, ord("a")]]


def test_other_threads_keep_the_cores_that_pytorch_gives_them() -> None:
    torch = pytest.importorskip("torch")
    default = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        counts: dict[str, int] = {}

        def count(texts: list[str]) -> NDArray[np.float32]:
            counts["texts"] = torch.get_num_threads()
            return length_and_first_letter(texts)

        TextThread().encode(["a"], count)
        later = Thread(target=lambda: counts.update(later=torch.get_num_threads()))
        later.start()
        later.join()
        assert counts == {"texts": 1, "later": 2}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(default)
