"""Videos made by script: of given timestamps, turned, without pictures, and with headers that lie."""

import struct
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from tests.support.paths import GRADIO_MEDIA

# Real videos.
FOOTAGE = GRADIO_MEDIA / "videos"
# "as it is", in an MP4's track header.
MATRIX = struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
# A quarter turn, as phones write it.
QUARTER = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)
# QuickTime writes it like this.
MIRROR = struct.pack(">9i", -1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)


def write_pictures(
    path: Path,
    pictures: Sequence[NDArray[np.uint8]],
    seconds: Sequence[float] | None = None,
    rate: int = 10,
    codec: str = "libx264",
    options: Mapping[str, str] | None = None,
    pixels: str = "yuv420p",
    aspect: Fraction | None = None,
) -> Path:
    """Write a video of (H, W, 3) RGB frames, each on screen from its second on; they may be unevenly spaced."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=rate)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pixels
        stream.options = dict(options or {})
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        if aspect:
            stream.codec_context.sample_aspect_ratio = aspect
        for number, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = round(1000 * (seconds[number] if seconds else number / rate))
            frame.time_base = Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def write_reordered(path: Path, levels: Sequence[int], rate: int = 10) -> Path:
    """Write a video of one grey frame per level, whose packets are not in the order of time, at a constant rate."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(
            "libx264", rate=rate, options={"g": "40", "x264-params": "b-adapt=0:scenecut=0"}
        )
        stream.height = stream.width = 32
        stream.codec_context.max_b_frames = 3
        for level in levels:
            picture = np.full((32, 32, 3), level, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def write_grey_video(
    path: Path,
    levels: Sequence[int],
    seconds: Sequence[float] | None = None,
    rate: int = 10,
    side: int = 32,
    codec: str = "libx264",
    options: Mapping[str, str] | None = None,
) -> Path:
    """Write a video of one grey frame per level; see `write_pictures`."""
    pictures: list[NDArray[np.uint8]] = [
        np.full((side, side, 3), level, np.uint8) for level in levels
    ]
    return write_pictures(path, pictures, seconds, rate, codec, options)


def grey_levels(frames: NDArray[np.uint8] | str) -> list[float]:
    """Return the grey level of each frame, to the nearest ten (coding changes it by one or two)."""
    assert not isinstance(frames, str), frames
    return [round(float(frame.mean()), -1) for frame in frames]


def turned(path: Path, to: Path, matrix: bytes = QUARTER) -> Path:
    """Copy an MP4 with a quarter turn, or another matrix, in its header."""
    content = path.read_bytes()
    assert MATRIX in content
    before, name, track = content.partition(b"trak")
    to.write_bytes(before + name + track.replace(MATRIX, matrix, 1))
    return to


def with_number(path: Path, after: bytes, offset: int, number: int) -> Path:
    """Overwrite a little-endian number in a header, so many bytes after a name."""
    content = bytearray(path.read_bytes())
    start = content.index(after) + len(after) + offset
    content[start : start + 4] = struct.pack("<I", number)
    path.write_bytes(bytes(content))
    return path
