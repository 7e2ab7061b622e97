"""Videos in words: captions alone as a benchmark, compared with a slow twin that re-reads them for every query."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.errors import DatasetError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.caption_benchmark import key_of, read_words
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.card import Card
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System
from tests.support.text_encoder import TextEncoder

CAPTIONS = {
    "guitar": [
        "a man plays the guitar",
        "A man plays the guitar.",
        "a man sits on a chair",
        "a man is on a stage",
    ],
    "chair": ["a man sits on a chair", "a man reads a book on a chair"],
    "both": [
        "a man plays the guitar",
        "a man plays the guitar on a stage",
        "a man sings",
        "a man rides a bike",
    ],
    "bike": ["a man plays the guitar", "a man rides a bike with a dog", "a man rides a bike"],
    "dog": ["a dog runs", "a dog is running on the grass", "a man sings with a dog"],
    "same": ["a cat sleeps", "A cat  sleeps ."],
    "song": ["a man sings", "a man sings on a stage"],
}
NAMES = tuple(CAPTIONS)


class Letters(TextEncoder):
    """An encoder that counts pairs of letters: no two captions of other words have equal embeddings."""

    embed_dim = 64

    def __init__(self, name: str = "letters", shift: int = 0) -> None:
        self.card = Card(name, text_fingerprint=f"{shift}")
        self._shift = shift

    def encode_text(self, texts: Any) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.embed_dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter, next_letter in pairwise(text):
                pair = (7 + self._shift) * ord(letter) + ord(next_letter)
                row[pair % self.embed_dim] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


class Models:
    """Two models that share a visual tower but not a text tower."""

    def names(self) -> list[str]:
        return ["letters", "others"]

    def card(self, name: str) -> Card:
        card: Card = self.load(name).card
        return card

    def load(self, name: str) -> Any:
        if name == "others":
            return Letters(name, shift=5)
        return Letters(name, shift=0)


MODELS: Any = Models()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "mine.txt"
    lines = []
    for name, texts in CAPTIONS.items():
        lines += [f"{name}#enc#{number} {text}" for number, text in enumerate(texts)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read(name: str, folder: Path, progress: Progress = silent) -> TextBenchmark:
    with Decoder() as decoder, Cache(folder / "cache") as cache:
        return load_benchmark(Data(name), Places(folder / "kept", decoder, cache), progress)


def measured(benchmark: TextBenchmark, strategy: str = "plain") -> Measured:
    encoder: Any = Letters()
    return benchmark.measure(encoder, [System("letters", strategy)])[0].measured


def slow_scores(query: JudgedQuery, benchmark: TextBenchmark) -> NDArray[np.float32]:
    """Score every video by its captions other than the query's, embedded for this query alone."""
    original = query if query.original is None else benchmark.queries[query.original]
    left_out = key_of(original.text) if query.kind in ("original", "negated") else None
    scores = []
    for name in benchmark.video_ids:
        texts = [text for text in CAPTIONS[name] if key_of(text) != left_out]
        mean = Letters().encode_text(texts).mean(axis=0) if texts else None
        vector = Letters().encode_text([query.text])[0]
        scores.append(-np.inf if mean is None else float(vector @ mean / np.linalg.norm(mean)))
    return np.array(scores, np.float32)


def test_ranks_pairs_and_violations_are_those_of_a_slow_twin(file: Path, tmp_path: Path) -> None:
    benchmark = read(f"words:{file}", tmp_path)
    assert {query.kind for query in benchmark.queries} == {
        "original",
        "negated",
        "composed",
        "without",
        "not",
    }
    metrics = measured(benchmark)
    for row, query in enumerate(benchmark.queries):
        scores = slow_scores(query, benchmark)
        best = max(scores[query.relevant])
        wrong_videos = [video for video in range(len(scores)) if video not in query.relevant]
        assert metrics.ranks[row] == 1 + sum(scores[wrong_videos] >= best - 1e-6), query.text
        # Each right video with each hard one.
        is_ordered = scores[query.relevant][:, None] > scores[query.hard]
        ordered = is_ordered.mean() if is_ordered.size else np.nan
        assert metrics.ordered[row] == pytest.approx(ordered, nan_ok=True), query.text
        first = np.argsort(-scores)[:10]
        violations = (
            float(np.isin(first, query.violating).mean()) if len(query.violating) else np.nan
        )
        assert metrics.violations[row] == pytest.approx(violations, nan_ok=True)


