"""What systems search for with queries of text, and what decides their results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nt2vr.evaluation.embed_media import Vectors
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.registry import pick
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    Parts,
    System,
    anchor_of,
    exclusion_of,
    tau_of,
)

T = TypeVar("T")
Understand = Callable[[str], Query]
Step = Callable[[float], None]  # gets the share of the work that is done, from 0 to 1

PLAIN = "plain"  # the strategy that needs no parts
PARSING = 0.5  # share of the work, where texts must be parsed
CHUNK = 64  # texts between two steps
TINY = 1e-12  # below which a mean has no direction


def parse_query(text: str) -> Query:
    """Parse a query as the Search tab does."""
    return understand(text, load_tagger())


class Asked(NamedTuple):
    vectors: Vectors  # (Q, D), what a system searches for with Q queries; zeros search for nothing
    exclusions: list[
        Exclusion | None
    ]  # Q, what is taken from the scores of a vector, and how frames are weighed


def ask_systems(
    encoder: Encoder,
    systems: Sequence[System],
    queries: Sequence[JudgedQuery],
    understand: Understand,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Asked]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text. A system without
    anything to search for (`drop` on "not B") gets zeros, for which all videos tie. What `step`,
    called now and then, raises ends the work; `averaged` is that of `TextBenchmark`, and
    `understand` parses queries whose parts are unknown.
    """
    card, parsing = encoder.card, 0.0
    parts: list[tuple[str, tuple[str, ...]]] = [("", ())] * len(queries)
    if any(system.strategy != PLAIN for system in systems):
        steps = ticking(queries, lambda share: step(PARSING * share))
        parts, parsing = [_parts(query, understand) for query in steps], PARSING
    sentences = [encoder.query_name(query.query_id, query.text) for query in queries]
    texts = chain(sentences, *((wanted, *unwanted) for wanted, unwanted in parts))
    embeddings = _embedded(
        texts, encoder, averaged, lambda share: step(parsing + (1 - parsing) * share)
    )
    nothing, anchor, tau = (
        np.zeros((0, encoder.embed_dim), np.float32),
        anchor_of(encoder),
        tau_of(card),
    )
    strengths = [system.strength_for(card) for system in systems]
    asked = [Asked(np.zeros((len(queries), encoder.embed_dim), np.float32), []) for _ in systems]
    rows = enumerate(zip(queries, sentences, parts, strict=True))
    for row, (query, sentence, (wanted, unwanted)) in ticking(list(rows), lambda _: step(1)):
        away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
        for system, strength, found in zip(systems, strengths, asked, strict=True):
            strategy = PLAIN if query.kind == "original" else system.strategy
            given = Parts(
                embeddings[sentence], embeddings.get(wanted), away, strength, anchor, tau=tau
            ).by_text(card)
            vector = pick("strategy", strategy, STRATEGIES).vector(given)
            found.exclusions.append(exclusion_of(strategy, given))
            if vector is not None:
                found.vectors[row] = vector
    return asked


def _embedded(
    texts: Iterable[str], encoder: Encoder, averaged: Mapping[str, Sequence[str]], step: Step
) -> dict[str, Vectors]:
    """Embed each text once; `averaged` ones are the normalised means of several."""
    members = {text: averaged.get(text, (text,)) for text in texts if text}
    each, encoded = list(dict.fromkeys(chain(*members.values()))), dict[str, Vectors]()
    for start in range(0, len(each), CHUNK):
        step(start / len(each))
        encoded |= zip(
            each[start : start + CHUNK],
            encoder.encode_text(each[start : start + CHUNK]),
            strict=True,
        )
    found = {text: encoded[some[0]] for text, some in members.items()}
    for text, some in members.items():
        if len(some) > 1:
            mean = np.mean([encoded[one] for one in some], axis=0, dtype=np.float64)
            found[text] = np.asarray(mean / max(float(np.linalg.norm(mean)), TINY), np.float32)
    return found


def ticking(items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield items, calling `step` with the share of those that are done before every CHUNK of them."""
    for number, item in enumerate(items):
        if number % CHUNK == 0:
            step(number / len(items))
        yield item


def _parts(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    parsed = understand(query.text)
    return " ".join(parsed.wanted), parsed.unwanted


def system_spec(system: System, card: Card) -> dict[str, Any]:
    """Describe a system as plain JSON data: the towers of its model, and its strategy with strength and anchor."""
    known = STRENGTHS.get(system.strategy)
    optional = {
        "anchor": card.exclusion.get("anchor") if system.strategy == "anchored" else None,
        "tau": tau_of(card) if system.strategy == "rectified" else None,
        "shifts": dict(card.training.shifts),
    }
    return {
        "model": system.model,
        **card.for_reports(),
        "strategy": system.strategy,
        "alpha": None,
        **{name: value for name, value in optional.items() if value not in (None, "", {})},
        **({known.word: system.strength_for(card)} if known else {}),
    }
