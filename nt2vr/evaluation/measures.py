"""Measures: how each is computed from the per-query results of a system, and how it is shown.

In addition to the paper's, two that ignoring the negation cannot improve: hard pairs (relevant videos scoring above
videos that also show the unwanted part) and violations (share of the first page showing the unwanted part).

Source of R@k, MIR and their differences: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022,
section 3.2.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery
from nt2vr.evaluation.ranks import KS, retrieval_values

FIRST_PAGE = 10  # videos checked for violations
TOP = 5  # classes
KINETICS_VERB = "Kinetics-verb"  # the classes of Kinetics that share a noun with another one, as VFC's authors chose
LENIENT = "negated class"  # a correct answer counts against the model here, so ties count as correct
EMPTY = "–"
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measured:
    """One value per query, in the order of the queries; each array but the last three is (Q,).

    Attributes:
        ranks: rank of the best relevant video, 1 is best.
        ordered: share of correctly ordered (relevant, hard) pairs of videos; NaN without such pairs.
        tied: share of tied pairs; NaN without pairs.
        violations: share of the first FIRST_PAGE videos that show the unwanted part; NaN if no video shows it, or if
            the system has nothing to search for.
        first: (Q, FIRST_PAGE), rows of the first videos, -1 for none; (0, FIRST_PAGE) where they are unknown.
        video_ranks: (V,), rank of each video's best caption, see `caption_ranks`, 0 for none; (0,) if not measured.
        pair_scores: (Q, 2), of the right and the wrong picture; (0, 2) for queries of other kinds.
    """

    ranks: NDArray[np.int32]
    ordered: NDArray[np.float32]
    tied: NDArray[np.float32]
    violations: NDArray[np.float32]
    first: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, FIRST_PAGE), np.int32))
    video_ranks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    pair_scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))


def joined(parts: Sequence[Measured]) -> Measured:
    return Measured(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Measured.__dataclass_fields__)
    )


@dataclass(frozen=True, eq=False)
class Values:
    """What a metric is the mean of.

    Attributes:
        places: (N,), positions of the queries that count.
        values: (N,), one value per query; for a video's rank of captions, at the place of its first caption.
        statistic: of all values together, where it is not their mean; it has no interval.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float64]
    statistic: Callable[[NDArray[np.float64]], Any] | None = None


def summarise(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, float]:
    return averages_of(metric_values(queries, measured))


def averages_of(values: Mapping[str, Values]) -> dict[str, float]:
    return {key: float((each.statistic or np.mean)(each.values)) for key, each in values.items()}


class Some(NamedTuple):
    """The queries of one kind, by their `places` among all queries, with what was measured of all."""

    kind: str
    places: Places
    queries: Sequence[JudgedQuery]
    measured: Measured

    @property
    def ranks(self) -> NDArray[np.int32]:
        return self.measured.ranks[self.places]

    def key(self, name: str) -> str:
        return f"{self.kind}/{name}"

    def known(self, of_query: NDArray[np.float32]) -> Places:
        """Return the places of the queries that have a value."""
        return self.places[~np.isnan(of_query[self.places])]

    def parts(self, places: Places) -> dict[str, Places]:
        """Return places as "", then those of each group of queries as " NAME"."""
        return {"": places, **{f" {name}": some for name, some in members(self.queries, places).items()}}


Found = Iterable[tuple[str, Values]]


def _recalls(some: Some) -> Found:
    return ((some.key(name), Values(some.places, each)) for name, each in retrieval_values(some.ranks).items())


def _middle(some: Some) -> Found:
    ranks = some.ranks.astype(np.float64)
    yield some.key("MedR"), Values(some.places, ranks, np.median)
    yield some.key("MeanR"), Values(some.places, ranks)


def _video_to_text(some: Some) -> Found:
    """Measure the ranks of captions, each at the place of the first caption of its video."""
    first: dict[int, int] = {}
    for place in some.places.tolist():
        for video in some.queries[place].relevant.tolist():
            first.setdefault(video, place)
    videos = np.flatnonzero(some.measured.video_ranks)
    places = np.array([first[video] for video in videos.tolist()], np.int64)
    ranks = some.measured.video_ranks[videos]
    values = retrieval_values(ranks)
    for name in (f"R@{k}" for k in KS) if len(videos) else ():
        yield f"video/{name}", Values(places, values[name])
    for name, statistic in (("MedR", np.median), ("MeanR", None)) if len(videos) else ():
        yield f"video/{name}", Values(places, ranks.astype(np.float64), statistic)


