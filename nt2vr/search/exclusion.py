"""What no single vector expresses: scores lost for unwanted parts, and frames weighed by a text."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Vectors

# A similarity counts from so many standard deviations above the mean.
DEVIATIONS = 0.5
# Clips from whose similarities mean and deviation are taken.
SAMPLE = 10_000
# Temperature of the weights of frames, see `focused`.
TEMPERATURE = 0.1
# Clips whose frames are read at once: 50 MB of 12 frames of 512 numbers.
CHUNK = 2048


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Lowers scores by weight * max over the unwanted parts n of max(0, s(x, n) - tau).

    Unlike with wanted - alpha * unwanted, a clip gains nothing by being very unlike n.

    Attributes:
        unwanted: (U, D), unit vectors; without any, nothing is lowered.
        weight: at least 0.
        tau: (U,), or one for all; None until `within` takes it from a gallery.
        focus: (D,), the text that weighs each clip's frames, see `focused`; None leaves clips
            pooled as they are. It excludes nothing, but scores depend on it as well.
    """

    unwanted: Vectors
    weight: float
    tau: Vectors | float | None = None
    focus: Vectors | None = None

    def within(self, clips: Vectors) -> Self:
        """Return the exclusion for a gallery (V, D).

        If tau is None, it becomes the mean of s(clip, n) over the gallery plus 0.5 deviations.
        """
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
    """Return the mean of s(clip, t) over a gallery plus some deviations, for each text t.

    The gallery is (V, D), or a sample of it; the texts are (T, D), and the result is (T,).
    """
    step = max(1, len(clips) // SAMPLE)
    similarities = clips[::step] @ texts.T
    return np.asarray(similarities.mean(axis=0) + deviations * similarities.std(axis=0))


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """L2-normalise (..., D); zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


def focused(frames: Vectors, focus: Vectors) -> Vectors:
    """Pool the frames of clips by a text q: (..., F, D), unit vectors, to (..., D).

        weights = softmax over frames of f . q / 0.1,  pooled = normalised sum of weight * f

    Zeros as q give the mean.

    Source: see "Frames weighed by the query" in docs/training.md.
    """
    similarities = frames @ focus / TEMPERATURE
    most_similar = similarities.max(axis=-1, keepdims=True)
    weights = np.exp(similarities - most_similar)
    pooled = weights[..., None, :] @ frames  # (..., 1, D)
    return unit(pooled[..., 0, :])


def averaged(clips: Vectors) -> Vectors:
    """Return clips (V, D) as they are, and frames of clips (V, F, D) as their mean."""
    if clips.ndim == 2:
        return clips
    return focused(clips, np.zeros(clips.shape[-1], np.float32))


def scores_of(embeddings: Vectors, vector: Vectors, exclusion: Exclusion | None) -> Vectors:
    """Score embeddings (..., D) by a query vector (D,), less what an exclusion takes."""
    if exclusion is None:
        return np.asarray(embeddings @ vector)
    # One pass over the embeddings.
    compared = np.vstack([vector, exclusion.unwanted])
    similarities = embeddings @ compared.T
    return np.asarray(similarities[..., 0] - exclusion.loss(similarities[..., 1:]))
