"""Systems and queries, in each of the forms that Python may give."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError, QueryError, quoted
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.python.model import Model
from nt2vr.search.searcher import Asked
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System, check_model_name

Systems = str | System | Encoder | Sequence[str | System | Encoder]
Image = NDArray[np.uint8]
_QUERY = "A query is a sentence, an nt2vr.Query or a vector"


def refuse_text(name: str, words: Collection[str]) -> None:
    """Refuse one text where a list is asked for: its letters would be taken for words."""
    if isinstance(words, str):
        raise ConfigError(f"{name} must be a list, not {quoted(words)}.")


def named_systems(systems: object, models: Catalog) -> list[str]:
    """Return the names of systems; a model that is an object is added to the catalog under its own."""
    alone = isinstance(systems, str | System) or not isinstance(systems, Iterable)
    listed: list[Any] = [systems] if alone else list(systems)  # type: ignore[call-overload]
    return [_named(each, models) for each in listed]


def _named(system: Any, models: Catalog) -> str:
    if isinstance(system, str | System):
        return system if isinstance(system, str) else system.name
    if isinstance(system, Model):
        system = system.encoder
    if not hasattr(system, "encode_text"):
        raise ConfigError(f"A system is a name, an nt2vr.System or a model, not {quoted(system)}.")
    name = models.add(system)
    check_model_name(name)
    return name


def is_one(queries: object) -> bool:
    """Whether this is one query, and not several."""
    if isinstance(queries, str | Query | None):
        return True
    if hasattr(queries, "__array__"):
        return len(getattr(queries, "shape", ())) == 1
    return not isinstance(queries, Sequence)


def one_query(query: Any) -> str | Query | Vector:
    """Return a query of one of the three forms."""
    if isinstance(query, str | Query):
        return query
    if not hasattr(query, "__array__"):
        raise QueryError(f"{_QUERY}, not {quoted(query)}.")
    try:
        vector = np.asarray(query, np.float32)
    except Exception as error:  # of any library's arrays
        raise QueryError(f"{_QUERY}; this one is on a GPU, or not of numbers. Pass it as a NumPy array.") from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise QueryError(f"{_QUERY} of finite numbers (D,), not {vector.shape} with {quoted(vector)}.")
    return vector


def each_query(queries: Any) -> list[str | Asked | Nt2vrError]:
    """Return several queries; one of another type is its own error."""
    if isinstance(queries, str | bytes) or not (isinstance(queries, Sequence) or hasattr(queries, "__array__")):
        raise ConfigError(f"Pass a list of queries, not {quoted(queries)}.")
    found: list[str | Asked | Nt2vrError] = []
    for query in queries:
        try:
            found.append(one_query(query))
        except Nt2vrError as error:
            found.append(error)
    return found
