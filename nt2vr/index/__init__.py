"""The indexes there are, by name."""

from nt2vr.index.base import Index
from nt2vr.index.exact import ExactIndex
from nt2vr.index.faiss import FaissIndex

INDEXES: dict[str, type[Index]] = {"exact": ExactIndex, "faiss": FaissIndex}

__all__ = ["INDEXES", "ExactIndex", "FaissIndex", "Index"]
