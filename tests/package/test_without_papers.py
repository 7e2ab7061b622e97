"""A copy of nT2VR without nt2vr/papers starts, searches, trains the paper's CLIP-bnl and CLIP-neg, and evaluates."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.conftest import free_port
from tests.support.paths import ROOT

# These tests start processes that import torch.
pytestmark = pytest.mark.slow

PATIENCE_S = 120.0
SMALL = ("num_clips=64", "batch_size=16", "epochs=1", "validation_clips=20", "warmup_steps=0")
CAPTIONS = """video_id,caption
a,a man sings and a dog runs
b,a man dances
c,a dog runs on the beach
d,a cat and a dog sleep
e,a woman sings a song
f,a man sings a song
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of the project but the papers."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("papers", "__pycache__")
    shutil.copytree(ROOT / "nt2vr", folder / "nt2vr", ignore=ignored)
    for name in ("trainer", "assets", "docs", "app.py", "README.md", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def environment(copy: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(copy), "NT2VR_DATA": str(copy / "data")}


def nt2vr(copy: Path, *arguments: str | Path) -> str:
    """Run a command of the copy, which must succeed; return what it prints."""
    command = [sys.executable, "-m", "nt2vr", *arguments]
    process = subprocess.run(
        command, cwd=copy, env=environment(copy), capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_it_searches_with_a_sentence(copy: Path) -> None:
    answer = nt2vr(copy, "search", "a dog and not a cat", "--systems", "CLIP-neg", "-k", "2")
    assert "CLIP-neg: 2 right" in answer


def test_it_searches_with_a_picture(copy: Path) -> None:
    picture = copy / "picture.png"
    Image.new("RGB", (112, 112), "green").save(picture)
    options = ("--image", picture, "--systems", "CLIP parts", "-k", "2")
    assert "CLIP parts" in nt2vr(copy, "search", "without the dog", *options)


@pytest.mark.parametrize("preset", ["clip-bnl", "clip-neg"])
def test_it_trains(copy: Path, preset: str) -> None:
    changes = []
    for change in SMALL:
        changes += ["--set", change]
    run = copy / "runs" / preset

    nt2vr(copy, "train", run, "--config", preset, *changes)

    assert (run / "checkpoints" / "epoch_001" / "nt2vr.json").is_file()


def test_it_evaluates(copy: Path) -> None:
    captions = copy / "captions.csv"
    captions.write_text(CAPTIONS)
    options = ("--data", f"words:{captions}", "--systems", "CLIP", "--out", copy / "report")

    report = nt2vr(copy, "evaluate", *options)

    assert "6 videos" in report
    assert (copy / "report" / "report.json").is_file()


@pytest.fixture
def address(copy: Path) -> Iterator[str]:
    """The address of the copy's app, which may not have started yet."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port)]
    app = subprocess.Popen(command, cwd=copy, env=environment(copy), stdout=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}/"
    app.terminate()
    app.wait()


def open_once_started(address: str) -> httpx.Response:
    """Open a page; try again until the app has started."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return httpx.get(address, timeout=PATIENCE_S)
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_its_page_opens_and_searches(address: str) -> None:
    page = open_once_started(address)
    assert page.status_code == 200
    assert "nT2VR" in page.text

    query = {"query": "a dog, no cat", "systems": ["CLIP"], "k": 2}
    answer = httpx.post(f"{address}api/search", json=query, timeout=PATIENCE_S).json()
    (system,) = answer["systems"]
    assert len(system["hits"]) == 2
