"""Clip embeddings of a frozen visual tower, cached next to the frames."""

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.world.drawn.clips import ClipFile, embed_frames, embedded_once
from nt2vr.world.drawn.shipped import embed_undrawn
from trainer.data.clips import Clips
from trainer.data.features import FeatureClips


def embed_clips(encoder: Encoder, clips: Clips, progress: Progress = silent) -> NDArray[np.float32]:
    """Encode and pool all clips: (N, D), L2-normalised, or whatever the encoder pools to."""
    frames = clips.frames
    if isinstance(frames, FeatureClips):
        return frames.rows
    with progress_bar(progress) as shown:
        if isinstance(frames, ClipFile):
            return embed_undrawn(frames, encoder, shown)
        each = (frames[row] for row in range(len(frames)))
        return embed_frames(encoder, tracked(each, len(frames), "embedding clips", shown))


def embed_once(encoder: Encoder, clips: Clips, progress: Progress = silent) -> NDArray[np.float32]:
    """Encode all clips, or read the cached embeddings; a visual tower is identified by its fingerprint."""
    if clips.path is None:
        return embed_clips(encoder, clips, progress)
    return embedded_once(clips.path, encoder.card, lambda: embed_clips(encoder, clips, progress))
