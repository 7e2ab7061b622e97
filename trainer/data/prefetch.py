"""Batch prefetching in a thread while a GPU computes, with frames in pinned memory."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import torch

from trainer.data.batches import Batch

AHEAD = 2  # batches drawn in advance


def pinned(batch: Batch) -> Batch:
    """Copy the frames of a batch, if any, to pinned memory."""
    if batch.frames is None:
        return batch
    return replace(batch, frames=torch.from_numpy(batch.frames).pin_memory().numpy())


def prefetched(batches: Iterator[Batch], ready: Callable[[Batch], Batch] = pinned) -> Generator[Batch]:
    """Yield the same batches in the same order, the next ones being drawn meanwhile; closing it ends the thread."""

    def take() -> Batch | None:
        batch = next(batches, None)
        return None if batch is None else ready(batch)

    with ThreadPoolExecutor(1, "batches") as thread:
        pending = deque(thread.submit(take) for _ in range(AHEAD))
        while (batch := pending.popleft().result()) is not None:
            pending.append(thread.submit(take))
            yield batch
