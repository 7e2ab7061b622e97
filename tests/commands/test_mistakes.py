"""Mistakes on the command line are answered in one sentence, with an exit code and no traceback."""

import contextlib
import io
import os
import shlex
from pathlib import Path
from unittest.mock import patch

import pytest

from nt2vr.__main__ import main as nt2vr

FILES = {  # in the folder in which the mistakes are made
    "notes.txt": b"a dog\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\xff\xd8",
    "broken.json": b"{",
    "keys.json": b'{"epoch": 3}',
    "damaged.pt": b"no weights",
    "one.txt": b"a#enc#0 a dog runs\n",
    "films/notes.txt": b"no film",
}
MISTAKES = (
    "nt2vr serch dog",
    "nt2vr search",
    'nt2vr search ""',
    'nt2vr search "a dog" --sytems CLIP',
    'nt2vr search "a dog" --systems CLIP-ngr',
    'nt2vr search "a dog" --systems "CLIP bolean"',
    'nt2vr search "a dog" --systems "CLIP boolean x"',
    'nt2vr search "a dog" -k many',
    'nt2vr search "a dog" -k 0',
    'nt2vr search "a dog" --library Holiday',
    'nt2vr search "a dog" --image none.png',
    'nt2vr search "a dog" --image notes.txt',
    'nt2vr search "a dog" --alpha 50',
    'nt2vr search "a dog" --device gpu',
    "nt2vr models list --data-dir notes.txt",
    "nt2vr --port 99999",
    "nt2vr evaluate --data wrld",
    "nt2vr evaluate --data empty",
    "nt2vr evaluate --data library:Holiday",
    "nt2vr evaluate --clips 0",
    "nt2vr evaluate --split tset",
    "nt2vr evaluate --out notes.txt/report",
    "nt2vr library lst",
    "nt2vr library add nowhere --name Films",
    "nt2vr library add empty --name Films",
    "nt2vr library add notes.txt --name Films",
    "nt2vr library add films",
    "nt2vr library add films --name Films --window 0.1",
    "nt2vr library update Holiday",
    "nt2vr models get ViT-B-32/opanai",
    "nt2vr models rm CLIP",
    "nt2vr import none.pt",
    "nt2vr import notes.txt",
    "nt2vr import damaged.pt",
    "nt2vr train run",
    "nt2vr train run --config clip-bln",
    "nt2vr train run --config broken.json",
    "nt2vr train run --config keys.json",
    "nt2vr train run --config clip-neg --set epochs=0",
    "nt2vr train run --config clip-neg --set base=CLIP-neq",
    "nt2vr train run --config clip-neg --set epochs",
    "nt2vr sweep clip-neg --grid seed=",
    "nt2vr queries build --captions none.txt --out queries",
    "nt2vr queries build --captions picture.png --out queries",
    "nt2vr queries build --captions one.txt --out queries",
    "nt2vr push CLIP clip",
    "nt2vr push CLIP me/clip",
    "nt2vr publish space",
    "nt2vr publish space --folder films",
    "nt2vr completion tcsh",
)


def prepare(folder: Path) -> None:
    """Write the files, and an empty folder."""
    (folder / "empty").mkdir()
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def answer(typed: str, folder: Path) -> tuple[str, int]:
    """Type a command in the folder; return the last line on standard error, and the exit code."""
    told, environment = io.StringIO(), {"NT2VR_DATA": str(folder / "data"), "COLUMNS": "200"}
    changed = {**{name: value for name, value in os.environ.items() if name != "HF_TOKEN"}, **environment}
    with (
        contextlib.chdir(folder),
        patch.dict(os.environ, changed, clear=True),
        patch("huggingface_hub.constants.HF_TOKEN_PATH", str(folder / "token")),
        contextlib.redirect_stderr(told),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            status = nt2vr(shlex.split(typed)[1:])
        except SystemExit as stopped:  # argparse
            status = int(str(stopped.code))
    lines = told.getvalue().strip().splitlines()
    return (lines or [""])[-1].replace(f"{folder}/", "").replace(str(folder), "."), status


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes").resolve()
    prepare(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("typed", MISTAKES)
def test_a_mistake_is_answered_in_one_sentence(typed: str, folder: Path) -> None:
    told, status = answer(typed, folder)
    assert status in (0, 2) and told and "Traceback" not in told and "Errno" not in told
