"""What a run computes before its first step: inputs, token rows, and embeddings of a frozen tower."""

from dataclasses import replace
from pathlib import Path
from random import Random

import torch

from nt2vr.models.encoder import Vectors
from nt2vr.models.pooling import Mean
from nt2vr.progress import Progress, ShouldStop, silent, stoppable, tracked
from trainer.data.clips import Clips
from trainer.distributed import in_turn, rank, world_size
from trainer.inputs.base import Preparation
from trainer.learner import Learner


def prepare_inputs(learner: Learner, clips: Clips, progress: Progress = silent) -> None:
    """Let the losses' inputs compute what they draw from."""
    for loss_input in learner.losses.inputs:
        loss_input.prepare(clips, learner.config, progress)


def prepare(
    learner: Learner,
    clips: Clips,
    should_stop: ShouldStop,
    progress: Progress = silent,
    cache: Path | None = None,
) -> None:
    """Set up token rows, embeddings of a frozen visual tower, and what the losses' inputs load."""
    preparation = Preparation(clips, learner.config, learner.device, progress, cache)
    learner.prepare_tokens(texts_of_process(learner, preparation))

    with in_turn():
        if clips.has_videos and not learner.config.encoder.trains_visual:
            videos = store_embeddings(learner, clips, stoppable(progress, should_stop))
            preparation = replace(preparation, videos=videos)
        for loss_input in learner.losses.inputs:
            loss_input.load(preparation)


def texts_of_process(learner: Learner, preparation: Preparation) -> list[str]:
    """Draw this process's stripe of the captions, with texts like those the inputs will draw."""
    clips = preparation.clips
    rows = range(rank(), len(clips), world_size())
    texts = []
    for row in tracked(
        rows, total=len(rows), doing="drawing captions", progress=preparation.progress
    ):
        caption = clips.sentences.draw(row, Random(f"{preparation.key} {row}"))
        texts.append(caption.text)
        for loss_input in learner.losses.inputs:
            texts += loss_input.example_texts(row, caption, preparation)
    if learner.config.dataset.num_captions:
        texts += clips.all_captions(rows)
    return texts


def store_embeddings(learner: Learner, clips: Clips, progress: Progress) -> Vectors:
    """Set the embeddings that the learner looks up.

    Returns:
        (N, D), embeddings of the clips, or the means of their frames.
    """
    encoder = learner.frozen_encoder()
    reads_frames = any(loss_input.reads_frames for loss_input in learner.losses.inputs)
    frames = None
    if reads_frames and not learner.learns_pooling:
        frames = clips.embedded_once(encoder.unpooled(), progress)
        videos = encoder.pool(frames)
    else:
        videos = clips.embedded_once(encoder, progress)
    learner.use_videos(videos, frames)
    if videos.ndim == 2:
        return videos
    means: Vectors = Mean()(torch.from_numpy(videos)).numpy()
    return means
