"""Vector indexes: exact, and approximate for large galleries."""

from collections.abc import Callable

from nt2vr.registry import Registry
from nt2vr.search.index.exact import ExactIndex, Index, best_rows
from nt2vr.search.index.faiss import FaissIndex
from nt2vr.search.index.milvus import Milvus, is_address
from nt2vr.search.index.milvus_index import MilvusIndex

# Each builds an index for vectors of a length.
INDEXES = Registry[Callable[[int], Index]]("index", {"exact": ExactIndex, "faiss": FaissIndex})

__all__ = [
    "INDEXES",
    "ExactIndex",
    "FaissIndex",
    "Index",
    "Milvus",
    "MilvusIndex",
    "best_rows",
    "is_address",
]
