"""Columns of training runs: the epochs offered, their frames, and what they have changed so far."""

from collections.abc import Collection
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
from nt2vr.ui.search.run_columns import RunColumn, RunColumns, replayed, story, with_epoch

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


def ranking(
    system: System, violations: int, right: int = 0, epoch: int | None = None, misses: int = 0
) -> Ranking:
    verdicts_by_rank: list[tuple[Verdict, int]] = [
        ("violation", violations),
        ("right", right),
        ("miss", misses),
    ]
    verdicts = [verdict for verdict, count in verdicts_by_rank for _ in range(count)]
    hits = tuple(Hit(f"{rank}", rank, 0.5, verdict) for rank, verdict in enumerate(verdicts, 1))
    return Ranking(system, hits, epoch=epoch)


class Epochs:
    """Stands for the searcher and what it is asked with: these epochs are searched by nobody."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *epochs: int) -> None:
        def missing(own: RunEpochs, models: Any, base: str, kept: Collection[int]) -> list[int]:
            return [epoch for epoch in epochs if epoch not in kept]

        monkeypatch.setattr(RunEpochs, "missing", missing)
        monkeypatch.setattr(
            RunEpochs, "rank", lambda own, *asked: ranking(System(f"run · epoch {asked[3]}"), 1)
        )


@pytest.fixture(autouse=True)
def no_epoch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    Epochs(monkeypatch)


def view_of(answer: Answer) -> dict[str, Any]:
    return columns_view(answer, lambda name: Video(name, Path(name)), lambda _: {})


def columns(
    *rankings: Ranking, kept: RankingCache, query: Query = NEGATED, key: str = ""
) -> list[dict[str, Any]]:
    answer = Answer(query, rankings)
    models = SimpleNamespace(card=lambda run, entries: SimpleNamespace(base="CLIP"))
    live: Any = SimpleNamespace(models=models)
    run_columns = RunColumns(answer, key, ENTRIES, kept, view_of, searcher=live, plan=live)
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
    columns(ranking(clip, 7, 1), ranking(run, 5, 3, epoch=2), kept=rankings)
    (column,) = columns(ranking(run, 2, 6, epoch=7), kept=rankings)
    first, absent, last = column["run"]["frames"]
    # Epoch 3.
    assert absent is None
    assert (first["strategy"], first["story"]["first"], first["story"]["later"]) == (
        "· epoch 2",
        "7 of 8 show “cat”",
        [5],
    )
    assert (last["story"]["later"], last["story"]["misses"], last["story"]["kind"]) == (
        [5, 2],
        "",
        "good",
    )
    assert [len(frame["hits"]) for frame in (first, last)] == [8, 8]
    assert (column["name"], column["strategy"], column["hits"]) == (
        "run",
        "· epoch 7",
        last["hits"],
    )
    (back,) = columns(ranking(System("run · epoch 2"), 5, 3), kept=rankings)
    assert (back["strategy"], back["run"]["position"], back["run"]["last_position"]) == (
        "· epoch 2",
        0,
        2,
    )


def test_unsearched_epochs_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rankings = RankingCache()
    _ = Epochs(monkeypatch, 0, 3)
    (column,) = columns(ranking(System("run"), 5, epoch=7), kept=rankings)
    assert column["run"]["is_incomplete"]
    while column["run"]["is_incomplete"]:
        (column,) = columns(ranking(System("run"), 5, epoch=7), kept=rankings)
    assert [frame and frame["story"]["later"] for frame in column["run"]["frames"]] == [
        None,
        [],
        [5],
    ]


def test_rankings_of_other_queries_and_runs_do_not_mix() -> None:
    rankings = RankingCache()
    columns(ranking(System("run"), 5, epoch=2), kept=rankings)
    (other_column,) = columns(ranking(System("run"), 4, epoch=3), kept=rankings, key="other")
    (boolean,) = columns(ranking(System("run", "boolean"), 1, epoch=3), kept=rankings)
    assert [sum(map(bool, column["run"]["frames"])) for column in (other_column, boolean)] == [1, 1]
    rankings.keep_only({"another"})
    (repeated,) = columns(ranking(System("run"), 4, epoch=3), kept=rankings)
    assert sum(map(bool, repeated["run"]["frames"])) == 1


def test_a_recorded_run_plays_as_the_query_is_read() -> None:
    hits_by_epoch = [[("a", 0.5), ("b", 0.4)], [("b", 0.6), ("c", 0.5)]]
    recording = Recording(
        "CLIP", "stage", "2026-11-25", [0, 300], [20.0, 85.0], {NEGATED.text: hits_by_epoch}
    )
    verdicts: dict[str, Verdict] = {"a": "violation", "b": "violation", "c": "right"}
    rankings = recording.rankings(
        NEGATED, lambda _, video: verdicts[video.video_id], lambda name: Video(name, Path(name))
    )
    column = replayed(recording, rankings, Answer(NEGATED, (ranking(System("CLIP"), 2),)), view_of)
    assert [[hit["id"] for hit in frame["hits"]] for frame in column["run"]["frames"]] == [
        ["a", "b"],
        ["b", "c"],
    ]
    assert column["run"]["frames"][1]["story"]["later"] == [1]
    run = column["run"]
    assert run["is_replay"]
    assert run["recorded_on"] == "2026-11-25"
    assert "5 min" in run["note"]
    assert (
        recording.rankings(Query("a cat"), lambda *_: None, lambda name: Video(name, Path(name)))
        == {}
    )


def test_what_captions_alone_know_is_counted_and_said() -> None:
    verdicts: list[list[Verdict | None]] = [
        ["violation", "violation", None],
        ["violation", None, "right"],
    ]
    rankings = {
        epoch: Ranking(
            System("run"),
            tuple(Hit(f"{n}", n, 0.5, verdict) for n, verdict in enumerate(epoch_verdicts, 1)),
        )
        for epoch, epoch_verdicts in enumerate(verdicts)
    }
    answer = Answer(NEGATED, (rankings[0],), judged_by="captions")
    silent_story = story(rankings, 1, answer, 1)
    assert (silent_story["first"], silent_story["later"]) == ("2 of 3 show “cat” by captions", [1])
    # Where the truth is known, all of it must be.
    assert story(rankings, 1, replace(answer, judged_by=""), 1) == {}
    silent = {0: Ranking(System("run"), (Hit("a", 1, 0.5, None),))}
    assert story(silent, 0, answer, 0) == {}
    learner = RunColumn("run", "CLIP, learning", [0], silent, {}, {0: ranking(System("run"), 1)})
    silent_story = learner.view({}, 0, Answer(NEGATED, (silent[0],)), view_of)["story"]
    assert silent_story["first"] == "1 of 1 show “cat” by the parts"
    assert "As the parts say" in silent_story["explanation"]
