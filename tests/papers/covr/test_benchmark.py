"""Measures of covr by hand, and the choice of weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation.queries import row_array
from nt2vr.models.composer import PictureQuery
from nt2vr.papers.covr.compositions import CompositionWeights
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries, vectors_of
from nt2vr.papers.covr.measures import Outcome, average_precisions, measure, summarise
from nt2vr.papers.covr.presentation import ALL
from nt2vr.papers.covr.queries import CovrQuery
from nt2vr.papers.covr.weights import choose_weights

CLIPS = np.eye(4, dtype=np.float32)
# Of four clips; the order is 0, 2, 3, 1.
SCORES = [0.9, 0.1, 0.8, 0.2]


def query(kind: str, right: tuple[int, ...], **more: Any) -> CovrQuery:
    return CovrQuery(kind, "", row_array(right), **more)


def outcome_of(query: CovrQuery, scores: Sequence[float] = SCORES) -> Outcome:
    """Measure one query, whose vector has these scores with the clips."""
    vectors = np.array([scores], np.float32)
    parts = PictureQuery(vectors, vectors, vectors, vectors)
    return measure(vectors, EmbeddedQueries((query,), parts, vectors, CLIPS))


def test_ranks_leave_the_reference_out_and_count_ties_against() -> None:
    assert outcome_of(query("add", (1, 2))).ranks == [2]
    assert outcome_of(query("add", (2,), left_out=(0,))).ranks == [1]
    assert outcome_of(query("add", (0,)), [0, 0, 0, 0]).ranks == [4]


def test_violations_count_in_the_first_five_of_removals() -> None:
    removal = outcome_of(query("remove", (1,), violating=row_array((0, 2))))
    # The share is of all four.
    assert removal.shares["violations@5"] == [0.5]
    addition = outcome_of(query("add", (1,)))
    assert np.isnan(addition.shares["violations@5"])


def test_the_subset_measure_ranks_the_subset_alone() -> None:
    outcome = outcome_of(query("edit", (1,), subset=(1, 3)))
    assert outcome.ranks == [4]
    assert outcome.shares["subset R@1"] == [0]
    assert outcome.shares["subset R@2"] == [1]


def test_the_mean_weighs_kinds_alike() -> None:
    queries = [query(kind, (0,), labels=("seen",)) for kind in ("add", "add", "add", "remove")]
    shares = {
        "R@1": np.array([1, 1, 1, 0.0]),
        "R@10": np.ones(4),
        "violations@5": np.array([np.nan] * 3 + [0.4]),
    }
    outcome = Outcome(np.array([1, 1, 1, 6]), shares)
    table = summarise(queries, outcome)
    assert table["add"]["R@1"] == 100
    assert table["remove"] == {"R@1": 0, "R@10": 100, "violations@5": pytest.approx(40)}
    assert table[ALL]["R@1"] == table["seen"]["R@1"] == 50
    assert "violations@5" not in table["add"]


def test_average_precision_by_hand() -> None:
    # The right clips are first and third.
    outcome = outcome_of(query("edit", (0, 3)))
    assert outcome.shares["mAP@5"] == pytest.approx((1 + 2 / 3) / 2)


def test_average_precision_divides_by_no_more_than_its_cutoff() -> None:
    scores = np.zeros((1, 12), np.float32)
    scores[0, :6] = [6, 5, 4, 3, 2, 1]
    is_right = np.zeros((1, 12), bool)
    is_right[0, [0, 2, 5, 6, 7, 8]] = True
    # Of six right clips, five could be among the first five.
    first_five = (1 + 2 / 3) / 5
    assert average_precisions(scores, is_right)["mAP@5"] == pytest.approx(first_five)


def test_weights_are_chosen_by_recall() -> None:
    """The target is picture + 2 wanted - 1 unwanted; distractors stand at other mixtures."""
    rng = np.random.default_rng(0)
    picture, wanted, unwanted = rng.normal(size=(3, 40, 32)).astype(np.float32) / 6
    mixtures = [(2.0, 1.0), (0.2, 1.0), (2.0, 0.0), (0.2, 0.0), (3.2, 3.2)]
    clips = np.concatenate([picture + plus * wanted - minus * unwanted for plus, minus in mixtures])
    clips /= np.linalg.norm(clips, axis=1, keepdims=True)
    queries = tuple(query("all", (row,), reference=row) for row in range(40))
    parts = PictureQuery(picture, wanted, wanted, unwanted)
    embedded = EmbeddedQueries(queries, parts, wanted, clips)

    def recall(weights: CompositionWeights) -> float:
        outcome = measure(vectors_of(embedded, "parts", weights), embedded)
        return summarise(queries, outcome)[ALL]["R@1"]

    assert recall(CompositionWeights(wanted=0.2, unwanted=0)) == 0
    assert recall(choose_weights(embedded)) == 100
