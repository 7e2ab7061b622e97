"""The archive of reports."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation import archive as archive_module
from nt2vr.evaluation.archive import REVIEW, Archive, Remark, read_remarks
from nt2vr.search.strategies import System
from tests.support.paths import ROOT
from tests.support.word_encoder import report_of


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "reports")


def test_saved_reports_are_listed_and_opened(archive: Archive) -> None:
    report = report_of(System("words"), System("words", "drop"), name="Own words, <b>")
    report_id = archive.add(report)
    (entry,) = archive.entries()
    assert report_id.startswith("own-words-b-")
    assert entry.report_id == report_id
    assert entry.name == "Own words, <b>"
    assert entry.systems == ("words", "words drop")
    assert entry.created == report.created
    assert archive.load(report_id).metrics == report.metrics
    assert archive.summary(report_id)["systems"][1]["metrics"] == report.metrics["words drop"]


def test_downloads_are_written_with_one_column_of_ranks_per_system(archive: Archive) -> None:
    folder = archive.folder / archive.add(report_of(System("words"), System("words", "boolean", 1)))
    names = {
        "report.json",
        "queries.jsonl",
        "queries.csv",
        "arrays.npz",
        "table.md",
        "table.csv",
        "table.tex",
    }
    assert {path.name for path in folder.iterdir()} == names
    with (folder / "queries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    query = {"kind": "composed", "text": "sings and not dancing", "cue": "not", "wanted": "sings"}
    assert rows[3] == {
        **query,
        "unwanted": "dancing",
        "num_relevant": "1",
        "words": "3",
        "words boolean α 1": "1",
    }


def test_a_report_keeps_its_name_until_that_is_removed(
    archive: Archive,
) -> None:
    report_id = archive.add(report_of(System("words")))
    first = archive.entries()[0].name
    archive.rename(report_id, " Mine ")
    # The evaluation is repeated.
    archive.add(report_of(System("words")))
    (entry,) = archive.entries()
    assert (entry.report_id, entry.name) == (report_id, "Mine")
    with pytest.raises(ConfigError, match="80"):
        archive.rename(report_id, "x" * 81)
    archive.rename(report_id, "")
    assert archive.entries()[0].name == first


def test_repeating_an_evaluation_replaces_its_report_only(archive: Archive) -> None:
    first = archive.add(report_of(System("words")))
    assert archive.add(report_of(System("words"))) == first
    other_tags = [
        report_of(System("words"), System("words", "drop")),
        report_of(System("words"), source={"seed": 2}),
    ]
    assert len({first, *map(archive.add, other_tags)}) == len(archive.entries()) == 3


@pytest.mark.parametrize("name", ["..", "/etc", "words/../words"])
def test_only_listed_ids_become_part_of_a_path(archive: Archive, name: str) -> None:
    archive.add(report_of(System("words")))
    for act in (archive.load, archive.delete, archive.summary):
        with pytest.raises(ConfigError):
            act(name)
    assert len(archive.entries()) == 1


DAMAGED = {
    "half": "{",
    "a list": "[]",
    "deep": "[" * 100_000,
    "half a character": '{"name": "\\ud800", "created": "", "systems": [], "queries": {}, "videos": 1}',
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_report_alone_is_listed_as_unreadable_until_deleted(
    archive: Archive, damage: str
) -> None:
    good = archive.add(report_of(System("words")))
    (archive.folder / "bad").mkdir()
    (archive.folder / "bad" / "report.json").write_text(DAMAGED[damage])
    first, last = archive.entries()
    assert first.report_id == good
    assert first.problem == ""
    assert last.report_id == "bad"
    assert last.problem
    assert archive.load(good).name == first.name
    with pytest.raises(ConfigError, match=r"^bad [^\n]+$"):
        archive.load("bad")
    archive.delete("bad")
    assert [entry.report_id for entry in archive.entries()] == [good]


def test_tags_and_notes_are_saved_exported_and_survive_another_evaluation(archive: Archive) -> None:
    report = report_of(System("words"))
    report_id = archive.add(report)
    folder = archive.folder / report_id
    assert archive.remarks(report_id) == {}
    assert not (folder / REVIEW).exists()
    archive.annotate(report_id, 3, Remark("ambiguous", "Who sings, and\nwho dances?"))
    archive.annotate(report_id, 1, Remark("misread"))
    archive.add(report)
    assert archive.remarks(report_id) == {
        3: Remark("ambiguous", "Who sings, and\nwho dances?"),
        1: Remark("misread"),
    }
    with (folder / "queries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[3]["tag"] == "ambiguous"
    assert rows[3]["note"] == "Who sings, and\nwho dances?"
    assert rows[0]["tag"] == ""
    archive.annotate(report_id, 3, Remark())
    assert archive.remarks(report_id) == {1: Remark("misread")}


WRITES = """
import sys
from pathlib import Path
from nt2vr.evaluation.archive import Archive, Remark
archive, (report_id, place) = Archive(Path(sys.argv[1])), sys.argv[2:]
print("ready", flush=True)
for round in range(8):
    archive.annotate(report_id, int(place), Remark(f"round {round}"))
    archive.annotate(report_id, int(place), Remark())
