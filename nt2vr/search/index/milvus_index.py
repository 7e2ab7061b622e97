"""The vectors of a library in Milvus, as an index."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nt2vr.models.encoder import Vectors
from nt2vr.progress import Progress, silent
from nt2vr.search.index.exact import (
    ExactIndex,
    Ids,
    ScoredIds,
    best_first,
    best_ids,
    recall_of,
)
from nt2vr.search.index.milvus import MOST, PREFIX, WRITE_TIMEOUT_S, ClipRow, Milvus, filter_of

# Of vectors per request.
BATCH_BYTES = 4 << 20
# Of a search in HNSW, at least.
BREADTH = 128
NOT_ANSWERING = "The vector database does not answer. Every clip was compared here instead."


class MilvusIndex:
    """A library's vectors in a collection; see `Index`.

    Args:
        tower: identifies the visual tower, as `str.isidentifier` allows.
        local: has the same vectors, and answers where Milvus cannot.
        rows: those of the vectors that may be added, by id.

    Attributes:
        notice: why the last search was local; empty if it was not.
        recall: 0 until it is measured.
    """

    def __init__(
        self,
        milvus: Milvus,
        tower: str,
        library: str,
        local: ExactIndex,
        rows: Mapping[int, ClipRow],
    ) -> None:
        self.notice = ""
        self.recall = 0.0
        self._milvus = milvus
        self._collection = PREFIX + tower
        self._library = library
        self._local = local
        self._rows = rows
        self._is_loaded = False

    def __len__(self) -> int:
        return len(self._local)

    def measure(self, queries: Vectors) -> None:
        """Measure the recall on (Q, D) queries."""
        self.recall = recall_of(self, queries, best_ids(self._local, queries))

    def ids(self) -> Ids:
        """Read the ids (N,) of the library's rows."""
        if not self._milvus.prepare(self._collection, dim=None):
            return np.empty(0, np.int64)
        rows = self._milvus.pages(
            self._collection,
            filter=filter_of(self._library),
            output_fields=["id"],
            consistency_level="Strong",
        )
        return np.array([row["id"] for row in rows], np.int64)

    def add(self, ids: Ids, vectors: Vectors, progress: Progress = silent) -> None:
        """Upsert (N, D) vectors of `local` under ids (N,), and flush them for searches."""
        if not len(ids):
            return
        dim = vectors.shape[1]
        self._milvus.prepare(self._collection, dim)
        batch_size = max(1, BATCH_BYTES // (4 * dim))
        for start in range(0, len(ids), batch_size):
            progress(start, len(ids), "sending to the vector database")
            batch = slice(start, start + batch_size)
            rows = self._rows_of(ids[batch], vectors[batch])
            self._milvus.request("upsert", self._collection, rows, timeout=WRITE_TIMEOUT_S)
        self._milvus.request("flush", self._collection, timeout=WRITE_TIMEOUT_S)
        # Milvus Lite builds the index of what is flushed.
        self._milvus.prepare(self._collection, dim)

    def _rows_of(self, ids: Ids, vectors: Vectors) -> list[dict[str, Any]]:
        rows = []
        for clip_id, vector in zip(ids.tolist(), vectors, strict=True):
            fields = self._rows[clip_id]._asdict()
            rows.append({"id": clip_id, "library": self._library, **fields, "vector": vector})
        return rows

    def remove(self, ids: Ids) -> None:
        """Delete rows; unknown ids are ignored."""
        for start in range(0, len(ids), MOST):
            page = ids[start : start + MOST].tolist()
            self._milvus.request("delete", self._collection, ids=page)

    def search(self, queries: Vectors, k: int) -> ScoredIds:
        """Return scores and ids, each (Q, min(k, len)), best first; of equals, the lower id."""
        k = min(k, len(self))
        if not 0 < k <= MOST:
            return self._local.search(queries, k)
        try:
            hits = self._request_hits(queries, k)
            self.notice = ""
        except ConnectionError:
            self.notice = NOT_ANSWERING
            return self._local.search(queries, k)

        # Another program has deleted rows, or the search in the graph ended early.
        if min(map(len, hits)) < k:
            return self._local.search(queries, k)
        scores = []
        ids = []
        for row in hits:
            scores.append([hit["distance"] for hit in row])
            ids.append([hit["id"] for hit in row])
        return best_first(np.array(scores, np.float32), np.array(ids, np.int64))

    def _request_hits(self, queries: Vectors, k: int) -> list[Any]:
        """Return the hits of each query, with `id` and `distance`."""
        # What another process has made, Milvus Lite has to load.
        if not self._is_loaded:
            self._is_loaded = self._milvus.prepare(self._collection, dim=None)
        hits: list[Any] = self._milvus.request(
            "search",
            self._collection,
            data=list(np.ascontiguousarray(queries, np.float32)),
            limit=k,
            filter=filter_of(self._library),
            search_params={"metric_type": "IP", "params": {"ef": max(BREADTH, k)}},
        )
        return hits