def _deltas(some: Some) -> Found:
    """Subtract the values of negated queries from those of their captions, for the captions' videos (Eq. 1)."""
    negated = np.array([place for place in some.places if some.queries[place].original is not None], np.int64)
    originals = np.array([some.queries[place].original for place in negated], np.int64)
    before, after = (retrieval_values(some.measured.ranks[places]) for places in (originals, negated))
    if len(negated):
        for name in before:
            yield some.key(f"delta_{name}"), Values(negated, before[name] - after[name])


def _pictures(some: Some) -> Found:
    """Measure in percent how often the right picture comes first (ties count as wrong), and the average precision."""
    ordered, scores = some.measured.ordered.astype(np.float64), some.measured.pair_scores
    parts = some.parts(some.known(some.measured.ordered))
    yield from ((some.key(f"accuracy{name}"), Values(places, 100 * ordered[places])) for name, places in parts.items())
    for name, places in parts.items() if len(scores) == len(some.queries) else ():
        yield some.key(f"AP{name}"), Values(places, _distinct_pairs(some.queries, places, scores), average_precision)


def _exclusion(some: Some) -> Found:
    """Measure ordered pairs in percent (ties count as wrong), of "not B" as AUC (ties count half), and violations."""
    ordered, tied, violations = (
        getattr(some.measured, name).astype(np.float64) for name in ("ordered", "tied", "violations")
    )
    pairs, shown = some.known(some.measured.ordered), some.known(some.measured.violations)
    if len(pairs) and some.kind == "not":
        yield some.key("auc"), Values(pairs, ordered[pairs] + tied[pairs] / 2)
    elif len(pairs):
        yield some.key("hard_pairs"), Values(pairs, 100 * ordered[pairs])
    if len(shown):
        yield some.key(f"violations@{FIRST_PAGE}"), Values(shown, 100 * violations[shown])


def _choices(some: Some) -> Found:
    """Measure accuracy in percent, of all and per template of NegBench, type of NExT-QA or fold."""
    right = np.where(some.measured.ranks == 1, 100.0, 0.0)
    parts = some.parts(some.places).items()
    return ((some.key(f"accuracy{name}"), Values(places, right[places])) for name, places in parts)


def _classes(some: Some) -> Found:
    """Measure top-1, top-5, top-1 with negated prompts, and their difference, in percent.

    Each is yielded of all videos, of every data set (and of Kinetics-verb), and as the mean over data sets.
    """
    denied = np.array([place for place, query in enumerate(some.queries) if query.kind == LENIENT], np.int64)
    first = np.where(some.ranks == 1, 100.0, 0.0)
    found = {
        "accuracy": Values(some.places, first),
        "top-5": Values(some.places, np.where(some.ranks <= TOP, 100.0, 0.0)),
    }
    if len(denied):  # of the same videos in the same order
        found["negated"] = Values(denied, np.where(some.measured.ranks[denied] == 1, 100.0, 0.0))
        found["delta"] = Values(some.places, first - found["negated"].values)
    for name, each in found.items():
        parts = some.parts(each.places)
        for part, places in parts.items():
            yield some.key(f"{name}{part}"), Values(places, each.values[np.isin(each.places, places)])
        data_sets = [part[1:] for part in parts if part[1:] not in ("", KINETICS_VERB)]  # a part of its data set
        if len(data_sets) > 1:
            of_each = [some.queries[place].group.partition("; ")[0] for place in each.places.tolist()]
            numbers = [data_sets.index(data) + 1 if data in data_sets else 0 for data in of_each]
            pairs = np.stack([each.values, np.array(numbers, np.float64)], axis=1)
            yield some.key(f"mean {name}"), Values(each.places, pairs, mean_of_groups)


SEARCHED = ("original", "composed", "without", "retrieval")
FAMILIES: tuple[tuple[Callable[[Some], Found], tuple[str, ...]], ...] = (
    (_recalls, SEARCHED),
    (_middle, ("original",)),
    (_video_to_text, ("original",)),
    (_deltas, ("negated",)),
    (_pictures, ("picture",)),
    (_exclusion, ("composed", "without", "not")),
    (_choices, ("choice", "pair")),
    (_classes, ("class",)),
)


def metric_values(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, Values]:
    """Return the per-query values of each measure, "KIND/NAME"; kinds without queries are omitted.

    All are in percent, differences in percentage points, except MIR and AUC (0 to 1) and ranks.
    """
    kinds = np.array([query.kind for query in queries])
    found: dict[str, Values] = {}
    for family, of_kinds in FAMILIES:
        for kind in of_kinds:
            if len(places := np.flatnonzero(kinds == kind)):
                found |= family(Some(kind, places, queries, measured))
    return found


