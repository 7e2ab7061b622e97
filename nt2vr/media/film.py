"""Readers of videos and pictures: their frames by timestamp. Untrusted files are read in the decoder's children.

Sampling by time instead of frame number is correct at variable frame rates and does not trust the header. Short videos
of a benchmark are sampled by frame number (`decode`), as in the papers.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.media import refused
from nt2vr.media.picture import MAX_PIXELS, PICTURE_SUFFIXES, Limits, fit, opened_picture, shrunk, shrunk_size, to_rgb
from nt2vr.models.framing import Framing

COVER = av.stream.Disposition.attached_pic  # of a song
SEEK_S = 10.0  # gap before a wanted moment above which seeking beats decoding
LATE_S = 0.5  # a first frame this long after the wanted moment means that the file's index is wrong
TIE_S = 1e-4  # timestamps are rounded
MAX_RATE = 2_000  # frames decoded per second of a window, and a second's more
MAX_MISSES = 1_000  # packets in a row without a frame
ANIMATED = frozenset(".apng .avif .png .webp".split())  # pictures that can move, which FFmpeg does not read
MAX_FRAMES = 5_000  # of an animated picture
FRAME_S = 0.1  # browsers show a frame that names no duration this long

Read = Callable[[Limits | None], NDArray[np.uint8]]  # (H, W, 3) RGB, shrunk to the limits if there are any
Frame = tuple[float, Read]  # when it appears, in seconds


class Screen:
    """The picture on screen at increasing moments of a film.

    Args:
        framing: what `fit` makes of each frame; None leaves them unchanged.
        limits: what frames are shrunk to, without a framing.
    """

    def __init__(self, path: Path, framing: Framing | None = None, limits: Limits | None = None) -> None:
        self._path, self._framing, self._limits = path, framing, limits
        self._film = opened(path)
        self.rate = self._film.rate
        self._frames: Iterator[Frame] | None = None
        self._can_seek = True
        self._now: Frame | None = None
        self._next: Frame | None = None
        self._shown: tuple[float, NDArray[np.uint8]] | None = None
        self.limit(float("inf"), float("inf"))

    def limit(self, timeout_s: float, seconds: float) -> None:
        """Limit the time, and the frames to decode for so many seconds, from now on."""
        self._deadline_s, self._left = time.monotonic() + timeout_s, MAX_RATE * (1 + seconds)

    def length(self) -> float:
        """Return when the last frame ends, in seconds."""
        return self._film.length()[0]

    def at(self, moment: float) -> NDArray[np.uint8]:
        """Return the frame that is on screen at a moment; the first if there is none yet, the last after the end."""
        if self._frames is None or (self._can_seek and self._next and moment > self._next[0] + SEEK_S):
            self._seek(moment)
        while self._next and self._next[0] <= moment + TIE_S:
            self._advance()
        now = self._now or self._next
        if now is None:
            raise MediaError(f"{self._path.name} has no decodable frame at {moment:.0f} s: it is damaged there.")
        if self._shown is None or self._shown[0] != now[0]:
            picture = now[1](self._limits)
            self._shown = now[0], picture if self._framing is None else fit(picture, self._framing)
        return self._shown[1]

    def _seek(self, moment: float) -> None:
        seek = self._can_seek and moment > SEEK_S
        self._now = self._next = self._shown = None
        self._frames = self._film.frames(moment if seek else 0.0)
        self._advance()
        if seek and (self._next is None or self._next[0] > moment + LATE_S):
            self._can_seek = False
            self._seek(moment)

    def _advance(self) -> None:
        assert self._frames is not None, "at() seeks first"
        self._left -= 1
        if time.monotonic() > self._deadline_s or self._left < 0:
            self._frames = None  # the next window starts with a seek
            raise MediaError(f"{self._path.name} takes too long to decode. Convert it to MP4 (H.264) or WebM.")
        self._now, self._next = self._next, next(self._frames, None)


class _Pictures:
    """A picture, which is on screen all the time, or the frames of an animated one."""

    rate = 1 / FRAME_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield all frames."""
        seconds = 0.0
        with opened_picture(self._path) as image:
            for number in range(self._count(image)):
                seconds += _duration_s(image) if number else 0.0  # of the frame before
                image.seek(number)
                yield seconds, partial(_shrunk, to_rgb(image))

    def length(self) -> tuple[float, int]:
        with opened_picture(self._path) as image:
            seconds, count = 0.0, self._count(image)
            for number in range(count if count > 1 else 0):  # a still has no duration, and need not be decoded
                image.seek(number)
                image.load()
                seconds += _duration_s(image)
            return seconds, count

    def _count(self, image: Any) -> int:
        count = int(getattr(image, "n_frames", 1)) if self._path.suffix.lower() in ANIMATED else 1  # TIFF: pages
        if count > MAX_FRAMES:
            raise MediaError(f"{self._path.name} has {count} frames; the limit for a picture is {MAX_FRAMES}.")
        return count


