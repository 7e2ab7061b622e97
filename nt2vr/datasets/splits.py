"""Splits of a dataset, and the videos that are held out of training."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from nt2vr.datasets.base import Captions, Split, Splits, split_of_folders
from nt2vr.datasets.described import DescribedVideo
from nt2vr.errors import DatasetError
from nt2vr.files import hash_text
from nt2vr.media.gallery import Video

# The share of the training videos that is held out if a dataset has no validation split, and their
# largest number. All trainings and evaluations share them, so that no trained video is evaluated.
HELD_OUT_SHARE = 0.1
HELD_OUT = 1_000


def sample_ids(ids: Iterable[str], count: int) -> list[str]:
    """Take at most `count` ids, always the same: those with the lowest hashes."""
    return sorted(ids, key=partial(hash_text, num_bytes=8))[:count]


def sample(videos: Iterable[Video], count: int) -> list[Video]:
    """Take at most `count` videos, like `sample_ids`."""
    by_id = {video.video_id: video for video in videos}
    return [by_id[video_id] for video_id in sample_ids(by_id, count)]


def held_out_of(video_ids: Collection[str]) -> list[str]:
    """Choose the videos held out for validation: a tenth, but at most HELD_OUT."""
    # A single video is trained on.
    if len(video_ids) < 2:
        return []
    count = max(1, int(HELD_OUT_SHARE * len(video_ids)))
    return sample_ids(video_ids, min(HELD_OUT, count))


def captions_by_split(described: Mapping[str, DescribedVideo], paths: Mapping[str, str]) -> Splits:
    """Return the captions that are not empty, of videos that have any, by split.

    Splits are as annotated, or else as the folders of the paths are named.
    """
    splits: Splits = {}
    for video_id, video in described.items():
        for split, texts in video.captions.items():
            captions = splits.setdefault(split, {})
            captions_of_video = list(filter(None, texts))
            if captions_of_video:
                captions[video_id] = captions_of_video
    if splits.keys() == {"all"}:
        return _split_by_folder(splits["all"], paths)
    return splits


def _split_by_folder(captions: Captions, paths: Mapping[str, str]) -> Splits:
    """Split videos by their folders if these name at least two splits; others are for training."""
    folder_splits = {video_id: split_of_folders(paths[video_id]) for video_id in captions}
    if len(set(folder_splits.values()) - {None}) < 2:
        return {"all": captions}

    splits: Splits = defaultdict(dict)
    for video_id, texts in captions.items():
        splits[folder_splits[video_id] or "train"][video_id] = texts
    return dict(splits)


def captions_of_split(name: str, splits: Splits, split: Split) -> Captions:
    """Return the captions of a split, held out if need be, see `load_dataset`."""
    if split == "all":
        all_captions: Captions = {}
        for captions in splits.values():
            all_captions |= captions
        return all_captions

    parts = {**splits, **_training_splits(splits)}
    if split not in parts:
        names = ", ".join(part for part in splits if part != "all") or "none"
        advice = "Add its file, or choose another split, such as all, which has every video."
        ways = "A column, a file's name or a folder may name it."
        raise DatasetError(f"{name} has no {split} split here (there: {names}). {ways} {advice}")
    return parts[split]


def _training_splits(splits: Splits) -> Splits:
    """Return the videos that are trained on, and those held out if there is no validation split."""
    training = splits.get("train", splits.get("all"))
    if training is None:
        return {}
    if "validation" in splits:
        return {"train": training}

    held_out = set(held_out_of(training))
    parts: Splits = {"train": {}, "validation": {}}
    for video_id, texts in training.items():
        split: Split = "validation" if video_id in held_out else "train"
        parts[split][video_id] = texts
    return parts
