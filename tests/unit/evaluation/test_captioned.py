"""Captioned datasets as benchmarks, from files to judged queries."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.progress import silent

CAPTIONS = {
    "guitar": ["a man plays the guitar", "a man sits on a stool"],
    "stool": ["a man sits on a stool"],
    "both": ["a man plays the guitar", "a man plays the guitar on a stage"],
    "dog": ["a dog runs", "a dog is running"],
}


def named_captions() -> list[tuple[str, str]]:
    """Return each caption after the name of its video."""
    pairs = []
    for name, captions in CAPTIONS.items():
        for caption in captions:
            pairs.append((name, caption))
    return pairs


@pytest.fixture
def load(
    tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder
) -> Callable[..., TextBenchmark]:
    """Write a folder of captioned videos, and read it as a benchmark."""
    for level, name in enumerate(CAPTIONS):
        write_video(f"data/{name}.avi", [level])
    lines = ["video_id,caption"]
    for name, caption in named_captions():
        lines.append(f"{name},{caption}")
    (tmp_path / "data" / "captions.csv").write_text("\n".join(lines), encoding="utf-8")

    def load_data(name: str = str(tmp_path / "data"), **more: Any) -> TextBenchmark:
        with Cache(tmp_path / "cache") as cache:
            data = Data(name, split="all", **more)
            return load_benchmark(data, Places(tmp_path / "kept", decoder, cache), silent)

    return load_data


def test_a_dataset_gives_original_negated_and_composed_queries(
    load: Callable[..., TextBenchmark],
) -> None:
    benchmark = load()
    ids = benchmark.video_ids
    assert ids == ("guitar", "stool", "both", "dog")
    originals = [query for query in benchmark.queries if query.kind == "original"]
    assert [(ids[query.relevant[0]], query.text) for query in originals] == named_captions()
    for query in benchmark.queries:
        if query.kind == "negated":
            assert query.original is not None
            assert query.cue in {"not", "n't"}
            of = benchmark.queries[query.original]
            assert of.relevant is query.relevant
            assert len(set(of.text.split()) - set(query.text.split())) <= 1
    assert sum(query.kind == "negated" for query in benchmark.queries) == 7
    # captions of one video have both, so that "guitar" is hard, and "both" alone is right
    composed_queries = [query for query in benchmark.queries if query.kind == "composed"]
    composed = next(query for query in composed_queries if query.unwanted[0].startswith("sit"))
    assert composed.wanted
    assert "guitar" in composed.wanted
    assert composed.cue
    assert ([ids[row] for row in composed.relevant], [ids[row] for row in composed.hard]) == (
        ["both"],
        ["guitar"],
    )


def test_a_benchmark_of_files_knows_where_they_are(
    load: Callable[..., TextBenchmark], tmp_path: Path
) -> None:
    benchmark = load()
    assert {video.video_id: video.path.name for video in benchmark.videos} == {
        name: f"{name}.avi" for name in CAPTIONS
    }
    remaining = benchmark.without({"stool": "damaged"})
    assert [video.video_id for video in remaining.videos] == ["guitar", "both", "dog"]
    assert benchmark.digest == replace(benchmark, videos=()).digest


def test_released_query_sets_are_read(load: Callable[..., TextBenchmark], tmp_path: Path) -> None:
    """Those that nT2VR released tell no parts, and may speak of videos that are not there."""
    sets = tmp_path / "sets"
    sets.mkdir()
    (sets / "original.txt").write_text("dog#enc#0 a dog runs\nlost#enc#0 a cat\n", encoding="utf-8")
    (sets / "negated.txt").write_text(
        "dog#enc#0 a dog does not run\nlost#enc#0 no cat\n", encoding="utf-8"
    )
    (sets / "composed.jsonl").write_text(
        '{"cap_id": "s0", "caption": "a man sits and not plays", "video_ids": ["stool", "lost"]}\n'
        '{"cap_id": "s1", "caption": "a cat sits and not runs", "video_ids": ["lost"]}\n',
        encoding="utf-8",
    )
    original, negated, composed = load(queries=sets).queries
    assert (original.text, original.relevant.tolist()) == ("a dog runs", [3])
    assert negated.text == "a dog does not run"
    assert negated.relevant.tolist() == [3]
    assert negated.original == 0
    assert composed.relevant.tolist() == [1]
    assert composed.wanted is None
    assert composed.cue == "not"
    with pytest.raises(ConfigError, match=r"nothing .*original.txt"):
        load(queries=tmp_path / "nothing")


def test_numbered_negations_belong_to_their_caption(
    load: Callable[..., TextBenchmark], tmp_path: Path
) -> None:
    """nT2VR's negated queries have the ids of their captions with a number: `cap_id#N`."""
    sets = tmp_path / "sets"
    sets.mkdir()
    (sets / "test.caption.txt").write_text(
        "dog#enc#0 a dog runs\nlost#enc#0 a cat\nstool#enc#0\n", encoding="utf-8"
    )
    (sets / "test.negated.txt").write_text(
        "dog#enc#0#0 a dog does not run\ndog#enc#0#1 a dog doesn't run\nlost#enc#0#0 no cat\ndog#enc#7#0 no dog\n"
    )
    (sets / "test.composed.txt").write_text(
        "{'cap_id': 's0', 'caption': 'a man sits and not plays', 'video_ids': ['stool']}\n"
        "{'cap_id': 's1', 'caption': 'a cat sits and not runs', 'video_ids': ['lost']}\n"
    )
    benchmark = load(queries=sets)
    assert [(query.kind, query.original) for query in benchmark.queries] == [
        ("original", None),
        ("negated", 0),
        ("negated", 0),
        ("composed", None),
    ]
    assert benchmark.source["remarks"] == [
        "2 of 3 original queries have no text, or their video is not here; they are left out.",
        "2 of 4 negated queries have no text, or no original query that they deny; they are left out.",
        "1 of 2 composed queries have no relevant video here; they are left out.",
    ]


def test_missing_kinds_of_queries_are_named(
    load: Callable[..., TextBenchmark], tmp_path: Path
) -> None:
    assert load().gaps == ()

    # They are nouns alone.
    rows = "".join(f"{name},{name}\n" for name in CAPTIONS)
    (tmp_path / "data" / "captions.csv").write_text(f"video_id,caption\n{rows}", encoding="utf-8")
    nouns = load()
    assert [gap.partition(":")[0] for gap in nouns.gaps] == [
        "No caption can be negated",
        "No composed query (“A and not B”) can be made",
    ]
    # Results that are stored are found again.
    assert nouns.digest == replace(nouns, gaps=()).digest


def test_a_kind_that_unreadable_files_take_away_is_named(
    load: Callable[..., TextBenchmark],
) -> None:
    benchmark = load()
    remaining = benchmark.without(dict.fromkeys(("guitar", "stool", "both"), "damaged"))
    assert {query.kind for query in remaining.queries} == {"original", "negated"}
    assert len(remaining.gaps) == 1
    assert "A and not B" in remaining.gaps[0]


@pytest.mark.parametrize("name", ["world", "gallery", "classes:world", "library:Videos"])
def test_data_without_splits_refuses_one(name: str) -> None:
    nothing: Any = None
    with pytest.raises(ConfigError):
        load_benchmark(Data(name, split="train"), nothing, silent)
