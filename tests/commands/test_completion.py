"""What Tab completes: asked as shells ask it, the real program twice, and otherwise in this process."""

import os
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path

import argcomplete
import pytest
from argcomplete.finders import CompletionFinder

from nt2vr.__main__ import main
from nt2vr.commands.completion import SHELLS
from tests.paths import ROOT
from tests.tiny import write_tiny


class InProcess(CompletionFinder):
    def _init_debug_stream(self) -> None:
        """Leave file descriptor 9 alone, which may be another's here."""


def environment(line: str, data: Path) -> dict[str, str]:
    """Tell what a shell sets when Tab is pressed at the end of a line."""
    return {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\013",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
        "NT2VR_DATA": str(data),
    }


def names_in(answer: str) -> set[str]:
    return {each.strip() for each in answer.split("\013")}


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
        ("nt2vr library ", {"add", "update", "list", "check", "skipped", "remove", "rm"}),
        ("nt2vr library rm ", {"Holiday"}),
        ("nt2vr search x --library H", {"Holiday"}),
        ("nt2vr search x --systems Mi", {"Mine"}),
        ("nt2vr models rm M", {"Mine"}),
        ("nt2vr models get PE-Core-B", {"PE-Core-B-16/meta"}),
        ("nt2vr train run --config clip-n", {"clip-neg"}),
        ("nt2vr evaluate --data lib", {"libraries/", "library:Holiday"}),
        ("nt2vr search x --sy", {"--systems"}),
    ],
)
def test_names_that_are_here_are_completed(
    line: str, found: set[str], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(line, data).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(data)
    answer = StringIO()
    answering = partial(InProcess(), exit_method=sys.exit, output_stream=answer)
    monkeypatch.setattr(argcomplete, "autocomplete", answering)
    with pytest.raises(SystemExit):
        main([])
    assert names_in(answer.getvalue()) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [("nt2vr se", {"serve", "search"}), ("nt2vr search x --systems Mine,CLIP-n", {"Mine,CLIP-neg"})],
)
def test_the_program_answers_a_shell(line: str, found: set[str], data: Path) -> None:
    """Over file descriptor 8, as argcomplete's shell functions ask."""
    read, write = os.pipe()
    command = ["bash", "-c", f"exec 8>&{write} 9>/dev/null; exec {sys.executable} -m nt2vr"]
    variables = {**os.environ, **environment(line, data), "PYTHONPATH": str(ROOT)}
    with os.fdopen(read) as answers:
        try:
            subprocess.run(command, env=variables, cwd=data, pass_fds=[write], timeout=300, check=True)
        finally:
            os.close(write)
        assert names_in(answers.read()) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "nt2vr" in script and "_ARGCOMPLETE" in script
