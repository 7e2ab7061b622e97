"""The paper's metrics and the honest ones, with values by hand and against slow twins."""

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.evaluation import text_benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import Measured, summarise
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.scoring import measure_block
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.models.card import Card
from nt2vr.search.strategies import System
from tests.support.text_encoder import TextEncoder

NAN = math.nan


def measured(
    ranks: list[int], ordered: list[float], tied: list[float], violations: list[float]
) -> Measured:
    return Measured(np.array(ranks, np.int32), *np.array([ordered, tied, violations], np.float32))


def query(kind: Any, original: int | None = None) -> JudgedQuery:
    return JudgedQuery(kind, "", row_array([0]), original=original)


def test_the_table_by_hand() -> None:
    queries = [
        query("original"),
        query("original"),
        query("negated", original=1),
        query("composed"),
        query("composed"),
        query("without"),
        query("not"),
        query("not"),
    ]
    metrics = summarise(
        queries,
        measured(
            [4, 1, 2, 1, 20, 5, 3, 3],
            [NAN, NAN, NAN, 0.5, NAN, 1.0, 0.25, 0.0],
            [NAN, NAN, NAN, 0.5, NAN, 0.0, 0.5, 1.0],
            [NAN, NAN, NAN, 0.1, 0.3, 0.0, 0.5, NAN],
        ),
    )
    assert metrics == pytest.approx(
        {
            "original/R@1": 50,
            "original/R@5": 100,
            "original/R@10": 100,
            "original/MIR": (1 / 4 + 1) / 2,
            "original/MedR": 2.5,
            "original/MeanR": 2.5,
            # of the caption that was negated only, whose rank went from 1 to 2
            "negated/delta_R@1": 100,
            "negated/delta_R@5": 0,
            "negated/delta_R@10": 0,
            "negated/delta_MIR": 1 / 2,
            "composed/R@1": 50,
            "composed/R@5": 50,
            "composed/R@10": 50,
            "composed/MIR": (1 + 1 / 20) / 2,
            "without/R@1": 0,
            "without/R@5": 100,
            "without/R@10": 100,
            "without/MIR": 1 / 5,
            "composed/hard_pairs": 50,
            "without/hard_pairs": 100,
            "not/auc": (0.25 + 0.25 + 0.5) / 2,
            "composed/violations@10": 20,
            "without/violations@10": 0,
            "not/violations@10": 50,
        }
    )


def random_benchmark(count: int, num_videos: int) -> tuple[list[JudgedQuery], Any, Any]:
    """Random queries with random truth, their vectors, and videos; small whole numbers, so that many scores tie."""
    rng = np.random.default_rng(1)
    queries: list[JudgedQuery] = []
    for number in range(count):
        order = rng.permutation(num_videos)
        kind: Any = ("original", "negated", "composed", "without", "not")[number % 5]
        if kind in ("original", "negated"):
            original = number - 1 if kind == "negated" else None
            relevant = queries[-1].relevant if original is not None else row_array(order[:1])
            queries.append(JudgedQuery(kind, str(number), relevant, original=original))
        else:
            queries.append(
                JudgedQuery(
                    kind,
                    str(number),
                    row_array(order[:3]),
                    row_array(order[3:5]),
                    row_array(order[3:9]),
                )
            )
    vectors = rng.integers(-2, 3, (count, 3)).astype(np.float32)
    # This gives every query something to search for.
    vectors[:, 0] = 1
    return queries, vectors, rng.integers(-2, 3, (num_videos, 3)).astype(np.float32)


