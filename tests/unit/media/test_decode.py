"""Sampling frames, and the children in which it happens."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from nt2vr.errors import MediaError
from nt2vr.media.decode import CLOSED, Decoder
from nt2vr.media.video import sample_frames
from nt2vr.models.framing import Framing, frame_positions
from tests.support.child_processes import children_of, wait_until_ended
from tests.support.paths import ROOT
from tests.support.video_files import grey_levels

WriteVideo = Callable[..., Path]


@pytest.mark.parametrize(
    ("length", "count", "expected"),
    [
        (24, 8, [1, 4, 7, 10, 13, 16, 19, 22]),
        (9, 3, [1, 4, 7]),
        (2, 4, [0, 0, 1, 1]),
        (1, 3, [0, 0, 0]),
        (10, 1, [5]),
    ],
)
def test_samples_lie_in_the_middle_of_equal_segments(
    length: int, count: int, expected: list[int]
) -> None:
    assert frame_positions(length, count) == expected


@pytest.mark.parametrize("name", ["a.webm", "a.mp4", "a.avi"])
def test_frames_are_those_at_the_centres_of_the_segments(
    write_video: WriteVideo, name: str
) -> None:
    path = write_video(name, [10 * i for i in range(24)])
    assert grey_levels(sample_frames(path, 8)) == [10, 40, 70, 100, 130, 160, 190, 220]


def test_colours_are_red_green_blue_and_frames_are_fit(tmp_path: Path) -> None:
    writer = cv2.VideoWriter(
        str(tmp_path / "red.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 32)
    )
    writer.write(np.full((32, 64, 3), (0, 0, 255), np.uint8))
    writer.release()
    frames = sample_frames(tmp_path / "red.avi", 2, Framing(16))
    assert frames.shape == (2, 16, 16, 3)
    assert frames[0, 8, 8] == pytest.approx([255, 0, 0], abs=8)


def test_bad_files_are_one_sentence_each_and_stop_nothing(
    write_video: WriteVideo, tmp_path: Path, decoder: Decoder
) -> None:
    good = write_video("good.webm", [100] * 5)
    cut = write_video("cut.mp4", [100] * 24)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("not a video\n" * 100)
    bad = ("empty.mp4", "text.mp4", "cut.mp4", "gone.mp4")
    waiting = {name: decoder.frames(tmp_path / name, 4, Framing(16)) for name in bad}
    last = decoder.frames(good, 4, Framing(16))
    for name in bad:
        with pytest.raises(MediaError, match=f"^{name} ") as caught:
            waiting[name].result()
        assert "\n" not in str(caught.value)
    assert grey_levels(last.result()) == [100] * 4


def test_ctrl_c_is_left_to_the_parent(decoder: Decoder) -> None:
    decoder._start(Path("a.mp4"), signal.raise_signal, signal.SIGINT).result()


@pytest.mark.slow
def test_a_crash_or_a_hang_affects_that_file_alone(write_video: WriteVideo) -> None:
    good = write_video("good.avi", [100] * 5)
    with Decoder(num_workers=1, timeout_s=1) as decoder:
        crash = decoder._start(Path("crash.mp4"), os.abort)
        hang = decoder._start(Path("hang.mp4"), time.sleep, 60)
        after = decoder.frames(good, 2, Framing(16))
        with pytest.raises(MediaError, match=r"^crash\.mp4 "):
            crash.result()
        with pytest.raises(MediaError, match=r"^hang\.mp4 "):
            hang.result()
        assert grey_levels(after.result()) == [100] * 2


def test_an_idle_child_that_is_killed_is_replaced(
    write_video: WriteVideo, decoder: Decoder
) -> None:
    path = write_video("good.avi", [100] * 5)
    pid = int(decoder._start(path, os.getpid).result())
    os.kill(pid, signal.SIGKILL)
    while decoder._pool is not None and decoder._pool.active:
        time.sleep(0.01)
    assert grey_levels(decoder.frames(path, 2, Framing(16)).result()) == [100] * 2


def test_closing_cancels_pending_files(decoder: Decoder) -> None:
    waiting = [decoder._start(Path(f"{i}.mp4"), time.sleep, 60) for i in range(3)]
    decoder.close()
    for decoding in waiting:
        with pytest.raises(MediaError, match=CLOSED):
            decoding.result()


PARENT = """
import os, sys, time
from pathlib import Path
from typing import Any
from nt2vr.media.decode import CLOSED, Decoder

if __name__ == "__main__":
    decoder = Decoder(num_workers=2)
    print(decoder._start(Path("a"), os.getpid).result(), flush=True)
    decoder._start(Path("b"), time.sleep, 60)
    decoder._start(Path("c"), time.sleep, 60)
    time.sleep(0.2)
    print("hanging", flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("way", ["killed", "ends by itself"])
def test_no_child_outlives_the_app_however_it_ends(tmp_path: Path, way: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ends_by_itself = way == "ends by itself"
    seconds = "0" if ends_by_itself else "60"
    with subprocess.Popen(
        [sys.executable, script, seconds],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert int(parent.stdout.readline()) > 0
        assert parent.stdout.readline() == "hanging\n"
        children = children_of(parent.pid)
        if not ends_by_itself:
            assert len(children) >= 2
            parent.kill()
        # A busy machine is slow, not wrong.
        parent.wait(timeout=60)
    assert wait_until_ended(children, timeout_s=60) == []


def test_a_pipe_occupies_no_child(tmp_path: Path) -> None:
    for name in ("pipe.png", "pipe.mp4"):
        os.mkfifo(tmp_path / name)
    with Decoder(1) as decoder:
        with pytest.raises(MediaError, match=r"^pipe\.png "):
            decoder.picture(tmp_path / "pipe.png")
        with pytest.raises(MediaError, match=r"^pipe\.mp4 "):
            decoder.frames(tmp_path / "pipe.mp4", 2, Framing(64)).result()
        assert decoder._pool is None
