"""Measures: how each is computed from the per-query results of a system.

Hard pairs and violations are this project's own: ignoring the negation cannot improve them. Source
of R@k, MIR and their differences: Wang et al., "Learn to Understand Negation in Video Retrieval",
ACM MM 2022, section 3.2.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.metric_names import (
    ACCURACY,
    AVERAGE_PRECISION,
    DELTA,
    DENIED,
    HARD_PAIRS,
    KS,
    MEAN_RANK,
    MEDIAN_RANK,
    MIR,
    NOT_AUC,
    PICTURE_ACCURACY,
    TOP_5,
    Metrics,
    delta,
    mean_over_sets,
    recall,
    violations,
)
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery, Rows, kinds_of
from nt2vr.extension import combined

# Videos that are checked for violations.
FIRST_PAGE = 10
# Classes that count for "top-5".
TOP = 5
# A correct answer counts against the model here, so ties count as correct.
LENIENT = "negated class"

Array = NDArray[np.float64]
Positions = NDArray[np.int64]  # (N,), of queries
Ranks = NDArray[np.int32]  # (Q,), 1 is best
Shares = NDArray[np.float32]  # (Q,), 0 to 1


@dataclass(frozen=True, eq=False)
class Measured:
    """The results of a system per query, in the order of the queries.

    Attributes:
        ranks: (Q,), of the best relevant video; 1 is best.
        ordered: (Q,), share of (relevant, hard) pairs of videos in the right order; NaN without
            pairs.
        tied: (Q,), share of tied pairs; NaN without pairs.
        violations: (Q,), share of the first FIRST_PAGE videos that show the unwanted part; NaN if
            no video shows it, or none was returned.
        first: (Q, FIRST_PAGE), rows of the first videos, -1 for none; (0, FIRST_PAGE) if unknown.
        video_ranks: (V,), rank of each video's best caption, see `caption_ranks`, 0 for none; (0,)
            if not measured.
        pair_scores: (Q, 2), of the right and the wrong picture; (0, 2) for queries of other kinds.
    """

    ranks: Ranks
    ordered: Shares
    tied: Shares
    violations: Shares
    first: Rows = field(default_factory=lambda: np.zeros((0, FIRST_PAGE), np.int32))
    video_ranks: Ranks = field(default_factory=lambda: np.zeros(0, np.int32))
    pair_scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 2), np.float32))


def joined(blocks: Sequence[Measured]) -> Measured:
    """Join the results of several blocks of queries."""
    arrays = {}
    for name in Measured.__dataclass_fields__:
        arrays[name] = np.concatenate([getattr(block, name) for block in blocks])
    return Measured(**arrays)


class Values(NamedTuple):
    """What a metric is the mean of.

    Attributes:
        positions: (N,), of the queries that count. A video's rank of captions is at the position of
            its first caption.
        values: (N,), one per query.
        statistic: of all values together, where it is not their mean; it has no interval.
    """

    positions: Positions
    values: Array
    statistic: Callable[[Array], Any] | None = None


MetricValues = dict[str, Values]
Measure = Callable[[JudgedQueries, Positions, Measured], MetricValues]


def summarise(queries: JudgedQueries, measured: Measured) -> Metrics:
    """Return each measure of a system, "KIND/NAME"."""
    return averages_of(metric_values(queries, measured))


def averages_of(metrics: MetricValues) -> Metrics:
    """Return the mean of each metric's values, or its own statistic of them."""
    averages = {}
    for name, metric in metrics.items():
        statistic = metric.statistic or np.mean
        averages[name] = float(statistic(metric.values))
    return averages


def metric_values(queries: JudgedQueries, measured: Measured) -> MetricValues:
    """Return the per-query values of each measure, "KIND/NAME"; kinds without queries are omitted.

    All are in percent, differences in percentage points, except MIR and AUC (0 to 1) and ranks.
    """
    kinds = kinds_of(queries)
    metrics: MetricValues = {}
    for kind in dict.fromkeys(kinds.tolist()):
        positions = np.flatnonzero(kinds == kind)
        for measure in FAMILIES.get(kind, ()):
            metrics |= measure(queries, positions, measured)
    return metrics


