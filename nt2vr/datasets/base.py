"""What a captioned dataset is, whatever its files look like."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nt2vr.datasets.files import Files
from nt2vr.errors import DatasetError
from nt2vr.media.gallery import Video

Split = Literal["train", "validation", "test", "all"]
SPLITS: Mapping[str, Split] = {  # what published files call them
    "train": "train",
    "training": "train",
    "restval": "train",  # the rest of MS-COCO's validation images, which all train on
    "val": "validation",
    "validate": "validation",
    "validation": "validation",
    "dev": "validation",
    "test": "test",
}
Captions = dict[str, list[str]]  # video_id → what describes it


@dataclass(frozen=True)
class Dataset:
    """Captioned videos of one split; a picture is a video of one frame.

    Attributes:
        name: what people call it.
        split: which part of it this is.
        videos: those that have captions and a file.
        remarks: sentences about what looks like a mistake in how it is set up.
    """

    name: str
    split: Split
    videos: tuple[Video, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Annotations:
    """What the files of a dataset say, before it is known which videos are there.

    Attributes:
        name: what people call it.
        splits: the captions of each split; all under "all" where there are none.
        paths: where videos are said to be; the others are found by their id.
    """

    name: str
    splits: dict[Split, Captions]
    paths: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Loader:
    """How one kind of dataset is known and read.

    Attributes:
        marks: patterns of file names: it has one of these.
        source: where such files come from.
        load: reads it, when a mark was found.
    """

    marks: tuple[str, ...]
    source: str
    load: Callable[[Files], Annotations]


def split_named(name: str) -> Split:
    """Return the split that a file means.

    Raises:
        DatasetError: if there is no such split.
    """
    try:
        return SPLITS[name.strip().lower()]
    except KeyError:
        raise DatasetError(f"there is no split {name!r}, only {', '.join(SPLITS)}") from None


def such_as(names: list[str]) -> str:
    """Name up to three of many."""
    return f"such as {', '.join(names[:3])}" if len(names) > 3 else ", ".join(names)
