"""The vectors of a library in Milvus, as an index."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.progress import Progress, silent
from nt2vr.search.index.exact import ExactIndex, best_ids, recall_of
from nt2vr.search.index.milvus import MOST, PREFIX, WRITE_TIMEOUT_S, Milvus, Row, _only

BATCH_BYTES = 4 << 20  # of vectors per request


BREADTH = 128  # of a search in it, at least


class MilvusIndex:
    """A library's vectors in a collection; see `Index`. Where Milvus cannot answer, `local` does, over the same ones.

    A `tower` is what `str.isidentifier` allows; `rows` are those of the vectors that may be added,
    by id.
    """

    def __init__(
        self, milvus: Milvus, tower: str, library: str, local: ExactIndex, rows: Mapping[int, Row]
    ) -> None:
        self._milvus, self._collection, self._library = milvus, PREFIX + tower, library
        self._local, self._rows = local, rows
        self.notice = ""  # why the last search was local; empty if it was not
        self.recall = 0.0  # until it is measured
        self._is_loaded = False

    def __len__(self) -> int:
        return len(self._local)

    def measure(self, queries: NDArray[np.float32]) -> None:
        """Measure the recall on (Q, D) queries."""
        self.recall = recall_of(self, queries, best_ids(self._local, queries))

    def ids(self) -> NDArray[np.int64]:
        """Read the ids (N,) of the library's rows."""
        if not self._milvus.prepare(self._collection, None):
            return np.empty(0, np.int64)
        options = {"output_fields": ["id"], "consistency_level": "Strong"}
        rows = self._milvus.pages(self._collection, filter=_only(self._library), **options)
        return np.array([row["id"] for row in rows], np.int64)

    def add(
        self, ids: NDArray[np.int64], vectors: NDArray[np.float32], progress: Progress = silent
    ) -> None:
        """Upsert (N, D) vectors of `local` under ids (N,), perhaps again; once flushed, searches find them."""
        if not len(ids):
            return
        self._milvus.prepare(self._collection, vectors.shape[1])
        step = max(1, BATCH_BYTES // (4 * vectors.shape[1]))
        for start in range(0, len(ids), step):
            progress(start, len(ids), "sending to the vector database")
            rows = [
                {"id": key, "library": self._library, **self._rows[key]._asdict(), "vector": vector}
                for key, vector in zip(
                    ids[start : start + step].tolist(), vectors[start : start + step], strict=True
                )
            ]
            self._milvus.ask("upsert", self._collection, rows, timeout=WRITE_TIMEOUT_S)
        self._milvus.ask("flush", self._collection, timeout=WRITE_TIMEOUT_S)
        self._milvus.prepare(
            self._collection, vectors.shape[1]
        )  # Lite builds the index of what is flushed

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Delete rows; unknown ids are ignored."""
        for start in range(0, len(ids), MOST):
            self._milvus.ask("delete", self._collection, ids=ids[start : start + MOST].tolist())

    def search(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return scores and ids, each (Q, min(k, len)), best first; of those found, ties go to the lower id."""
        k = min(k, len(self))
        if not 0 < k <= MOST:
            return self._local.search(queries, k)
        vectors = list(np.ascontiguousarray(queries, np.float32))
        settings = {"metric_type": "IP", "params": {"ef": max(BREADTH, k)}}
        options: dict[str, Any] = {
            "limit": k,
            "filter": _only(self._library),
            "search_params": settings,
        }
        try:
            if not self._is_loaded:  # what another process has made, Milvus Lite has to load
                self._is_loaded = self._milvus.prepare(self._collection, None)
            hits = self._milvus.ask("search", self._collection, data=vectors, **options)
            self.notice = ""
        except ConnectionError:
            self.notice = (
                "The vector database does not answer. Every clip was compared here instead."
            )
            return self._local.search(queries, k)
        if min(map(len, hits)) < k:  # rows were deleted by another program, or a graph ended early
            return self._local.search(queries, k)
        scores = np.array([[hit["distance"] for hit in row] for row in hits], np.float32)
        ids = np.array([[hit["id"] for hit in row] for row in hits], np.int64)
        order = np.lexsort((ids, -scores), axis=1)
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)
