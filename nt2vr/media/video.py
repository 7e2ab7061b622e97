"""Frames of videos and pictures by timestamp, read in the decoder's children (`decode`).

Timestamps are right at variable frame rates, and trust no count in a header. Where recordings were
joined, time goes on from the last frame's end.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Literal

import numpy as np

from nt2vr.errors import MediaError
from nt2vr.files import hash_file
from nt2vr.media.animation import Frame, PictureFrames
from nt2vr.media.picture_file import is_picture
from nt2vr.media.resize import Limits, Pixels, fit
from nt2vr.media.video_file import TIE_S, VideoFile
from nt2vr.models.framing import CENTRES, ENDS, Framing

# Seconds to a later moment above which seeking is faster than decoding.
SEEK_S = 10.0
# A first frame this long after the moment that was sought means that the file's index is wrong.
LATE_S = 0.5
# Frames decoded per second of a window; a window has those of one more second.
MAX_RATE = 2_000
# Of a reference: frames that are read, and its length.
SHORT_FRAMES = 8
SHORT_S = 60
SHORT_TIMEOUT_S = 20.0
# Pixels of the short and long side of a reference's frames: no model looks at more.
SHORT_LIMITS = (384, 700)

# Start and end in seconds; None is the file's end.
Window = tuple[float, float | None]


@dataclass(frozen=True)
class Probe:
    """Content of a media file, by its frames and not its header.

    Attributes:
        kind: a file of one frame is a picture, whatever its format.
        seconds: duration by the timestamps of the frames; 0 for a picture.
        content: hash of its bytes, as `Cache.content_hash` computes it.
    """

    kind: Literal["video", "picture"]
    seconds: float
    num_frames: int
    content: str


def probe(path: Path, hashes: bool = True) -> Probe:
    """Read a file's timestamps, and decode its first frame.

    Args:
        hashes: whether the content is hashed; otherwise it is empty.
    """
    with _reading(path):
        video = _opened(path)
        content = hash_file(path) if hashes else ""
        _, read = next(video.frames())
        read(None)
        seconds, num_frames = video.length()
    if num_frames > 1:
        return Probe(
            kind="video",
            seconds=seconds,
            num_frames=num_frames,
            content=content,
        )
    return Probe(
        kind="picture",
        seconds=0.0,
        num_frames=1,
        content=content,
    )


def sample_frames(path: Path, num_frames: int, framing: Framing | None = None) -> Pixels:
    """Sample evenly spaced moments of a file: (F, H, W, 3) RGB, or (F, S, S, 3) with `framing`."""
    (frames,) = sample_windows(path, windows=[(0.0, None)], num_frames=num_frames, framing=framing)
    if isinstance(frames, str):
        raise MediaError(frames)
    return frames


def sample_windows(
    path: Path,
    windows: Sequence[Window],
    num_frames: int,
    framing: Framing | None,
    timeouts_s: Sequence[float] | None = None,
) -> list[Pixels | str]:
    """Sample evenly spaced moments of windows in one pass.

    Args:
        windows: in order.
        framing: which moments, and what `fit` makes of each; None leaves frames unchanged.
        timeouts_s: of each window.

    Returns:
        Per window its frames (F, S, S, 3), or the reason why it has none.
    """
    if timeouts_s is None:
        timeouts_s = [inf] * len(windows)
    positions = framing.positions if framing else CENTRES
    samples: list[Pixels | str] = []
    with _reading(path):
        screen = Screen(path, framing)
        for (start, end), timeout_s in zip(windows, timeouts_s, strict=True):
            end = screen.length() if end is None else end
            screen.limit(timeout_s, end - start)
            moments = _moments(start, end, count=num_frames, positions=positions, rate=screen.rate)
            try:
                samples.append(np.stack([screen.at(moment) for moment in moments]))
            except MediaError as error:
                samples.append(str(error))
    return samples


def sample_short_video(path: Path) -> list[Pixels]:
    """Decode evenly spaced frames of a reference, a video or animation: (H, W, 3) each."""
    with _reading(path):
        screen = Screen(path, limits=SHORT_LIMITS)
        seconds = screen.length()
        if seconds > SHORT_S:
            raise MediaError(
                f"{path.name} lasts {seconds:,.0f} s: a reference may last {SHORT_S} s. Cut it, or add a picture."
            )
        screen.limit(SHORT_TIMEOUT_S, seconds)
        moments = _moments(
            0.0, end=seconds, count=SHORT_FRAMES, positions=CENTRES, rate=screen.rate
        )
        return [screen.at(moment) for moment in moments]


def _moments(start: float, end: float, count: int, positions: str, rate: float) -> list[float]:
    """Choose the middles of equal segments, or moments from the first frame to the last."""
    if positions == ENDS:
        last = max(start, end - 1 / rate)
        return [start + i * (last - start) / max(count - 1, 1) for i in range(count)]
    return [start + (2 * i + 1) * (end - start) / (2 * count) for i in range(count)]


class Screen:
    """The picture on screen at increasing moments of a video.

    Args:
        framing: what `fit` makes of each frame; None leaves them unchanged.
        limits: what frames are shrunk to, without a framing.
    """

    def __init__(
        self, path: Path, framing: Framing | None = None, limits: Limits | None = None
    ) -> None:
        self._path = path
        self._framing = framing
        self._limits = limits
        self._video = _opened(path)
        self.rate = self._video.rate
        self._can_seek = True
        self._frames: Iterator[Frame] | None = None
        self._now: Frame | None = None
        self._next: Frame | None = None
        # When the last frame that was read appears, and its picture.
        self._picture: tuple[float, Pixels] | None = None
        self.limit(inf, inf)

    def limit(self, timeout_s: float, seconds: float) -> None:
        """Limit the time, and the frames to decode for so many seconds, from now on."""
        self._deadline_s = time.monotonic() + timeout_s
        self._frames_left = MAX_RATE * (1 + seconds)

    def length(self) -> float:
        return self._video.length()[0]

    def at(self, moment: float) -> Pixels:
        """Return the frame that is on screen at a moment.

        It is the first frame if there is none yet, and the last one after the end.
        """
        is_far = self._can_seek and self._next is not None and moment > self._next[0] + SEEK_S
        if self._frames is None or is_far:
            self._seek(moment)
        while self._next and self._next[0] <= moment + TIE_S:
            self._advance()

        frame = self._now or self._next
        if frame is None:
            raise MediaError(
                f"{self._path.name} has no decodable frame at {moment:.0f} s: it is truncated or damaged there."
            )
        seconds, read = frame
        if self._picture is None or self._picture[0] != seconds:
            picture = read(self._limits)
            if self._framing is not None:
                picture = fit(picture, self._framing)
            self._picture = (seconds, picture)
        return self._picture[1]

    def _seek(self, moment: float) -> None:
        """Start at a key frame before a moment, or at the start if it cannot be sought."""
        is_sought = self._can_seek and moment > SEEK_S
        self._now = None
        self._next = None
        self._picture = None
        self._frames = self._video.frames(moment if is_sought else 0.0)
        self._advance()
        if is_sought and (self._next is None or self._next[0] > moment + LATE_S):
            self._can_seek = False
            self._seek(moment)

    def _advance(self) -> None:
        assert self._frames is not None, "at() seeks first"
        self._frames_left -= 1
        if time.monotonic() > self._deadline_s or self._frames_left < 0:
            # The next window starts with a seek.
            self._frames = None
            raise MediaError(
                f"{self._path.name} takes too long to decode. Convert it to MP4 (H.264) or WebM."
            )
        self._now = self._next
        self._next = next(self._frames, None)


def _opened(path: Path) -> PictureFrames | VideoFile:
    # Unlike Path's methods, those of os.path raise no PermissionError.
    if not os.path.isfile(path):
        raise MediaError(f"{path.name} does not exist. Add it again.")
    if os.path.getsize(path) == 0:
        raise MediaError(f"{path.name} is empty (0 bytes). Copy or export it again.")
    if is_picture(path):
        return PictureFrames(path)
    return VideoFile(path)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn the errors of libraries on damaged files into a MediaError."""
    import av  # noqa: PLC0415  17 MB that only children need

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
