"""Rows of any type and shape survive kills and other writers; damage and full disks are `test_embeddings`'s."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.media.rows import Rows
from tests.support.paths import ROOT

# The shape of frames, 1.5 KB.
SHAPE = (2, 16, 16, 3)

WRITE = """
import sys, numpy as np
from pathlib import Path
from nt2vr.media.rows import Rows
folder, first, last, *shape = sys.argv[1:]
shape = tuple(map(int, shape))
file = Rows(Path(folder), np.uint8, shape)
print("ready", flush=True)
for number in range(int(first), int(last)):
    batch = range(number, number + 3)  # overlapping batches
    rows = np.stack([np.full(shape, each % 251 + 1, np.uint8) for each in batch])
    file.append([f"clip {each}" for each in batch], rows)
"""


def opened(folder: Path) -> Rows[Any]:
    return Rows(folder, np.uint8, SHAPE)


def is_right(folder: Path, count: int) -> bool:
    """Whether the file has the rows of these clips, in the order of writing, and nothing else."""
    file = opened(folder)
    numbers = np.arange(count)
    assert file.rows().shape == (len(file), *SHAPE)
    values = file.rows()[file.find(f"clip {number}" for number in numbers)].reshape(
        count, math.prod(SHAPE)
    )
    return len(file) == count and bool((values == (numbers % 251 + 1)[:, None]).all())


def start_writer(folder: Path, first: int, last: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITE, str(folder), str(first), str(last), *map(str, SHAPE)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    last = 0
    for attempt in range(4):
        with start_writer(tmp_path, last, last + 100_000) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            deadline_s = time.monotonic() + 30
            while len(opened(tmp_path)) < last + 4 and time.monotonic() < deadline_s:
                time.sleep(0.002)
            time.sleep(0.013 * attempt)
            writer.send_signal(signal.SIGKILL)
        count = len(opened(tmp_path))
        assert count >= last
        assert is_right(tmp_path, count)
        last = count
    assert last > 10


@pytest.mark.slow
def test_two_writers_store_each_row_once(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 120) for first in (0, 40)]
    for writer in writers:
        assert (writer.communicate(timeout=60)[1], writer.returncode) == ("", 0)
    file = opened(tmp_path)
    rows = file.find(f"clip {number}" for number in range(122))
    assert len(file) == 122
    assert sorted(rows.tolist()) == list(range(122))
    assert (file.rows()[rows].reshape(122, -1) == np.arange(1, 123)[:, None]).all()


def test_rows_added_while_keys_are_read_are_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = opened(tmp_path)
    rows = np.ones((1, *SHAPE), np.uint8)
    fstat = os.fstat
    writer.append(["first"], rows)

    def late(number: int) -> os.stat_result:
        monkeypatch.undo()
        writer.append(["second"], rows)
        return fstat(number)

    monkeypatch.setattr(os, "fstat", late)
    opened(tmp_path).append(["second"], rows)
    assert len(opened(tmp_path)) == 2