def average_precision(pairs: NDArray[np.float64]) -> float:
    """Average precision of pairs of a text and a picture, in percent; ties count against the right ones.

        AP = mean over the right pairs of the share of right ones among those that score at least as high

    Args:
        pairs: (N, 2), the score, and 1 for right pairs or 0 for wrong ones.
    """
    right = pairs[np.lexsort((pairs[:, 1], -pairs[:, 0])), 1]
    return 100 * float((np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum())


def _distinct_pairs(
    queries: Sequence[JudgedQuery], places: NDArray[np.int64], scores: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return each text's pairs with a right and a wrong picture once: one right picture has several wrong ones."""
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for place in places.tolist():
        query, (right, wrong) = queries[place], scores[place].tolist()
        found[query.text, int(query.relevant[0])] = (right, 1.0)
        found[query.text, int(query.hard[0])] = (wrong, 0.0)
    return np.array(list(found.values()))


def members(queries: Sequence[JudgedQuery], places: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Return the positions of the queries of each group, among some, by name in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place in places.tolist():
        for name in filter(None, queries[place].group.split("; ")):
            found.setdefault(name, []).append(place)
    return {name: np.array(found[name], np.int64) for name in sorted(found)}


def mean_of_groups(pairs: NDArray[np.float64]) -> float:
    """Return the mean over groups of the mean of each; pairs are (N, 2), a value and the number of its group."""
    return float(np.mean([pairs[pairs[:, 1] == group, 0].mean() for group in np.unique(pairs[:, 1])]))


HARD_PAIRS = (
    "Hard pairs: percentage of pairs in which a relevant video scores above one that also shows the unwanted part. A "
    "system that ignores negation is at chance, about 50."
)
VIOLATIONS = "Violations@10: percentage of the top ten that show the unwanted part; lower is better."
DELTA = (
    "Δ: how much lower negated captions rank the video of the original; a system that rejects every negated caption "
    "gains here, too."
)
CLASS_DELTA = (
    "Δ of classes: top-1 less negated top-1, which is how often the class that is shown comes first among sentences "
    "that deny one class each, as “this is not a photo of a cat”: there it should come last."
)


@dataclass(frozen=True)
class Column:
    """How a measure is shown: its key in a report's metrics, header, number of decimals, direction and meaning."""

    key: str
    head: str
    decimals: int = 1
    lower_is_better: bool = False
    meaning: str = ""

    def text(self, value: float | None) -> str:
        """Format a value; None means not measured."""
        return EMPTY if value is None else f"{value:.{self.decimals}f}"


@dataclass(frozen=True)
class Group:
    """Columns under a common header."""

    head: str
    columns: tuple[Column, ...]


def _retrieval(kind: str, prefix: str = "", sign: str = "", meaning: str = "") -> tuple[Column, ...]:
    recalls = (Column(f"{kind}/{prefix}R@{k}", f"{sign}R@{k}", meaning=meaning) for k in KS)
    return (*recalls, Column(f"{kind}/{prefix}MIR", f"{sign}MIR", 3, meaning=meaning))


def _violations(kind: str) -> Column:
    return Column(f"{kind}/violations@10", "violations@10", meaning=VIOLATIONS, lower_is_better=True)


def _honest(kind: str) -> tuple[Column, ...]:
    return (Column(f"{kind}/hard_pairs", "hard pairs", meaning=HARD_PAIRS), _violations(kind))


def _ranked(head: str, kind: str) -> Group:
    recalls = (Column(f"{kind}/R@{k}", f"R@{k}") for k in KS)
    ranks = (Column(f"{kind}/{name}", name, lower_is_better=True) for name in ("MedR", "MeanR"))
    return Group(head, (*recalls, *ranks))


PAPER = (  # Table 2 of the nT2VR paper
    Group("Original", _retrieval("original")),
    Group("Negated", _retrieval("negated", "delta_", "Δ", DELTA)),
    Group("Composed", _retrieval("composed")),
)
BOTH_WAYS = (_ranked("Text to video", "original"), _ranked("Video to text", "video"))
HONEST = (
    Group("A and not B", _honest("composed")),
    Group("A without N", (*_retrieval("without")[::3], *_honest("without"))),
    Group("not B", (Column("not/auc", "AUC", 3), _violations("not"))),
)
OTHERS = (
    Group("NegBench retrieval", _retrieval("retrieval")),
    Group("Multiple choice", (Column("choice/accuracy", "all"),)),
    Group("Caption and foil", (Column("pair/accuracy", "accuracy"),)),
    Group("Picture and foil", (Column("picture/accuracy", "accuracy"), Column("picture/AP", "AP"))),
    Group(
        "Classes",
        (
            *(Column("class/accuracy", "top-1"), Column("class/top-5", "top-5")),
            *(Column("class/negated", "negated top-1"), Column("class/delta", "Δ", meaning=CLASS_DELTA)),
        ),
    ),
)
GROUPS = PAPER + HONEST + OTHERS
