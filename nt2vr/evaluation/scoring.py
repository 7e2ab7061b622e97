"""Query vectors of systems for judged queries, with the known parts where the benchmark provides them."""

from collections.abc import Callable, Sequence

import numpy as np

from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.language.query import Query
from nt2vr.models.encoder import Encoder
from nt2vr.registry import pick
from nt2vr.search.strategies import STRATEGIES, Parts, anchor_of
from nt2vr.search.systems import System

Understand = Callable[[str], Query]
PLAIN = "plain"  # the strategy that needs no parts


def query_vectors(
    encoder: Encoder, systems: Sequence[System], queries: Sequence[JudgedQuery], understand: Understand
) -> list[Vectors]:
    """Compute the query vectors of a model's systems, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text. A system without anything to search
    for (`drop` on "not B") gets zeros, for which all videos tie.

    Args:
        encoder: model of the systems.
        systems: strategies with this model.
        queries: the Q queries.
        understand: parses queries whose parts are unknown.

    Returns:
        One (Q, D) array per system.
    """
    needs_no_parts = all(system.strategy == PLAIN for system in systems)
    parts = [("", ()) if needs_no_parts else parts_of(query, understand) for query in queries]
    texts = dict.fromkeys(query.text for query in queries)
    texts |= dict.fromkeys(text for wanted, unwanted in parts for text in (wanted, *unwanted) if text)
    embeddings = dict(zip(texts, encoder.encode_text(list(texts)), strict=True))
    nothing = np.zeros((0, encoder.embed_dim), np.float32)
    anchor = anchor_of(encoder)
    strengths = [system.strength_for(encoder.card) for system in systems]
    found = [np.zeros((len(queries), encoder.embed_dim), np.float32) for _ in systems]
    for row, (query, (wanted, unwanted)) in enumerate(zip(queries, parts, strict=True)):
        away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
        for system, strength, vectors in zip(systems, strengths, found, strict=True):
            strategy = PLAIN if query.kind == "original" else system.strategy
            vector = pick("strategy", strategy, STRATEGIES)(
                Parts(embeddings[query.text], embeddings[wanted] if wanted else None, away, strength, anchor)
            )
            if vector is not None:
                vectors[row] = vector
    return found


def parts_of(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    """Return the wanted part and the unwanted parts, parsing the text if they are unknown."""
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    parsed = understand(query.text)
    return " ".join(parsed.wanted), parsed.unwanted
