"""Batches of queries: their texts are encoded together, and a bad query is an error of its own."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import Nt2vrError
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.embed_query import embed_texts
from nt2vr.search.exclusion import scores_of
from nt2vr.search.reading import Asking, Known, Read
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import Vector, searched

T = TypeVar("T")
Matrix = NDArray[np.float32]
BLOCK = 256  # queries whose texts are encoded together
AskedFor = str | Query | Vector | Nt2vrError  # an error is a query that could not even be read


def search_all(searcher: Searcher, queries: Sequence[AskedFor], asking: Asking) -> list[Answer | Nt2vrError]:
    """Answer queries in their order."""
    return each_read(searcher, queries, asking, lambda read, known: searcher.answer(read, asking, known))


def score_all(
    searcher: Searcher, queries: Sequence[AskedFor], asking: Asking
) -> tuple[dict[str, Matrix], list[Nt2vrError | None]]:
    """Return the scores of all clips by system, (Q, V) in the order of the gallery, and the error of each query.

    NaN is the score of a clip that a model has not indexed, and of all for an error, or nothing to search for.
    """
    rows = {video.video_id: row for row, video in enumerate(searcher.gallery.videos)}
    scores = {system.name: np.full((len(queries), len(rows)), np.nan, np.float32) for system in asking.systems}

    def score(read: Read, known: Known) -> dict[str, Vector]:
        found = {}
        for system, parts in zip(asking.systems, searcher.parts(read, asking, known), strict=True):
            embedded = asking.loaded[system.model].view(searcher)
            vector, exclusion = searched(system.strategy, parts, embedded.embeddings)
            if vector is not None:
                found[system.name] = scores_of(embedded.clips(exclusion), vector, exclusion)
        return found

    seen = {name: model.view(searcher).gallery.videos for name, model in asking.loaded.items()}
    columns = {system.name: [rows[each.video_id] for each in seen[system.model]] for system in asking.systems}
    results = each_read(searcher, queries, asking, score)
    for row, result in enumerate(results):
        for name, values in ({} if isinstance(result, Nt2vrError) else result).items():
            scores[name][row, columns[name]] = values
    return scores, [result if isinstance(result, Nt2vrError) else None for result in results]


def each_read(
    searcher: Searcher, queries: Sequence[AskedFor], asking: Asking, work: Callable[[Read, Known], T]
) -> list[T | Nt2vrError]:
    """Do some work on each query as it was read, with embeddings of its texts; a bad query is its error."""
    found: list[T | Nt2vrError] = []
    for start in range(0, len(queries), BLOCK):
        block = [_attempt(partial(_read, searcher, query, asking)) for query in queries[start : start + BLOCK]]
        known = _encoded([read for read in block if isinstance(read, Read)], asking)
        found += [_attempt(partial(work, read, known)) if isinstance(read, Read) else read for read in block]
    return found


def _attempt(work: Callable[[], T]) -> T | Nt2vrError:
    try:
        return work()
    except Nt2vrError as error:
        return error


def _read(searcher: Searcher, query: AskedFor, asking: Asking) -> Read:
    if isinstance(query, Nt2vrError):
        raise query
    if isinstance(query, str | Query):
        return searcher.read(searcher.checked(query, asking.references), asking)
    return Read.of_vector(query, asking)


def _encoded(block: Sequence[Read], asking: Asking) -> Known:
    """Encode the texts of a block in one batch per model; models that know whole queries only look each up."""
    known = {}
    for name, encoder in asking.encoders.items():
        if not encoder.card.queries:
            texts = list(dict.fromkeys(text for read in block for text in read.texts(name)))
            if texts:
                known[name] = dict(zip(texts, embed_texts(encoder, texts), strict=True))
    return known
