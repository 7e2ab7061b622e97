"""Embeddings of other systems from a file: read without unpickling, and searched for exactly their queries."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.cli import main
from nt2vr.errors import CheckpointError, ConfigError, QueryError
from nt2vr.evaluation.dataset_queries import judged_queries
from nt2vr.evaluation.embed_media import embed_files
from nt2vr.evaluation.protocol import evaluate, with_controls
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models import untrusted
from nt2vr.models.catalog import Catalog
from nt2vr.models.precomputed import EMBEDDINGS, read_embeddings, write_embeddings
from nt2vr.negation.generate.query_sets import Caption, QuerySets
from nt2vr.negation.parse.query import Query
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import System
from tests.support.running import here

GOOD: dict[str, NDArray[Any]] = {
    "video_ids": np.array(["a", "b", "c"]),
    "videos": np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    "queries": np.array(["a dog", "no  cat"]),
    "texts": np.array([[1.0, 0.1], [0.1, 1.0]], np.float16),
}
VIDEOS = tuple(Video(name, Path(f"{name}.webm")) for name in ("a", "b", "unknown"))


def save(path: Path, arrays: Mapping[str, Any]) -> None:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=True, **arrays)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.setattr(untrusted, "run_limited", here)
    save(tmp_path / "other.npz", GOOD)
    assert (
        main(
            ["import", str(tmp_path / "other.npz"), "--name", "Other", "--data-dir", str(tmp_path)]
        )
        == 0
    )
    return Catalog([tmp_path / "models"])


def search(
    models: Catalog, text: str, system: str = "Other", gallery: tuple[Video, ...] = VIDEOS
) -> list[str]:
    with Decoder(1) as decoder, Cache(models.home.parent / "cache") as cache:
        searcher = Searcher(models, Gallery("g", gallery), decoder, cache)
        answer = searcher.search(Query(text, ("dog",), ("cat",)), [system], 3)
    return [hit.video_id for hit in answer.rankings[0].hits]


def test_a_file_becomes_a_system_of_search_for_its_queries(models: Catalog) -> None:
    assert search(models, "a dog") == ["a", "b"]
    assert search(models, "no cat") == ["b", "a"]
    with pytest.raises(
        QueryError,
        match=r"^Other .*a bird.* 2 ",
    ):
        search(models, "a bird")
    with pytest.raises(ConfigError, match="Other boolean"):
        search(models, "a dog", "Other boolean")
    with pytest.raises((ConfigError, CheckpointError), match="1 "):
        search(models, "a dog", gallery=VIDEOS[2:])
    models.remove("Other")
    assert models.names() == []


def test_a_file_becomes_a_system_of_evaluate_without_strategies(models: Catalog) -> None:
    systems = with_controls([System("Other")], models)
    # There is no `drop`, whose texts the file lacks.
    assert systems == [System("Other")]
    queries = tuple(
        JudgedQuery("original", text, row_array((row,)))
        for row, text in enumerate(("a dog", "no cat"))
    )
    with Decoder(1) as decoder, Cache(models.home / "cache") as cache:
        embed = embed_files(VIDEOS[:2], decoder, cache)
        benchmark = TextBenchmark("two", ("a", "b"), queries, embed, source={"data": "two"})
        report = evaluate(benchmark, systems, models)
        assert report.metrics["Other"]["original/R@1"] == 100
        with pytest.raises(ConfigError, match="Other"):
            evaluate(benchmark, [System("Other", "drop")], models)


def test_repeated_sentences_have_one_embedding_or_ids(
    tmp_path: Path,
) -> None:
    """Five sentences of MSR-VTT 1k-A describe two of its test videos each."""
    half = {
        **GOOD,
        "queries": np.array(["a dog", "a  dog"]),
        "texts": np.array([[1, 0.1], [1, 0.101]], np.float16),
    }
    save(tmp_path / "same.npz", half)
    assert len(read_embeddings(tmp_path / "same.npz")["queries"]) == 2
    ids = {
        **GOOD,
        "queries": np.array(["a#enc#0", "b#enc#0", "a dog"]),
        "texts": [[1.0, 0.1], [0.1, 1.0], [1.0, 1.0]],
    }
    save(tmp_path / "ids.npz", ids)
    write_embeddings(tmp_path / "ids.npz", tmp_path / "models" / "ids", "Ids")
    captions = (Caption("a#enc#0", "a dog"), Caption("b#enc#0", "a dog"))
    queries, _ = judged_queries(QuerySets(captions, (), ()), {"a": 0, "b": 1})
    with Decoder(1) as decoder, Cache(tmp_path / "cache") as cache:
        benchmark = TextBenchmark(
            "two", ("a", "b"), queries, embed_files(VIDEOS[:2], decoder, cache), {}
        )
        report = evaluate(benchmark, [System("Ids")], Catalog([tmp_path / "models"]))
    assert report.metrics["Ids"]["original/R@1"] == 100


BAD: dict[str, tuple[Callable[[dict[str, Any]], Mapping[str, Any]], str]] = {
    "no queries": (
        lambda good: {key: good[key] for key in good if key != "queries"},
        "queries",
    ),
    "objects": (lambda good: {**good, "video_ids": np.array(["a", "b", "c"], object)}, "dtype=str"),
    "numbers": (
        lambda good: {**good, "video_ids": np.arange(3)},
        "video_ids",
    ),
    "integers": (
        lambda good: {**good, "texts": np.ones((2, 2), int)},
        "texts",
    ),
    "twice": (
        lambda good: {**good, "queries": np.array(["a  dog", "a dog"])},
        "queries .*a dog",
    ),
    "zeros": (lambda good: {**good, "texts": np.zeros((2, 2))}, "texts"),
    "too large for float32": (
        lambda good: {**good, "videos": good["videos"] * 1e300},
        "videos",
    ),
    "other lengths": (lambda good: {**good, "texts": np.ones((2, 3))}, "texts|videos"),
}


@pytest.mark.parametrize("bad", BAD)
def test_an_unusable_file_is_one_sentence(tmp_path: Path, bad: str) -> None:
    change, message = BAD[bad]
    save(tmp_path / "bad.npz", change(GOOD))
    with pytest.raises(CheckpointError, match=message) as caught:
        read_embeddings(tmp_path / "bad.npz")
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_an_import_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    """0.1 GB of zeros in 0.1 MB."""
    with (tmp_path / "bomb.npz").open("wb") as file:
        np.savez_compressed(
            file, allow_pickle=False, **{**GOOD, "videos": np.zeros((3, 8_000_000), np.float32)}
        )
    with pytest.raises(CheckpointError, match=r"^bomb\.npz .*0\.1 GB"):
        write_embeddings(tmp_path / "bomb.npz", tmp_path / "models" / "bomb", "bomb")
    assert not any((tmp_path / "models").glob("*"))


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_npz_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / EMBEDDINGS).write_bytes(content)
    with pytest.raises(CheckpointError, match=r"^embeddings\.npz "):
        read_embeddings(tmp_path / EMBEDDINGS)