def test_a_query_finds_none_of_its_own_duplicates(file: Path, tmp_path: Path) -> None:
    """Were it left in anywhere, that video would score highest, as an identical caption is in no other."""
    benchmark = read(f"words:{file}", tmp_path)
    query = next(query for query in benchmark.queries if query.text == "a man plays the guitar")
    assert sorted(NAMES[video] for video in query.instead) == ["bike", "both", "guitar"]
    for query in benchmark.queries:
        if query.kind in ("original", "negated"):
            assert "cat" not in query.text
    (_, remark) = benchmark.source["remarks"]
    assert remark == "2 queries are their video's only caption, or deny it; they are left out."
    # The clip is still in the gallery.
    assert benchmark.captions["same"] == ("a cat sleeps", "A cat  sleeps .")


def test_a_saved_report_s_rows_have_their_captions(file: Path, tmp_path: Path) -> None:
    report = evaluate(read(f"words:{file}", tmp_path), [System("letters")], MODELS)
    report.save(tmp_path / "report")
    reloaded = load_report(tmp_path / "report")
    place = next(place for place, query in enumerate(reloaded.queries) if query.kind == "composed")
    row = reloaded.row(place)
    assert row.captions == {name: tuple(CAPTIONS[name]) for name in row.relevant}
    assert report.metrics == reloaded.metrics


def test_kinds_of_queries_that_words_do_not_give_are_named(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text(
        "a#enc#0 a dog runs\na#enc#1 a dog\nb#enc#0 a cat sits\nb#enc#1 a cat\n"
    )
    gaps = read(f"words:{tmp_path / 'two.txt'}", tmp_path).gaps
    for kind in ("A and not B", "A without N", "not B"):
        assert any(kind in gap for gap in gaps)


def test_captions_of_a_dataset_need_no_videos(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    lines = ["video_id,caption,split"]
    for name, texts in CAPTIONS.items():
        lines += [f"{name},{text},test" for text in texts]
    (tmp_path / "mine" / "captions.csv").write_text("\n".join(lines))
    assert read(f"words:{tmp_path / 'mine'}", tmp_path).video_ids == NAMES
    with pytest.raises(DatasetError, match=r"nothing.txt"):
        read(f"words:{tmp_path / 'mine' / 'nothing.txt'}", tmp_path)


def test_lines_that_name_their_split_are_chosen_by_it(tmp_path: Path) -> None:
    parts = dict(zip(NAMES, ("test", "val", "test", "train", "", "test", "test"), strict=True))
    lines = [
        {"video_id": name, "captions": CAPTIONS[name], "split": part}
        for name, part in parts.items()
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    test = read_words(str(file), "test")
    assert [*test.captions] == [*dict.fromkeys(query.video_id for query in test.queries)]
    assert read(f"words:{file}", tmp_path).video_ids == ("guitar", "both", "same", "song")
    assert [*read_words(str(file), "validation").captions] == ["chair"]
    # A dataset is read the same way.
    assert [*read_words(str(file), "train").captions] == ["bike", "dog"]
    assert sorted(read_words(str(file), "all").captions) == sorted(NAMES)
    file.write_text(json.dumps({"video_id": "a", "captions": ["a dog"], "split": "train"}))
    with pytest.raises(DatasetError, match=r"test .*train"):
        read_words(str(file), "test")
    file.write_text(json.dumps({"video_id": "a", "captions": ["a dog"], "split": "tset"}))
    with pytest.raises(DatasetError, match=r"mine.jsonl .*tset"):
        read_words(str(file), "test")
