"""Damaged files of every kind: a value or one sentence, in bounded time and memory.

`NT2VR_FUZZ_SEEDS=200 pytest -m slow tests/unit/test_fuzzed_files.py` tries more of them.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from nt2vr.errors import MediaError
from nt2vr.media.decode import Decoder
from nt2vr.models.framing import Framing
from nt2vr.models.spawn import run_limited
from nt2vr.progress import silent
from tests.fuzz import MAX_BYTES, READERS, damaged, peak_bytes, try_all

SEEDS = int(os.environ.get("NT2VR_FUZZ_SEEDS", "20"))
WALL_S = 10.0  # of a film, in a child of its own on a busy machine
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks of memory are read from /proc"),
]


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_a_value_or_one_sentence(reader: str) -> None:
    timeout_s = 60.0 + 2 * SEEDS
    assert run_limited(try_all, reader, SEEDS, memory_bytes=8 << 30, timeout_s=timeout_s, progress=silent) == []


def children() -> set[int]:
    """List the child processes of this one."""
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text().split()}


@pytest.mark.parametrize("name", ["a.avi", "a.mp4", "a.webm"])
def test_a_damaged_film_is_frames_or_one_sentence(tmp_path: Path, write_video: Callable[..., Path], name: str) -> None:
    content = write_video(name, [20 * i for i in range(12)], side=64).read_bytes()
    others = children()  # such as the app of other tests
    with Decoder(num_workers=1, timeout_s=WALL_S) as decoder:
        decoder.probe(tmp_path / name).result()
        for seed in range(SEEDS):
            (tmp_path / name).write_bytes(damaged(content, Random(seed)))
            start_s = time.monotonic()
            for job in (decoder.probe(tmp_path / name), decoder.frames(tmp_path / name, 2, Framing(16))):
                try:
                    job.result()
                except MediaError as error:
                    assert "\n" not in str(error)
            assert time.monotonic() - start_s < WALL_S, seed
        pids = children() - others
        assert pids and max(map(peak_bytes, pids)) < MAX_BYTES + (200 << 20)  # the libraries take 150 MB
