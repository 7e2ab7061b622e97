"""What tests of several rooms share: videos made on the spot, and the running app."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.settings import prepare_environment
from tests.paths import ROOT

prepare_environment()  # before any test imports torch


@pytest.fixture
def write_video(tmp_path: Path) -> Callable[..., Path]:
    """Return `write(name, levels, side=32)`: a video with one grey frame for each level, coded as its ending says."""
    codecs = {".avi": "MJPG", ".mp4": "mp4v", ".webm": "VP90"}

    def write(name: str, levels: list[int], side: int = 32) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*codecs[path.suffix]), 12, (side, side))
        for level in levels:
            frame: NDArray[np.uint8] = np.full((side, side, 3), level, np.uint8)
            writer.write(frame)
        writer.release()
        return path

    return write


@pytest.fixture(scope="session")
def gallery_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose cache all tests of the shipped gallery share, so that it is embedded once."""
    return tmp_path_factory.mktemp("gallery_data")


@dataclass(frozen=True)
class RunningApp:
    """The app as a person starts it: `python app.py`, a process of its own."""

    url: str
    log: Path
    data: Path


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def running_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Start the app once for all tests, with caches of its own."""
    with run_app(tmp_path_factory.mktemp("app"), free_port()) as app:
        yield app


@contextmanager
def run_app(folder: Path, port: int, **environment: str) -> Iterator[RunningApp]:
    """Start the app with its data in a folder; it must end when told to."""
    command = [sys.executable, "app.py", "--port", str(port), "--data-dir", str(folder / "data")]
    app = RunningApp(f"http://127.0.0.1:{port}/", folder / "app.log", folder / "data")
    env = {**os.environ, **environment}
    with app.log.open("a") as log, subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=env) as process:
        try:
            _wait_for(app, process)
            yield app
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait_for(app: RunningApp, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            httpx.get(app.url)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail(f"The app did not start:\n{app.log.read_text()}")
