"""What no single vector expresses of a query: what clips lose for an unwanted part, and how it weighs their frames."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
DEVIATIONS = 0.5  # above the mean, in standard deviations, from which a similarity counts
SAMPLE = 10_000  # clips from whose similarities mean and deviation are taken
FOCUS = 0.1  # temperature of the weights of frames, as in CoVR
CHUNK = 2048  # clips whose frames are read at once: 50 MB of 12 frames of 512 numbers


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Lowers scores: weight * max over the unwanted parts n of max(0, s(x, n) - tau).

    Being less like n than other clips earns nothing, unlike in wanted - alpha * unwanted.
    """

    unwanted: Vectors  # (U, D), unit vectors; without any, nothing is lowered
    weight: float  # at least 0
    tau: Vectors | float | None = (
        None  # (U,), or one for all; None until `within` takes it from a gallery
    )
    # (D,), the text that weighs each clip's frames, see `focused`; None leaves clips pooled as they
    # are
    focus: Vectors | None = None

    def within(self, clips: Vectors) -> Self:
        """Return the exclusion in a gallery (V, D): tau, where it is open, is mean + 0.5 deviations of s(clip, n)."""
        if self.tau is not None or not len(self.unwanted):
            return self
        return replace(self, tau=above_mean(clips, self.unwanted, DEVIATIONS))

    def excess(self, similarities: Vectors) -> Vectors:
        """Return how far similarities (..., U) are above tau, at least 0."""
        assert self.tau is not None, "call within first"
        return np.asarray(np.maximum(similarities - self.tau, 0), np.float32)

    def loss(self, similarities: Vectors) -> Vectors:
        """Return what is taken from the scores (...) of clips with these similarities (..., U)."""
        if not len(self.unwanted):
            return np.zeros(similarities.shape[:-1], np.float32)
        return np.asarray(self.weight * self.excess(similarities).max(axis=-1), np.float32)


def above_mean(clips: Vectors, texts: Vectors, deviations: float) -> Vectors:
    """Return the mean of s(clip, t) over a gallery (V, D) plus some deviations, for each text t: (T, D) to (T,)."""
    some = clips[:: max(1, len(clips) // SAMPLE)] @ texts.T
    return np.asarray(some.mean(axis=0) + deviations * some.std(axis=0))


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """L2-normalise (..., D); zeros stay zeros."""
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12), np.float32
    )


def focused(frames: Vectors, focus: Vectors) -> Vectors:
    """Pool the frames of clips by a text q: (..., F, D), unit vectors, to (..., D).

        weights = softmax over frames of f . q / 0.1,  pooled = normalised sum of weight * f

    Zeros as q give the mean.

    Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI
    2024, after Bain et al., "A CLIP-Hitchhiker's Guide to Long Video Retrieval", 2022.
    """
    similarities = frames @ focus / FOCUS
    weights = np.exp(similarities - similarities.max(axis=-1, keepdims=True))
    return unit((weights[..., None, :] @ frames)[..., 0, :])


def averaged(clips: Vectors) -> Vectors:
    """Return clips (V, D) as they are, and those of which there are frames (V, F, D) as their mean."""
    return clips if clips.ndim == 2 else focused(clips, np.zeros(clips.shape[-1], np.float32))


def scores_of(embeddings: Vectors, vector: Vectors, exclusion: Exclusion | None) -> Vectors:
    """Score embeddings (..., D) by a query vector (D,), less what an exclusion takes."""
    if exclusion is None:
        return np.asarray(embeddings @ vector)
    similarities = (
        embeddings @ np.vstack([vector, exclusion.unwanted]).T
    )  # in one pass over the embeddings
    return np.asarray(similarities[..., 0] - exclusion.loss(similarities[..., 1:]))
