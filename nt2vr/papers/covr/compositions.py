"""Compositions that need no training, beyond the search's own `parts`: the weighted mean, and two controls."""

from collections.abc import Callable
from dataclasses import dataclass

from nt2vr.models.composer import PictureQuery
from nt2vr.models.encoder import Vectors
from nt2vr.search.exclusion import unit
from nt2vr.search.references import Weights


@dataclass(frozen=True)
class CompositionWeights(Weights):
    """Weights of all compositions, chosen on validation data, as a model's card has them.

    Attributes:
        sum: of the text in `weighted_sum`, 0 to 1.
    """

    sum: float = 0.5


def weighted_sum(query: PictureQuery, weights: CompositionWeights) -> Vectors:
    """Average picture and sentence with weights: (1 - t) * picture + t * sentence, normalised."""
    return unit((1 - weights.sum) * query.picture + weights.sum * query.sentence)


# The picture alone and the text alone are controls.
COMPOSITIONS: dict[str, Callable[[PictureQuery, CompositionWeights], Vectors]] = {
    "picture": lambda query, _: query.picture,
    "text": lambda query, _: query.sentence,
    "sum": weighted_sum,
}
# Composed by the search.
PARTS = "parts"
TRAINING_FREE = ("sum", PARTS)