archive.annotate(report_id, int(place), Remark("last"))
"""


@pytest.mark.slow
def test_no_note_is_lost_when_several_processes_write(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_id = archive.add(report_of(System("words")))
    arguments = ["-c", str(archive.folder), report_id]
    command = [sys.executable, "-c", WRITES, *arguments[1:], "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        monkeypatch.setattr(sys, "argv", [*arguments, "1"])
        # This process does so at the same time.
        exec(WRITES, {})
    assert writer.returncode == 0
    assert archive.remarks(report_id) == {place: Remark("last") for place in range(2)}


@pytest.mark.parametrize("start", ["=", "\t=", "\r=", " =", "\uff1d"])
def test_notes_are_safe_in_spreadsheets_and_unchanged_in_json(archive: Archive, start: str) -> None:
    formula = f'{start}HYPERLINK("https://evil.example","a")'
    report_id = archive.add(report_of(System("words")))
    archive.annotate(report_id, 0, Remark("+1", formula))
    with (archive.folder / report_id / "queries.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["tag"], row["note"]) == ("'+1", f"'{formula}")
    assert archive.remarks(report_id)[0].note == formula


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"queries": {"x": {"tag": "", "note": ""}}}', '{"schema": 9}']
)
def test_a_damaged_review_counts_as_none_but_is_not_overwritten(
    archive: Archive, text: str
) -> None:
    report_id = archive.add(report_of(System("words")))
    path = archive.folder / report_id / REVIEW
    path.write_text(text)
    assert archive.remarks(report_id) == {}
    with pytest.raises(ConfigError):
        archive.annotate(report_id, 0, Remark("x"))
    assert path.read_text() == text
    with pytest.raises(ConfigError):
        read_remarks(path.parent)


@pytest.mark.parametrize(("limit", "value"), [("MAX_REPORTS", 2), ("MAX_BYTES", 12_000)])
def test_a_full_archive_has_room_after_a_deletion(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(archive_module, limit, value)
    archive.check_room()
    archive.add(report_of(System("words")))
    archive.check_room()
    report_id = archive.add(report_of(System("words", "drop")))
    with pytest.raises(
        ConfigError,
        match=r"2 reports .*[\d.]+ [KM]B",
    ):
        archive.check_room()
    archive.delete(report_id)
    archive.check_room()


def test_what_a_killed_writer_left_is_swept_after_a_day(tmp_path: Path) -> None:
    old = tmp_path / "a" / ".table.1.2.partial.csv"
    new = tmp_path / "a" / ".table.3.4.partial.csv"
    old.parent.mkdir()
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    Archive(tmp_path)
    assert not old.exists()
    assert new.exists()


def test_a_report_deleted_while_opened_is_one_sentence(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_id = archive.add(report_of(System("words")))
    entries = archive.entries()
    # Another process deletes it once it is known.
    monkeypatch.setattr(archive, "entries", lambda: entries)
    (archive.folder / report_id).rename(archive.folder / ".deleted")
    with pytest.raises(ConfigError, match=report_id):
        archive.load(report_id)
