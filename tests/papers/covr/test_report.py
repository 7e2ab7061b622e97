"""Reports of pictures plus texts: stored and listed with all others, and written as tables."""

from pathlib import Path

import numpy as np
import pytest

from nt2vr.evaluation.archive import Archive, Remark
from nt2vr.evaluation.queries import row_array
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import markdown
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.papers.covr.benchmark import CovrBenchmark
from nt2vr.papers.covr.kind import read_single_file
from nt2vr.papers.covr.queries import CovrQuery, EmbeddedMedia
from tests.support.old_composed_report import RANKS, write_covr_file
from tests.support.tiny_models import write_tiny


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "reports")


def measured(tmp_path: Path) -> Report:
    """Measure a model of random weights on one query, whose clips are unit vectors."""
    write_tiny(tmp_path / "model", "tiny")
    encoder = read_checkpoint(tmp_path / "model", "cpu")
    unit = np.eye(encoder.embed_dim, dtype=np.float32)
    query = CovrQuery(
        kind="remove actor",
        text="without the dog",
        relevant=row_array((1,)),
        violating=row_array((2,)),
        wanted="",
        unwanted=("the dog",),
        picture={"path": "a.mp4"},
    )
    media = EmbeddedMedia(unit[:1], unit[:3])
    benchmark = CovrBenchmark("one", ("0", "1", "2"), (query,), lambda *_: media, {})
    return benchmark.report(benchmark.measure(encoder, benchmark.systems_of(encoder)))


def test_a_report_is_read_as_it_was_stored(tmp_path: Path, archive: Archive) -> None:
    report = measured(tmp_path)
    report_id = archive.add(report)
    # The same evaluation replaces its report.
    assert archive.add(report) == report_id
    (entry,) = archive.entries()
    systems = ("tiny picture", "tiny text", "tiny sum", "tiny parts")
    assert (entry.name, entry.systems) == ("one, picture plus text", systems)
    read = archive.load(report_id)
    assert (read.metrics, read.queries[0].picture) == (report.metrics, {"path": "a.mp4"})
    assert read.presentation is report.presentation
    assert read.row(0).ranks == report.row(0).ranks
    assert read.row(0).query.unwanted == ("the dog",)
    folder = archive.folder / report_id
    assert markdown(read) == (folder / "table.md").read_text() == markdown(report)
    assert set(archive.files(report_id)) == {path.name for path in folder.iterdir()} - {
        "arrays.npz"
    }


def test_a_report_of_version_0_2_is_converted(
    tmp_path: Path,
) -> None:
    path = write_covr_file(tmp_path / "composed")
    (tmp_path / "composed" / "list.json").write_text("[]")
    archive = Archive(tmp_path / "reports")
    (entry,) = archive.entries()
    assert (entry.report_id, entry.name, entry.systems[0]) == (
        path.stem,
        "world, picture plus text",
        "CLIP picture",
    )
    report = archive.load(path.stem)
    assert report.row(1).ranks == {f"CLIP {system}": ranks[1] for system, ranks in RANKS.items()}
    assert report.metrics["CLIP fusion"]["remove actor/R@1"] == 60
    archive.annotate(path.stem, 0, Remark("x"))
    assert [file.name for file in path.parent.iterdir()] == ["list.json"]
    assert [entry.report_id for entry in Archive(tmp_path / "reports").entries()] == [path.stem]
    archive.delete(path.stem)
    assert archive.entries() == []


def test_the_markdown_table_has_a_line_per_kind_and_system(tmp_path: Path) -> None:
    lines = markdown(read_single_file(write_covr_file(tmp_path))).splitlines()
    assert lines[0] == "| kind | system | R@1 | R@5 | R@10 | R@50 | violations@5 |"
    assert "| remove actor | fusion | 60.0 | 60.0 | 70.0 | 80.0 | 10.0 |" in lines
    assert "| add prop | fusion | 50.0 | 60.0 | 70.0 | 80.0 |  |" in lines
