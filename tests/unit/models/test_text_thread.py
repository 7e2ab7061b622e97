"""Tests of the thread that encodes the texts of all searches."""

import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.text_thread import encode_in_text_thread


def length_and_first_letter(texts: list[str]) -> NDArray[np.float32]:
    return np.array([[len(text), ord(text[0])] for text in texts], np.float32)


def test_many_callers_get_their_own_embeddings_from_one_thread() -> None:
    barrier = Barrier(8)
    threads = set()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        threads.add(threading.get_ident())
        return length_and_first_letter(texts)

    def ask(number: int) -> list[list[float]]:
        barrier.wait()
        texts = ["abcdefgh"[number] * (count + 1) for count in range(number + 1)]
        embeddings: list[list[float]] = encode_in_text_thread(encode, texts).tolist()
        return embeddings

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    for number, embeddings in enumerate(answers):
        assert embeddings == [[count + 1, ord("a") + number] for count in range(number + 1)]
    assert len(threads) == 1


def test_an_error_reaches_the_caller_and_the_thread_goes_on() -> None:
    def fail(texts: list[str]) -> NDArray[np.float32]:
        raise ValueError(texts[0])

    with pytest.raises(ValueError, match="a dog"):
        encode_in_text_thread(fail, ["a dog"])
    assert encode_in_text_thread(length_and_first_letter, ["a"]).tolist() == [[1, ord("a")]]


def test_other_threads_keep_the_cores_that_pytorch_gives_them() -> None:
    torch = pytest.importorskip("torch")
    counts: dict[str, int] = {"before": torch.get_num_threads()}

    def count(texts: list[str]) -> NDArray[np.float32]:
        counts["texts"] = torch.get_num_threads()
        return length_and_first_letter(texts)

    encode_in_text_thread(count, ["a"])
    later = Thread(target=lambda: counts.update(later=torch.get_num_threads()))
    later.start()
    later.join()
    assert counts == {"before": counts["before"], "texts": 1, "later": counts["before"]}
    assert torch.get_num_threads() == counts["before"]
