"""Probes, windows and references of video and picture files. Untrusted files are read in the decoder's children."""

from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import MediaError
from nt2vr.files import hash_file
from nt2vr.media import refused
from nt2vr.media.film import Screen, opened, reading
from nt2vr.media.probe import Probe
from nt2vr.models.framing import CENTRES, ENDS, Framing

SHORT_FRAMES = 8
SHORT_S = 60  # a reference is no longer
SHORT_LIMITS = (384, 700)  # of a frame's short and long side, in pixels: no model looks at more
SHORT_TIMEOUT_S = 20.0


def probe(path: Path) -> Probe:
    """Hash a file, read its frames' timestamps, and decode the first frame."""
    content = _hash(path)
    with reading(path):
        film = opened(path)
        _, read = next(film.frames())
        read(None)
        seconds, num_frames = film.length()
    return Probe("video", seconds, num_frames, content) if num_frames > 1 else Probe("picture", 0.0, 1, content)


def sample_windows(
    path: Path,
    windows: Sequence[tuple[float, float]],
    num_frames: int,
    framing: Framing | None,
    timeouts_s: Sequence[float] | None = None,
) -> list[NDArray[np.uint8] | str]:
    """Sample evenly spaced moments of windows in one pass: per window (F, S, S, 3), or the reason why there is none.

    Args:
        windows: (start, end) in seconds, in order.
        framing: which moments, and what `fit` makes of each; None leaves frames unchanged.
    """
    sampled: list[NDArray[np.uint8] | str] = []
    with reading(path):
        screen = Screen(path, framing)
        positions = framing.positions if framing else CENTRES
        for (start, end), timeout_s in zip(windows, timeouts_s or repeat(float("inf")), strict=timeouts_s is not None):
            screen.limit(timeout_s, end - start)
            moments = _moments(start, end, num_frames, positions, screen.rate)
            try:
                sampled.append(np.stack([screen.at(moment) for moment in moments]))
            except MediaError as error:
                sampled.append(str(error))
    return sampled


def sample_short_video(path: Path) -> list[NDArray[np.uint8]]:
    """Decode evenly spaced frames of a reference, a video or an animation, as (H, W, 3) RGB each."""
    with reading(path):
        screen = Screen(path, limits=SHORT_LIMITS)
        seconds = screen.length()
        if seconds > SHORT_S:
            raise MediaError(
                f"{path.name} lasts {seconds:,.0f} s: a reference may last {SHORT_S} s. Cut it, or add a picture."
            )
        screen.limit(SHORT_TIMEOUT_S, seconds)
        return [screen.at(moment) for moment in _moments(0.0, seconds, SHORT_FRAMES, CENTRES, screen.rate)]


def _moments(start: float, end: float, count: int, positions: str, rate: float) -> list[float]:
    """Choose moments as `frame_positions` chooses frames."""
    if positions == ENDS:
        last = max(start, end - 1 / rate)
        return [start + i * (last - start) / max(count - 1, 1) for i in range(count)]
    return [start + (2 * i + 1) * (end - start) / (2 * count) for i in range(count)]


def _hash(path: Path) -> str:
    try:
        if path.stat().st_size == 0:
            raise refused.empty(path)
        return hash_file(path)
    except OSError as error:
        raise MediaError(f"{path.name} cannot be read ({error.strerror}).") from None
