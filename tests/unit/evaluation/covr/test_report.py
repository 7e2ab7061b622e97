"""Reports of pictures plus texts: stored and listed with all others, and written as tables."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.covr.protocol import CovrBenchmark, CovrQuery, EmbeddedMedia
from nt2vr.evaluation.covr.report import covr_report, read_covr_file
from nt2vr.evaluation.covr.sources import CovrData
from nt2vr.evaluation.reports.archive import Archive
from nt2vr.evaluation.reports.formats import csv_table, latex, markdown
from nt2vr.evaluation.reports.report import Report
from nt2vr.evaluation.reports.review import Remark
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.systems import System
from tests.covr import RANKS, write_covr_file
from tests.tiny import write_tiny
from tests.unit.evaluation.words import report_of


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "reports")


def measured(tmp_path: Path) -> Report:
    """Measure a model of random weights on one query, whose clips are unit vectors."""
    write_tiny(tmp_path / "model", "tiny")
    encoder = read_checkpoint(tmp_path / "model", "cpu")
    unit = np.eye(encoder.embed_dim, dtype=np.float32)
    query = CovrQuery("remove actor", "without the dog", 0, (1,), (2,), parts=("", ("the dog",)))
    media = EmbeddedMedia(unit[:1], unit[:3])
    return covr_report(CovrBenchmark("one", (query,), lambda *_: media, {}, [{"path": "a.mp4"}]), encoder)


def test_a_measured_report_is_listed_and_read_as_it_was_stored(tmp_path: Path, archive: Archive) -> None:
    report = measured(tmp_path)
    report_id = archive.add(report)
    assert archive.add(report) == report_id  # the same evaluation replaces its report
    (entry,) = archive.entries()
    systems = ("tiny picture", "tiny text", "tiny sum", "tiny slerp", "tiny parts")
    assert (entry.name, entry.systems) == ("one, picture plus text", systems)
    read = archive.load(report_id)
    assert (read.metrics, read.pictures, read.is_covr) == (report.metrics, ({"path": "a.mp4"},), True)
    assert read.row(0).ranks == report.row(0).ranks and read.row(0).query.unwanted == ("the dog",)
    folder = archive.folder / report_id
    assert markdown(read) == (folder / "table.md").read_text() == markdown(report)
    assert set(archive.files(report_id)) == {path.name for path in folder.iterdir()} - {"arrays.npz"}


def test_a_file_of_an_earlier_version_is_listed_opened_and_deleted_with_the_others(
    tmp_path: Path, archive: Archive
) -> None:
    path = write_covr_file(tmp_path / "composed")
    other = archive.add(report_of(System("words")))
    old = next(entry for entry in archive.entries() if entry.report_id == path.stem)
    assert (old.name, old.systems[0]) == ("world, picture plus text", "CLIP picture")
    report = archive.load(path.stem)
    assert report.row(1).ranks == {f"CLIP {system}": ranks[1] for system, ranks in RANKS.items()}
    assert report.metrics["CLIP fusion"]["remove actor/R@1"] == 60
    assert archive.files(path.stem) == [] and archive.summary(path.stem)["model"] == "CLIP"
    with pytest.raises(ConfigError, match="Reports of earlier versions have no notes"):
        archive.annotate(path.stem, 0, Remark("x"))
    archive.delete(path.stem)
    assert [entry.report_id for entry in archive.entries()] == [other] and list(path.parent.iterdir()) == []


def test_only_listed_files_become_part_of_a_path_and_unreadable_ones_are_marked(
    tmp_path: Path, archive: Archive
) -> None:
    path = write_covr_file(tmp_path / "composed")
    (tmp_path / "composed" / "list.json").write_text("[]")
    assert [entry.report_id for entry in archive.entries() if not entry.problem] == [path.stem]
    for name in ("", "..", f"../composed/{path.stem}", "x" * 10_000, "\0"):
        for act in (archive.load, archive.delete):
            with pytest.raises(ConfigError, match="There is no report"):
                act(name)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_covr_file(tmp_path / "composed" / "list.json")
    archive.delete("list")
    assert [entry.report_id for entry in archive.entries()] == [path.stem]


def test_files_of_unknown_queries_are_compared_with_no_other_report(tmp_path: Path, archive: Archive) -> None:
    one, two = (write_covr_file(tmp_path / "composed", name).stem for name in ("one", "two"))
    assert archive.rivals(one) == []
    with pytest.raises(ConfigError, match="was not evaluated on the queries"):
        archive.load_with(one, [f"CLIP fusion @ {two}"])


def test_the_markdown_table_has_a_line_per_kind_and_system(tmp_path: Path) -> None:
    lines = markdown(read_covr_file(write_covr_file(tmp_path))).splitlines()
    assert lines[:2] == ["| kind | system | R@1 | R@5 | R@10 | R@50 | violations@5 |", "|:--|:--|--:|--:|--:|--:|--:|"]
    assert "| remove actor | fusion | 60.0 | 60.0 | 70.0 | 80.0 | 10.0 |" in lines
    assert "| add prop | fusion | 50.0 | 60.0 | 70.0 | 80.0 |  |" in lines


def test_the_other_tables_have_a_line_per_system(tmp_path: Path) -> None:
    report = read_covr_file(write_covr_file(tmp_path))
    rows = list(csv.DictReader(io.StringIO(csv_table(report))))
    assert [row["system"] for row in rows] == [f"CLIP {system}" for system in RANKS]
    assert (rows[4]["remove prop/violations@5"], rows[4]["add prop/R@1"]) == ("10", "50.0")
    assert "violations@5" in latex(report) and r"\multicolumn{2}{c}{removals}" in latex(report)


@pytest.mark.parametrize("data", [{"split": "train"}, {"split": "../x"}, {"per_kind": -1}, {"per_kind": 101}])
def test_other_data_of_the_built_in_world_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        CovrData(**data)