def _retrieval(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure how well queries of one kind find their videos."""
    kind = queries[positions[0]].kind
    return _of_kind(kind, positions, retrieval_values(measured.ranks[positions]))


def _of_kind(kind: str, positions: Positions, by_name: Mapping[str, Array]) -> MetricValues:
    """Name measures "KIND/NAME", given the values of each at some positions."""
    return {f"{kind}/{name}": Values(positions, values) for name, values in by_name.items()}


def _accuracy(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure accuracy over all questions and per group, such as a template of NegBench, or fold."""
    kind = queries[positions[0]].kind
    is_right = np.where(measured.ranks == 1, 100.0, 0.0)
    return _per_group(f"{kind}/{ACCURACY}", queries, positions, values=is_right)


def _per_group(
    name: str, queries: JudgedQueries, positions: Positions, values: Array
) -> MetricValues:
    """Return a measure at all positions, and of each group; `values` has one for every query."""
    return {
        f"{name}{suffix}": Values(in_group, values[in_group])
        for suffix, in_group in positions_by_group(queries, positions).items()
    }


def _negated(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure how much less negated captions find the video of their original (Eq. 1)."""
    original_of = {}
    for position in positions.tolist():
        original = queries[position].original
        if original is not None:
            original_of[position] = original
    if not original_of:
        return {}

    negated = np.array(list(original_of), np.int64)
    before = retrieval_values(measured.ranks[list(original_of.values())])
    after = retrieval_values(measured.ranks[negated])
    losses = {delta(name): values - after[name] for name, values in before.items()}
    return _of_kind("negated", negated, losses)


def _typical_ranks(kind: str, positions: Positions, ranks: Ranks) -> MetricValues:
    values = ranks.astype(np.float64)
    return {
        f"{kind}/{MEDIAN_RANK}": Values(positions, values, np.median),
        f"{kind}/{MEAN_RANK}": Values(positions, values),
    }


def _both_ways(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure median and mean ranks of videos, and how well videos find their captions.

    The latter's values are at the position of the first caption of each video.
    """
    of_captions = _typical_ranks("original", positions, measured.ranks[positions])
    videos = np.flatnonzero(measured.video_ranks)
    if not len(videos):
        return of_captions

    # From the last caption to the first, so that the first one stays.
    first_caption = np.zeros(len(measured.video_ranks), np.int64)
    for position in positions[::-1].tolist():
        first_caption[queries[position].relevant] = position

    video_positions = first_caption[videos]
    ranks = measured.video_ranks[videos]
    recalls = retrieval_values(ranks)
    # No table shows it.
    del recalls[MIR]
    return {
        **of_captions,
        **_of_kind("video", video_positions, recalls),
        **_typical_ranks("video", video_positions, ranks),
    }


def _exclusion(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure how well the unwanted part is excluded, by pairs of videos and by violations.

    Pairs are in percent, and ties count as wrong. Those of "not B" are an AUC: ties count half.
    """
    kind = queries[positions[0]].kind
    metrics = {}

    with_pairs = _with_value(measured.ordered, positions)
    if len(with_pairs):
        ordered = measured.ordered[with_pairs].astype(np.float64)
        if kind == "not":
            tied = measured.tied[with_pairs].astype(np.float64)
            metrics[NOT_AUC] = Values(with_pairs, ordered + tied / 2)
        else:
            metrics[f"{kind}/{HARD_PAIRS}"] = Values(with_pairs, 100 * ordered)

    with_page = _with_value(measured.violations, positions)
    if len(with_page):
        violating = 100 * measured.violations[with_page].astype(np.float64)
        metrics[f"{kind}/{violations(FIRST_PAGE)}"] = Values(with_page, violating)
    return metrics


def _with_value(shares: Shares, positions: Positions) -> Positions:
    """Return the positions at which a share is not NaN."""
    return positions[~np.isnan(shares[positions])]


def _pictures(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure how often the right picture comes first, and the average precision; both in percent.

    Ties count as wrong. For the average precision, each text's pairs with a right and a wrong
    picture count once: one right picture has several wrong ones.
    """
    positions = _with_value(measured.ordered, positions)
    is_ordered = 100 * measured.ordered.astype(np.float64)
    metrics = _per_group(PICTURE_ACCURACY, queries, positions, values=is_ordered)
    if len(measured.pair_scores) != len(queries):
        return metrics

    for suffix, in_group in positions_by_group(queries, positions).items():
        name = f"picture/{AVERAGE_PRECISION}{suffix}"
        pairs = _distinct_pairs(queries, in_group, measured.pair_scores)
        metrics[name] = Values(in_group, pairs, average_precision)
    return metrics


def _distinct_pairs(
    queries: JudgedQueries, positions: Positions, pair_scores: NDArray[np.float32]
) -> Array:
    """Return each pair of a text and a picture once, (N, 2), as `average_precision` takes it."""
    pairs = {}
    for position in positions.tolist():
        query = queries[position]
        right_score, wrong_score = pair_scores[position].tolist()
        pairs[query.text, query.relevant[0]] = (right_score, 1.0)
        pairs[query.text, query.hard[0]] = (wrong_score, 0.0)
    return np.array(list(pairs.values()))


def _classes(queries: JudgedQueries, positions: Positions, measured: Measured) -> MetricValues:
    """Measure top-1, top-5, negated top-1 and their difference.

    Each is of all videos, of each data set and group of classes, and the mean over data sets.
    """
    is_first = np.where(measured.ranks == 1, 100.0, 0.0)
    is_among_top = np.where(measured.ranks <= TOP, 100.0, 0.0)
    metrics = {
        **_per_data_set(ACCURACY, queries, positions, values=is_first),
        **_per_data_set(TOP_5, queries, positions, values=is_among_top),
    }
    # Questions that deny a class are about the same videos in the same order.
    negated = np.flatnonzero(kinds_of(queries) == LENIENT)
    if not len(negated):
        return metrics

    difference = np.zeros(len(is_first))
    difference[positions] = is_first[positions] - is_first[negated]
    return {
        **metrics,
        **_per_data_set(DENIED, queries, positions=negated, values=is_first),
        **_per_data_set(DELTA, queries, positions, values=difference),
    }


def _per_data_set(
    name: str, queries: JudgedQueries, positions: Positions, values: Array
) -> MetricValues:
    """Return a measure of classes: of all, of each data set and group, and the mean over data sets."""
    key = f"class/{name}"
    metrics = _per_group(key, queries, positions, values)
    data_sets = [_data_set_of(queries[position]) for position in positions.tolist()]
    if len(set(data_sets) - {""}) < 2:
        return metrics

    _, numbers = np.unique(data_sets, return_inverse=True)
    pairs = np.stack([values[positions], numbers.astype(np.float64)], axis=1)
    metrics[f"class/{mean_over_sets(name)}"] = Values(positions, pairs, mean_of_groups)
    return metrics


def _data_set_of(query: JudgedQuery) -> str:
    """Return the data set of a question about classes, which comes before their groups; "" for none."""
    name = query.group.partition("; ")[0]
    if name in class_groups():
        return ""
    return name


@cache
def class_groups() -> Mapping[str, Path]:
    """Return the file with the names of the classes of each group that extensions know."""
    return combined(lambda extension: extension.class_groups)


FAMILIES: Mapping[str, Sequence[Measure]] = {
    "original": (_retrieval, _both_ways),
    "negated": (_negated,),
    "composed": (_retrieval, _exclusion),
    "without": (_retrieval, _exclusion),
    "not": (_exclusion,),
    "retrieval": (_retrieval,),
    "picture": (_pictures,),
    "choice": (_accuracy,),
    "pair": (_accuracy,),
    "class": (_classes,),
}


def positions_by_group(queries: JudgedQueries, positions: Positions) -> dict[str, Positions]:
    """Return all positions as "", then those of each group as " NAME", in alphabetical order."""
    in_group = defaultdict(list)
    for position in positions.tolist():
        for name in queries[position].group.split("; "):
            if name:
                in_group[name].append(position)

    by_suffix = {"": positions}
    for name in sorted(in_group):
        by_suffix[f" {name}"] = np.array(in_group[name], np.int64)
    return by_suffix


def retrieval_values(ranks: Ranks) -> dict[str, Array]:
    """Per-query values (Q,) of R@1, R@5, R@10 (100 or 0) and of MIR, the mean inverted rank."""
    values = {recall(k): np.where(ranks <= k, 100.0, 0.0) for k in KS}
    values[MIR] = 1 / ranks.astype(np.float64)
    return values


def average_precision(pairs: Array) -> float:
    """Average precision of pairs of a text and a picture, in percent; ties count against right ones.

        AP = mean over the right pairs of the share of right ones among those that score at least as
        high

    `pairs` are (N, 2): the score, and 1 for right pairs or 0 for wrong ones.
    """
    scores = pairs[:, 0]
    is_right = pairs[:, 1]
    # By score; of equal ones, the wrong ones come first.
    is_right = is_right[np.lexsort((is_right, -scores))]
    precisions = np.cumsum(is_right) / np.arange(1, len(is_right) + 1)
    return 100 * float((precisions * is_right).sum() / is_right.sum())


def mean_of_groups(pairs: Array) -> float:
    """Return the mean over groups of the mean of each.

    `pairs` are (N, 2), a value and the number of its group.
    """
    values = pairs[:, 0]
    groups = pairs[:, 1]
    means = [values[groups == group].mean() for group in np.unique(groups)]
    return float(np.mean(means))
