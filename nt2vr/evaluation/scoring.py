"""What a system searches for when asked a judged query: the search page's strategies, told the parts if known."""

from collections.abc import Callable, Sequence

import numpy as np

from nt2vr.evaluation.benchmark import JudgedQuery, Vectors
from nt2vr.language.query import Query
from nt2vr.models.encoder import Encoder
from nt2vr.registry import pick
from nt2vr.search.systems import DEFAULT_ALPHA, STRATEGIES, Parts, System

Understand = Callable[[str], Query]
WHOLE = "plain"  # the strategy that needs no parts


def query_vectors(
    encoder: Encoder, systems: Sequence[System], queries: Sequence[JudgedQuery], understand: Understand
) -> list[Vectors]:
    """Turn queries into what each of a model's systems searches for, each text encoded once.

    Captions are searched for as they are, whatever the strategy: there is nothing in them to leave out. A system that
    has nothing to search for (`drop` of "not B") gets zeros, under which all videos tie.

    Args:
        encoder: the systems' model.
        systems: strategies of it.
        queries: Q of them.
        understand: finds the parts of sentences whose parts are not known.

    Returns:
        (Q, D) for each system.
    """
    whole = all(system.strategy == WHOLE for system in systems)
    parts = [("", ()) if whole else parts_of(query, understand) for query in queries]
    texts = dict.fromkeys(query.text for query in queries)
    texts |= dict.fromkeys(text for wanted, unwanted in parts for text in (wanted, *unwanted) if text)
    embeddings = dict(zip(texts, encoder.encode_text(list(texts)), strict=True))
    nothing = np.zeros((0, encoder.embed_dim), np.float32)
    found = [np.zeros((len(queries), encoder.embed_dim), np.float32) for _ in systems]
    for row, (query, (wanted, unwanted)) in enumerate(zip(queries, parts, strict=True)):
        away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
        for system, vectors in zip(systems, found, strict=True):
            strategy = WHOLE if query.kind == "original" else system.strategy
            vector = pick("strategy", strategy, STRATEGIES)(
                Parts(embeddings[query.text], embeddings[wanted] if wanted else None, away, alpha_of(system))
            )
            if vector is not None:
                vectors[row] = vector
    return found


def alpha_of(system: System) -> float:
    """Weight of the unwanted part: the page's default where the system fixes none."""
    return DEFAULT_ALPHA if system.alpha is None else system.alpha


def parts_of(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    """Return the wanted part and the unwanted ones: as given, or as the search page would understand the sentence."""
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    read = understand(query.text)
    return " ".join(read.wanted), read.unwanted
