"""Vector indexes by name."""

from nt2vr.search.index.base import Index
from nt2vr.search.index.exact import ExactIndex
from nt2vr.search.index.faiss import FaissIndex

INDEXES: dict[str, type[Index]] = {"exact": ExactIndex, "faiss": FaissIndex}

__all__ = ["INDEXES", "ExactIndex", "FaissIndex", "Index"]
