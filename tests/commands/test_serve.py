"""`nt2vr serve`: an address that cannot be used. What it serves is tested in tests/app and tests/browser."""

import socket
from pathlib import Path

import pytest
from gradio import processing_utils, route_utils
from gradio.mcp import GradioMCPServer

from nt2vr.cli import main


@pytest.mark.parametrize(
    "flags",
    [
        ["--port", "99999"],
        ["--port", "-1"],
        ["--host", "not an address"],
        ["--host", "203.0.113.1"],
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *flags]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"Cannot listen on {flags[1]} (")
    assert error.count("\n") == 1


def test_a_port_that_is_taken_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        _address, number = server.getsockname()
        port = str(number)
        assert main(["--port", port]) == 1
    assert capsys.readouterr().err.startswith(f"Cannot listen on {port} (")


@pytest.fixture
def restored_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore what a page changes in Gradio when it is built."""
    download = processing_utils.async_ssrf_protected_download
    monkeypatch.setattr(processing_utils, "async_ssrf_protected_download", download)
    parser = route_utils.GradioMultiPartParser
    monkeypatch.setattr(route_utils, "GradioMultiPartParser", parser)


@pytest.mark.usefixtures("restored_gradio")
def test_agents_need_a_package_and_the_command_says_which(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.delattr(GradioMCPServer, "StreamableHTTPSessionManager", raising=False)
    assert main(["serve", "--mcp", "--data-dir", str(tmp_path)]) == 1
    assert "pip install 'nt2vr[mcp]'" in capsys.readouterr().err


@pytest.mark.usefixtures("restored_gradio")
@pytest.mark.parametrize("name", ["GRADIO_SERVER_PORT", "GRADIO_TEMP_DIR"])
def test_a_variable_that_cannot_be_used_is_one_sentence(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(name, str(tmp_path / "file" / "folder"))
    assert main(["serve", "--data-dir", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert name in error
    assert error.count("\n") == 1
