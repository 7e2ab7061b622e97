"""Standard output and standard error that cannot be written: no traceback, and no work is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FULL = Path("/dev/full")
# A closed output has no buffer.
BAD_OUTPUT = [(">/dev/full", True), (">/dev/full", False), (">&-", True)]
BAD_ERRORS = ["2>/dev/full", "2>&-"]
# The version, a help text, and what a command prints.
COMMANDS = [
    ["--version"],
    ["search", "--help"],
    ["queries", "split", "a dog"],
]

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def run(
    arguments: list[str], redirected: str, data: Path, buffered: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard streams are redirected by the shell."""
    environment = {
        **os.environ,
        "NT2VR_DATA": str(data),
        "PYTHONUNBUFFERED": "" if buffered else "1",
    }
    command = [
        "sh",
        "-c",
        f'exec "$@" {redirected}',
        "sh",
        sys.executable,
        "-m",
        "nt2vr",
        *arguments,
    ]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize(("redirected", "buffered"), BAD_OUTPUT)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_one_sentence(
    arguments: list[str], redirected: str, buffered: bool, tmp_path: Path
) -> None:
    result = run(arguments, redirected, tmp_path, buffered)
    assert result.returncode == 1
    assert result.stderr.startswith("The output cannot be written (")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirected", BAD_ERRORS)
def test_errors_that_cannot_be_written_change_no_exit_status(
    redirected: str, tmp_path: Path
) -> None:
    done = run(["queries", "split", "a dog"], redirected, tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["wanted"] == ["a dog"]
    assert run(["serch"], redirected, tmp_path).returncode == 2
    assert run(["search", "a dog", "--systems", "none"], redirected, tmp_path).returncode == 1


def test_both_can_be_closed_at_once(tmp_path: Path) -> None:
    assert run(["queries", "split", "a dog"], ">&- 2>&-", tmp_path).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirected", [">/dev/full", "2>/dev/full", ">&- 2>&- <&-"])
def test_work_is_done_whatever_becomes_of_the_output(redirected: str, tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("v#enc#0 a man plays the guitar\nw#enc#0 a dog runs\n")
    sets = tmp_path / "sets"
    result = run(
        ["queries", "build", "--captions", str(tmp_path / "captions.txt"), "--out", str(sets)],
        redirected,
        tmp_path,
    )
    assert result.returncode == int(redirected not in BAD_ERRORS)
    assert len((sets / "negated.txt").read_text().splitlines()) == 2


def test_a_file_opened_later_is_not_standard_error(tmp_path: Path) -> None:
    code = """
import os, sys
from nt2vr.console import prepare_streams
prepare_streams()
with open(sys.argv[1], "w") as file:
    os._exit(file.fileno() > 2)
"""
    command = [
        "sh",
        "-c",
        'exec "$@" <&- >&- 2>&-',
        "sh",
        sys.executable,
        "-c",
        code,
        str(tmp_path / "file"),
    ]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == 1
