"""Models from elsewhere: read in a child of limited memory and time, and tried out before they join the catalog."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from nt2vr.errors import CheckpointError, Nt2vrError, reason_of
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress

# Suffix of the hidden folder in which an untrusted model is written and tried out.
UNCHECKED = ".unchecked"
# No import takes so long: an older folder is left from an app that was killed.
LEFTOVER_S = 3600.0
# Memory of a child: for the libraries, and for each byte of weights.
MEMORY_BYTES = 3 << 30
MEMORY_FACTOR = 6
# Its time: to import torch, and then by size.
TIMEOUT_S = 180.0
BYTES_PER_S = 5_000_000


def run_child(
    function: Callable[..., Any], *args: Any, size: int, name: str, progress: Progress
) -> Any:
    """Return `function(*args, progress)` on a model of `size` bytes; any failure is a sentence about `name`."""
    try:
        return run_limited(
            function,
            *args,
            memory_bytes=MEMORY_BYTES + MEMORY_FACTOR * size,
            timeout_s=TIMEOUT_S + size / BYTES_PER_S,
            progress=progress,
        )
    except (MemoryError, TimeoutError):
        raise CheckpointError(
            f"{name} takes too much memory or time to read. Choose another one, or save its state_dict() alone."
        ) from None
    except (Nt2vrError, InterruptedError):
        raise
    # Where memory ends, and on hostile files, libraries fail in many ways.
    except Exception as error:
        raise CheckpointError(
            f"{name} cannot be used ({reason_of(error)}). Choose another one."
        ) from error


@contextmanager
def unchecked_folder(home: Path) -> Iterator[Path]:
    """Yield a hidden folder's path, in which an untrusted model is written and tried out before it is renamed.

    What remains of it is removed afterwards, and first what apps that were killed have left.
    """
    for leftover in home.glob(f".*{UNCHECKED}*"):
        # Its import may have ended just now.
        with suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > LEFTOVER_S:
                shutil.rmtree(leftover, ignore_errors=True)
    hidden = home / f".{uuid4().hex}{UNCHECKED}"
    try:
        yield hidden
    finally:
        for leftover in home.glob(f"*{hidden.name}*"):
            shutil.rmtree(leftover, ignore_errors=True)


def try_out(encoder: Encoder, name: str) -> None:
    """Encode a sentence and a black video: shapes that fit do not make a model that works."""
    try:
        text = encoder.encode_text(["a dog and not a cat"])
        video = encoder.pool(_encoded_black(encoder))
    except Exception as error:
        raise CheckpointError(
            f"{name} cannot encode a sentence or a picture ({reason_of(error)}), so it cannot be used."
        ) from error
    if not (np.isfinite(text).all() and np.isfinite(video).all()):
        raise CheckpointError(
            f"{name} encodes a sentence or a picture as values that are not finite."
        )
    # A model of words may know none of the sentence, whose embedding is zero then.
    is_zero = not (text.any() and video.any())
    if text.shape != video.shape or (encoder.capabilities.takes_whole_clips and is_zero):
        raise CheckpointError(
            f"{name} embeds sentences and videos as vectors that cannot be compared."
        )


def _encoded_black(encoder: Encoder) -> Vectors:
    """Return a black video as the model stores it, (1, R, W); zeros if it reads another input than frames."""
    if encoder.capabilities.video_input is not None:
        return np.zeros((1, *encoder.stored_shape), np.float32)
    # One frame is enough, except for models that take exactly their number of frames.
    num_frames = encoder.num_frames if encoder.capabilities.takes_whole_clips else 1
    black = np.zeros((1, num_frames, *encoder.framing.shape, 3), np.uint8)
    return encoder.encode_video(black)
