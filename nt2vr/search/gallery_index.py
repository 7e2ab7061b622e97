"""Approximate index of a large gallery, stored with its embeddings."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import reason_of
from nt2vr.search.index import FaissIndex

logger = logging.getLogger(__name__)

APPROXIMATE_FROM = 200_000  # clips; of fewer, exact search takes less than 20 ms
MIN_RECALL = 0.95  # an approximate index that finds less is not used
MAX_ADDED = 0.1  # share of new clips up to which a stored index is brought up to date when it is opened


def open_approximate(
    path: Path,
    contents: NDArray[np.int64],
    embeddings: NDArray[np.float32],
    sample: Callable[[], NDArray[np.float32]] | None = None,
) -> FaissIndex | None:
    """Open the stored index and bring it up to date, or build it; None if exact search serves better.

    Args:
        contents: (V,) ids of the clips' contents, which become the index's; clips of equal content share one.
        sample: returns (Q, D) queries to measure the recall with, if the index may be built and stored; None only
            opens it, as building takes minutes.
    """
    index = FaissIndex.load(path)
    ids, rows = np.unique(contents, return_index=True)
    known = np.empty(0, np.int64) if index is None else index.ids()
    gone, new = np.setdiff1d(known, ids), ~np.isin(ids, known)
    if sample is None and (index is None or new.sum() > MAX_ADDED * len(ids)):
        return None
    if len(gone) or new.any():
        index = index or FaissIndex(embeddings.shape[1], sample() if sample else None)
        index.remove(gone)
        index.add(ids[new], embeddings[rows[new]])
        try:
            if sample is not None:
                index.save(path)
        except OSError as error:
            logger.warning("The index %s cannot be stored (%s). Searches will be exact.", path, reason_of(error))
    return index if index is not None and index.recall >= MIN_RECALL else None
