"""What systems search for with queries of text, and what decides their results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery
from nt2vr.files import JsonObject
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.negation.parse.query import Query, understand
from nt2vr.registry import pick
from nt2vr.search.embed_query import parts_of
from nt2vr.search.exclusion import Exclusion, unit
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
# Gets the share of the work that is done, from 0 to 1.
Step = Callable[[float], None]

# The strategy that needs no parts.
PLAIN = "plain"
# Share of the work that parsing is, where texts must be parsed.
PARSING = 0.5
# Texts between two steps.
CHUNK = 64


class SearchVectors(NamedTuple):
    """What one system searches for, query by query."""

    vectors: Vectors  # (Q, D); a vector of zeros searches for nothing
    exclusions: list[Exclusion | None]  # Q, see `nt2vr.search.exclusion`


def search_vectors(
    encoder: Encoder,
    systems: Sequence[System],
    queries: JudgedQueries,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[SearchVectors]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text. A system that
    has nothing to search for (`drop` on "not B") gets zeros, for which all videos tie.

    Args:
        step: called now and then; what it raises ends the work.
        averaged: texts that stand for the mean of several, see `TextBenchmark`.
    """
    sentences = [encoder.query_name(query.query_id, query.text) for query in queries]
    parsed = list(map(Query, sentences))
    parsing_share = 0.0
    if any(system.strategy != PLAIN for system in systems):
        parsed = _parse(queries, sentences, step)
        parsing_share = PARSING

    def step_embedding(share: float) -> None:
        step(parsing_share + (1 - parsing_share) * share)

    texts = [*sentences]
    for query in parsed:
        texts += [" ".join(query.wanted), *query.unwanted]
    embeddings = _embed(texts, encoder, averaged, step_embedding)
    anchor = anchor_of(encoder)
    parts_of_queries = [parts_of(encoder, query, embeddings, anchor) for query in parsed]
    return [
        _vectors_of_system(encoder, system, queries, parts_of_queries, step=step)
        for system in systems
    ]


def _parse(queries: JudgedQueries, sentences: Sequence[str], step: Step) -> list[Query]:
    """Return the sentences with the parts of the queries; those that are not known are parsed."""
    parsed = []
    judged = ticking(queries, lambda share: step(PARSING * share))
    for query, sentence in zip(judged, sentences, strict=True):
        parsed.append(_with_parts(query, sentence))
    return parsed


def _with_parts(query: JudgedQuery, sentence: str) -> Query:
    if query.kind == "original":
        return Query(sentence)
    if query.wanted is not None:
        return Query(sentence, (query.wanted,), query.unwanted)
    # As the Search tab does.
    return replace(understand(query.text), text=sentence)


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
    for row, query in enumerate(ticking(queries, lambda _: step(1))):
        strategy = PLAIN if query.kind == "original" else system.strategy
        parts = replace(parts_of_queries[row], strength=strength)
        vector = pick("strategy", strategy, STRATEGIES).vector(parts)
        if vector is not None:
            vectors[row] = vector
        exclusions.append(exclusion_of(strategy, parts))
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
        embeddings[text] = encoded[members[0]]
        if len(members) > 1:
            vectors = [encoded[member] for member in members]
            embeddings[text] = unit(np.mean(vectors, axis=0, dtype=np.float64))
    return embeddings


def ticking(items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield items; before every CHUNK of them, call `step` with the share that is done."""
    for number, item in enumerate(items):
        if number % CHUNK == 0:
            step(number / len(items))
        yield item


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
