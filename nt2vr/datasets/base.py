"""Types of a captioned dataset, independent of its file format, and what names say about splits."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from nt2vr.datasets.files import Files, expecting, read_names
from nt2vr.datasets.lookup import stem
from nt2vr.errors import DatasetError
from nt2vr.media.gallery import Video

Split = Literal["train", "validation", "test", "all"]
SPLITS: Mapping[str, Split] = {  # names of splits in published files
    **dict.fromkeys(("train", "training"), "train"),
    "restval": "train",  # the rest of MS-COCO's validation images, which everyone trains on
    **dict.fromkeys(("val", "valid", "validate", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
Captions = dict[str, list[str]]  # video_id -> captions


@dataclass(frozen=True)
class Dataset:
    """Captioned videos of one split; a picture is a video of one frame."""

    name: str
    split: Split
    videos: tuple[Video, ...]
    remarks: tuple[str, ...] = ()  # sentences about likely mistakes in its set-up


class Listing(NamedTuple):
    """One entry of annotations: a video with some of its captions."""

    video_id: str
    captions: Sequence[str]  # may be empty, and so may each of them
    split: Split = "all"  # all where the annotations have no splits
    place: str = ""  # where the entry stands, such as "train/metadata.jsonl, line 2"
    file: str = ""  # path or address of the video as written; empty where it is found by its id
    folder: str = ""  # of the annotations, relative to the dataset's folder: its files come first
    alias: str = ""  # second name that the video's file may have


@dataclass(frozen=True)
class Annotations:
    """The captions of a dataset, before its videos are looked up."""

    name: str
    listings: Sequence[Listing]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loader:
    """Recognises and reads one kind of dataset."""

    marks: tuple[str, ...]  # patterns of file names, one of which identifies the kind
    source: str  # format and origin of such files
    load: Callable[[Files], Annotations]


@cache  # a table names a split in each row
def split_named(name: str) -> Split:
    """Return the split that a cell or key names, such as "val" or "train2017"."""
    split = SPLITS.get(name.strip().lower()) or split_in(name)
    if split is None:
        raise DatasetError(f"unknown split {name!r}; expected one of {', '.join(SPLITS)}")
    return split


def split_in(name: str) -> Split | None:
    """Return the split that the words of a file's or folder's name say; None if they say none, or several."""
    words = WORD.findall(name)
    splits = {SPLITS[word.lower()] for word in words if word.lower() in SPLITS}
    return splits.pop() if len(splits) == 1 else None


def split_of_path(path: str) -> Split | None:
    """Return the split that a path says: by the file's name, or by the nearest folder that says one."""
    for part in reversed(Path(path).with_suffix("").parts):
        split = split_in(part)
        if split:
            return split
    return None


def split_of_folders(path: str) -> Split | None:
    """Return the split that the nearest folder in a relative path says; None if none does."""
    for part in reversed(path.split("/")[:-1]):
        split = split_in(part)
        if split:
            return split
    return None


class SplitList(NamedTuple):
    """A published file that lists the videos of a split."""

    split: Split
    path: Path
    names: list[str]  # as listed, perhaps with folders and suffix


def read_split_lists(
    files: Files, patterns_of: Mapping[Split, Sequence[str]], form: str
) -> list[SplitList]:
    """Read the list of each split that has one; a DatasetError refuses several of one split."""
    lists = []
    for split, patterns in patterns_of.items():
        path = files.single(*patterns)
        if path:
            with expecting(path, form):
                lists.append(SplitList(split, path, read_names(path)))
    return lists


def listed_captions(
    files: Files, lists: Iterable[SplitList], captions: Captions, ids: Mapping[str, str]
) -> list[Listing]:
    """Describe the videos of lists; `ids` has the ids of listed names, otherwise the names without suffix."""
    listings = []
    for split, path, names in lists:
        for number, name in enumerate(names, 1):
            video_id = ids.get(name) or ids.get(stem(name)) or stem(name)
            place = f"{files.relative(path)}, entry {number}"
            listings.append(Listing(video_id, captions.get(video_id, []), split, place))
    return listings


def such_as(names: Sequence[str]) -> str:
    """List up to three names."""
    return f"such as {', '.join(names[:3])}" if len(names) > 3 else ", ".join(names)
