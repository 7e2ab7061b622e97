"""`nt2vr queries`: query sets from captions, and sentences split into their parts."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.paths import ROOT


def build(captions: Path, out: Path) -> int:
    """Write query sets of a file of captions; return the exit status."""
    return main(["queries", "build", "--captions", str(captions), "--out", str(out)])


def test_query_sets_are_written_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text("v#enc#0 a man plays the guitar\nw#enc#0 a dog runs\n")
    out = tmp_path / "new" / "sets"

    assert build(captions, out) == 0

    printed = capsys.readouterr()
    counts = json.loads(printed.out)
    assert counts["videos"] == 2
    assert counts["original"] == 2
    assert counts["negated"] == 2
    assert counts["composed"] == 0
    assert "A and not B" in printed.err
    assert len((out / "negated.txt").read_text().splitlines()) == 2


# A command of somebody whom the system gives no home folder.
HOMELESS = """
import os, pwd, sys
def unknown(uid):
    raise KeyError(uid)
os.environ.pop("HOME", None)
pwd.getpwuid = unknown
from nt2vr.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_user_without_a_home_folder_writes_query_sets(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("v#enc#0 a man plays the guitar\n")
    flags = ["--captions", str(tmp_path / "captions.txt"), "--out", str(tmp_path / "sets")]
    command = [sys.executable, "-c", HOMELESS, "queries", "build", *flags]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "sets" / "negated.txt").is_file()


@pytest.mark.parametrize(
    ("captions", "out", "message"),
    [
        ("none.txt", "out", "none.txt"),
        ("captions.txt", "captions.txt", "captions.txt cannot be written to. Name another folder."),
        (
            "captions.txt",
            "captions.txt/out",
            "captions.txt/out cannot be written to. Name another folder.",
        ),
    ],
)
def test_a_path_that_cannot_be_used_gets_one_sentence(
    tmp_path: Path, captions: str, out: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "captions.txt").write_text("v#enc#0 a dog\n")

    assert build(tmp_path / captions, tmp_path / out) == 1

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_sentence_is_split(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["queries", "split", "a man sings and doesn’t dance"]) == 0  # noqa: RUF001 (as phones type it)
    assert json.loads(capsys.readouterr().out) == {
        "text": "a man sings and doesn’t dance",  # noqa: RUF001
        "wanted": ["a man sings"],
        "unwanted": ["dance"],
    }


def test_each_line_of_stdin_is_split(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a beach, no people\na dog\n"))
    assert main(["queries", "split"]) == 0
    beach, dog = map(json.loads, capsys.readouterr().out.splitlines())
    assert beach["unwanted"] == ["people"]
    assert dog["unwanted"] == []


def test_one_overlong_line_does_not_stop_those_after_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"a beach\n{'x' * 1001}\na dog, no cat\n"))
    assert main(["queries", "split"]) == 0
    first, overlong, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["wanted"] == ["a beach"]
    assert last["unwanted"] == ["cat"]
    assert overlong["wanted"] == []
    assert overlong["unwanted"] == []
    assert overlong["error"].startswith("The query has 1,001 characters")


def test_a_closed_stdin_holds_no_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert main(["queries", "split"]) == 0
    assert capsys.readouterr().out == ""
