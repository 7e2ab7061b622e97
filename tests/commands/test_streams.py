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
    # Python takes any text but "" for yes.
    unbuffered = "" if buffered else "1"
    environment = {**os.environ, "NT2VR_DATA": str(data), "PYTHONUNBUFFERED": unbuffered}
    shell = ["sh", "-c", f'exec "$@" {redirected}', "sh"]
    command = [*shell, sys.executable, "-m", "nt2vr", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def assert_refused(result: subprocess.CompletedProcess[str]) -> None:
    """Check that a command said in one line that its output cannot be written."""
    assert result.returncode == 1
    assert result.stderr.startswith("The output cannot be written (")
    assert result.stderr.count("\n") == 1


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    assert_refused(run(SPLIT, ">/dev/full", tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(("redirected", "buffered"), BAD_OUTPUT)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_one_sentence(
    arguments: list[str], redirected: str, buffered: bool, tmp_path: Path
) -> None:
    assert_refused(run(arguments, redirected, tmp_path, buffered))


@pytest.mark.slow
@pytest.mark.parametrize("redirected", BAD_ERRORS)
def test_errors_that_cannot_be_written_change_no_exit_status(
    redirected: str, tmp_path: Path
) -> None:
    split = run(SPLIT, redirected, tmp_path)
    assert split.returncode == 0
    assert json.loads(split.stdout)["wanted"] == ["a dog"]

    misuse = run(["serch"], redirected, tmp_path)
    assert misuse.returncode == 2

    mistake = run(["search", "a dog", "--systems", "none"], redirected, tmp_path)
    assert mistake.returncode == 1


def test_both_can_be_closed_at_once(tmp_path: Path) -> None:
    result = run(SPLIT, ">&- 2>&-", tmp_path)
    assert result.returncode == 1


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

    result = run(build, redirected, tmp_path)

    assert result.returncode == status
    assert len((sets / "negated.txt").read_text().splitlines()) == 2


# Exits with the number that the next file gets, of which the standard streams have 0 to 2.
OPEN_A_FILE = """
import os, sys
from nt2vr.console import prepare_streams
prepare_streams()
with open(sys.argv[1], "w") as file:
    os._exit(file.fileno())
"""


def test_a_file_opened_later_is_not_standard_error(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    command = [*shell, sys.executable, "-c", OPEN_A_FILE, str(tmp_path / "file")]
    result = subprocess.run(command, cwd=ROOT, timeout=60)
    assert result.returncode > 2
