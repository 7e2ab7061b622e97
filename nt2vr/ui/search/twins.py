"""Twins: columns that show the clips of an earlier column, and are folded into a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.search.answers import Ranking
from nt2vr.search.plan import DEFAULT_K
from nt2vr.search.strategies import System

# Clips in which near twins may differ.
MOST_DIFFERENT = 1
# Columns that must stay side by side where twins are not exact.
FEWEST_COLUMNS = 2


@dataclass(frozen=True)
class Twin:
    """An earlier column with the same clips, or all but one.

    Attributes:
        system: that of the earlier column.
        num_shared: clips that both show.
        is_exact: whether both are of one model and show the same clips in the same order.
    """

    system: System
    num_shared: int
    is_exact: bool


def find_twins(rankings: Sequence[Ranking]) -> list[Twin | None]:
    """Return for each column the earlier one into which it folds; None for a column that stays.

    Where a strategy changes nothing, its column always folds. Other twins fold only while two
    columns are left, because two models with the same clips are what the page is to show.
    """
    twins = _fold(rankings, only_exact=False)
    if twins.count(None) < FEWEST_COLUMNS:
        return _fold(rankings, only_exact=True)
    return twins


def _fold(rankings: Sequence[Ranking], only_exact: bool) -> list[Twin | None]:
    twins = []
    # Columns that do not fold.
    staying: list[Ranking] = []
    for ranking in rankings:
        twin = _twin_among(staying, ranking, only_exact)
        if twin is None:
            staying.append(ranking)
        twins.append(twin)
    return twins


def _twin_among(candidates: Sequence[Ranking], ranking: Ranking, only_exact: bool) -> Twin | None:
    """Return how a ranking repeats the first of the earlier ones that it repeats; None if there is none."""
    for candidate in candidates:
        twin = _compare(candidate, ranking)
        if twin is not None and (twin.is_exact or not only_exact):
            return twin
    return None


def _compare(first: Ranking, second: Ranking) -> Twin | None:
    """Return how the second ranking repeats the first; None if it does not."""
    first_clips = _clips(first)
    second_clips = _clips(second)
    if first.system.model == second.system.model and first_clips == second_clips:
        return Twin(first.system, num_shared=len(first.hits), is_exact=bool(first.hits))
    num_shared = len(set(first_clips) & set(second_clips))
    if num_shared < DEFAULT_K - MOST_DIFFERENT:
        return None
    return Twin(first.system, num_shared, is_exact=False)


def _clips(ranking: Ranking) -> list[str]:
    return [hit.source for hit in ranking.hits[:DEFAULT_K]]
