"""Frames of videos and pictures by timestamp. Untrusted files are read in the decoder's children (`decode`).

Timestamps are right at variable frame rates, and trust no count in a header. Where recordings were
joined, time goes on from the last frame's end.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Literal

import av
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.files import hash_file
from nt2vr.media.animation import Frame, _Pictures
from nt2vr.media.picture_file import is_picture
from nt2vr.media.resize import Limits, fit
from nt2vr.media.video_file import TIE_S, VideoFile
from nt2vr.models.framing import CENTRES, ENDS, Framing

SEEK_S = 10.0  # gap before a wanted moment above which seeking beats decoding
LATE_S = 0.5  # a first frame this long after the wanted moment means that the file's index is wrong
MAX_RATE = 2_000  # frames decoded per second of a window, and a second's more
SHORT_FRAMES, SHORT_S, SHORT_TIMEOUT_S = 8, 60, 20.0  # of a reference
SHORT_LIMITS = (384, 700)  # of its frames' short and long side, in pixels: no model looks at more


Window = tuple[float, float | None]  # start and end in seconds; None is the file's end


@dataclass(frozen=True)
class Probe:
    """Content of a media file, by its frames and not its header."""

    kind: Literal["video", "picture"]  # a picture is one frame, whatever the file's format
    seconds: float  # duration by the timestamps of the frames; 0 for a picture
    num_frames: int
    content: str  # hash of its bytes, as `Cache.content_hash` computes it


def probe(path: Path, hashes: bool = True) -> Probe:
    """Read a file's timestamps, and decode its first frame; unless it `hashes` all of it, `content` is empty."""
    _check(path)
    with _reading(path):
        content, film = hash_file(path) if hashes else "", _opened(path)
        _, read = next(film.frames())
        read(None)
        seconds, num_frames = film.length()
    return (
        Probe("video", seconds, num_frames, content)
        if num_frames > 1
        else Probe("picture", 0.0, 1, content)
    )


def sample_frames(path: Path, num_frames: int, framing: Framing | None = None) -> NDArray[np.uint8]:
    """Sample evenly spaced moments of a whole file: (F, H, W, 3) RGB, or (F, S, S, 3) with `framing`."""
    (frames,) = sample_windows(path, [(0.0, None)], num_frames, framing)
    if isinstance(frames, str):
        raise MediaError(frames)
    return frames


def sample_windows(
    path: Path,
    windows: Sequence[Window],
    num_frames: int,
    framing: Framing | None,
    timeouts_s: Sequence[float] | None = None,
) -> list[NDArray[np.uint8] | str]:
    """Sample evenly spaced moments of windows in one pass: per window (F, S, S, 3), or the reason why there is none.

    Args:
        windows: in order.
        framing: which moments, and what `fit` makes of each; None leaves frames unchanged.
    """
    sampled: list[NDArray[np.uint8] | str] = []
    with _reading(path):
        screen = Screen(path, framing)
        positions = framing.positions if framing else CENTRES
        for (start, end), timeout_s in zip(
            windows, timeouts_s or repeat(float("inf")), strict=timeouts_s is not None
        ):
            end = screen.length() if end is None else end
            screen.limit(timeout_s, end - start)
            moments = _moments(start, end, num_frames, positions, screen.rate)
            try:
                sampled.append(np.stack([screen.at(moment) for moment in moments]))
            except MediaError as error:
                sampled.append(str(error))
    return sampled


def sample_short_video(path: Path) -> list[NDArray[np.uint8]]:
    """Decode evenly spaced frames of a reference, a video or an animation, as (H, W, 3) RGB each."""
    with _reading(path):
        screen = Screen(path, limits=SHORT_LIMITS)
        seconds = screen.length()
        if seconds > SHORT_S:
            raise MediaError(
                f"{path.name} lasts {seconds:,.0f} s: a reference may last {SHORT_S} s. Cut it, or add a picture."
            )
        screen.limit(SHORT_TIMEOUT_S, seconds)
        return [
            screen.at(moment)
            for moment in _moments(0.0, seconds, SHORT_FRAMES, CENTRES, screen.rate)
        ]


def _moments(start: float, end: float, count: int, positions: str, rate: float) -> list[float]:
    """Choose moments as `frame_positions` chooses frames."""
    if positions == ENDS:
        last = max(start, end - 1 / rate)
        return [start + i * (last - start) / max(count - 1, 1) for i in range(count)]
    return [start + (2 * i + 1) * (end - start) / (2 * count) for i in range(count)]


class Screen:
    """The picture on screen at increasing moments of a film.

    Args:
        framing: what `fit` makes of each frame; None leaves them unchanged.
        limits: what frames are shrunk to, without a framing.
    """

    def __init__(
        self, path: Path, framing: Framing | None = None, limits: Limits | None = None
    ) -> None:
        _check(path)
        self._path, self._framing, self._limits = path, framing, limits
        self._film = _opened(path)
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
        return self._film.length()[0]

    def at(self, moment: float) -> NDArray[np.uint8]:
        """Return the frame that is on screen at a moment; the first if there is none yet, the last after the end."""
        is_far = self._can_seek and self._next is not None and moment > self._next[0] + SEEK_S
        if self._frames is None or is_far:
            self._seek(moment)
        while self._next and self._next[0] <= moment + TIE_S:
            self._advance()
        if (now := self._now or self._next) is None:
            raise MediaError(
                f"{self._path.name} has no decodable frame at {moment:.0f} s: it is truncated or damaged there."
            )
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
            raise MediaError(
                f"{self._path.name} takes too long to decode. Convert it to MP4 (H.264) or WebM."
            )
        self._now, self._next = self._next, next(self._frames, None)


def _opened(path: Path) -> _Pictures | VideoFile:
    return _Pictures(path) if is_picture(path) else VideoFile(path)


def _check(path: Path) -> None:
    if not os.path.isfile(path):  # unlike Path's, never a PermissionError
        raise MediaError(f"{path.name} does not exist. Add it again.")
    if os.path.getsize(path) == 0:
        raise MediaError(f"{path.name} is empty (0 bytes). Copy or export it again.")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of libraries on damaged files into one sentence."""
    try:
        yield
    except StopIteration:
        raise MediaError(
            f"{path.name} has no decodable frame: it is truncated or damaged. Export it again."
        ) from None
    except (av.FFmpegError, MemoryError, ValueError, EOFError, OverflowError, OSError) as error:
        raise MediaError(
            f"{path.name} cannot be decoded. Convert it to MP4 (H.264) or WebM and try again."
        ) from error
