"""Splits of a dataset, and the videos that are held out of training."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

from nt2vr.datasets.base import Captions, Split, split_of_folders
from nt2vr.datasets.described import Described
from nt2vr.errors import DatasetError
from nt2vr.media.gallery import Video

HELD_OUT_SHARE = 0.1  # of the training videos, for datasets without a validation split


HELD_OUT = 1_000  # at most; the same in every training and evaluation, so that none takes trained videos as unseen


def sample_ids(ids: Iterable[str], count: int) -> list[str]:
    """Take at most `count` ids, always the same: those with the lowest hashes."""
    return sorted(ids, key=lambda each: blake2b(each.encode(), digest_size=8).digest())[:count]


def sample(videos: Iterable[Video], count: int) -> list[Video]:
    """Take at most `count` videos, like `sample_ids`."""
    by_id = {video.video_id: video for video in videos}
    return [by_id[each] for each in sample_ids(by_id, count)]


def held_out_of(video_ids: Collection[str]) -> list[str]:
    """Choose the videos held out for validation without a split of their own: a tenth, but at most HELD_OUT."""
    if len(video_ids) < 2:  # the only one is trained on
        return []
    return sample_ids(video_ids, min(HELD_OUT, max(1, int(HELD_OUT_SHARE * len(video_ids)))))


def _captions_by_split(described: Mapping[str, Described]) -> dict[Split, Captions]:
    """Return the captions that are not empty, of videos that have any, by split."""
    splits: dict[Split, Captions] = {}
    for video_id, entry in described.items():
        for split, texts in entry.captions.items():
            captions_of_video = [text for text in texts if text]
            of_split = splits.setdefault(split, {})
            if captions_of_video:
                of_split[video_id] = captions_of_video
    return splits


def _split_by_folder(captions_of: Captions, paths: Mapping[str, str]) -> dict[Split, Captions]:
    """Split videos by the folders that they are in, where these name at least two splits; others are for training."""
    named = {video_id: split_of_folders(paths[video_id]) for video_id in captions_of}
    if len({split for split in named.values() if split}) < 2:
        return {"all": captions_of}
    splits: dict[Split, Captions] = defaultdict(dict)
    for video_id, texts in captions_of.items():
        splits[named[video_id] or "train"][video_id] = texts
    return dict(splits)


def _without(captions_of: Captions, video_ids: Collection[str]) -> Captions:
    return {video_id: texts for video_id, texts in captions_of.items() if video_id not in video_ids}


def captions_of_split(name: str, splits: Mapping[Split, Captions], split: Split) -> Captions:
    """Return the captions of a split, held out if need be, see `load_dataset`."""
    if split == "all":
        return {
            video_id: texts for of_split in splits.values() for video_id, texts in of_split.items()
        }
    parts = dict(splits)
    training = parts.get("train", parts.get("all"))
    if training is not None:
        parts["train"] = training
        if "validation" not in splits:
            held_out = set(held_out_of(training))
            parts["train"] = _without(training, held_out)
            parts["validation"] = _without(training, parts["train"])
    if split not in parts:
        there = ", ".join(part for part in splits if part != "all") or "none"
        advice = "Add its file, or choose another split, such as all, which has every video."
        ways = "A column, a file's name or a folder may name it."
        raise DatasetError(f"{name} has no {split} split here (there: {there}). {ways} {advice}")
    return parts[split]
