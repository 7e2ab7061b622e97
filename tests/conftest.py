"""Fixtures shared by several packages' tests: synthesised videos and the running app."""

import atexit
import gc
import logging
import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray
from xdist.scheduler import LoadScopeScheduling

import nt2vr
from nt2vr.evaluation.jobs import READY_MARK
from nt2vr.media.decode import Decoder
from nt2vr.settings import prepare_environment
from nt2vr.ui import quickly_imported
from tests.support.kept_children import KeptChildren
from tests.support.paths import ROOT

# Until all modules are imported, nothing of them is garbage.
gc.disable()
# This comes before any test imports torch.
prepare_environment()
if "PYTEST_XDIST_WORKER" in os.environ:
    # The workers share the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.cpu_count = lambda: 1
    # Without bytecode each worker would rewrite the assertions of all modules anew, which takes 2.6 s.
    sys.dont_write_bytecode = False
    # Freeing all modules takes a second.
    atexit.register(os._exit, 0)
    with quickly_imported():
        import gradio  # noqa: F401
# httpx reads all certificates for each client, which takes .03 s
ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]

# Headers of somebody behind a proxy.
STRANGER = {"X-Forwarded-For": "203.0.113.7"}
# Gradio's own traceback in an app that is told to be on a Space.
WITHOUT_SPACES = "`spaces` package is required"


class OneAppScheduling(LoadScopeScheduling):  # type: ignore[misc]  # untyped
    """Gives each module's tests to one worker, and all those of the running app to the same.

    Where slow tests run, too, there is an app per worker: its start takes less time than all of
    them at one app.
    """

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        is_of_app = module.startswith(("tests/app/", "tests/browser/"))
        shares_app = "not slow" in self.config.option.markexpr
        return "the app" if is_of_app and shares_app else module


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One per core: more would spend on imports what they gain while the app's tests wait."""
    return os.cpu_count() or 1


def pytest_collection_finish() -> None:
    """Let neither collections of garbage, which would go through all modules, nor loggers take 5 % of the time."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()
    for name in [*logging.Logger.manager.loggerDict]:
        # pytest adds a handler per test to each of torch's 60 that do not.
        logging.getLogger(name).propagate = True


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneAppScheduling:
    return OneAppScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def kept_children() -> Iterator[KeptChildren]:
    with pytest.MonkeyPatch.context() as patch:
        children = KeptChildren(patch)
        yield children
        children.close()


@pytest.fixture(autouse=True)
def _new_children(kept_children: KeptChildren, request: pytest.FixtureRequest) -> None:
    """Start children anew where their start and end are what is tested."""
    kept_children.is_on = request.node.path.parent.name != "media"


@pytest.fixture
def write_video(tmp_path: Path) -> Callable[..., Path]:
    """Return `write(name, levels, side=32)`: a video of one grey frame per level; its suffix decides the codec."""
    codecs = {".avi": "MJPG", ".mp4": "mp4v", ".webm": "VP90"}

    def write(name: str, levels: list[int], side: int = 32) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = cv2.VideoWriter(
            str(path), cv2.VideoWriter.fourcc(*codecs[path.suffix]), 12, (side, side)
        )
        for level in levels:
            frame: NDArray[np.uint8] = np.full((side, side, 3), level, np.uint8)
            writer.write(frame)
        writer.release()
        return path

    return write


@pytest.fixture(scope="session")
def decoder() -> Iterator[Decoder]:
    """One child for all tests, as it takes .2 s to start; tests of how children end have a decoder of their own."""
    with Decoder(num_workers=1, timeout_s=60) as decoder:
        yield decoder


@pytest.fixture(scope="session")
def gallery_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose cache all tests of the shipped gallery share; the first process embeds it, others wait."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        # Each worker has a folder in that of the run.
        shared = shared.parent
    folder = shared / "gallery_data"
    folder.mkdir(exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "embeddings").exists():
            with nt2vr.open_searcher(folder) as searcher:
                searcher.search("a dog", ["CLIP"], k=1)
    return folder


@dataclass(frozen=True)
class RunningApp:
    """`python app.py` in a process of its own."""

    url: str
    log: Path
    data: Path
    process: "subprocess.Popen[bytes]"


# An app offers tools to agents where the package for them is installed.
AGENT_FLAGS = ["--mcp"] if find_spec("mcp") else []


@pytest.fixture(scope="session")
def running_app(
    tmp_path_factory: pytest.TempPathFactory, gallery_data: Path
) -> Iterator[RunningApp]:
    """Start the app once, with tools for agents and a new data folder; tests leave no runs, models or reports."""
    with run_app(tmp_path_factory.mktemp("app"), gallery_data / "cache", flags=AGENT_FLAGS) as app:
        yield app


def free_port() -> int:
    """Return a port that the system gives to nobody who asks for any, and no other worker to an app that starts."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        # Below Linux's net.ipv4.ip_local_port_range.
        port = 10_000 + secrets.randbelow(2_500) * 8 + worker % 8
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


@contextmanager
def run_app(
    folder: Path,
    cache: Path | None = None,
    port: int = 0,
    flags: Sequence[str] = (),
    program: Sequence[str] = ("app.py",),
    **environment: str,
) -> Iterator[RunningApp]:
    """Start the app with its data and home in `folder`, and end it after the block; it must log no traceback.

    Args:
        folder: new, or of another app, which shares its data.
        cache: another app's, which is used with the embeddings beside it, so that the gallery is
            embedded once.
        port: 0 takes a free one.
        flags: further ones, such as --mcp.
        program: what Python runs instead of app.py, and its first arguments.
        environment: variables to set.
    """
    if port == 0:
        port = free_port()
    data = folder / "data"
    path = folder / "app.log"
    (data / "evaluation").mkdir(parents=True, exist_ok=True)
    # Its report would be opened instead of the form.
    (data / "evaluation" / READY_MARK).touch()
    if cache is not None:
        for shared in (cache, cache.with_name("embeddings")):
            if not (data / shared.name).exists():
                shared.mkdir(exist_ok=True)
                (data / shared.name).symlink_to(shared)
    command = [sys.executable, *program, "--port", str(port), "--data-dir", str(data), *flags]
    env = {**os.environ, "HOME": str(folder), "PYTHONUNBUFFERED": "1", **environment}
    with (
        path.open("w") as log,
        subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=env) as process,
    ):
        app = RunningApp(f"http://127.0.0.1:{port}/", path, data, process)
        try:
            _wait_for(app)
            yield app
            logged = path.read_text(encoding="utf-8")
            last_traceback = logged[logged.rfind("Traceback") :]
            assert logged.count("Traceback") == logged.count(WITHOUT_SPACES), last_traceback
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait_for(app: RunningApp) -> None:
    # A busy machine is slow, not wrong.
    deadline = time.monotonic() + 300
    while app.process.poll() is None and time.monotonic() < deadline:
        # Not only another program at its port.
        if "Running on local URL" in app.log.read_text(encoding="utf-8"):
            return
        time.sleep(0.1)
    pytest.fail(f"The app did not start:\n{app.log.read_text()}")
