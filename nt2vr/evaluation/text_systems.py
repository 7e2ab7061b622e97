"""What systems search for with queries of text, and what decides their results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from nt2vr.evaluation.embed_media import Vectors
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery
from nt2vr.files import JsonObject
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, understand
from nt2vr.registry import pick
from nt2vr.search.embed_query import embedded_parts
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    EmbeddedParts,
    System,
    anchor_of,
    exclusion_of,
    tau_of,
)

T = TypeVar("T")
Understand = Callable[[str], Query]
# Gets the share of the work that is done, from 0 to 1.
Step = Callable[[float], None]

# The strategy that needs no parts.
PLAIN = "plain"
# Share of the work that parsing is, where texts must be parsed.
PARSING = 0.5
# Texts between two steps.
CHUNK = 64
# Length below which a mean has no direction.
TINY = 1e-12


class QueryTexts(NamedTuple):
    """The parts of a query as texts."""

    wanted: str
    unwanted: tuple[str, ...]


NO_PARTS = QueryTexts("", ())


def parse_query(text: str) -> Query:
    """Parse a query as the Search tab does."""
    return understand(text)


class SearchVectors(NamedTuple):
    """What one system searches for, query by query."""

    vectors: Vectors  # (Q, D); a vector of zeros searches for nothing
    exclusions: list[Exclusion | None]  # Q, see `nt2vr.search.exclusion`


def search_vectors(
    encoder: Encoder,
    systems: Sequence[System],
    queries: JudgedQueries,
    understand: Understand,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[SearchVectors]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text. A system that
    has nothing to search for (`drop` on "not B") gets zeros, for which all videos tie.

    Args:
        understand: parses the queries whose parts are unknown.
        step: called now and then; what it raises ends the work.
        averaged: texts that stand for the mean of several, see `TextBenchmark`.
    """
    query_parts = [NO_PARTS] * len(queries)
    parsing_share = 0.0
    if any(system.strategy != PLAIN for system in systems):
        query_parts = _parse(queries, understand, step)
        parsing_share = PARSING

    def step_embedding(share: float) -> None:
        step(parsing_share + (1 - parsing_share) * share)

    sentences = [encoder.query_name(query.query_id, query.text) for query in queries]
    texts = [*sentences]
    for parts in query_parts:
        texts += [parts.wanted, *parts.unwanted]
    embeddings = _embed(texts, encoder, averaged, step_embedding)
    parts_of_queries = _parts_of_queries(encoder, sentences, query_parts, embeddings)
    vectors = []
    for system in systems:
        vectors.append(_vectors_of_system(encoder, system, queries, parts_of_queries, step=step))
    return vectors


def _parse(queries: JudgedQueries, understand: Understand, step: Step) -> list[QueryTexts]:
    """Return the parts of each query; those that are not known are parsed."""
    query_parts = []
    for query in ticking(queries, lambda share: step(PARSING * share)):
        query_parts.append(_parts(query, understand))
    return query_parts


def _parts_of_queries(
    encoder: Encoder,
    sentences: Sequence[str],
    query_parts: Sequence[QueryTexts],
    embeddings: Mapping[str, Vectors],
) -> list[EmbeddedParts]:
    """Return the parts of each query as embeddings, without the strength of a system."""
    anchor = anchor_of(encoder)
    parts_of_queries = []
    for sentence, parts in zip(sentences, query_parts, strict=True):
        of_query = embedded_parts(
            encoder,
            sentence=sentence,
            wanted=parts.wanted,
            unwanted=parts.unwanted,
            embeddings=embeddings,
            anchor=anchor,
        )
        parts_of_queries.append(of_query)
    return parts_of_queries


def _vectors_of_system(
    encoder: Encoder,
    system: System,
    queries: JudgedQueries,
    parts_of_queries: Sequence[EmbeddedParts],
    step: Step,
) -> SearchVectors:
    """Compute what one system searches for; captions are searched for as they are."""
    strength = system.strength_for(encoder.card)
    vectors = np.zeros((len(queries), encoder.embed_dim), np.float32)
    exclusions = []
    rows = list(enumerate(zip(queries, parts_of_queries, strict=True)))
    for row, (query, parts) in ticking(rows, lambda _: step(1)):
        strategy = PLAIN if query.kind == "original" else system.strategy
        parts_with_strength = replace(parts, strength=strength)
        vector = pick("strategy", strategy, STRATEGIES).vector(parts_with_strength)
        if vector is not None:
            vectors[row] = vector
        exclusions.append(exclusion_of(strategy, parts_with_strength))
    return SearchVectors(vectors, exclusions)


def _embed(
    texts: Iterable[str], encoder: Encoder, averaged: Mapping[str, Sequence[str]], step: Step
) -> dict[str, Vectors]:
    """Embed each text once; `averaged` ones are the normalised means of several."""
    members_of = {text: averaged.get(text, (text,)) for text in texts if text}
    to_encode = list(dict.fromkeys(chain(*members_of.values())))
    encoded: dict[str, Vectors] = {}
    for start in range(0, len(to_encode), CHUNK):
        step(start / len(to_encode))
        chunk = to_encode[start : start + CHUNK]
        encoded |= zip(chunk, encoder.encode_text(chunk), strict=True)

    embeddings = {}
    for text, members in members_of.items():
        if len(members) == 1:
            embeddings[text] = encoded[members[0]]
        else:
            embeddings[text] = _mean_direction([encoded[member] for member in members])
    return embeddings


def _mean_direction(vectors: Sequence[Vectors]) -> Vectors:
    """Return the normalised mean of some vectors, (D,)."""
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    length = max(float(np.linalg.norm(mean)), TINY)
    return np.asarray(mean / length, np.float32)


def ticking(items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield items; before every CHUNK of them, call `step` with the share that is done."""
    for number, item in enumerate(items):
        if number % CHUNK == 0:
            step(number / len(items))
        yield item


def _parts(query: JudgedQuery, understand: Understand) -> QueryTexts:
    if query.kind == "original":
        return NO_PARTS
    if query.wanted is not None:
        return QueryTexts(query.wanted, query.unwanted)
    parsed = understand(query.text)
    return QueryTexts(" ".join(parsed.wanted), parsed.unwanted)


def system_spec(system: System, card: Card) -> JsonObject:
    """Describe a system as plain JSON data: its model's towers, and its strategy and settings."""
    spec = {
        "model": system.model,
        **card.for_reports(),
        "strategy": system.strategy,
        "alpha": None,
    }
    anchor = card.exclusion.get("anchor")
    if system.strategy == "anchored" and anchor is not None:
        spec["anchor"] = anchor
    tau = tau_of(card)
    if system.strategy == "rectified" and tau is not None:
        spec["tau"] = tau
    if card.training.shifts:
        spec["shifts"] = dict(card.training.shifts)
    strength = STRENGTHS.get(system.strategy)
    if strength is not None:
        spec[strength.word] = system.strength_for(card)
    return spec
