"""Measures: how each is computed from the per-query results of a system, and how it is shown.

In addition to the paper's, two that ignoring the negation cannot improve: hard pairs (relevant videos scoring above
videos that also show the unwanted part) and violations (share of the first page showing the unwanted part).

Source of R@k, MIR and their differences: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022,
section 3.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery

KS = (1, 5, 10)
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


def metric_values(queries: Sequence[JudgedQuery], measured: Measured) -> dict[str, Values]:
    """Return the per-query values of each measure, "KIND/NAME"; kinds without queries are omitted.

    All are in percent, differences in percentage points, except MIR and AUC (0 to 1) and ranks.
    """
    kinds, found = np.array([query.kind for query in queries]), dict[str, Values]()
    places_of = {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(kinds.tolist())}
    for kind, places in places_of.items():
        if kind in ("original", "composed", "without", "retrieval"):
            values = retrieval_values(measured.ranks[places])
            found |= {f"{kind}/{name}": Values(places, each) for name, each in values.items()}
        if kind == "original":
            found |= _middle(kind, places, measured.ranks[places])
            found |= _video_to_text(queries, places, measured.video_ranks)
        elif kind == "negated":  # less than their captions, for the captions' videos (Eq. 1)
            negated = np.array([place for place in places.tolist() if queries[place].original is not None], np.int64)
            originals = np.array([queries[place].original for place in negated.tolist()], np.int64)
            before, after = (retrieval_values(measured.ranks[some]) for some in (originals, negated))
            for name in before if len(negated) else ():
                found[f"{kind}/delta_{name}"] = Values(negated, before[name] - after[name])
        elif kind in ("composed", "without", "not"):
            found |= _exclusion(kind, places, measured)
        elif kind == "picture":
            found |= _pictures(queries, places[~np.isnan(measured.ordered[places])], measured)
        elif kind in ("choice", "pair"):  # accuracy, of all and per template of NegBench, type of NExT-QA or fold
            for name, some in parts_of(queries, places).items():
                found[f"{kind}/accuracy{name}"] = Values(some, np.where(measured.ranks[some] == 1, 100.0, 0.0))
        elif kind == "class":
            found |= _classes(queries, places, places_of.get(LENIENT), measured.ranks)
    return found


def _middle(kind: str, places: Places, ranks: NDArray[np.int32]) -> dict[str, Values]:
    values = ranks.astype(np.float64)
    return {f"{kind}/MedR": Values(places, values, np.median), f"{kind}/MeanR": Values(places, values)}


def _video_to_text(
    queries: Sequence[JudgedQuery], places: Places, video_ranks: NDArray[np.int32]
) -> dict[str, Values]:
    """Measure the ranks of captions, each at the place of the first caption of its video."""
    videos, first = np.flatnonzero(video_ranks), dict[int, int]()
    if not len(videos):
        return {}
    for place in places.tolist():
        for video in queries[place].relevant.tolist():
            first.setdefault(video, place)
    at, ranks = np.array([first[video] for video in videos.tolist()], np.int64), video_ranks[videos]
    values = retrieval_values(ranks)
    return {f"video/R@{k}": Values(at, values[f"R@{k}"]) for k in KS} | _middle("video", at, ranks)


def _exclusion(kind: str, places: Places, measured: Measured) -> dict[str, Values]:
    """Measure ordered pairs in percent (ties count as wrong), of "not B" as AUC (ties count half), and violations."""
    ordered, tied, violations = (
        getattr(measured, name).astype(np.float64) for name in ("ordered", "tied", "violations")
    )
    pairs, shown, found = places[~np.isnan(ordered[places])], places[~np.isnan(violations[places])], {}
    if len(pairs) and kind == "not":
        found[f"{kind}/auc"] = Values(pairs, ordered[pairs] + tied[pairs] / 2)
    elif len(pairs):
        found[f"{kind}/hard_pairs"] = Values(pairs, 100 * ordered[pairs])
    if len(shown):
        found[f"{kind}/violations@{FIRST_PAGE}"] = Values(shown, 100 * violations[shown])
    return found


def _pictures(queries: Sequence[JudgedQuery], places: Places, measured: Measured) -> dict[str, Values]:
    """Measure in percent how often the right picture comes first (ties count as wrong), and the average precision.

    For the latter, each text's pairs with a right and a wrong picture count once: one right picture has several wrong
    ones.
    """
    ordered, scores, found = measured.ordered.astype(np.float64), measured.pair_scores, dict[str, Values]()
    parts = parts_of(queries, places)
    for name, some in parts.items():
        found[f"picture/accuracy{name}"] = Values(some, 100 * ordered[some])
    for name, some in parts.items() if len(scores) == len(queries) else ():
        pairs: dict[tuple[str, int], tuple[float, float]] = {}
        for place in some.tolist():
            query, (right, wrong) = queries[place], scores[place].tolist()
            pairs[query.text, int(query.relevant[0])] = (right, 1.0)
            pairs[query.text, int(query.hard[0])] = (wrong, 0.0)
        found[f"picture/AP{name}"] = Values(some, np.array(list(pairs.values())), average_precision)
    return found


def _classes(
    queries: Sequence[JudgedQuery], places: Places, denied: Places | None, ranks: NDArray[np.int32]
) -> dict[str, Values]:
    """Measure top-1, top-5, top-1 with negated prompts, and their difference, in percent.

    Each is returned of all videos, of every data set (and of Kinetics-verb), and as the mean over data sets.
    """
    first, found = np.where(ranks[places] == 1, 100.0, 0.0), dict[str, Values]()
    of = {
        "accuracy": Values(places, first),
        "top-5": Values(places, np.where(ranks[places] <= TOP, 100.0, 0.0)),
    }
    if denied is not None:  # of the same videos in the same order
        of["negated"] = Values(denied, np.where(ranks[denied] == 1, 100.0, 0.0))
        of["delta"] = Values(places, first - of["negated"].values)
    for name, each in of.items():
        parts = parts_of(queries, each.places)
        for part, some in parts.items():
            found[f"class/{name}{part}"] = Values(some, each.values[np.isin(each.places, some)])
        data_sets = [part[1:] for part in parts if part[1:] not in ("", KINETICS_VERB)]  # a part of its data set
        if len(data_sets) > 1:
            of_each = [queries[place].group.partition("; ")[0] for place in each.places.tolist()]
            numbers = [data_sets.index(data) + 1 if data in data_sets else 0 for data in of_each]
            pairs = np.stack([each.values, np.array(numbers, np.float64)], axis=1)
            found[f"class/mean {name}"] = Values(each.places, pairs, mean_of_groups)
    return found


def parts_of(queries: Sequence[JudgedQuery], places: Places) -> dict[str, Places]:
    """Return places as "", then those of each group of queries as " NAME", in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place in places.tolist():
        for name in filter(None, queries[place].group.split("; ")):
            found.setdefault(name, []).append(place)
    return {"": places, **{f" {name}": np.array(found[name], np.int64) for name in sorted(found)}}


def retrieval_values(ranks: NDArray[np.integer[Any]]) -> dict[str, NDArray[np.float64]]:
    """Per-query values (Q,) of R@1, R@5, R@10 (100 or 0) and of MIR, the mean inverted rank (0 to 1).

    Source: Wang et al., "Learn to Understand Negation in Video Retrieval", ACM MM 2022, section 3.2.
    """
    inverted = 1 / ranks.astype(np.float64)
    return {**{f"R@{k}": np.where(ranks <= k, 100.0, 0.0) for k in KS}, "MIR": inverted}


def average_precision(pairs: NDArray[np.float64]) -> float:
    """Average precision of pairs of a text and a picture, in percent; ties count against the right ones.

        AP = mean over the right pairs of the share of right ones among those that score at least as high

    Args:
        pairs: (N, 2), the score, and 1 for right pairs or 0 for wrong ones.
    """
    right = pairs[np.lexsort((pairs[:, 1], -pairs[:, 0])), 1]
    return 100 * float((np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum())


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
