"""Columns of training runs: the epochs offered, their frames, and what they have changed so far."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.media.gallery import Video
from nt2vr.models.catalog import CatalogEntry
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.epochs import RankingCache, Recording, RunEpochs
from nt2vr.search.hits import Hit
from nt2vr.search.judge import Verdict
from nt2vr.search.strategies import System
from nt2vr.ui.search.columns import columns_view
from nt2vr.ui.search.learning_columns import LearningColumns
from nt2vr.ui.search.run_columns import RunColumn, RunColumns, with_epoch

NEGATED = Query("a dog, no cat", ("a dog",), ("cat",))


def folders(*epochs: int) -> tuple[Path, ...]:
    return tuple(Path(f"runs/run/checkpoints/epoch_{epoch:03d}") for epoch in epochs)


ENTRIES = {
    "CLIP": CatalogEntry(folders()),
    "run": CatalogEntry(folders(7, 3, 2), "run"),
    "run · best": CatalogEntry(folders(3), "run"),
    "run · epoch 7": CatalogEntry(folders(7), "epoch"),
    "run · epoch 3": CatalogEntry(folders(3), "epoch"),
    "run · epoch 2": CatalogEntry(folders(2), "epoch"),
}


def judged(system: System, verdicts: Sequence[Verdict | None], epoch: int | None = None) -> Ranking:
    """Return a ranking of as many clips as verdicts."""
    hits = tuple(Hit(f"{rank}", rank, 0.5, verdict) for rank, verdict in enumerate(verdicts, 1))
    return Ranking(system, hits, epoch=epoch)


def ranking(system: System, violations: int, right: int = 0, epoch: int | None = None) -> Ranking:
    verdicts: list[Verdict | None] = ["violation"] * violations
    verdicts += ["right"] * right
    return judged(system, verdicts, epoch)


def set_unsearched(monkeypatch: pytest.MonkeyPatch, *epochs: int) -> None:
    """Let these epochs of every run be searched by nobody yet; once they are, each has one violation."""

    def missing(run: RunEpochs, models: Any, base: str, searched: Collection[int]) -> list[int]:
        return [epoch for epoch in epochs if epoch not in searched]

    def rank(
        run: RunEpochs, searcher: Any, query: Query, plan: Any, epoch: int, base: str, like: System
    ) -> Ranking:
        return ranking(System(f"run · epoch {epoch}"), 1)

    monkeypatch.setattr(RunEpochs, "missing", missing)
    monkeypatch.setattr(RunEpochs, "rank", rank)


@pytest.fixture(autouse=True)
def no_epoch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    set_unsearched(monkeypatch)


def view_of(answer: Answer) -> dict[str, Any]:
    return columns_view(answer, lambda name: Video(name, Path(name)), lambda _: {})


def columns(*rankings: Ranking, cache: RankingCache, key: str = "") -> list[dict[str, Any]]:
    answer = Answer(NEGATED, rankings)
    models = SimpleNamespace(card=lambda run, entries: SimpleNamespace(base="CLIP"))
    live: Any = SimpleNamespace(models=models)
    run_columns = RunColumns(answer, key, ENTRIES, cache, view_of, searcher=live, plan=live)
    return [dict(column) for column in run_columns.with_epochs(view_of(answer)["columns"])]


@pytest.mark.parametrize("model", ["run", "run · best", "run · epoch 3"])
def test_a_slider_offers_the_epochs_that_are_kept_oldest_first(model: str) -> None:
    assert RunEpochs.of(model, ENTRIES) == RunEpochs("run", (2, 3, 7))
    assert RunEpochs.of("CLIP", ENTRIES) is None
    assert RunEpochs.of("deleted", ENTRIES) is None


def test_the_newest_epoch_is_the_run_itself() -> None:
    systems = ["CLIP", "run boolean α 0.5", "run · epoch 2"]
    assert with_epoch(systems, "run", 3, ENTRIES) == [
        "CLIP",
        "run · epoch 3 boolean α 0.5",
        "run · epoch 3",
    ]
    assert with_epoch(systems, "run", 7, ENTRIES) == ["CLIP", "run boolean α 0.5", "run"]
    assert with_epoch(["run", "run · best"], "run", 2, ENTRIES) == ["run · epoch 2"]


@pytest.mark.parametrize(
    ("run", "epoch"),
    [("run", 5), ("run", 10**1000), ("CLIP", 1), ("run · best", 3), ("x" * 1000, 1)],
)
def test_what_a_slider_cannot_send_is_refused(run: str, epoch: int) -> None:
    with pytest.raises(ConfigError):
        with_epoch(["run"], run, epoch, ENTRIES)


def test_the_head_tells_what_changed_up_to_an_epoch() -> None:
    rankings = RankingCache()
    clip = System("CLIP")
    run = System("run")
    columns(ranking(clip, 7, 1), ranking(run, 5, 3, epoch=2), cache=rankings)
    (column,) = columns(ranking(run, 2, 6, epoch=7), cache=rankings)
    first, absent, last = column["run"]["frames"]
    # Epoch 3.
    assert absent is None
    assert first["strategy"] == "· epoch 2"
    first_story = first["story"]
    assert (first_story["first"], first_story["later"]) == ("7 of 8 show “cat”", [5])
    last_story = last["story"]
    assert (last_story["later"], last_story["misses"]) == ([5, 2], "")
    assert last_story["kind"] == "good"
    assert len(first["hits"]) == len(last["hits"]) == 8
    assert (column["name"], column["strategy"]) == ("run", "· epoch 7")
    assert column["hits"] == last["hits"]
    (back,) = columns(ranking(System("run · epoch 2"), 5, 3), cache=rankings)
    assert back["strategy"] == "· epoch 2"
    assert (back["run"]["position"], back["run"]["last_position"]) == (0, 2)


def test_unsearched_epochs_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rankings = RankingCache()
    set_unsearched(monkeypatch, 0, 3)
    (column,) = columns(ranking(System("run"), 5, epoch=7), cache=rankings)
    assert column["run"]["is_incomplete"]
    while column["run"]["is_incomplete"]:
        (column,) = columns(ranking(System("run"), 5, epoch=7), cache=rankings)
    # Epoch 2 is not searched at all.
    absent, first, last = column["run"]["frames"]
    assert absent is None
    assert first["story"]["later"] == []
    assert last["story"]["later"] == [5]


def test_rankings_of_other_queries_and_runs_do_not_mix() -> None:
    rankings = RankingCache()
    plain = ranking(System("run"), 4, epoch=3)
    boolean = ranking(System("run", "boolean"), 1, epoch=3)
    columns(ranking(System("run"), 5, epoch=2), cache=rankings)
    assert num_frames(columns(plain, cache=rankings, key="another query")) == 1
    assert num_frames(columns(boolean, cache=rankings)) == 1
    rankings.keep_only({"another run"})
    assert num_frames(columns(plain, cache=rankings)) == 1


def num_frames(run_columns: list[dict[str, Any]]) -> int:
    """Return how many epochs the one column of a run can show."""
    (column,) = run_columns
    return sum(frame is not None for frame in column["run"]["frames"])


def test_a_recorded_run_plays_as_the_query_is_read() -> None:
    hits_by_epoch = [[("a", 0.5), ("b", 0.4)], [("b", 0.6), ("c", 0.5)]]
    recording = Recording(
        "CLIP", "stage", "2026-11-25", [0, 300], [20.0, 85.0], {NEGATED.text: hits_by_epoch}
    )
    verdicts: dict[str, Verdict] = {"a": "violation", "b": "violation", "c": "right"}
    searcher: Any = SimpleNamespace(
        judge=lambda _, video: verdicts[video.video_id], video=lambda name: Video(name, Path(name))
    )
    answer = Answer(NEGATED, (ranking(System("CLIP"), 2),))
    run = LearningColumns(recording).recorded_column(answer, searcher, view_of)["run"]
    first, last = run["frames"]
    assert [hit["id"] for hit in first["hits"]] == ["a", "b"]
    assert [hit["id"] for hit in last["hits"]] == ["b", "c"]
    assert last["story"]["later"] == [1]
    assert run["is_replay"]
    assert run["recorded_on"] == "2026-11-25"
    assert "5 min" in run["note"]
    assert (
        recording.rankings(Query("a cat"), lambda *_: None, lambda name: Video(name, Path(name)))
        == {}
    )


def test_what_captions_alone_know_is_counted_and_said() -> None:
    rankings = {
        0: judged(System("run"), ["violation", "violation", None]),
        1: judged(System("run"), ["violation", None, "right"]),
    }
    answer = Answer(NEGATED, (rankings[0],), judged_by="captions")
    run = RunColumn("run", "run", [0, 1], rankings, {})
    by_captions = run.story(1, answer)
    assert by_captions["first"] == "2 of 3 show “cat” by captions"
    assert by_captions["later"] == [1]
    # Where the truth is known, all of it must be.
    assert run.story(1, replace(answer, judged_by="")) == {}


def test_the_parts_judge_a_clip_that_no_caption_describes() -> None:
    silent = {0: judged(System("run"), [None])}
    by_captions = Answer(NEGATED, (silent[0],), judged_by="captions")
    assert RunColumn("run", "run", [0], silent, {}).story(0, by_captions) == {}
    learner = RunColumn("run", "CLIP, learning", [0], silent, {}, {0: ranking(System("run"), 1)})
    by_parts = learner.view({}, 0, Answer(NEGATED, (silent[0],)), view_of)["story"]
    assert by_parts["first"] == "1 of 1 show “cat” by the parts"
    assert "As the parts say" in by_parts["explanation"]
