"""Measures: how each is computed from the per-query results of a system, how sure it is, and how it is shown.

Hard pairs and violations are this project's own: ignoring the negation cannot improve them. Source
of R@k, MIR and their differences: Wang et al., "Learn to Understand Negation in Video Retrieval",
ACM MM 2022, section 3.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import erfc, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.metric_names import (
    ACCURACY,
    AUC,
    AVERAGE_PRECISION,
    DELTA,
    DENIED,
    HARD_PAIRS,
    KS,
    MEAN_RANK,
    MEDIAN_RANK,
    MIR,
    TOP_5,
    delta,
    mean_over_sets,
    recall,
    violations,
)
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.extension import extensions

FIRST_PAGE = 10  # videos checked for violations
TOP = 5  # classes
LENIENT = (
    "negated class"  # a correct answer counts against the model here, so ties count as correct
)
EMPTY = "–"
Places = NDArray[np.int64]
LEVEL = 95  # percent
RESAMPLES = 1000
SEED = 1  # of the resamples
CHUNK = 2_000_000  # weights in memory at a time: 16 MB
EXACT_UP_TO = 12  # units whose 4,096 combinations of signs are all tried
NORMAL_FROM = 1000  # units from which the sum of their signs is taken as normal
Array = NDArray[np.float64]
Units = NDArray[np.int64]  # (Q,), number of each query's unit


@dataclass(frozen=True, eq=False)
class Measured:
    """One value per query, in the order of the queries; each array but the last three is (Q,)."""

    ranks: NDArray[np.int32]  # of the best relevant video, 1 is best
    ordered: NDArray[
        np.float32
    ]  # share of (relevant, hard) pairs of videos in the right order; NaN without pairs
    tied: NDArray[np.float32]  # share of tied pairs; NaN without pairs
    violations: NDArray[
        np.float32
    ]  # share of FIRST_PAGE that shows the unwanted part; NaN if none does, or none came
    # (Q, FIRST_PAGE), rows of the first videos, -1 for none; (0, FIRST_PAGE) where they are unknown
    first: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, FIRST_PAGE), np.int32))
    # (V,), rank of each video's best caption, see `caption_ranks`, 0 for none; (0,) if not measured
    video_ranks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    # (Q, 2), of the right and the wrong picture; (0, 2) for queries of other kinds
    pair_scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))


def joined(parts: Sequence[Measured]) -> Measured:
    names = Measured.__dataclass_fields__
    return Measured(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Values(NamedTuple):
    """What a metric is the mean of."""

    places: NDArray[np.int64]  # (N,), positions of the queries that count
    values: NDArray[
        np.float64
    ]  # (N,), one per query; a video's rank of captions is at the place of its first caption
    # of all values together, where it is not their mean; it has no interval
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
    for kind in dict.fromkeys(kinds.tolist()):
        for measure in FAMILIES.get(kind, ()):
            found |= measure(queries, np.flatnonzero(kinds == kind), measured)
    return found


def _found(queries: Sequence[JudgedQuery], places: Places, measured: Measured) -> dict[str, Values]:
    values, kind = retrieval_values(measured.ranks[places]), queries[places[0]].kind
    return {f"{kind}/{name}": Values(places, each) for name, each in values.items()}


def _accuracy(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure of all and per group of questions, such as a template of NegBench, or fold."""
    values = np.where(measured.ranks == 1, 100.0, 0.0)
    return _per_part(f"{queries[places[0]].kind}/{ACCURACY}", queries, places, values)


def _per_part(
    name: str, queries: Sequence[JudgedQuery], places: Places, values: NDArray[np.float64]
) -> dict[str, Values]:
    """Return values, given one for every query, of all places and of each group."""
    return {
        f"{name}{part}": Values(some, values[some])
        for part, some in parts_of(queries, places).items()
    }


