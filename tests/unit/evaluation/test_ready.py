"""The report that comes with the app."""

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.ready_report import pack
from nt2vr.evaluation.ready_report import ready_report
from nt2vr.evaluation.sources import GALLERY, Data, load_benchmark
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.progress import silent
from nt2vr.services import Services
from nt2vr.settings import Settings


@pytest.mark.slow
def test_it_is_added_once_fits_the_gallery_and_stays_deleted(tmp_path: Path) -> None:
    with closing(Services(Settings.read(tmp_path, "cpu"))) as services:
        evaluations = services.evaluations
        evaluations.add_ready()
        evaluations.add_ready()
        assert evaluations.job is None
        (entry,) = evaluations.archive.entries()
        assert entry.systems == ("CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg")
        report = load_report(evaluations.archive.folder / entry.report_id)
        hard_pairs = {
            name: metrics["composed/hard_pairs"] for name, metrics in report.metrics.items()
        }
        assert hard_pairs["CLIP"] < 50 < 75 < hard_pairs["CLIP-neg"]

        benchmark = load_benchmark(Data(GALLERY), evaluations.places, silent)
        assert report.digest == benchmark.digest

        evaluations.archive.delete(entry.report_id)
        evaluations.add_ready()
        assert evaluations.archive.entries() == []


def test_a_read_only_data_folder_is_no_obstacle(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "evaluation").write_text("not a folder")
    with closing(Services(Settings.read(tmp_path, "cpu"))) as services:
        services.evaluations.add_ready()
        assert services.evaluations.archive.entries() == []
    assert "evaluation" in caplog.text


@pytest.mark.slow
def test_packing_it_again_changes_nothing(tmp_path: Path) -> None:
    before = ready_report()
    pack(before, tmp_path / "report.tar.xz")
    after = ready_report(tmp_path / "report.tar.xz")
    assert after.name == before.name
    assert after.notes == before.notes
    assert after.metrics == before.metrics
    assert [query.text for query in after.queries] == [query.text for query in before.queries]
    assert after.intervals == before.intervals
