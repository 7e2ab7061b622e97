"""The dispatcher: which command is run, and how each of them ends."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from nt2vr.__main__ import COMMANDS, main
from nt2vr.commands import queries, serve
from nt2vr.errors import ConfigError
from nt2vr.settings import project_version
from tests.paths import ROOT

PYTHON = [sys.executable, "-m", "nt2vr"]


@pytest.mark.parametrize(
    ("arguments", "port"),
    [([], None), (["--port", "8000"], 8000), (["serve", "--port", "8000"], 8000)],
    ids=["nothing", "flags alone", "serve"],
)
def test_without_another_command_the_app_is_opened(
    arguments: list[str], port: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = []

    def run(options: Namespace) -> int:
        ports.append(options.port)
        return 0

    monkeypatch.setattr(serve, "run", run)
    assert main(arguments) == 0
    assert ports == [port]


def test_train_is_passed_on_to_the_trainer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(tmp_path / "run"), "--set", "epochs=2"]) == 2
    assert "Name its --config too." in capsys.readouterr().err
    assert main(["train", str(tmp_path / "run"), "--config", "clip-neg", "--set", "epochs=0"]) == 2
    assert capsys.readouterr().err == "epochs must be at least 1, not 0.\n"  # a preset, by its name
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    assert capsys.readouterr().out.startswith("usage: nt2vr train ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: nt2vr {command} ")


@pytest.mark.parametrize(
    ("arguments", "usage", "error"),
    [
        (["serch"], "usage: nt2vr [", "Did you mean 'search'?"),
        (["xyz"], "usage: nt2vr [", "invalid choice: 'xyz'"),
        (["search", "a dog", "--sytems", "CLIP"], "usage: nt2vr search [", "--sytems CLIP. Did you mean '--systems'?"),
        (["library", "lst"], "usage: nt2vr library [", "Did you mean 'list'?"),
        (["library", "list", "--jsn"], "usage: nt2vr library list [", "Did you mean '--json'?"),
        (["train"], "usage: nt2vr train [", "required: run_folder"),
    ],
)
def test_an_error_shows_its_own_command_and_a_correction(
    arguments: list[str], usage: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith(usage) and error in shown


def test_help_and_version_by_every_usual_name(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for arguments in (["--help"], ["help"], ["search", "--help"], ["help", "search"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
        shown[" ".join(arguments)] = capsys.readouterr().out
    assert shown["help"] == shown["--help"] and shown["help search"] == shown["search --help"]
    for flag in ("-V", "--version"):
        assert main([flag]) == 0
        assert capsys.readouterr().out == f"nT2VR {project_version()}\n"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [(ConfigError("It cannot be so."), 2, "It cannot be so.\n"), (KeyboardInterrupt(), 130, "")],
)
def test_no_command_ends_in_a_traceback(
    error: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(options: Namespace) -> int:
        raise error

    monkeypatch.setattr(queries, "run", fail)
    assert main(["queries", "split"]) == status
    assert capsys.readouterr().err == message


def test_a_reader_that_closes_its_pipe_ends_the_command_silently() -> None:
    with subprocess.Popen(
        [*PYTHON, "queries", "split"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        process.stdout.close()
        _, errors = process.communicate("a dog\n" * 5, timeout=120)
    assert (process.returncode, errors) == (141, "")


def test_input_that_is_no_text_is_read_all_the_same() -> None:
    result = subprocess.run([*PYTHON, "queries", "split"], cwd=ROOT, input=b"a d\xffg\n", capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")


def test_the_list_of_commands_is_shown_without_importing_them() -> None:
    code = """
import sys
from nt2vr.__main__ import main
try:
    main(["--help"])
except SystemExit:
    large = {"torch", "gradio", "numpy", "trainer", "logging", "importlib.metadata", "nt2vr.settings"}
    found = large & sys.modules.keys()
    sys.exit(f"imported: {found}" if found else 0)
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert all(f"  {command} " in result.stdout for command in COMMANDS)


def test_the_flags_of_commands_are_read_without_the_libraries_that_they_run_with() -> None:
    code = """
import sys
from nt2vr.__main__ import COMMANDS, _parser
for command in COMMANDS:
    if command != "sweep":  # its table has the columns of evaluation reports
        _parser(command)
sys.exit(str({"torch", "gradio", "cv2", "faiss", "diskcache"} & sys.modules.keys() or 0))
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.stderr == "0\n"
