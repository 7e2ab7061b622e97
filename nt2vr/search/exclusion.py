"""Exclusion that no single vector expresses: what clips lose for having more of an unwanted part than most do."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

DEVIATIONS = 0.5  # above the mean, in standard deviations, from which a similarity counts
SAMPLE = 10_000  # clips from whose similarities mean and deviation are taken


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Lowers scores: weight * max over the unwanted parts n of max(0, s(x, n) - tau).

    Being less like n than other clips earns nothing, unlike in wanted - alpha * unwanted.

    Attributes:
        unwanted: (U, D), unit vectors; U > 0.
        weight: at least 0.
        tau: (U,), or one for all; None until `within` takes it from a gallery.
    """

    unwanted: Vectors
    weight: float
    tau: Vectors | float | None = None

    def within(self, clips: Vectors) -> Self:
        """Return the exclusion in a gallery (V, D): tau, where it is open, is mean + 0.5 deviations of s(clip, n)."""
        if self.tau is not None:
            return self
        some = clips[:: max(1, len(clips) // SAMPLE)] @ self.unwanted.T
        return replace(self, tau=some.mean(axis=0) + DEVIATIONS * some.std(axis=0))

    def excess(self, similarities: Vectors) -> Vectors:
        """Return how far similarities (..., U) are above tau, at least 0."""
        assert self.tau is not None, "call within first"
        return np.asarray(np.maximum(similarities - self.tau, 0), np.float32)

    def loss(self, similarities: Vectors) -> Vectors:
        """Return what is taken from the scores (...) of clips with these similarities (..., U)."""
        return np.asarray(self.weight * self.excess(similarities).max(axis=-1), np.float32)


def scores_of(embeddings: Vectors, vector: Vectors, exclusion: Exclusion | None) -> Vectors:
    """Score embeddings (..., D) by a query vector (D,), less what an exclusion takes."""
    if exclusion is None:
        return np.asarray(embeddings @ vector)
    similarities = embeddings @ np.vstack([vector, exclusion.unwanted]).T  # in one pass over the embeddings
    return np.asarray(similarities[..., 0] - exclusion.loss(similarities[..., 1:]))
