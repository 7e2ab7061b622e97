"""What is measured after each epoch, on clips that are not trained on."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.checkpoint import read_checkpoint
from nt2vr.encoder import Encoder
from trainer.clips import ClipSet
from trainer.denials import Scorer, boolean, denial_metrics, drop, plain
from trainer.ranks import retrieval_metrics
from trainer.videos import embed_clips, embed_once


def validate(encoder: Encoder, clips: ClipSet, videos: NDArray[np.float32] | None = None) -> dict[str, float]:
    """Search the clips for one caption of each, and for sentences that deny something.

    Args:
        encoder: what searches.
        clips: what is searched.
        videos: their embeddings, where they are known.

    Returns:
        `retrieval_metrics` under "original/", and `denial_metrics`.
    """
    videos = embed_clips(encoder, clips) if videos is None else videos
    captions = encoder.encode_text(clips.captions("validation")) @ videos.T
    original = retrieval_metrics(captions, np.arange(len(clips)))
    return {
        **{f"original/{name}": value for name, value in original.items()},
        **denial_metrics(clips, plain(encoder, videos), captions),
    }


def control_metrics(base: Path, clips: ClipSet, device: str = "cpu") -> dict[str, float]:
    """Measure the model a training starts from: as it is ("base/"), and with its controls "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    videos = embed_once(encoder, clips)
    captions = encoder.encode_text(clips.captions("validation")) @ videos.T
    controls: dict[str, Scorer] = {"drop": drop(encoder, videos), "boolean": boolean(encoder, videos)}
    metrics = {f"base/{name}": value for name, value in validate(encoder, clips, videos).items()}
    for control, score in controls.items():
        measured = denial_metrics(clips, score, captions)
        metrics |= {f"{control}/{name}": value for name, value in measured.items()}
    return metrics
