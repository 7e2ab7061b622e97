"""Queries by references (pictures, videos, clips) plus a text that says what should differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.search.exclusion import unit

MAX_REFERENCES = 4
DEFAULT_WEIGHT = 0.5
# Weight of an unwanted reference of weight 1; half of it is best on validation scenes.
AWAY = 0.4


@dataclass(frozen=True, eq=False)
class Reference:
    """A picture, video or clip that is part of a query.

    Attributes:
        frames: (H, W, 3) uint8 RGB each; a picture has one, a clip of the gallery none.
        video_id: the clip of the gallery, which is embedded already; empty for others.
        weight: 0 to 1.
        wanted: False for "less like this".
    """

    frames: tuple[NDArray[np.uint8], ...] = ()
    video_id: str = ""
    weight: float = DEFAULT_WEIGHT
    wanted: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ConfigError(f"The picture's weight is {self.weight:g}: choose 0 to 1.")


def check_number(count: int) -> None:
    """Refuse more than MAX_REFERENCES references."""
    if count > MAX_REFERENCES:
        raise ConfigError(
            f"A query can have {MAX_REFERENCES} references, not {count:,}. Remove some."
        )


def merge_references(
    vectors: Sequence[Vectors], references: Sequence[Reference]
) -> tuple[Vectors | None, Vectors | None]:
    """Merge wanted references into one picture, and unwanted ones into what is subtracted.

        picture = sum of w_i * r_i over the wanted references, normalised
        away    = 0.4 * sum of w_i * r_i over the unwanted references

    r_i are the vectors and w_i their weights; `away` is subtracted from a system's query vector.
    Only the ratios of the weights matter for the picture; references that all have weight 0 count
    alike. Vectors are unit vectors (D,), as is the picture; without references of that kind, a
    result is None.
    """
    wanted_vectors = []
    wanted_weights = []
    unwanted = []
    for vector, reference in zip(vectors, references, strict=True):
        if reference.wanted:
            wanted_vectors.append(vector)
            wanted_weights.append(reference.weight)
        else:
            unwanted.append(reference.weight * vector)

    picture = None
    if wanted_vectors:
        if not any(wanted_weights):
            wanted_weights = [1.0] * len(wanted_vectors)
        weighted = zip(wanted_weights, wanted_vectors, strict=True)
        picture = unit(np.sum([weight * vector for weight, vector in weighted], axis=0))
    away = None
    if unwanted:
        away = np.asarray(AWAY * np.sum(unwanted, axis=0), np.float32)
    return picture, away


def take_away(vector: Vectors | None, away: Vectors) -> Vectors | None:
    """Search away from unwanted references: vector / |vector| - away, normalised.

    Without a vector, search for -away.
    """
    start = np.zeros_like(away) if vector is None else unit(vector)
    difference = unit(start - away)
    # References of weight 0 leave nothing else to search for.
    if not difference.any():
        return vector
    return difference


@dataclass(frozen=True)
class Weights:
    """Weights of `weighted_sum`, chosen on validation data and stored in a model's card.

    There they are its `composition`.

    Attributes:
        wanted: of the wanted part; the picture has 1.
        unwanted: of the unwanted parts.
    """

    wanted: float = 1.6
    unwanted: float = 1.2

    @classmethod
    def of(cls, composition: Mapping[str, float]) -> Self:
        """Read the weights of a card; unknown names are ignored."""
        weights = {
            name: float(composition[name])
            for name in cls.__dataclass_fields__
            if name in composition
        }
        return cls(**weights)


def weighted_sum(query: PictureQuery, weights: Weights) -> Vectors:
    """Add the wanted part to the picture, and take the unwanted parts away; normalised."""
    return unit(query.picture + weights.wanted * query.wanted - weights.unwanted * query.unwanted)


def combine(
    name: str, query: PictureQuery, weights: Weights, composers: Mapping[str, Composer]
) -> Vectors:
    """Return the vectors of queries by a composer of this name, or the weighted sum without it."""
    if name in composers:
        return composers[name].compose(query)
    return weighted_sum(query, weights)


def reads_tokens(encoder: Encoder) -> bool:
    """Return whether a model has a composer that reads tokens of texts and frames of references."""
    return any(composer.reads_tokens for composer in encoder.composers.values())
