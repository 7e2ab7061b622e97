"""The dispatcher: which command is run, and how each of them ends."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from nt2vr.__main__ import COMMANDS, main
from nt2vr.commands import queries, serve
from nt2vr.errors import ConfigError
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


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["seek"])
    assert stopped.value.code == 2
    assert "invalid choice: 'seek'" in capsys.readouterr().err


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
    large = {"torch", "gradio", "numpy", "trainer", "nt2vr.commands"} & sys.modules.keys()
    sys.exit(f"imported: {large}" if large else 0)
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert all(f"  {command} " in result.stdout for command in COMMANDS)
