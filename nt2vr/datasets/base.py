"""Types of a captioned dataset, independent of its file format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nt2vr.datasets.files import Files, expecting, read_ids
from nt2vr.errors import DatasetError
from nt2vr.media.gallery import Video

Split = Literal["train", "validation", "test", "all"]
SPLITS: Mapping[str, Split] = {  # names of splits in published files
    **dict.fromkeys(("train", "training"), "train"),
    "restval": "train",  # the rest of MS-COCO's validation images, which everyone trains on
    **dict.fromkeys(("val", "validate", "validation", "dev"), "validation"),
    "test": "test",
}
Captions = dict[str, list[str]]  # video_id -> captions


@dataclass(frozen=True)
class Dataset:
    """Captioned videos of one split; a picture is a video of one frame."""

    name: str
    split: Split
    videos: tuple[Video, ...]
    remarks: tuple[str, ...] = ()  # sentences about likely mistakes in its set-up


@dataclass(frozen=True)
class Annotations:
    """The captions of a dataset, before its videos are looked up."""

    name: str
    splits: dict[Split, Captions]  # all under "all" if there are no splits
    paths: Mapping[str, Path] = field(default_factory=dict)  # of videos, where named; others are found by their ids
    aliases: Mapping[str, str] = field(default_factory=dict)  # second names that files of videos may have


@dataclass(frozen=True)
class Loader:
    """Recognises and reads one kind of dataset."""

    marks: tuple[str, ...]  # patterns of file names, one of which identifies the kind
    source: str  # format and origin of such files
    load: Callable[[Files], Annotations]


def split_named(name: str) -> Split:
    try:
        return SPLITS[name.strip().lower()]
    except KeyError:
        raise DatasetError(f"unknown split {name!r}; expected one of {', '.join(SPLITS)}") from None


def listed_splits(
    files: Files, lists: Mapping[Split, Sequence[str]], form: str, captions: Captions, ids: Mapping[str, str]
) -> dict[Split, Captions]:
    """Read the captions of each split from the first of its lists that exists; `ids` has full ids by listed ones."""
    splits: dict[Split, Captions] = {}
    for split, patterns in lists.items():
        for path in files.named(*patterns)[:1]:
            with expecting(path, form):
                full = [ids.get(name, name) for name in read_ids(path)]
                splits[split] = {video_id: captions.get(video_id, []) for video_id in full}
    return splits


def such_as(names: list[str]) -> str:
    """List up to three names."""
    return f"such as {', '.join(names[:3])}" if len(names) > 3 else ", ".join(names)
