"""One thread that encodes the texts of all searches on a processor; those that wait for the same model share a batch.

A sentence is little work for a small text tower, and most of the time goes into threads that wait for one another,
those of PyTorch and those of other searches. On two cores, a sentence took three built-in models 22 ms in one thread
and 28 to 35 ms in PyTorch's two, and with six searches at a time 32 and 41 ms.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from threading import Lock, Thread

import numpy as np
from numpy.typing import NDArray

MOST_WEIGHTS = 20_000_000  # of a small text tower, without its table of tokens; larger ones gain from several cores
MOST_TEXTS = 16  # of one search

Encode = Callable[[list[str]], NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class _Request:
    texts: Sequence[str]
    embeddings: Future[NDArray[np.float32]] = field(default_factory=Future)


class TextThread:
    """Encodes texts in a thread of its own."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "texts", initializer=_use_one_core)
        self._waiting: defaultdict[Encode, list[_Request]] = defaultdict(list)
        self._changing = Lock()  # held only for moments

    def encode(self, texts: Sequence[str], encode: Encode) -> NDArray[np.float32]:
        """Return the embeddings of texts by a model's method: (N, D)."""
        request = _Request(texts)
        with self._changing:
            self._waiting[encode].append(request)
        self._executor.submit(self._encode_waiting, encode)
        return request.embeddings.result()

    def _encode_waiting(self, encode: Encode) -> None:
        """Encode all that waits for a model by now; nothing is left for those who asked while others' ran."""
        with self._changing:
            requests = self._waiting.pop(encode, [])
        if not requests:
            return
        texts = [text for request in requests for text in request.texts]
        try:
            embeddings = encode(texts)
        except BaseException as error:
            for request in requests:
                request.embeddings.set_exception(error)
            return

        start = 0
        for request in requests:
            stop = start + len(request.texts)
            request.embeddings.set_result(embeddings[start:stop])
            start = stop


@cache
def text_thread() -> TextThread:
    """Return the thread of this process."""
    return TextThread()


def _use_one_core() -> None:
    """Keep PyTorch to one core in this thread alone."""
    import torch  # noqa: PLC0415  the page is up before torch is

    default = torch.get_num_threads()
    torch.set_num_threads(1)  # of this thread, and also of all that start later
    restoring = Thread(target=torch.set_num_threads, args=(default,))
    restoring.start()
    restoring.join()
