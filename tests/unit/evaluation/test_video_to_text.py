"""Videos that rank captions: the same ranks as a walk down the sorted list, and averages by hand."""

import numpy as np
import pytest

from nt2vr.evaluation import scoring
from nt2vr.evaluation.measures import (
    Measured,
    averages_of,
    metric_values,
)
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.scoring import caption_ranks
from tests.support.word_encoder import SYSTEMS, report_of


def described(*videos: list[int]) -> list[JudgedQuery]:
    return [
        JudgedQuery("original", f"caption {number}", row_array(rows))
        for number, rows in enumerate(videos)
    ]


def test_ranks_match_a_walk_down_the_sorted_captions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BLOCK", 3)
    rng = np.random.default_rng(0)
    # Many ties.
    videos, captions = (rng.integers(-2, 3, (count, 3)).astype(np.float32) for count in (8, 20))
    owners = [sorted(rng.choice(7, rng.integers(1, 3), replace=False).tolist()) for _ in captions]
    slow = []
    for row, video in enumerate(videos):
        own_captions = [caption for caption, rows in enumerate(owners) if row in rows]
        order = sorted(
            range(20),
            key=lambda caption: (-float(captions[caption] @ video), caption in own_captions),
        )
        slow.append(
            1 + next((place for place, caption in enumerate(order) if caption in own_captions), -1)
        )
    # It has no caption.
    assert slow[7] == 0
    assert caption_ranks(videos, captions, described(*owners)).tolist() == slow


def test_recalls_and_ranks_of_both_directions_by_hand() -> None:
    queries = described([0], [0], [1], [3])
    none = np.full(4, np.nan, np.float32)
    ranks = np.array([1, 2, 12, 3], np.int32)
    measured = Measured(ranks, none, none, none, video_ranks=np.array([6, 1, 0, 11], np.int32))
    values = metric_values(queries, measured)
    averages = averages_of(values)
    assert {key: value for key, value in averages.items() if key.endswith("R")} == {
        "original/MedR": 2.5,
        "original/MeanR": 4.5,
        "original/MIR": averages["original/MIR"],
        "video/MedR": 6,
        "video/MeanR": 6,
    }
    assert [averages[f"video/R@{k}"] for k in (1, 5, 10)] == pytest.approx(
        [100 / 3, 100 / 3, 200 / 3]
    )
    # The first captions of the videos that have some.
    assert values["video/MeanR"].positions.tolist() == [
        0,
        2,
        3,
    ]


def test_only_systems_without_strategies_rank_captions() -> None:
    report = report_of(*SYSTEMS)
    assert {name for name, metrics in report.metrics.items() if "video/R@1" in metrics} == {
        "words",
        "words-bnl",
    }
    # "a man sings" scores as high on the second video, "a dog" on no other; each video's own
    # caption is its best
    metrics = report.metrics["words"]
    assert metrics["original/MedR"] == 1.5
    assert metrics["original/MeanR"] == 1.5
    assert metrics["video/R@1"] == 100
    assert "original/MeanR" in report.intervals["words"]
    assert "original/MedR" not in report.intervals["words"]
