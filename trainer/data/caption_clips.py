"""Captions to train a text tower on: those of a dataset or a file, or of the built-in world."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from pydantic import TypeAdapter

from nt2vr.datasets.load import load_dataset
from nt2vr.datasets.splits import held_out_of, sample_ids
from nt2vr.errors import DatasetError
from nt2vr.files import expanded
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.parsed_captions import ParsedCaption, parse_caption
from nt2vr.negation.generate.query_sets import read_any_captions
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.world.captions import describe
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from trainer.config import TrainConfig, is_captions_file
from trainer.data.clips import Clips
from trainer.data.remembered import remembered
from trainer.data.sentences import CaptionSentences

TrainingSplit = Literal["train", "validation"]
# The captions of each video, by its id.
Captions = Mapping[str, Sequence[str]]

# Captions that are written of a scene, of which the shortest is taken: people write shorter ones
# than the built-in world.
DRAFTS = 3
# These read and write values as JSON.
TEXT = TypeAdapter(str)
PARSED = TypeAdapter(ParsedCaption)


def read_split(config: TrainConfig, split: TrainingSplit) -> tuple[str, list[str]]:
    """Read a display name and at most `num_clips` or `validation_clips` captions.

    The videos need not exist. A tenth of a captions file's videos is held out, at most HELD_OUT, by
    a hash of their ids, as in a dataset without a validation split. No validation caption also
    occurs in the training split, whichever video it describes.
    """
    name, training, validation = _captions_by_video(config.dataset.data)
    if split == "train":
        captions = _sample(training, config.dataset.num_clips)
    else:
        unseen = _unseen_captions(training, validation)
        captions = _sample(unseen, config.validation.validation_clips)
    if not captions:
        raise DatasetError(
            f"{name} has no captions that could be held out for validation. Add captions."
        )
    return name, captions


def _captions_by_video(data: str) -> tuple[str, Captions, Captions]:
    """Return a display name, and the captions to train and to validate on."""
    path = expanded(data)
    if is_captions_file(path):
        captions = read_any_captions(path)
        held_out = held_out_of(captions)
        training = {video: captions[video] for video in captions if video not in held_out}
        validation = {video: captions[video] for video in held_out}
        return path.name, training, validation

    train_split = load_dataset(data, "train", with_files=False)
    validation_split = load_dataset(data, "validation", with_files=False)
    training = {video.video_id: video.captions for video in train_split.videos}
    validation = {video.video_id: video.captions for video in validation_split.videos}
    return train_split.name, training, validation


def _unseen_captions(training: Captions, validation: Captions) -> Captions:
    """Return the validation captions that do not occur in the training split, in any case."""
    trained = {caption.lower() for caption in chain.from_iterable(training.values())}
    unseen = {}
    for video, captions in validation.items():
        unseen[video] = [caption for caption in captions if caption.lower() not in trained]
    return unseen


def _sample(captions_by_video: Captions, count: int) -> list[str]:
    """Take at most `count` captions, none twice: those whose keys have the lowest hashes."""
    captions = {}
    for video, of_video in captions_by_video.items():
        for number, caption in enumerate(of_video):
            captions[f"{video}#{number}"] = caption
    in_order = [captions[key] for key in sample_ids(captions, len(captions))]
    distinct = list(dict.fromkeys(in_order))
    return distinct[:count]


def caption_clips(
    name: str, captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> Clips:
    """Return clips that have a caption each, and no frames.

    The parsed captions are kept in `cache`.
    """
    denials = denials_of(captions, progress, cache)
    captions_by_clip = [[caption] for caption in captions]
    sentences = CaptionSentences(captions_by_clip, denials, has_videos=False)
    frames = np.empty((len(captions), 0, 1, 1, 3), np.uint8)
    return Clips(frames, sentences, name=name)


def world_captions(
    split: SceneSplit,
    count: int,
    seed: int,
    progress: Progress = silent,
    folder: Path | None = None,
) -> list[str]:
    """Write captions of the built-in world: one per scene, the shortest of DRAFTS.

    Returns:
        At most `count`, none twice. They are kept in `folder`, and read from it.
    """

    # Sampling takes half of the time. It is not needed if all captions are read from `folder`.
    @cache
    def scenes() -> list[Scene]:
        return sample_scenes(split, count, seed)

    def shortest(row: int) -> str:
        scene = scenes()[row]
        drafts = []
        for draft in range(DRAFTS):
            rng = Random(f"{seed} text {row} {draft}")
            drafts.append(describe(scene, rng).text)
        return min(drafts, key=len)

    key = f"captions {split} {count} {seed} {DRAFTS}"
    with progress_bar(progress) as report:
        rows = tracked(range(count), total=count, doing="writing captions", progress=report)
        captions = remembered(folder, key, items=rows, compute=shortest, form=TEXT)
        return list(dict.fromkeys(captions))


def denials_of(
    captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> CaptionDenials:
    """Parse captions to draw denying sentences from, or read them from `cache`.

    Parsing takes about a minute for 30,000.
    """
    key = "\n".join(["parsed", *captions])
    with progress_bar(progress) as report:
        counted_captions = tracked(
            captions, total=len(captions), doing="parsing captions", progress=report
        )
        parsed = remembered(cache, key, items=counted_captions, compute=parse_caption, form=PARSED)
        return CaptionDenials(parsed=parsed)
