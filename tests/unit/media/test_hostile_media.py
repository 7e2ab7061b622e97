"""Files that are damaged, lie or are meant to hurt: each is a sentence or frames, in bounded time and memory."""

import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.media.decode import MAX_BYTES, Decoder
from nt2vr.media.video import Probe
from nt2vr.models.framing import Framing
from tests.support.video_files import FOOTAGE, write_grey_video

WriteVideo = Callable[..., Path]


@pytest.fixture
def outcome(decoder: Decoder, tmp_path: Path) -> Callable[[Path], str]:
    """Return `outcome(path)`: "frames" after a file went all the way, otherwise its sentence."""

    def go(path: Path) -> str:
        try:
            content: Probe = decoder.probe(path).result()
            end = content.seconds or None
            if end is None:
                frames = decoder.frames(path, 2, Framing(16)).result()
            else:
                (frames,) = decoder.windows(path, [(0.0, min(end, 10.0))], 2, Framing(16)).result()
            if isinstance(frames, str):
                raise MediaError(frames)
            assert frames.shape == (2, 16, 16, 3)
            decoder.preview(path, 0.0, end, tmp_path / "p.jpg", tmp_path / "p.webm").result()
            assert (tmp_path / "p.jpg").stat().st_size
            assert (tmp_path / "p.webm").stat().st_size
        except MediaError as error:
            assert "\n" not in str(error)
            assert str(error).startswith((path.name, "The frames of"))
            return str(error)
        return "frames"

    return go


@pytest.fixture
def still_alive(decoder: Decoder, tmp_path: Path) -> Iterator[None]:
    """Check after the test that the next file is decoded."""
    yield
    Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
    assert decoder.frames(tmp_path / "good.png", 1, Framing(8)).result().shape == (1, 8, 8, 3)


pytestmark = pytest.mark.usefixtures("still_alive")


@pytest.mark.parametrize("percent", [10, 50, 90])
@pytest.mark.parametrize("name", ["b.mp4", "b.avi", "x.webm", "x.gif", "x.webp", "x.jpg"])
def test_a_truncated_file_shows_what_is_left_or_says_so(
    tmp_path: Path, write_video: WriteVideo, outcome: Callable[[Path], str], name: str, percent: int
) -> None:
    intact = FOOTAGE / name
    if name == "x.webm":
        intact = write_video("whole.webm", [10 * i for i in range(24)])
    elif name.startswith("x."):
        noise = np.random.default_rng(0).integers(0, 255, (6, 64, 64, 3), np.uint8)
        first, *following = [Image.fromarray(frame) for frame in noise]
        intact = tmp_path / f"whole{Path(name).suffix}"
        moving: dict[str, Any] = (
            {} if name == "x.jpg" else {"save_all": True, "append_images": following}
        )
        first.save(intact, **moving)
    content = intact.read_bytes()
    path = tmp_path / name
    path.write_bytes(content[: len(content) * percent // 100])
    outcome_text = outcome(path)
    assert (
        outcome_text == "frames"
        or "truncated" in outcome_text
        or "cut off" in outcome_text
        or "cannot be decoded" in outcome_text
    )
    if name in ("b.avi", "x.webm") and percent >= 50:
        assert outcome_text == "frames"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.mp4", b"not a video\n" * 100),
        ("zeros.mp4", bytes(10_000)),
        ("noise.webm", Random(1).randbytes(50_000)),
        ("page.mkv", b"<html><video src=http://127.0.0.1/a.mp4></html>"),
        ("list.mp4", b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\n"),
        ("concat.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n"),
        (
            "vector.png",
            b'<svg xmlns="http://www.w3.org/2000/svg"><image href="/etc/passwd"/></svg>',
        ),
    ],
)
def test_what_is_no_video_at_all(
    tmp_path: Path, outcome: Callable[[Path], str], name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert "not a" in outcome(tmp_path / name)


def test_a_long_still_takes_no_longer_than_a_short_one(
    tmp_path: Path, outcome: Callable[[Path], str], decoder: Decoder
) -> None:
    path = write_grey_video(tmp_path / "a.mp4", [90, 90], [0.0, 36_000.0])
    assert decoder.probe(path).result().seconds >= 36_000
    start_s = time.monotonic()
    assert outcome(path) == "frames"
    assert time.monotonic() - start_s < 15


def test_frames_too_large_for_memory_are_refused_by_the_header(
    tmp_path: Path, write_video: WriteVideo, outcome: Callable[[Path], str]
) -> None:
    path = write_video("bomb.avi", [10] * 12)
    content = path.read_bytes()
    small, large = (
        b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", side, side) for side in (32, 30_000)
    )
    # It is in each frame's own header, which decoders go by.
    assert content.count(small) == 12
    path.write_bytes(content.replace(small, large))
    assert outcome(path) != "frames"


def test_an_animation_of_too_many_frames_is_refused(
    tmp_path: Path, outcome: Callable[[Path], str]
) -> None:
    frames = [Image.new("L", (1, 1), level % 256) for level in range(5_100)]
    frames[0].save(tmp_path / "a.png", save_all=True, append_images=frames[1:])
    assert "has 5100 frames" in outcome(tmp_path / "a.png")


def test_a_child_gets_no_more_memory_than_its_limit(tmp_path: Path, decoder: Decoder) -> None:
    with pytest.raises(MediaError, match=r"a.mp4"):
        decoder._start(tmp_path / "a.mp4", bytearray, MAX_BYTES).result()
