"""Frames of windows by timestamp, and what a file contains, whatever its header says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from nt2vr.media import video
from nt2vr.media.resize import fit
from nt2vr.media.video import Probe, Screen, probe, sample_frames, sample_windows
from nt2vr.media.video_file import VideoFile
from nt2vr.models.framing import ENDS, Framing, frame_positions
from tests.support.video_files import (
    FOOTAGE,
    grey_levels,
    turned,
    with_number,
    write_grey_video,
    write_reordered,
)

WriteVideo = Callable[..., Path]
SMALL = Framing(32)


def window_levels(path: Path, start: float, end: float, count: int) -> list[float]:
    """Return the grey levels of so many frames of a window."""
    (frames,) = sample_windows(path, [(start, end)], count, None)
    return grey_levels(frames)


@pytest.mark.parametrize("framing", [SMALL, Framing(32, positions=ENDS)], ids=["centres", "ends"])
@pytest.mark.parametrize("name", ["b.mp4", "muted_b.mp4"])
def test_moments_at_a_constant_rate_are_numbered_frames(name: str, framing: Framing) -> None:
    with av.open(str(FOOTAGE / name)) as container:
        all_frames: list[Any] = [
            frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)
        ]
    for num_frames in (1, 3, 4, 12):
        positions = frame_positions(len(all_frames), num_frames)
        if framing.positions == ENDS:
            # As in nT2VR's code.
            positions = np.linspace(0, len(all_frames) - 1, num_frames, dtype=int).tolist()
        expected = [fit(all_frames[position], framing) for position in positions]
        frames = sample_frames(FOOTAGE / name, num_frames, framing)
        np.testing.assert_array_equal(frames, expected)


def test_windows_show_the_same_however_they_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    path = FOOTAGE / "world.mp4"
    windows = [(18.0, 24.0), (24.0, 30.0)]
    monkeypatch.setattr(video, "SEEK_S", 3.0)
    by_seeking = sample_windows(path, windows, 2, SMALL)
    alone = sample_windows(path, windows[1:], 2, SMALL)[0]
    monkeypatch.setattr(video, "SEEK_S", float("inf"))
    np.testing.assert_array_equal(by_seeking, sample_windows(path, windows, 2, SMALL))
    np.testing.assert_array_equal(by_seeking[1], alone)


def test_seeking_does_not_decode_what_lies_before() -> None:
    num_decoded = 0
    screen = Screen(FOOTAGE / "world.mp4")
    decode = screen._video.frames

    def decode_and_count(moment: float = 0.0) -> object:
        nonlocal num_decoded
        for frame in decode(moment):
            num_decoded += 1
            yield frame

    screen._video.frames = decode_and_count  # type: ignore[method-assign,assignment]
    screen.at(28.0)
    # The video has 30 frames per second: fewer than half of those before the moment.
    assert num_decoded < 28 * 30 / 2


def test_an_index_that_leads_too_far_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_grey_video(tmp_path / "a.mp4", [10 * i for i in range(20)], rate=1)
    frames_from = VideoFile.frames

    def frames_from_too_far(file: VideoFile, moment: float = 0.0) -> object:
        return frames_from(file, 18.0 if moment else 0.0)

    monkeypatch.setattr(VideoFile, "frames", frames_from_too_far)
    assert window_levels(path, 12.0, 14.0, count=2) == [120, 130]


def test_a_variable_frame_rate_is_sampled_by_time(tmp_path: Path) -> None:
    seconds = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 4.0, 8.0]
    path = write_grey_video(tmp_path / "a.mp4", [0, 20, 40, 60, 80, 100, 160, 220], seconds)
    assert 8.0 < probe(path).seconds < 12.5
    assert window_levels(path, 0.0, 10.0, count=5) == [100, 100, 160, 160, 220]


def test_an_avi_of_reordered_frames_is_sampled_by_time(
    tmp_path: Path,
) -> None:
    # 30 s at 10 frames per second, so that the last window is sought.
    expected = [number % 25 * 10 for number in range(300)]
    path = write_reordered(tmp_path / "a.avi", expected)
    for start in (0, 5, 25):
        # Such a file dates each frame one too late.
        levels = window_levels(path, start + 0.1, start + 2.1, count=20)
        assert levels == expected[10 * start : 10 * start + 20]


def test_a_turned_video_is_shown_upright(tmp_path: Path) -> None:
    path = turned(FOOTAGE / "b.mp4", tmp_path / "turned.mp4")
    (plain,) = sample_windows(FOOTAGE / "b.mp4", [(0.0, 5.0)], 2, None)
    (upright,) = sample_windows(path, [(0.0, 5.0)], 2, None)
    assert not isinstance(plain, str)
    assert not isinstance(upright, str)
    assert upright.shape[1:3] == plain.shape[2:0:-1]
    np.testing.assert_array_equal(upright, sample_frames(path, 2))
    np.testing.assert_array_equal(upright, np.rot90(plain, -1, axes=(1, 2)))


def test_a_video_of_one_frame_is_a_picture(tmp_path: Path) -> None:
    path = write_grey_video(tmp_path / "a.mp4", [90])
    assert (probe(path).kind, probe(path).seconds) == ("picture", 0.0)
    assert window_levels(path, 0.0, 1.0, count=2) == [90, 90]


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "avif"])
def test_an_animation_shows_each_frame_for_its_time(tmp_path: Path, suffix: str) -> None:
    frames = [Image.fromarray(np.full((32, 32, 3), level, np.uint8)) for level in (0, 60, 120, 180)]
    durations = [150, 200, 500, 150]
    path = tmp_path / f"a.{suffix}"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations)
    content = probe(path)
    assert (content.kind, content.num_frames) == ("video", 4)
    assert content.seconds == pytest.approx(1.0, abs=0.06)
    assert window_levels(path, 0.0, 1.0, count=5) == [0, 60, 120, 120, 180]


def test_a_length_is_known_without_reading_all_of_a_file(
    write_video: WriteVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_video("a.mp4", [0] * 24)
    seconds = probe(path).seconds
    monkeypatch.setattr(video, "hash_file", lambda _: pytest.fail("it was hashed"))
    assert probe(path, hashes=False) == Probe("video", seconds, 24, "")


def test_a_header_that_lies_about_its_frames_is_not_believed(
    tmp_path: Path, write_video: WriteVideo
) -> None:
    path = write_video("a.avi", [10 * i for i in range(24)])
    # dwTotalFrames, the fifth number of the main header, after the header's size.
    with_number(path, b"avih", 4 + 16, 2400)
    # dwLength of the stream.
    with_number(path, b"vids", 4 + 24, 2400)
    assert probe(path).num_frames == 24
    assert probe(path).seconds == pytest.approx(2.0, abs=0.1)
    assert window_levels(path, 0.0, 2.0, count=4) == [30, 90, 150, 210]


def test_a_window_that_takes_too_long_fails_alone() -> None:
    path = FOOTAGE / "b.mp4"
    windows = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]
    first, slow, last = sample_windows(path, windows, 2, SMALL, [20.0, -1.0, 20.0])
    assert isinstance(slow, str)
    assert "b.mp4 takes too long to decode" in slow
    in_time = sample_windows(path, [windows[0], windows[2]], 2, SMALL)
    np.testing.assert_array_equal([first, last], in_time)


def test_a_video_of_too_many_frames_per_second_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "MAX_RATE", 10)
    windows = [(0.0, 1.0), (1.0, 2.0)]
    first, second = sample_windows(FOOTAGE / "b.mp4", windows, 2, SMALL)
    assert isinstance(first, str)
    assert isinstance(second, str)


def test_damage_is_bridged_by_the_frame_before_it(tmp_path: Path) -> None:
    path = write_grey_video(
        tmp_path / "a.mp4", [10 * i for i in range(20)], rate=1, options={"g": "1"}
    )
    content = bytearray(path.read_bytes())
    # The first frame takes 620 bytes, the others 24 each.
    middle = content.index(b"mdat") + 850
    content[middle : middle + 50] = bytes(50)
    path.write_bytes(content)
    first, _, _, _, last = window_levels(path, 0.0, 20.0, count=5)
    assert (first, last) == (20, 180)
    assert probe(path).num_frames == 20
