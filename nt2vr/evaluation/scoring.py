"""What systems search for with judged queries. Known parts replace parsed ones."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.models.encoder import Encoder
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.negation.parse.query import Query
from nt2vr.registry import pick
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.rewording import REWORDED, reword
from nt2vr.search.strategies import STRATEGIES, Parts, anchor_of, exclusion_of, tau_of
from nt2vr.search.systems import System

Understand = Callable[[str], Query]
Step = Callable[[float], None]  # gets the share of the work that is done, from 0 to 1
PLAIN = "plain"  # the strategy that needs no parts
BOOLEAN = "boolean"
PARSING = 0.5  # share of the work, where texts must be parsed
CLAMP = 0.0  # below which the authors' code takes nothing: s(x, wanted) - alpha * max(0, s(x, unwanted))
CHUNK = 64  # texts between two steps
TINY = 1e-12  # below which a mean has no direction
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


class Asked(NamedTuple):
    """What a system searches for with Q queries."""

    vectors: Vectors  # (Q, D); zeros search for nothing
    exclusions: Sequence[Exclusion | None]  # Q, what is taken from the scores of a vector, and how frames are weighed


def ask_systems(
    encoder: Encoder,
    systems: Sequence[System],
    queries: Sequence[JudgedQuery],
    understand: Understand,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = NOTHING,
) -> list[Asked]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text, unless the authors' code splits
    them for `boolean`, which is then clamped as theirs. A system without anything to search for (`drop` on "not B")
    gets zeros, for which all videos tie.

    Args:
        understand: parses queries whose parts are unknown.
        step: called now and then; what it raises ends the work.
        averaged: see `Benchmark.averaged`.
    """
    needs_no_parts = all(system.strategy == PLAIN for system in systems)
    parts = [("", ())] * len(queries) if needs_no_parts else _parsed(queries, understand, step)
    as_code = any(system.strategy == BOOLEAN for system in systems)
    splits = [(as_code and query.boolean) or some for query, some in zip(queries, parts, strict=True)]
    rewordings = [""] * len(queries)
    if any(system.strategy == REWORDED for system in systems):
        rewordings = [reword(query.text, wanted, away) for query, (wanted, away) in zip(queries, parts, strict=True)]
    names = [query.text for query in queries]
    if isinstance(encoder, PrecomputedEncoder):
        names = [encoder.known_name(query.query_id, query.text) for query in queries]
    texts = dict.fromkeys(text for text in (*names, *rewordings) if text)
    texts |= dict.fromkeys(text for wanted, unwanted in (*parts, *splits) for text in (wanted, *unwanted) if text)
    parts_of_text = {text: averaged.get(text, (text,)) for text in texts}
    each = dict.fromkeys(one for some in parts_of_text.values() for one in some)
    encoded = _encoded(encoder, list(each), step, 0 if needs_no_parts else PARSING)
    embeddings = {text: _mean([encoded[one] for one in some]) for text, some in parts_of_text.items()}
    nothing = np.zeros((0, encoder.embed_dim), np.float32)
    anchor, tau = anchor_of(encoder), tau_of(encoder.card)
    strengths = [system.strength_for(encoder.card) for system in systems]
    found = [np.zeros((len(queries), encoder.embed_dim), np.float32) for _ in systems]
    exclusions: list[list[Exclusion | None]] = [[] for _ in systems]
    for row, query in enumerate(queries):
        if row % CHUNK == 0:
            step(1)
        for system, strength, vectors, taken in zip(systems, strengths, found, exclusions, strict=True):
            is_split = system.strategy == BOOLEAN and query.boolean is not None
            strategy = PLAIN if query.kind == "original" and not is_split else system.strategy
            wanted, unwanted = splits[row] if is_split else parts[row]
            away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
            sentence = embeddings[rewordings[row] if strategy == REWORDED else names[row]]
            given = Parts(sentence, embeddings[wanted] if wanted else None, away, strength, anchor, tau=tau).by_text(
                encoder.card
            )
            vector, loss = pick("strategy", strategy, STRATEGIES)(given), exclusion_of(strategy, given)
            if is_split and wanted and unwanted:
                vector, loss = given.wanted, Exclusion(away, strength, CLAMP, loss.focus if loss else None)
            taken.append(loss)
            if vector is not None:
                vectors[row] = vector
    return list(map(Asked, found, exclusions))


def _parsed(queries: Sequence[JudgedQuery], understand: Understand, step: Step) -> list[tuple[str, tuple[str, ...]]]:
    parts = []
    for number, query in enumerate(queries):
        if number % CHUNK == 0:
            step(PARSING * number / len(queries))
        parts.append(parts_of(query, understand))
    return parts


def _encoded(encoder: Encoder, texts: Sequence[str], step: Step, done: float) -> dict[str, Vectors]:
    embeddings: dict[str, Vectors] = {}
    for start in range(0, len(texts), CHUNK):
        step(done + (1 - done) * start / len(texts))
        chunk = texts[start : start + CHUNK]
        embeddings |= zip(chunk, encoder.encode_text(chunk), strict=True)
    return embeddings


def _mean(vectors: Sequence[Vectors]) -> Vectors:
    """Return the normalised mean of several embeddings; a single one as it is."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), TINY), np.float32)


def parts_of(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    """Return the wanted part and the unwanted parts, parsing the text if they are unknown."""
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    parsed = understand(query.text)
    return " ".join(parsed.wanted), parsed.unwanted
