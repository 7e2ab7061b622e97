"""Clip embeddings of a frozen visual tower, cached next to the frames."""

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, progress_bar, silent
from nt2vr.world.drawn.frame_file import embed_frames, embedded_once
from nt2vr.world.drawn.shipped import UndrawnClips
from trainer.data.clips import Clips
from trainer.data.features import FeatureClips


def embed_clips(encoder: Encoder, clips: Clips, progress: Progress = silent) -> NDArray[np.float32]:
    """Encode and pool all clips: (N, D), L2-normalised, or whatever the encoder pools to."""
    with progress_bar(progress) as shown:
        if isinstance(clips.frames, UndrawnClips | FeatureClips):
            return clips.frames.embeddings(encoder, shown)
        return embed_frames(encoder, clips.frames, shown)


def embed_once(encoder: Encoder, clips: Clips, progress: Progress = silent) -> NDArray[np.float32]:
    """Encode all clips, or read the cached embeddings; a visual tower is identified by its fingerprint."""
    if clips.path is None:
        return embed_clips(encoder, clips, progress)
    return embedded_once(clips.path, encoder.card, lambda: embed_clips(encoder, clips, progress))