class Numbered(TextEncoder):
    """An encoder of texts that are the number of their embedding."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.card = Card("numbered")
        self.embed_dim = vectors.shape[1]
        self._vectors = vectors

    def encode_text(self, texts: Sequence[str]) -> Any:
        return self._vectors[[int(text) for text in texts]]


def measure(vectors: Any, videos: Any, queries: list[JudgedQuery]) -> Measured:
    encoder = Numbered(np.asarray(vectors, np.float32))
    media = EmbeddedVideos(np.asarray(videos, np.float32))
    benchmark = TextBenchmark(
        "numbers", tuple(map(str, range(len(videos)))), tuple(queries), lambda *_: media, {}
    )
    return benchmark.measure(encoder, [System("numbered")])[0].measured


class Walk(NamedTuple):
    """What one query measures, by a walk through its sorted list.

    Attributes:
        rank: of the first right video, with ties against it.
        better: pairs in which the right video scores above the hard one.
        equal: pairs that tie.
        pairs: all pairs of a right and a hard video.
        violations: share of the first ten that violate, with ties against them.
    """

    rank: int
    better: int
    equal: int
    pairs: int
    violations: float


def walk(query_: JudgedQuery, vector: Any, videos: Any) -> Walk:
    scores = [float(vector @ video) for video in videos]
    right = set(query_.relevant.tolist())
    hard = set(query_.hard.tolist())
    violating = set(query_.violating.tolist())

    order = sorted(range(len(scores)), key=lambda video: (-scores[video], video in right))
    rank = 1 + next(place for place, video in enumerate(order) if video in right)
    pairs = list(product(right, hard))
    better = sum(scores[right_video] > scores[hard_video] for right_video, hard_video in pairs)
    equal = sum(scores[right_video] == scores[hard_video] for right_video, hard_video in pairs)
    page = sorted(range(len(scores)), key=lambda video: (-scores[video], video not in violating))
    violations = sum(video in violating for video in page[:10]) / 10
    return Walk(rank, better, equal, len(pairs), violations)


def test_metrics_match_a_walk_through_the_sorted_lists() -> None:
    queries, vectors, videos = random_benchmark(50, 30)
    walks: dict[str, list[Walk]] = defaultdict(list)
    for query_, vector in zip(queries, vectors, strict=True):
        walks[query_.kind].append(walk(query_, vector, videos))
    slow = {}

    for kind in ("original", "composed", "without"):
        ranks = [one.rank for one in walks[kind]]
        for k in (1, 5, 10):
            slow[f"{kind}/R@{k}"] = 100 * sum(rank <= k for rank in ranks) / 10
        slow[f"{kind}/MIR"] = sum(1 / rank for rank in ranks) / 10

    before = [one.rank for one in walks["original"]]
    after = [one.rank for one in walks["negated"]]
    slow["original/MedR"] = statistics.median(before)
    slow["original/MeanR"] = sum(before) / 10
    for k in (1, 5, 10):
        num_lost = sum(rank <= k for rank in before) - sum(rank <= k for rank in after)
        slow[f"negated/delta_R@{k}"] = 100 * num_lost / 10
    mir_before = sum(1 / rank for rank in before) / 10
    mir_after = sum(1 / rank for rank in after) / 10
    slow["negated/delta_MIR"] = mir_before - mir_after

    for kind in ("composed", "without"):
        shares = [one.better / one.pairs for one in walks[kind]]
        slow[f"{kind}/hard_pairs"] = 100 * sum(shares) / 10
    slow["not/auc"] = sum((one.better + one.equal / 2) / one.pairs for one in walks["not"]) / 10
    for kind in ("composed", "without", "not"):
        slow[f"{kind}/violations@10"] = 100 * sum(one.violations for one in walks[kind]) / 10

    metrics = summarise(queries, measure(vectors, videos, queries))
    of_texts = {key: value for key, value in metrics.items() if not key.startswith("video/")}
    assert of_texts == pytest.approx(slow, rel=1e-5)


@pytest.mark.parametrize("block", [1, 7, 50])
def test_metrics_do_not_depend_on_the_block_size(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    queries, vectors, videos = random_benchmark(50, 30)
    expected = measure(vectors, videos, queries)
    monkeypatch.setattr(text_benchmark, "BLOCK", block)
    for name, values in vars(measure(vectors, videos, queries)).items():
        np.testing.assert_array_equal(values, getattr(expected, name))


@pytest.mark.parametrize("block", [1, 5, 300])
@pytest.mark.parametrize("right_row", ["itself", "another row"])
def test_equal_videos_tie_in_any_row(right_row: str, block: int) -> None:
    rng = np.random.default_rng(1)
    videos = rng.normal(size=(300, 384)).astype(np.float32)
    vectors = videos + rng.normal(scale=0.02, size=videos.shape).astype(np.float32)
    # 600, two of each, and the rows that stand for them.
    videos = np.concatenate([videos, videos, videos])
    queries = []
    for row in range(300):
        stand_in = row if right_row == "itself" else 600 + row
        queries.append(JudgedQuery("original", "", row_array([row]), instead={row: stand_in}))
    for start in range(0, 100, block):
        block_rows = slice(start, start + block)
        measured = measure_block(vectors[block_rows], videos, queries[block_rows], 600)
        assert (measured.ranks == 2).all()


def test_an_empty_query_has_no_first_page() -> None:
    queries = [JudgedQuery("not", "0", row_array([0]), row_array([1]), row_array([1]))]
    measured = measure([[0, 0, 0]], np.eye(3), queries)
    assert measured.ranks.tolist() == [3]
    assert summarise(queries, measured) == {"not/auc": 0.5}
