"""Epochs of a run that nobody has searched: which are, and how they fail; the catalog and the searcher are fakes."""

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nt2vr.errors import CheckpointError
from nt2vr.models.catalog import CatalogEntry
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Ranking
from nt2vr.search.epochs import MAX_QUERIES, RankingCache, RunEpochs, judged_by_parts
from nt2vr.search.hits import Hit
from nt2vr.search.plan import SearchPlan
from nt2vr.search.strategies import System
from nt2vr.services import Services
from nt2vr.settings import Settings

OWN = RunEpochs("run", (1, 2, 3))
TOWERS = {
    "CLIP": "clip",
    "run": "clip",
    "run · epoch 1": "clip",
    "run · epoch 2": "own",
    "run · epoch 3": "clip",
}


class Models:
    """A catalog of a run whose second epoch has an image tower of its own."""

    def entries(self) -> dict[str, CatalogEntry]:
        return {name: CatalogEntry((Path(name),)) for name in TOWERS}

    def card(self, name: str, entries: dict[str, CatalogEntry]) -> Any:
        return SimpleNamespace(visual_key=TOWERS[name])

    def folder(self, name: str) -> Path:
        return Path(name)

    def read(self, folder: Path) -> str:
        if folder.name.endswith("3"):
            raise CheckpointError("The checkpoint is gone.")
        return str(folder)


class Searcher:
    """Answers each question with the model that it was asked of."""

    models = Models()
    key = ""
    live = SimpleNamespace(encoder=lambda name: f"<{name}>")

    def embedded(self, encoder: str) -> str:
        return "gallery"

    def answer(self, query: Query, plan: Any) -> Any:
        (system,) = plan.systems
        return SimpleNamespace(
            rankings=[Ranking(system, (Hit(plan.loaded[system.model].encoder, 1, 0.5, None),))]
        )


SEARCHER: Any = Searcher()
PLAN = SearchPlan(
    searcher=SEARCHER,
    systems=(),
    loaded={},
    synonyms={},
    k=8,
    references=(),
    strengths={},
    literal=(),
)


def ranked(epoch: int, like: System) -> Ranking:
    return OWN.rank(SEARCHER, Query("a dog"), PLAN, epoch, "CLIP", like)


def test_deleted_epochs_are_missing_and_the_others_see_clips_alike() -> None:
    models: Any = Models()
    assert OWN.missing(models, "CLIP", {3: None}) == [0, 1]
    assert OWN.missing(models, "a base that is gone", {1: None}) == [3]


def test_an_epoch_is_searched_by_its_checkpoint_and_strategy() -> None:
    rankings = [ranked(epoch, System("run", "boolean", 0.5)) for epoch in (1, 0)]
    assert [epoch_ranking.hits[0].video_id for epoch_ranking in rankings] == [
        "run · epoch 1",
        "<CLIP>",
    ]
    assert rankings[0].system == System("run · epoch 1", "boolean", 0.5)


def test_an_unreadable_epoch_has_no_hits_and_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert ranked(3, System("run")).hits == ()
    assert "The checkpoint is gone." in caplog.text


def test_only_the_latest_queries_are_kept_and_only_their_hits() -> None:
    rankings = RankingCache()
    ranking = Ranking(System("run"), (Hit("a", 1, 0.5, None),), ranks={"a": 1})
    rankings.add(("run", "first"), {1: ranking})
    for number in range(MAX_QUERIES):
        rankings.add(("run", f"{number}"), {1: ranking})
    assert list(rankings.add(("run", "first"), {2: ranking})) == [2]
    assert rankings.add(("run", "9"), {})[1].ranks == {}


def test_the_parts_alone_tell_roughly_what_clips_show(gallery_data: Path) -> None:
    with closing(Services(Settings(data_dir=gallery_data))) as services:
        searcher = services.galleries.built_in
        for text in ("a person without a dog", "a singer without a guitar", "not a dog"):
            query = searcher.understand(text)
            plan = searcher.plan(["CLIP", "CLIP-neg"], 8)
            true = dict(enumerate(searcher.answer(query, plan).rankings))
            judged = judged_by_parts(true, "CLIP", query, searcher, plan).values()
            counts = [judged_ranking.counts["violation"] for judged_ranking in judged]
            assert counts[1] == true[1].counts["violation"] == 0
            assert 0 <= counts[0] - true[0].counts["violation"] <= 2
