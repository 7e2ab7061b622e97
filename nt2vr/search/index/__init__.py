"""Vector indexes: exact, and approximate for large galleries."""

from nt2vr.search.index.base import Index
from nt2vr.search.index.exact import ExactIndex, best_rows
from nt2vr.search.index.faiss import FaissIndex

__all__ = ["ExactIndex", "FaissIndex", "Index", "best_rows"]