def _duration_s(image: Any) -> float:
    return float(image.info.get("duration") or 1000 * FRAME_S) / 1000


def _shrunk(picture: NDArray[np.uint8], limits: Limits | None) -> NDArray[np.uint8]:
    return shrunk(picture, limits) if limits else picture


class _Video:
    def __init__(self, path: Path) -> None:
        self._path = path
        with self._opened() as (_, stream):
            rate = float(stream.average_rate or stream.guessed_rate or 25)
            self.rate = rate if 0.1 < rate < 1000 else 25.0

    def frames(self, moment: float = 0.0) -> Iterator[Frame]:
        """Yield the frames in order, from a key frame before `moment` on; damaged ones are left out."""
        with self._opened() as (container, stream):
            if moment:
                container.seek(int(moment / stream.time_base) + (stream.start_time or 0), stream=stream)
            seconds, misses = -1 / self.rate, 0
            for packet in _packets(container, stream):
                frames = _decoded(packet)
                misses = 0 if frames else misses + 1
                if misses > MAX_MISSES:
                    return
                for frame in frames:
                    seconds = self._seconds(frame, stream, seconds + 1 / self.rate)
                    yield seconds, _reader(frame)

    def length(self) -> tuple[float, int]:
        """Return when the last frame ends, and their number, by the packets' timestamps: nothing is decoded."""
        end, count = 0.0, 0
        with self._opened() as (container, stream):
            for packet in _packets(container, stream):
                if packet.size:
                    lasts = float(packet.duration * stream.time_base) if packet.duration else 1 / self.rate
                    end = max(end, self._seconds(packet, stream, count / self.rate) + lasts)
                    count += 1
        return end, count

    def _seconds(self, timed: Any, stream: Any, otherwise: float) -> float:
        """Return when a frame or packet appears after the first."""
        stamp = timed.pts if timed.pts is not None else timed.dts
        return otherwise if stamp is None else float((stamp - (stream.start_time or 0)) * stream.time_base)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        """Open the file, and the first of its video streams that is no cover picture."""
        options = {"format_whitelist": refused.FORMATS, "protocol_whitelist": "file"}
        try:
            container = av.open(str(self._path), options=options, metadata_errors="replace")
        except av.FFmpegError as error:
            raise refused.unreadable(self._path) from error
        with container:
            streams = [stream for stream in container.streams.video if not stream.disposition & COVER]
            if not streams:
                if container.streams.audio:
                    raise MediaError(f"{self._path.name} has sound but no pictures.")
                raise refused.unreadable(self._path)
            codec = streams[0].codec_context
            if codec is None:  # of no format that is known
                raise refused.unreadable(self._path)
            if codec.width * codec.height > MAX_PIXELS:
                raise refused.too_large(self._path)
            codec.options = {"max_pixels": str(MAX_PIXELS)}  # frames may grow within the file
            codec.thread_count = 1  # each child has a file of its own
            yield container, streams[0]


def _packets(container: Any, stream: Any) -> Iterator[Any]:
    """Yield packets up to the first that cannot be read, or an empty one that flushes the decoder."""
    try:
        yield from container.demux(stream)
    except av.FFmpegError:
        return


def _decoded(packet: Any) -> list[Any]:
    try:
        return list(packet.decode())
    except av.FFmpegError:
        return []


def _reader(frame: Any) -> Read:
    def read(limits: Limits | None) -> NDArray[np.uint8]:
        size = {}
        if limits:  # by FFmpeg, on the way to RGB: half the time of a 1080p film's preview
            height, width = shrunk_size(frame.height, frame.width, limits)
            size = {"height": height, "width": width, "interpolation": "AREA"}
        rgb = frame.to_ndarray(format="rgb24", **size)
        return np.ascontiguousarray(np.rot90(rgb, round(frame.rotation / 90)))

    return read


def opened(path: Path) -> _Pictures | _Video:
    return _Pictures(path) if path.suffix.lower() in PICTURE_SUFFIXES else _Video(path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of libraries on damaged files into one sentence."""
    try:
        yield
    except StopIteration:
        raise refused.without_frames(path) from None
    except (av.FFmpegError, MemoryError, ValueError, EOFError, OverflowError, OSError) as error:
        raise refused.undecodable(path) from error
