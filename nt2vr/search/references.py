"""Queries by references (pictures, videos, clips) plus a text that says what should differ; see `models.composer`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Encoder
from nt2vr.search.exclusion import Vectors, unit

MAX_REFERENCES = 4
DEFAULT_WEIGHT = 0.5
AWAY = 0.4  # weight of an unwanted reference of weight 1; half of it is best on validation scenes


@dataclass(frozen=True, eq=False)
class Reference:
    """A picture, video or clip that is part of a query."""

    # (H, W, 3) uint8 RGB each; a picture has one, a clip of the gallery none
    frames: tuple[NDArray[np.uint8], ...] = ()
    video_id: str = ""  # the clip of the gallery, which is embedded already; empty for others
    weight: float = DEFAULT_WEIGHT  # 0 to 1
    wanted: bool = True  # False for "less like this"

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
    """Merge references r_i of weights w_i into one picture, and into what is subtracted from a system's query vector.

        picture = sum of w_i * r_i over the wanted references, normalised
        away    = 0.4 * sum of w_i * r_i over the unwanted references

    Only the ratios of the weights matter for the picture; references that all have weight 0 count
    alike. Vectors are unit vectors (D,), as is the picture; without references of that kind, a
    result is None.
    """

    def total(wanted: bool) -> Vectors | None:
        chosen = [
            (r.weight, v) for v, r in zip(vectors, references, strict=True) if r.wanted is wanted
        ]
        even = wanted and not any(weight for weight, _ in chosen)
        return (
            np.sum([(1 if even else weight) * v for weight, v in chosen], axis=0)
            if chosen
            else None
        )

    picture, away = total(True), total(False)
    return None if picture is None else unit(picture), None if away is None else np.asarray(
        AWAY * away, np.float32
    )


def take_away(vector: Vectors | None, away: Vectors) -> Vectors | None:
    """Search away from unwanted references: vector / |vector| - away, normalised; without a vector, -away."""
    found = unit((0 if vector is None else unit(vector)) - away)
    return found if found.any() else vector  # of weight 0, and nothing else to search for


@dataclass(frozen=True)
class Weights:
    """Weights of `parts`, chosen on validation data and stored in a model's card as its `composition`."""

    wanted: float = 1.6  # of the wanted part; the picture has 1
    unwanted: float = 1.2  # of the unwanted parts

    @classmethod
    def of(cls, composition: Mapping[str, float]) -> Self:
        """Read the weights of a card; unknown names are ignored."""
        known = cls.__dataclass_fields__
        return cls(**{name: float(value) for name, value in composition.items() if name in known})


def parts(query: PictureQuery, weights: Weights) -> Vectors:
    """Add the wanted part to the picture, and take the unwanted parts away, with weights; normalised."""
    return unit(query.picture + weights.wanted * query.wanted - weights.unwanted * query.unwanted)


def combine(
    name: str, query: PictureQuery, weights: Weights, composers: Mapping[str, Composer]
) -> Vectors:
    """Return the vectors of queries by a composer of this name, or by `parts` for a model without it."""
    if name in composers:
        return composers[name].compose(query)
    return parts(query, weights)


def reads_tokens(encoder: Encoder) -> bool:
    """Return True if a model has a composer that needs the tokens of texts, and the frames of references."""
    return any(composer.reads_tokens for composer in encoder.composers.values())
