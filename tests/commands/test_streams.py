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
SPLIT = ["queries", "split", "a dog"]
COMMANDS = [["--version"], ["search", "--help"], SPLIT]

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def run(
    arguments: list[str], redirected: str, data: Path, buffered: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard streams are redirected by the shell."""
    unbuffered = "" if buffered else "1"
    environment = {**os.environ, "NT2VR_DATA": str(data), "PYTHONUNBUFFERED": unbuffered}
    shell = ["sh", "-c", f'exec "$@" {redirected}', "sh"]
    command = [*shell, sys.executable, "-m", "nt2vr", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    assert_refused(run(SPLIT, ">/dev/full", tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(("redirected", "buffered"), BAD_OUTPUT)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_one_sentence(
    arguments: list[str], redirected: str, buffered: bool, tmp_path: Path
) -> None:
    assert_refused(run(arguments, redirected, tmp_path, buffered))


def assert_refused(done: subprocess.CompletedProcess[str]) -> None:
    """Check that a command said in one line that its output cannot be written."""
    assert done.returncode == 1
    assert done.stderr.startswith("The output cannot be written (")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirected", BAD_ERRORS)
def test_errors_that_cannot_be_written_change_no_exit_status(
    redirected: str, tmp_path: Path
) -> None:
    done = run(SPLIT, redirected, tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["wanted"] == ["a dog"]
    assert run(["serch"], redirected, tmp_path).returncode == 2
    assert run(["search", "a dog", "--systems", "none"], redirected, tmp_path).returncode == 1


def test_both_can_be_closed_at_once(tmp_path: Path) -> None:
    assert run(SPLIT, ">&- 2>&-", tmp_path).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "status"), [(">/dev/full", 1), ("2>/dev/full", 0), (">&- 2>&- <&-", 1)]
)
def test_work_is_done_whatever_becomes_of_the_output(
    redirected: str, status: int, tmp_path: Path
) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text("v#enc#0 a man plays the guitar\nw#enc#0 a dog runs\n")
    sets = tmp_path / "sets"
    build = ["queries", "build", "--captions", str(captions), "--out", str(sets)]

    done = run(build, redirected, tmp_path)

    assert done.returncode == status
    assert len((sets / "negated.txt").read_text().splitlines()) == 2


def test_a_file_opened_later_is_not_standard_error(tmp_path: Path) -> None:
    code = """
import os, sys
from nt2vr.console import prepare_streams
prepare_streams()
with open(sys.argv[1], "w") as file:
    os._exit(file.fileno() > 2)
"""
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    command = [*shell, sys.executable, "-c", code, str(tmp_path / "file")]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == 1
