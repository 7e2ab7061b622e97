"""Captions to train a text tower on: those of a dataset or a file, or of the built-in world."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import TypeAdapter

from nt2vr.datasets.load import load_dataset
from nt2vr.datasets.splits import held_out_of, sample_ids
from nt2vr.errors import DatasetError
from nt2vr.files import expanded
from nt2vr.negation.generate.denials import CaptionDenials, ParsedCaption, parse_caption
from nt2vr.negation.generate.query_sets import read_any_captions
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from trainer.config import TrainConfig, is_captions_file
from trainer.data.clips import Clips
from trainer.data.remembered import remembered
from trainer.data.sentences import (
    CaptionSentences,
)

TrainingSplit = Literal["train", "validation"]
Captions = Mapping[str, Sequence[str]]  # by the id of their video

DRAFTS = 3  # of a caption for a text tower alone: people write shorter ones than the built-in world
TEXT, PARSED = TypeAdapter(str), TypeAdapter(ParsedCaption)  # as JSON


def read_split(config: TrainConfig, split: TrainingSplit) -> tuple[str, list[str]]:
    """Read the display name and at most `num_clips` or `validation_clips` captions; the videos need not exist.

    A tenth of a captions file's videos is held out, at most HELD_OUT, by a hash of their ids, as in
    a dataset without a validation split. No validation caption also occurs in the training split,
    whichever video it describes.
    """
    name, training, validation = _captions_by_video(config.dataset.data)
    captions = _sampled(training, config.dataset.num_clips)
    if split == "validation":
        trained = {caption.lower() for some in training.values() for caption in some}
        unseen = {
            video: [text for text in some if text.lower() not in trained]
            for video, some in validation.items()
        }
        captions = _sampled(unseen, config.validation.validation_clips)
    if not captions:
        raise DatasetError(
            f"{name} has no captions that could be held out for validation. Add captions."
        )
    return name, captions


def _captions_by_video(data: str) -> tuple[str, Captions, Captions]:
    """Return a display name, and the captions to train and to validate on."""
    if is_captions_file(path := expanded(data)):
        videos = read_any_captions(path)
        held_out = held_out_of(videos)
        kept = {video: some for video, some in videos.items() if video not in held_out}
        return path.name, kept, {video: videos[video] for video in held_out}
    train, validation = (
        load_dataset(data, part, with_files=False) for part in ("train", "validation")
    )
    trained, others = (
        {video.video_id: video.captions for video in each.videos} for each in (train, validation)
    )
    return train.name, trained, others


def _sampled(videos: Captions, count: int) -> list[str]:
    numbered = {
        f"{video}#{n}": text for video, texts in videos.items() for n, text in enumerate(texts)
    }
    return list(dict.fromkeys(numbered[key] for key in sample_ids(numbered, len(numbered))))[:count]


def caption_clips(
    name: str, captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> Clips:
    """Return captions, each standing for a clip that nothing looks at; what is parsed is kept in `cache`."""
    each, denials = [[caption] for caption in captions], denials_of(captions, progress, cache)
    frames = np.empty((len(captions), 0, 1, 1, 3), np.uint8)
    return Clips(frames, CaptionSentences(each, denials, has_videos=False), name=name)


def world_captions(
    split: SceneSplit,
    count: int,
    seed: int,
    progress: Progress = silent,
    folder: Path | None = None,
) -> list[str]:
    """Write captions of the built-in world, one per scene, the shortest of DRAFTS, none twice: at most `count`.

    They are kept in `folder`, and read from it.
    """

    @cache
    def scenes() -> list[Scene]:
        return sample_scenes(split, count, seed)  # half of the time, which kept captions need not

    def shortest(row: int) -> str:
        scene = scenes()[row]
        drafts = [
            describe(scene, random.Random(f"{seed} text {row} {draft}")).text
            for draft in range(DRAFTS)
        ]
        return min(drafts, key=len)

    key = f"captions {split} {count} {seed} {DRAFTS}"
    with progress_bar(progress) as shown:
        rows = tracked(range(count), count, "writing captions", shown)
        return list(dict.fromkeys(remembered(folder, key, rows, shortest, TEXT)))


def denials_of(
    captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> CaptionDenials:
    """Parse captions to draw denying sentences from, which takes about a minute for 30,000, or read them parsed."""
    key = "\n".join(["parsed", *captions])
    with progress_bar(progress) as shown:
        items = tracked(captions, len(captions), "parsing captions", shown)
        return CaptionDenials(parsed=remembered(cache, key, items, parse_caption, PARSED))
