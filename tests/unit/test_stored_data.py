"""What commit 1c29183 stored is listed, opened, searched, evaluated and resumed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import nt2vr
from nt2vr.evaluation.archive import Archive, Remark
from nt2vr.evaluation.sources import Data
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.embed_clips import open_gallery
from nt2vr.search.searcher import Searcher
from nt2vr.settings import Settings
from nt2vr.ui.web.permissions import Permissions
from tests.support.old_data_folder import unpack_stored_data
from tests.support.trainings import go_on
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_stored_data(tmp_path_factory.mktemp("stored"))


@pytest.fixture
def cache(data_dir: Path) -> Iterator[Cache]:
    with Cache.of(data_dir) as cache:
        yield cache


def test_stored_models_and_epochs_are_searched(data_dir: Path, cache: Cache) -> None:
    models = Catalog([data_dir / "models"], runs=data_dir / "runs")
    assert set(models.names()) >= {"imported", "drawn", "taught"}
    gallery = load_gallery(data_dir / "clips" / "captions.jsonl")
    with Decoder(1) as decoder:
        searcher = Searcher(models, gallery, decoder, cache)
        answer = searcher.search(
            searcher.understand("a man and not a dog"), ["imported", "drawn", "taught"], 6
        )
    assert [len(ranking.hits) for ranking in answer.rankings] == [6, 6, 6]
    assert [ranking.epoch for ranking in answer.rankings] == [None, 1, 1]


def test_runs_are_listed_with_state_config_and_metrics(data_dir: Path) -> None:
    manager = RunManager(data_dir / "runs")
    runs = {run.run_id: run for run in manager.runs()}
    assert {run_id: run.status.state for run_id, run in runs.items()} == {
        "drawn": "finished",
        "taught": "stopped",
    }
    assert runs["taught"].can_resume and not runs["drawn"].can_resume
    assert (
        runs["taught"].config is not None
        and runs["taught"].config.encoder.base == "models/imported"
    )
    assert [len(manager.metrics(run_id)) for run_id in ("drawn", "taught")] == [4, 10]


def test_a_stopped_run_reaches_its_twin_s_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(unpack_stored_data(tmp_path) / "runs" / "taught")
    before = run.status()
    assert before is not None and before.state == "stopped" and before.step == 8
    # The config's paths are relative.
    monkeypatch.chdir(tmp_path)
    go_on(run)
    assert "Resuming after step 8" in run.log.read_text()
    expected = [json.loads(line) for line in (run.path / "expected.jsonl").read_text().splitlines()]
    rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    assert [row["step"] for row in rows] == [row["step"] for row in expected]
    for row, twin in zip(rows, expected, strict=True):
        assert row == pytest.approx(twin, rel=1e-4, abs=1e-6)


def test_a_stored_report_is_listed_and_gives_equal_metrics(
    data_dir: Path,
) -> None:
    archive = Archive(data_dir / "evaluation" / "reports")
    report_id = "clips-29884905509d"
    (entry,) = [entry for entry in archive.entries() if entry.report_id == report_id]
    assert (entry.name, entry.systems) == ("clips", ("imported", "imported drop"))
    assert archive.remarks(report_id) == {3: Remark("miss", "a note of 0.2")}
    report = archive.load(report_id)
    written = json.loads((archive.folder / report_id / "report.json").read_text(encoding="utf-8"))
    repeated = nt2vr.evaluate(Data(str(data_dir / "clips"), split="all"), "imported", data_dir)
    for system in written["systems"]:
        for read, tolerance in ((report, None), (repeated, 1e-3)):
            # There are more by now.
            same = {name: read.metrics[system["system"]][name] for name in system["metrics"]}
            assert same == pytest.approx(system["metrics"], abs=tolerance, nan_ok=True)


def test_a_covr_report_is_listed_with_the_others_and_opened(data_dir: Path) -> None:
    archive = Archive(data_dir / "evaluation" / "reports")
    (entry,) = [entry for entry in archive.entries() if "imported picture" in entry.systems]
    report = archive.load(entry.report_id)
    assert report.name == "world, validation, picture plus text"
    kinds = {query.kind for query in report.queries}
    assert len(kinds) == len(report.queries) > 5
    assert (
        {result.system for result in report.results}
        == set(entry.systems)
        > {"imported text", "imported parts"}
    )


def test_a_stored_library_opens_and_is_indexed_again(data_dir: Path, cache: Cache) -> None:
    libraries = Libraries(data_dir / "libraries")
    (info,) = libraries.infos()
    assert info.name == "Films"
    assert info.num_files == 1
    assert info.num_clips == 1
    assert info.num_skipped == 0
    gallery = libraries.gallery(info.id)
    assert gallery.videos[0].video_id == "film.mp4"
    encoder = read_checkpoint(data_dir / "models" / "imported")
    assert open_gallery(gallery, encoder, cache).skipped == (("film.mp4", "Not embedded yet."),)
    with Decoder(1) as decoder:
        assert libraries.previews(info.id, decoder).has(gallery.videos[0])
    assert not libraries.check(info.id).removed


def test_the_owner_keeps_the_token(data_dir: Path) -> None:
    token = (data_dir / "owner-token").read_text().strip()
    permissions = Permissions.of(Settings(data_dir))
    assert permissions.is_token(token) and not permissions.is_token(token[:-1])