def _negated(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure how much less queries find than the captions that they negate, for the captions' videos (Eq. 1)."""
    pairs = [
        (place, queries[place].original)
        for place in places.tolist()
        if queries[place].original is not None
    ]
    negated, originals = np.array(pairs, np.int64).reshape(-1, 2).T
    before, after = (retrieval_values(measured.ranks[some]) for some in (originals, negated))
    return {
        f"negated/{delta(name)}": Values(negated, before[name] - after[name])
        for name in before
        if pairs
    }


def _middle(kind: str, places: Places, ranks: NDArray[np.int32]) -> dict[str, Values]:
    values = ranks.astype(np.float64)
    return {
        f"{kind}/{MEDIAN_RANK}": Values(places, values, np.median),
        f"{kind}/{MEAN_RANK}": Values(places, values),
    }


def _both_ways(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure the middle ranks, and those of captions, each at the place of the first caption of its video."""
    found, videos = (
        _middle("original", places, measured.ranks[places]),
        np.flatnonzero(measured.video_ranks),
    )
    if not len(videos):
        return found
    first = {
        video: place
        for place in places[::-1].tolist()
        for video in queries[place].relevant.tolist()
    }
    at, ranks = (
        np.array([first[video] for video in videos.tolist()], np.int64),
        measured.video_ranks[videos],
    )
    values = retrieval_values(ranks)
    recalls = {f"video/{recall(k)}": Values(at, values[recall(k)]) for k in KS}
    return found | recalls | _middle("video", at, ranks)


def _exclusion(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure ordered pairs in percent (ties count as wrong), of "not B" as AUC (ties count half), and violations."""
    ordered, tied, violated = (
        getattr(measured, name).astype(np.float64) for name in ("ordered", "tied", "violations")
    )
    kind, found = queries[places[0]].kind, {}
    pairs, shown = (places[~np.isnan(some[places])] for some in (ordered, violated))
    if len(pairs) and kind == "not":
        found[f"{kind}/{AUC}"] = Values(pairs, ordered[pairs] + tied[pairs] / 2)
    elif len(pairs):
        found[f"{kind}/{HARD_PAIRS}"] = Values(pairs, 100 * ordered[pairs])
    if len(shown):
        found[f"{kind}/{violations(FIRST_PAGE)}"] = Values(shown, 100 * violated[shown])
    return found


def _pictures(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure in percent how often the right picture comes first (ties count as wrong), and the average precision.

    For the latter, each text's pairs with a right and a wrong picture count once: one right picture
    has several wrong ones.
    """
    places = places[~np.isnan(measured.ordered[places])]
    scores, ordered = measured.pair_scores, 100 * measured.ordered.astype(np.float64)
    found = _per_part(f"picture/{ACCURACY}", queries, places, ordered)
    for name, some in parts_of(queries, places).items() if len(scores) == len(queries) else ():
        pairs: dict[tuple[str, int], tuple[float, float]] = {}
        for place in some.tolist():
            query, (right, wrong) = queries[place], scores[place].tolist()
            pairs[query.text, int(query.relevant[0])] = (right, 1.0)
            pairs[query.text, int(query.hard[0])] = (wrong, 0.0)
        found[f"picture/{AVERAGE_PRECISION}{name}"] = Values(
            some, np.array(list(pairs.values())), average_precision
        )
    return found


def _classes(
    queries: Sequence[JudgedQuery], places: Places, measured: Measured
) -> dict[str, Values]:
    """Measure top-1, top-5, negated top-1 and their difference: of all videos, each data set, and the sets' mean."""
    first, found = np.where(measured.ranks == 1, 100.0, 0.0), dict[str, Values]()
    of = {ACCURACY: (places, first), TOP_5: (places, np.where(measured.ranks <= TOP, 100.0, 0.0))}
    denied = np.flatnonzero([query.kind == LENIENT for query in queries])
    if len(denied):  # of the same videos in the same order
        less = np.zeros(len(first))
        less[places] = first[places] - first[denied]
        of |= {DENIED: (denied, first), DELTA: (places, less)}
    for name, (asked, values) in of.items():
        parts = _per_part(f"class/{name}", queries, asked, values)
        found |= parts
        # all, and parts of a data set
        not_one = {f"class/{name}", *(f"class/{name} {group}" for group in class_group_names())}
        data_sets = [part.removeprefix(f"class/{name} ") for part in parts if part not in not_one]
        if len(data_sets) > 1:
            of_each = [queries[place].group.partition("; ")[0] for place in asked.tolist()]
            numbers = [data_sets.index(data) + 1 if data in data_sets else 0 for data in of_each]
            pairs = np.stack([values[asked], np.array(numbers, np.float64)], axis=1)
            found[f"class/{mean_over_sets(name)}"] = Values(asked, pairs, mean_of_groups)
    return found


@cache
def class_group_names() -> frozenset[str]:
    """Return the names of the groups of classes that extensions know; a group is a part of a data set."""
    return frozenset(group for extension in extensions() for group in extension.class_groups)


FAMILIES: Mapping[
    str, Sequence[Callable[[Sequence[JudgedQuery], Places, Measured], dict[str, Values]]]
] = {
    "original": (_found, _both_ways),
    "negated": (_negated,),
    "composed": (_found, _exclusion),
    "without": (_found, _exclusion),
    "not": (_exclusion,),
    "retrieval": (_found,),
    "picture": (_pictures,),
    "choice": (_accuracy,),
    "pair": (_accuracy,),
    "class": (_classes,),
}


def parts_of(queries: Sequence[JudgedQuery], places: Places) -> dict[str, Places]:
    """Return places as "", then those of each group of queries as " NAME", in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place in places.tolist():
        for name in filter(None, queries[place].group.split("; ")):
            found.setdefault(name, []).append(place)
    return {"": places, **{f" {name}": np.array(found[name], np.int64) for name in sorted(found)}}


def retrieval_values(ranks: NDArray[np.integer[Any]]) -> dict[str, NDArray[np.float64]]:
    """Per-query values (Q,) of R@1, R@5, R@10 (100 or 0) and of MIR, the mean inverted rank (0 to 1)."""
    inverted = 1 / ranks.astype(np.float64)
    return {**{recall(k): np.where(ranks <= k, 100.0, 0.0) for k in KS}, MIR: inverted}


def average_precision(pairs: NDArray[np.float64]) -> float:
    """Average precision of pairs of a text and a picture, in percent; ties count against the right ones.

        AP = mean over the right pairs of the share of right ones among those that score at least as
        high

    `pairs` are (N, 2): the score, and 1 for right pairs or 0 for wrong ones.
    """
    right = pairs[np.lexsort((pairs[:, 1], -pairs[:, 0])), 1]
    return 100 * float(
        (np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum()
    )


def mean_of_groups(pairs: NDArray[np.float64]) -> float:
    """Return the mean over groups of the mean of each; pairs are (N, 2), a value and the number of its group."""
    return float(
        np.mean([pairs[pairs[:, 1] == group, 0].mean() for group in np.unique(pairs[:, 1])])
    )


class Interval(NamedTuple):
    """Where a figure lies in 95 % of the resamples."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width, the number after ±."""
        return (self.high - self.low) / 2


def units_of(queries: Sequence[JudgedQuery]) -> Units:
    """Number the queries' units, which intervals and tests resample: equal for the same relevant videos.

    The 20 captions of one video succeed and fail together; resampled one by one, intervals would be
    too narrow. The gallery is not resampled: an interval says how much a figure depends on the
    choice of queries.
    """
    numbers: dict[bytes, int] = {}
    keys = (np.sort(np.asarray(query.relevant, np.int32)).tobytes() for query in queries)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def intervals_of_means(values: Array, units: Units) -> list[Interval | None]:
    """Resample units (N,) with replacement, 1,000 times, and return the middle 95 % of the means of each of M columns.

        mean = sum of the drawn units' values / number of their queries

    There is None for a column whose values are all equal, which no resampling tells apart from
    certainty.
    """
    sums, counts = _by_unit(values, units)
    rng, count, means = np.random.default_rng(SEED), len(counts), list[Array]()
    rows = max(1, CHUNK // count)
    for start in range(0, RESAMPLES, rows):
        drawn = rng.integers(0, count, (min(rows, RESAMPLES - start), count))
        weights = np.stack([np.bincount(row, minlength=count) for row in drawn]).astype(np.float64)
        means.append((weights @ sums) / (weights @ counts)[:, None])
    ends = np.percentile(
        np.concatenate(means), [(100 - LEVEL) / 2, (100 + LEVEL) / 2], axis=0
    ).T.tolist()
    varies = (values != values[:1]).any(axis=0)
    return [Interval(*pair) if some else None for pair, some in zip(ends, varies, strict=True)]


def intervals_of(
    values: Mapping[str, Mapping[str, Values]], units: Units
) -> dict[str, dict[str, Interval]]:
    """Return the intervals of metrics of several systems; figures over the same queries share their resamples."""
    alike: dict[bytes, list[tuple[str, str, Values]]] = {}
    for system, of_metric in values.items():
        for key, each in of_metric.items():
            if each.statistic is None:
                alike.setdefault(each.places.tobytes(), []).append((system, key, each))
    found: dict[str, dict[str, Interval]] = {system: {} for system in values}
    for figures in alike.values():
        table = np.stack([each.values for *_, each in figures], axis=1)
        intervals = intervals_of_means(table, units[figures[0][2].places])
        for (system, key, _), interval in zip(figures, intervals, strict=True):
            if interval is not None:
                found[system][key] = interval
    return found


def sign_flip_p(differences: Array, units: Units) -> float:
    """Probability of so large a mean difference, in either direction, if the systems were interchangeable.

    Then the sign of each unit's sum of differences would be a matter of chance. All combinations of
    signs are tried if there are few, otherwise 1,000 random ones; the sum of very many signs is
    normal.
    """
    sums, _ = _by_unit(differences[:, None], units)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) > NORMAL_FROM:
        return erfc(abs(float(sums.sum())) / sqrt(2 * float(sums @ sums)))
    is_exact = len(sums) <= EXACT_UP_TO
    if is_exact:
        signs = np.array(list(product((-1, 1), repeat=len(sums))), np.float64)
    else:
        signs = np.random.default_rng(SEED).choice((-1.0, 1.0), (RESAMPLES, len(sums)))
    slack = 1e-9 * float(np.abs(sums).sum())  # rounding must not tell equal sums apart
    as_large = np.abs(signs @ sums) >= abs(float(sums.sum())) - slack
    # the observed signs are one of the combinations
    return float(as_large.mean()) if is_exact else (1 + int(as_large.sum())) / (1 + RESAMPLES)


def _by_unit(values: Array, units: Units) -> tuple[Array, Array]:
    """Add up the values of each unit, (C, M), and count its queries, (C,)."""
    _, places = np.unique(units, return_inverse=True)
    counts = np.bincount(places).astype(np.float64)
    columns = [np.bincount(places, column) for column in np.asarray(values, np.float64).T]
    return np.stack(columns, axis=1), counts


HARD_PAIRS_MEANING = (
    "Hard pairs: percentage of pairs in which a relevant video scores above one that also shows the unwanted part. A "
    "system that ignores negation is at chance, about 50."
)
VIOLATIONS_MEANING = (
    "Violations@10: percentage of the top ten that show the unwanted part; lower is better."
)
DELTA_MEANING = (
    "Δ: how much lower negated captions rank the video of the original; a system that rejects every negated caption "
    "gains here, too."
)
CLASS_DELTA_MEANING = (
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


class Group(NamedTuple):
    head: str
    columns: tuple[Column, ...]


def _retrieval(kind: str) -> tuple[Column, ...]:
    recalls = (Column(f"{kind}/{recall(k)}", recall(k)) for k in KS)
    return (*recalls, Column(f"{kind}/{MIR}", MIR, 3))


def _retrieval_lost(kind: str) -> tuple[Column, ...]:
    recalls = (
        Column(f"{kind}/{delta(recall(k))}", f"Δ{recall(k)}", meaning=DELTA_MEANING) for k in KS
    )
    return (*recalls, Column(f"{kind}/{delta(MIR)}", f"Δ{MIR}", 3, meaning=DELTA_MEANING))


def _honest(kind: str) -> tuple[Column, ...]:
    name = violations(FIRST_PAGE)
    violated = Column(f"{kind}/{name}", name, meaning=VIOLATIONS_MEANING, lower_is_better=True)
    return (Column(f"{kind}/{HARD_PAIRS}", "hard pairs", meaning=HARD_PAIRS_MEANING), violated)


def _ranked(head: str, kind: str) -> Group:
    recalls = (Column(f"{kind}/{recall(k)}", recall(k)) for k in KS)
    ranks = (
        Column(f"{kind}/{name}", name, lower_is_better=True) for name in (MEDIAN_RANK, MEAN_RANK)
    )
    return Group(head, (*recalls, *ranks))


PAPER = (  # Table 2 of the nT2VR paper
    Group("Original", _retrieval("original")),
    Group("Negated", _retrieval_lost("negated")),
    Group("Composed", _retrieval("composed")),
)
BOTH_WAYS = (_ranked("Text to video", "original"), _ranked("Video to text", "video"))
HONEST = (
    Group("A and not B", _honest("composed")),
    Group("A without N", (*_retrieval("without")[::3], *_honest("without"))),
    Group("not B", (Column(f"not/{AUC}", "AUC", 3), *_honest("not")[1:])),
)
PICTURES = (Column(f"picture/{ACCURACY}", "accuracy"), Column(f"picture/{AVERAGE_PRECISION}", "AP"))
CLASSES = (
    Column(f"class/{ACCURACY}", "top-1"),
    Column(f"class/{TOP_5}", "top-5"),
    Column(f"class/{DENIED}", "negated top-1"),
    Column(f"class/{DELTA}", "Δ", meaning=CLASS_DELTA_MEANING),
)
OTHERS = (
    Group("NegBench retrieval", _retrieval("retrieval")),
    Group("Multiple choice", (Column(f"choice/{ACCURACY}", "all"),)),
    Group("Caption and foil", (Column(f"pair/{ACCURACY}", "accuracy"),)),
    Group("Picture and foil", PICTURES),
    Group("Classes", CLASSES),
)
GROUPS = PAPER + HONEST + OTHERS
