"""One thread that encodes the texts of all searches on a processor.

A sentence is little work for a small text tower, and more threads take more of the processor
without being faster. On two idle cores, six searches at a time by three built-in models took 19 to
23 ms of it each, and 35 to 39 ms in threads of their own with two of PyTorch's each; both had their
embeddings after 18 to 23 ms. Texts of several searches do not share a batch, since embeddings would
then depend, in their last digits, on who else searches.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Thread

from nt2vr.models.encoder import Vectors

# Of a small text tower, without its table of tokens; larger ones gain from several cores.
MOST_WEIGHTS = 20_000_000
# Of one search.
MOST_TEXTS = 16


def encode_in_text_thread(encode: Callable[[list[str]], Vectors], texts: list[str]) -> Vectors:
    """Return `encode(texts)`: (N, D). Others that call this wait for their turn."""
    return _text_thread().submit(encode, texts).result()


@cache
def _text_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="texts", initializer=_use_one_core)


# Threads are not forked, and Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_text_thread.cache_clear)


def _use_one_core() -> None:
    """Keep PyTorch to one core in this thread alone."""
    import torch  # noqa: PLC0415  the page is up before torch is

    default = torch.get_num_threads()
    # This holds for this thread, and also for all that start later.
    torch.set_num_threads(1)
    restoring = Thread(target=torch.set_num_threads, args=(default,))
    restoring.start()
    restoring.join()
