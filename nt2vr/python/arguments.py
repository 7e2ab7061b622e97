"""Arguments from outside: a wrong type is a ConfigError that names it."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError, QueryError, quoted
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.python.model import Model
from nt2vr.search.batch import AskedFor
from nt2vr.search.references import Reference
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System, check_model_name

Systems = str | System | Encoder | Sequence[str | System | Encoder]
Image = NDArray[np.uint8]
_QUERY = "A query is a sentence, an nt2vr.Query or a vector"


def expect(name: str, value: object, kinds: type | tuple[type, ...], form: str) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
        raise ConfigError(f"{name} must be {form}, not {quoted(value)}.")


def expect_path(name: str, value: object, form: str = "a path, as text or pathlib.Path") -> None:
    """Refuse what is no path."""
    expect(name, value, (str, Path), form)
    if "\0" in str(value):
        raise ConfigError(f"{name} must be {form}, not {quoted(value)}.")


def expect_search(k: object, alpha: object, literal: object, references: object) -> None:
    """Refuse settings of a search of another type."""
    expect("k", k, (int, np.integer, type(None)), "a whole number, or None for all")
    expect("alpha", alpha, (int, float, np.number), "a number")
    words = isinstance(literal, Collection) and all(isinstance(word, str) for word in literal)
    if isinstance(literal, str) or not words:
        raise ConfigError(f"literal must be a list of words, not {quoted(literal)}.")
    if not (isinstance(references, Sequence) and all(isinstance(each, Reference) for each in references)):
        raise ConfigError(f"references must be a list of nt2vr.Reference, not {quoted(references)}.")


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
    if isinstance(query, Query):
        parts = (query.wanted, query.unwanted, query.cues, query.scopes)
        if not all(isinstance(part, tuple) for part in parts):
            raise QueryError(f"The parts of a query must be tuples, as in ('a dog',): {quoted(query)}.")
        if not all(isinstance(text, str) for text in (query.text, *query.wanted, *query.unwanted)):
            raise QueryError(f"The texts of a query must be text: {quoted(query)}.")
        return query
    if isinstance(query, str):
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


def each_query(queries: Any) -> list[AskedFor]:
    """Return several queries; one of another type is its own error."""
    if isinstance(queries, str | bytes) or not (isinstance(queries, Sequence) or hasattr(queries, "__array__")):
        raise ConfigError(f"Pass a list of queries, not {quoted(queries)}.")
    found: list[AskedFor] = []
    for query in queries:
        try:
            found.append(one_query(query))
        except Nt2vrError as error:
            found.append(error)
    return found
