"""Composed queries without training: a reference picture and a text become one vector.

The text says what should be different from the picture. Trained fusion: `nt2vr.models.fusion`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.models.fusion import Fusion, PartWeights
from nt2vr.models.open_clip_encoder import OpenClipEncoder

Vectors = NDArray[np.float32]
_TINY = 1e-12


@dataclass(frozen=True)
class Weights:
    """Weights of the compositions, chosen on validation data and kept in a model's card.

    Attributes:
        sum: of the text in `weighted_sum`, 0 to 1.
        slerp: of the text in `slerp`, 0 to 1.
        wanted: of the wanted part in `parts`; the picture has 1.
        unwanted: of the unwanted parts in `parts`.
    """

    sum: float = 0.5
    slerp: float = 0.5
    wanted: float = 1.6
    unwanted: float = 1.2

    @classmethod
    def of(cls, composition: Mapping[str, float]) -> "Weights":
        """Read the weights of a card; unknown names are ignored."""
        known = cls.__dataclass_fields__
        return cls(**{name: float(value) for name, value in composition.items() if name in known})

    @property
    def parts(self) -> PartWeights:
        """Those of `parts`."""
        return PartWeights(self.wanted, self.unwanted)


@dataclass(frozen=True, eq=False)
class Composed:
    """Embeddings of one composed query or of many: (..., D), unit vectors; zeros for what a query lacks.

    Attributes:
        picture: the reference.
        sentence: the text as typed.
        wanted: its wanted part.
        unwanted: the sum of its unwanted parts.
    """

    picture: Vectors
    sentence: Vectors
    wanted: Vectors
    unwanted: Vectors


Composition = Callable[[Composed, Weights], Vectors]


def picture(query: Composed, weights: Weights) -> Vectors:
    """Search for the picture alone, a control."""
    return query.picture


def text(query: Composed, weights: Weights) -> Vectors:
    """Search for the text alone, a control."""
    return query.sentence


def weighted_sum(query: Composed, weights: Weights) -> Vectors:
    """Average picture and sentence with weights: (1 - t) * picture + t * sentence, normalised."""
    return _unit((1 - weights.sum) * query.picture + weights.sum * query.sentence)


def slerp(query: Composed, weights: Weights) -> Vectors:
    """Walk the great circle from the picture to the sentence, a share t of the angle theta between them.

        q = [sin((1 - t) * theta) * picture + sin(t * theta) * sentence] / sin(theta)

    Source: Jang et al., "Spherical Linear Interpolation and Text-Anchoring for Zero-shot Composed Image Retrieval",
    ECCV 2024.
    """
    cosines = np.clip((query.picture * query.sentence).sum(axis=-1, keepdims=True), -1, 1)
    theta, share = np.arccos(cosines), weights.slerp
    return _unit(np.sin((1 - share) * theta) * query.picture + np.sin(share * theta) * query.sentence)


def parts(query: Composed, weights: Weights) -> Vectors:
    """Add the wanted part to the picture and subtract the unwanted: picture + a * wanted - b * unwanted."""
    return _unit(weights.parts(query.picture, query.wanted, query.unwanted))


COMPOSITIONS: dict[str, Composition] = {
    "picture": picture,
    "text": text,
    "sum": weighted_sum,
    "slerp": slerp,
    "parts": parts,
}
TRAINING_FREE = ("sum", "slerp", "parts")


def compose(name: str, query: Composed, weights: Weights, fusion: Fusion | None) -> Vectors:
    """Return the vectors of queries: of `fusion` for "fusion" where there is one, otherwise of "parts"."""
    if name != "fusion":
        return COMPOSITIONS[name](query, weights)
    return parts(query, weights) if fusion is None else fusion(query.picture, query.wanted, query.unwanted)


@dataclass(frozen=True, eq=False)
class Reference:
    """A reference picture next to a text, and how a model composes them.

    Attributes:
        query: their embeddings, one query.
        weights: of the model.
        fusion: of the model; None if it has none.
    """

    query: Composed
    weights: Weights
    fusion: Fusion | None

    def composed(self, name: str) -> Vectors:
        """Return the vector of a composition, see `compose`."""
        return compose(name, self.query, self.weights, self.fusion)


def fusion_of(encoder: Encoder) -> Fusion | None:
    """Return a model's trained fusion; None if it has none."""
    return encoder.fusion if isinstance(encoder, OpenClipEncoder) else None


def _unit(vectors: NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), _TINY), np.float32)
