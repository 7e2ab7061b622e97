"""Noise in place of drawings, which would take most of the time of short trainings; signal handlers put back."""

import json
import signal
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.framing import Framing
from nt2vr.world.drawn import clips
from nt2vr.world.scenes import Scene


def noise(scenes: Sequence[Scene], num_frames: int, framing: Framing) -> NDArray[np.uint8]:
    """Return frames that only their scene decides: (N, F, S, S, 3)."""
    size = (num_frames, framing.size, framing.size, 3)
    seeds = (zlib.crc32(json.dumps(scene.key_data).encode()) for scene in scenes)
    return np.stack(
        [np.random.default_rng(seed).integers(0, 256, size, np.uint8) for seed in seeds]
    )


@pytest.fixture(autouse=True)
def _noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "draw_clips", noise)


@pytest.fixture(autouse=True)
def _signal_handlers() -> Iterator[None]:
    """Put back the handlers that a training in this process replaces."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
