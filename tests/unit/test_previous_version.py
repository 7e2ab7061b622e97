"""A data folder of the version before opens: its models, runs, reports and caches."""

import json
from pathlib import Path

import pytest

import nt2vr
from nt2vr.evaluation.reports.archive import Archive
from nt2vr.evaluation.sources import Data
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.models.catalog import Catalog
from nt2vr.search.searcher import Searcher
from tests.previous import unpack_previous_version
from trainer.runs.manager import RunManager


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_previous_version(tmp_path_factory.mktemp("previous"))


def test_imported_models_and_the_epochs_of_runs_are_found_and_searched_with(data_dir: Path) -> None:
    models = Catalog([data_dir / "models"], runs=data_dir / "runs")
    assert set(models.names()) == {"imported", "drawn", "drawn · epoch 3", "taught", "taught · epoch 1"}
    gallery = load_gallery(data_dir / "clips" / "captions.jsonl")
    with Decoder() as decoder, Cache(data_dir / "cache") as cache:
        searcher = Searcher(models, gallery, decoder, cache)
        answer = searcher.search(searcher.understand("a man and not a dog"), ["imported", "drawn", "taught"], 6)
    assert [len(ranking.hits) for ranking in answer.rankings] == [6, 6, 6]
    assert [ranking.epoch for ranking in answer.rankings] == [None, 3, 1]


def test_runs_are_listed_with_state_config_and_metrics(data_dir: Path) -> None:
    manager = RunManager(data_dir / "runs")
    runs = {run.run_id: run for run in manager.runs()}
    assert {run_id: run.status.state for run_id, run in runs.items()} == {"drawn": "finished", "taught": "stopped"}
    assert runs["taught"].can_resume and not runs["drawn"].can_resume
    assert runs["taught"].config is not None and runs["taught"].config.base == "models/imported"
    assert [len(manager.metrics(run_id)) for run_id in ("drawn", "taught")] == [22, 10]


def test_reports_are_listed_and_opened(data_dir: Path) -> None:
    archive = Archive(data_dir / "evaluation" / "reports")
    (entry,) = archive.entries()
    assert (entry.name, entry.systems, entry.videos) == ("clips", ("imported", "imported drop"), 6)
    report = archive.load(entry.report_id)
    stored = json.loads((archive.folder / entry.report_id / "report.json").read_text(encoding="utf-8"))
    for system in stored["systems"]:
        assert report.metrics[system["system"]] == pytest.approx(system["metrics"])
    assert report.row(0).ranks.keys() == {"imported", "imported drop"}


OTHERWISE = ("negated/", "composed/violations@10")  # one more query; "shows both" counted as violating, now "shows B"


def test_the_same_evaluation_still_gives_the_same_metrics(data_dir: Path) -> None:
    (entry,) = Archive(data_dir / "evaluation" / "reports").entries()
    stored = Archive(data_dir / "evaluation" / "reports").load(entry.report_id)
    again = nt2vr.evaluate(Data(str(data_dir / "clips"), split="all"), "imported", data_dir)
    counts = [sum(query.kind == "negated" for query in queries) for queries in (stored.queries, again.report.queries)]
    assert counts == [17, 18]  # the negator of version 0.1 refused one that has a plain verb
    for system, metrics in stored.metrics.items():
        same = {name: value for name, value in metrics.items() if not name.startswith(OTHERWISE)}
        found = {name: value for name, value in again.metrics[system].items() if name in same}
        assert found == pytest.approx(same, abs=1e-3, nan_ok=True), system
