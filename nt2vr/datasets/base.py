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
# Names of splits in published files. "restval" is the rest of MS-COCO's validation images, which
# everyone trains on.
SPLITS: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training"), "train"),
    "restval": "train",
    **dict.fromkeys(("val", "valid", "validate", "validation", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# By video id.
Captions = dict[str, list[str]]
Splits = dict[Split, Captions]


@dataclass(frozen=True)
class Dataset:
    """Captioned videos of one split; a picture is a video of one frame.

    Attributes:
        remarks: sentences about likely mistakes in its set-up.
    """

    name: str
    split: Split
    videos: tuple[Video, ...]
    remarks: tuple[str, ...] = ()


class Listing(NamedTuple):
    """One entry of annotations: a video with some of its captions.

    Attributes:
        captions: may be empty, and so may each of them.
        split: "all" if the annotations have no splits.
        place: where the entry stands, such as "train/metadata.jsonl, line 2".
        file: path or address of the video as written; empty if it is found by its id.
        folder: of the annotations, relative to the dataset's folder: its files come first.
        alias: second name that the video's file may have.
    """

    video_id: str
    captions: Sequence[str]
    split: Split = "all"
    place: str = ""
    file: str = ""
    folder: str = ""
    alias: str = ""

    @property
    def path(self) -> str:
        """Path of its file as annotated, relative to the dataset's folder."""
        return f"{self.folder}/{self.file or self.video_id}".lstrip("/")


@dataclass(frozen=True)
class Annotations:
    """The captions of a dataset, before its videos are looked up."""

    name: str
    listings: Sequence[Listing]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loader:
    """Recognises and reads one kind of dataset.

    Attributes:
        marks: patterns of file names, one of which identifies the kind.
        source: format and origin of such files.
    """

    marks: tuple[str, ...]
    source: str
    load: Callable[[Files], Annotations]


# Cached, since a table names a split in each row.
@cache
def split_named(name: str) -> Split:
    """Return the split that a cell or key names, such as "val" or "train2017"."""
    split = SPLITS.get(name.strip().lower()) or split_in(name)
    if split is None:
        raise DatasetError(f"unknown split {name!r}; expected one of {', '.join(SPLITS)}")
    return split


def split_in(name: str) -> Split | None:
    """Return the only split that the words of a file's or folder's name say, if there is one."""
    splits = {SPLITS.get(word.lower()) for word in WORD.findall(name)} - {None}
    if len(splits) == 1:
        return splits.pop()
    return None


def split_of_path(path: str) -> Split | None:
    """Return the split that a file's name says, or the nearest folder that says one."""
    return _last_split(Path(path).with_suffix("").parts)


def split_of_folders(path: str) -> Split | None:
    """Return the split that the nearest folder in a relative path says; None if none does."""
    return _last_split(path.split("/")[:-1])


def _last_split(parts: Sequence[str]) -> Split | None:
    for part in reversed(parts):
        split = split_in(part)
        if split:
            return split
    return None


class SplitList(NamedTuple):
    """A published file that lists the videos of a split, perhaps with folders and suffix."""

    split: Split
    path: Path
    names: list[str]


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
    """Describe the videos of lists.

    Args:
        ids: of listed names; the id of another name is the name without its suffix.
    """
    listings = []
    for split, path, names in lists:
        for number, name in enumerate(names, 1):
            video_id = ids.get(name) or ids.get(stem(name)) or stem(name)
            listings.append(
                Listing(
                    video_id=video_id,
                    captions=captions.get(video_id, []),
                    split=split,
                    place=f"{files.relative(path)}, entry {number}",
                )
            )
    return listings


def first_few(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """List the first texts, and count the others."""
    listed = separator.join(texts[:most])
    num_others = len(texts) - most
    if num_others > 0:
        listed += f"{separator}and {num_others:,} more"
    return listed


def such_as(names: Sequence[str]) -> str:
    """List up to three names."""
    if len(names) > 3:
        return f"such as {', '.join(names[:3])}"
    return ", ".join(names)
