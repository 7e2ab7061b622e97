"""Columns of training runs: the epochs offered, and the violations counted."""

from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.language.query import Query
from nt2vr.models.catalog import CatalogEntry
from nt2vr.search.answers import Answer, Hit, Ranking, Verdict
from nt2vr.search.systems import System
from nt2vr.ui.search.epochs import (
    MAX_QUERIES,
    RunColumns,
    RunEpochs,
    VerdictCounts,
    counts_view,
    key_of,
    with_epoch,
    with_run,
)

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


def ranking(system: System, violations: int, right: int = 0, epoch: int | None = None) -> Ranking:
    each: list[tuple[Verdict, int]] = [("violation", violations), ("right", right)]
    verdicts = [verdict for verdict, count in each for _ in range(count)]
    hits = tuple(Hit(f"{rank}", rank, 0.5, verdict) for rank, verdict in enumerate(verdicts, 1))
    return Ranking(system, hits, epoch=epoch)


def columns(*rankings: Ranking, counts: VerdictCounts, query: Query = NEGATED, key: str = "") -> list[dict[str, Any]]:
    shown = RunColumns(Answer(query, rankings), key, ENTRIES, lambda run: "CLIP", counts)
    return shown.view({"columns": [{"name": "?"} for _ in rankings]})["columns"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("model", ["run", "run · best", "run · epoch 3"])
def test_a_slider_offers_the_epochs_that_are_kept_oldest_first(model: str) -> None:
    assert RunEpochs.of(model, ENTRIES) == RunEpochs("run", (2, 3, 7))
    assert RunEpochs.of("CLIP", ENTRIES) is None
    assert RunEpochs.of("deleted", ENTRIES) is None


def test_the_newest_epoch_is_the_run_itself_which_goes_on_and_the_strategy_stays() -> None:
    systems = ["CLIP", "run boolean α 0.5", "run · epoch 2"]
    assert with_epoch(systems, "run", 3, ENTRIES) == ["CLIP", "run · epoch 3 boolean α 0.5", "run · epoch 3"]
    assert with_epoch(systems, "run", 7, ENTRIES) == ["CLIP", "run boolean α 0.5", "run"]
    assert with_epoch(["run", "run · best"], "run", 2, ENTRIES) == ["run · epoch 2"]


@pytest.mark.parametrize(
    ("run", "epoch"), [("run", 5), ("run", 10**1000), ("CLIP", 1), ("run · best", 3), ("x" * 1000, 1)]
)
def test_what_a_slider_cannot_send_is_refused(run: str, epoch: int) -> None:
    with pytest.raises(ConfigError, match=r"no such epoch|no run"):
        with_epoch(["run"], run, epoch, ENTRIES)


def test_a_run_joins_next_to_the_baseline_and_the_last_column_makes_room() -> None:
    assert with_run(["CLIP", "a", "b", "c"], "run", 4) == ["CLIP", "run", "a", "b"]
    assert with_run(["a", "run"], "run", 4) == ["a", "run"]
    assert with_run([], "run", 4) == ["run"]


def test_violations_count_down_from_the_base_over_the_epochs_searched() -> None:
    counts, clip, run = VerdictCounts(), System("CLIP"), System("run")
    columns(ranking(clip, 7, 1), ranking(run, 5, 3, epoch=2), counts=counts)
    column = columns(ranking(run, 2, 6, epoch=7), counts=counts)[0]
    assert [(step["count"], step["now"]) for step in column["run"]["violations"]] == [
        (7, False),
        (5, False),
        (2, True),
    ]
    assert [(step["count"], step["kind"]) for step in column["run"]["right"]] == [(1, "bad"), (3, "bad"), (6, "good")]
    assert (column["name"], column["how"]) == ("run", "epoch 7")
    back = columns(ranking(System("run · epoch 2"), 5, 3), counts=counts)[0]
    assert [step["now"] for step in back["run"]["violations"]] == [False, True, False]
    assert (back["how"], back["run"]["place"], back["run"]["last"]) == ("epoch 2", 0, 2)


def test_counts_of_another_query_or_strategy_do_not_mix() -> None:
    counts = VerdictCounts()
    columns(ranking(System("run"), 5, epoch=2), counts=counts)
    other = columns(ranking(System("run"), 4, epoch=3), counts=counts, key="other")[0]
    boolean = columns(ranking(System("run", "boolean"), 1, epoch=3), counts=counts)[0]
    assert [len(column["run"]["violations"]) for column in (other, boolean)] == [1, 1]


def test_without_a_negation_or_verdicts_nothing_is_counted() -> None:
    affirmative = columns(
        ranking(System("run"), 0, 3, epoch=2), counts=VerdictCounts(), query=Query("a dog", ("a dog",))
    )
    unknown = Ranking(System("run"), (Hit("a", 1, 0.5, None),), epoch=2)
    assert affirmative[0]["run"]["violations"] == columns(unknown, counts=VerdictCounts())[0]["run"]["right"] == []


def test_an_equal_count_is_told_once_and_marked_for_all_its_epochs() -> None:
    counts = {0: 7, 1: 7, 2: 5, 3: 5, 5: 7}
    steps = counts_view(counts, 1, bool)
    assert [(step["count"], step["now"]) for step in steps] == [(7, True), (5, False), (7, False)]
    assert counts_view(counts, 5, bool)[2]["now"]


def test_of_many_counts_the_first_and_those_near_the_epoch_are_shown() -> None:
    counts = {epoch: 20 - epoch for epoch in range(20)}

    def shown(epoch: int) -> list[int]:
        return [step["count"] for step in counts_view(counts, epoch, bool)]

    assert shown(19) == [20, 6, 5, 4, 3, 2, 1]
    assert shown(0) == [20, 19, 18, 17, 16, 15, 14]
    assert shown(10) == [20, 13, 12, 11, 10, 9, 8]
    steps = counts_view(counts, 10, bool)
    assert [step.get("gap", False) for step in steps] == [False, True, False, False, False, False, False]
    assert [step["now"] for step in steps].index(True) == 4


def test_only_the_latest_queries_are_kept() -> None:
    counts = VerdictCounts()
    counts.add("first", {1: 4})
    for number in range(MAX_QUERIES):
        counts.add(number, {1: 0})
    assert counts.add("first", {2: 3}) == {2: 3}


def test_a_query_s_key_is_short_whatever_was_sent_and_another_query_has_another() -> None:
    sent = [("a dog", ()), ("a dog", (1,)), ("a dog, ()",), ("\ud800" * 1_000_000, ())]
    keys = [key_of(*values) for values in sent]
    assert len(set(keys)) == len(sent) and {len(key) for key in keys} == {32}
    assert keys[0] == key_of("a dog", ())
