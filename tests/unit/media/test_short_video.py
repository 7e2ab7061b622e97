"""References from files: pictures and short videos as frames; everything else is a sentence."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.media.decode import Decoder


def test_a_short_video_is_eight_frames_in_order_and_shrunk(
    decoder: Decoder, write_video: Callable[..., Path]
) -> None:
    # Each level lasts for three frames.
    levels = np.repeat(range(0, 160, 20), 3).tolist()
    frames = decoder.reference(write_video("clip.webm", levels, side=500))
    assert [frame.shape for frame in frames] == [(384, 384, 3)] * 8
    assert [round(float(frame.mean()) / 20) for frame in frames] == list(range(8))


def test_a_picture_is_one_frame_whatever_its_name(decoder: Decoder, tmp_path: Path) -> None:
    Image.fromarray(np.full((9, 12, 3), 7, np.uint8)).save(tmp_path / "photo.png")
    shutil.copy(tmp_path / "photo.png", tmp_path / "photo.jfif")
    for name in ("photo.png", "photo.jfif"):
        (frame,) = decoder.reference(tmp_path / name)
        assert frame.shape == (9, 12, 3)
        assert frame.mean() == 7


def test_an_animation_is_a_short_video(decoder: Decoder, tmp_path: Path) -> None:
    first, *following = (Image.new("L", (32, 32), level) for level in (0, 120, 240))
    first.save(tmp_path / "moves.gif", save_all=True, append_images=following, duration=200)
    levels = [float(frame.mean()) for frame in decoder.reference(tmp_path / "moves.gif")]
    assert len(levels) == 8
    assert levels == sorted(levels)
    assert levels[0] < 10
    assert levels[-1] > 230


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.mp4", b"not a video\n" * 50),
        ("notes.txt", b"not a video\n" * 50),
        ("playlist.mp4", b"#EXTM3U\n/etc/passwd\n"),
    ],
)
def test_other_files_are_refused_by_name(
    decoder: Decoder, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MediaError, match=f"^{name} ") as caught:
        decoder.reference(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert "passwd" not in str(caught.value)


def test_a_long_video_is_refused_with_its_length(
    decoder: Decoder, write_video: Callable[..., Path]
) -> None:
    long = write_video("long.avi", [0] * (12 * 61), side=16)
    with pytest.raises(MediaError, match=r"^long\.avi .* 61 s.* 60 s"):
        decoder.reference(long)
