"""What Tab completes: the real program is asked as shells ask it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nt2vr.__main__ import main
from nt2vr.commands.completion import SHELLS
from tests.paths import ROOT
from tests.tiny import write_tiny


def completed(line: str, data: Path) -> list[str]:
    """Ask for completions of a line as argcomplete's shell functions do, over file descriptor 8."""
    read, write = os.pipe()
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\013",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
        "NT2VR_DATA": str(data),
        "PYTHONPATH": str(ROOT),
    }
    command = ["bash", "-c", f"exec 8>&{write} 9>/dev/null; exec {sys.executable} -m nt2vr"]
    with os.fdopen(read) as answers:
        try:
            subprocess.run(command, env=environment, cwd=data, pass_fds=[write], timeout=300, check=True)
        finally:
            os.close(write)
        return [each.strip() for each in answers.read().split("\013")]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_tiny(folder / "models" / "mine", "Mine")
    texts = {"1": '{"name": "Holiday"}', "2": "[]", "3": "{}", "4": "{", ".5.removed": '{"name": "Gone"}'}
    for library, text in texts.items():
        (folder / "libraries" / library).mkdir(parents=True)
        (folder / "libraries" / library / "library.json").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("nt2vr se", {"serve", "search"}),
        ("nt2vr library ", {"add", "update", "list", "check", "skipped", "remove", "rm"}),
        ("nt2vr library rm ", {"Holiday"}),
        ("nt2vr search x --library H", {"Holiday"}),
        ("nt2vr search x --systems Mi", {"Mine"}),
        ("nt2vr search x --systems Mine,CLIP-n", {"Mine,CLIP-neg"}),
        ("nt2vr models rm M", {"Mine"}),
        ("nt2vr models get PE-Core-B", {"PE-Core-B-16/meta"}),
        ("nt2vr train run --config clip-n", {"clip-neg"}),
        ("nt2vr evaluate --data lib", {"libraries/", "library:Holiday"}),
        ("nt2vr search x --sy", {"--systems"}),
    ],
)
def test_names_that_are_here_are_completed(line: str, found: set[str], data: Path) -> None:
    assert set(completed(line, data)) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "nt2vr" in script and "_ARGCOMPLETE" in script
