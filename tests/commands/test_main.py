"""The command line itself: which command is run, how each is refused, and how each ends."""

import subprocess
import sys

import pytest

from nt2vr import cli
from nt2vr.cli import main
from nt2vr.errors import ConfigError
from nt2vr.settings import Settings, project_version
from tests.support.paths import ROOT

PYTHON = [sys.executable, "-m", "nt2vr"]
COMMANDS = "covr evaluate import library match models publish pull push queries search serve sweep train".split()


@pytest.mark.parametrize(
    ("arguments", "port"),
    [([], None), (["--port", "8000"], 8000), (["serve", "--port", "8000"], 8000)],
    ids=["nothing", "flags alone", "serve"],
)
def test_without_another_command_the_app_is_opened(
    arguments: list[str], port: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: list[int | None] = []

    def serve(settings: Settings, mcp: bool) -> None:
        ports.append(settings.port)

    monkeypatch.setattr("nt2vr.ui.page.serve", serve)
    assert main(arguments) == 0
    assert ports == [port]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    by_flag = capsys.readouterr().out
    assert main(["help", command]) == 0
    by_command = capsys.readouterr().out

    assert by_flag == by_command
    assert by_flag.startswith(f"Usage: nt2vr {command} ")


def test_the_version_by_every_usual_name(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("-V", "--version"):
        assert main([flag]) == 0
        assert capsys.readouterr().out == f"nT2VR {project_version()}\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["serch"], 'Did you mean "search"?'),
        (["search", "a dog", "--sytems", "CLIP"], "Did you mean --systems?"),
        (["search", "a dog", "-k", "many"], 'unable to convert "many" into int'),
        (["library", "lst"], 'Did you mean "list"?'),
        (["evaluate", "--split", "tset"], 'Did you mean "test"?'),
        (["train"], "RUN_FOLDER requires an argument"),
    ],
)
def test_a_misuse_is_one_line_with_a_correction(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("nt2vr")
    assert error in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [(ConfigError("It cannot be so."), 1, "It cannot be so.\n"), (KeyboardInterrupt(), 130, "")],
)
def test_no_command_ends_in_a_traceback(
    error: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: list[str]) -> None:
        raise error

    monkeypatch.setattr("nt2vr.negation.generate.build.split", fail)
    assert main(["queries", "split", "a dog"]) == status
    assert capsys.readouterr().err == message


def test_names_of_files_do_not_reach_the_terminal_raw(capsys: pytest.CaptureFixture[str]) -> None:
    cli._say("a\x1b[31m\u202eb\nc\td")
    assert capsys.readouterr().out == "a\\x1b[31m\\u202eb\\nc\td\n"


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
    assert process.returncode == 141
    assert errors == ""


def test_input_that_is_no_text_is_read_all_the_same() -> None:
    result = subprocess.run(
        [*PYTHON, "queries", "split"], cwd=ROOT, input=b"a d\xffg\n", capture_output=True
    )
    assert result.returncode == 0
    assert result.stderr == b""


HELP = """
import sys
from nt2vr.cli import main
main(["--help"])
main(["search", "--help"])
large = {"torch", "gradio", "numpy", "trainer", "pydantic", "cv2", "faiss"}
print(sorted(large & sys.modules.keys()), file=sys.stderr)
"""


def test_help_is_shown_without_the_libraries_that_commands_run_with() -> None:
    result = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, capture_output=True, text=True)
    assert result.stderr == "[]\n"
    for command in COMMANDS:
        assert f"│ {command} " in result.stdout
