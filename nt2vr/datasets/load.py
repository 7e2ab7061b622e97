"""Dataset loading: chooses a loader, matches captions with files, takes a split."""

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets import captions, flickr, msrvtt, vatex
from nt2vr.datasets.base import Annotations, Dataset, Loader, Split, Splits
from nt2vr.datasets.captions_file import read_captions_file
from nt2vr.datasets.described import (
    DescribedVideos,
    check_splits,
    describe_videos,
    media_names,
    merge_by_file,
)
from nt2vr.datasets.file_remarks import check_has_files, further_remarks, missing_remarks
from nt2vr.datasets.files import Files
from nt2vr.datasets.splits import captions_by_split, captions_of_split
from nt2vr.errors import ConfigError, DatasetError, counted, quoted
from nt2vr.files import AnyPath, expanded
from nt2vr.media.gallery import Video
from nt2vr.progress import Progress, silent
from nt2vr.registry import Registry, check_word, pick


def _checked(name: str, loader: Any) -> Loader:
    check_word("kind of dataset", name)
    if not isinstance(loader, Loader):
        raise ConfigError(f"The kind of dataset {name} must be a Loader of nt2vr.datasets.base.")
    return loader


# The first kind whose mark is in a folder is used.
BUILT_IN: Mapping[str, Loader] = {
    "msrvtt1k": msrvtt.LOADER_1K,
    "msrvtt3k": msrvtt.LOADER_3K,
    "vatex": vatex.LOADER,
    "karpathy": flickr.KARPATHY_LOADER,
    "folder": captions.LOADER,
    "flickr": flickr.LOADER,
    "captions": captions.OTHER_LOADER,
}
# Kinds whose marks may be in folders of other kinds, too.
GENERAL = ("folder", "flickr", "captions")
DATASETS = Registry("kind of dataset", BUILT_IN, _checked)
NO_SPLITS = (
    "{name} has no splits, so all of its {count} are taken. For a model trained on them, only the split "
    "“validation” shows how it does on other videos."
)
NO_TEST = "{name} has no test split here, so its validation split is taken."
UNREAD = (
    "*.parquet",
    "*.arrow",
    "*.feather",
    "*.xlsx",
    "*.xls",
    "*.ods",
    "*.xml",
    "*.tar",
    "*.zip",
    "*.gz",
    "*.7z",
)


def register_dataset(name: str, read: captions.ReadRows) -> None:
    """Add a kind of dataset, "NAME:PATH", for this process.

    Args:
        name: lower-case; a built-in kind's name is refused, an own one's is replaced.
        read: takes the PATH, a folder or a file, and yields a mapping per row with the keys of a
            captions file: "path" or "video_id", "caption" or "captions", and perhaps "split".
    """
    if not callable(read):
        raise ConfigError(
            f"The dataset {quoted(name)} must be a function that takes a path and yields rows."
        )
    DATASETS.register(name, captions.loader_of(name, read))


class ManifestVideo(NamedTuple):
    """A video of a captions file; with a reason, it cannot be used."""

    video: Video
    reason: str = ""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector, which takes a quarter of the time for 100,000 new rows."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def load_dataset(
    data: AnyPath,
    split: Split = "all",
    with_files: bool = True,
    progress: Progress = silent,
    or_validation: bool = False,
) -> Dataset:
    """Load the videos of a split with their captions.

    If a dataset has no validation split, a tenth of its training videos, at most HELD_OUT, are held
    out, by a hash of their ids. Without any splits, all of its videos are for training, and all are
    its test split, too. The kind of the folder, or captions file, is inferred unless given as
    "KIND:PATH".

    Args:
        split: the videos to load.
        with_files: False reads only captions; the videos need not exist.
        progress: gets the number of captions that have been read.
        or_validation: whether the validation split is taken for "test" if there is no test split.

    Raises:
        DatasetError: if the annotations cannot be read, no video has a file, or a clip is in two
            splits.
    """
    kind, path = kind_and_path(data)
    files = Files(path, progress)
    annotations = _choose_loader(files, kind).load(files)
    name = annotations.name
    located = _located_videos(annotations, files, with_files)
    check_splits(name, located.described)
    splits = captions_by_split(located.described, located.paths)
    split, split_remarks = _available_split(name, splits, split, or_validation)

    texts_of = captions_of_split(name, splits, split)
    if not texts_of:
        noun = "videos" if split == "all" else f"{split} videos"
        raise DatasetError(f"{name} has no {noun} with captions under {files.folder}.")
    return Dataset(
        name=name,
        split=split,
        videos=tuple(
            Video(video_id, files.folder / located.paths[video_id], tuple(texts))
            for video_id, texts in texts_of.items()
        ),
        remarks=(*split_remarks, *annotations.remarks, *located.remarks),
    )


class _LocatedVideos(NamedTuple):
    """The described videos that have a file, its path, and remarks on the others."""

    described: DescribedVideos
    paths: Mapping[str, str]
    remarks: Sequence[str]


def _located_videos(annotations: Annotations, files: Files, with_files: bool) -> _LocatedVideos:
    """Find the files of videos; without files, all videos count, and paths are as they are written."""
    described = describe_videos(annotations.listings)
    if not with_files:
        paths = {video_id: video.first.file for video_id, video in described.items()}
        return _LocatedVideos(described, paths, ())

    files.progress(0, 0, "finding files")
    located = files.media.locate(media_names(described))
    check_has_files(annotations.name, described, located, files)
    remarks = missing_remarks(described, located, files)
    merged = merge_by_file(described, located)
    remarks += further_remarks(merged, located, files)
    return _LocatedVideos(merged, located.files, remarks)


def _available_split(
    name: str, splits: Splits, split: Split, or_validation: bool
) -> tuple[Split, list[str]]:
    """Return the split that is taken, with a remark if it is not the one that was named."""
    if split != "test":
        return split, []
    if splits.keys() == {"all"}:
        return "all", [NO_SPLITS.format(name=name, count=counted(len(splits["all"]), "video"))]
    if or_validation and "test" not in splits and "validation" in splits:
        return "validation", [NO_TEST.format(name=name)]
    return split, []


def videos_of(path: Path, progress: Progress = silent) -> list[ManifestVideo]:
    """List the videos of a captions file; captions, files and splits may be missing."""
    files = Files(path, progress)
    annotations = read_captions_file(files, path.absolute(), needs_captions=False)
    described = describe_videos(captions.with_unique_ids(annotations.listings))
    located = files.media.locate(media_names(described))
    videos = []
    for video_id, described_video in described.items():
        file = located.files.get(video_id, described_video.first.path)
        texts = tuple(filter(None, described_video.texts()))
        reason = ""
        if video_id in located.unclear:
            reason = (
                f"It cannot be tied to one file: {located.unclear[video_id]}. "
                "Write the file's folder and suffix, too."
            )
        videos.append(ManifestVideo(Video(video_id, files.folder / file, texts), reason))
    return videos


def kind_and_path(data: AnyPath) -> tuple[str, Path]:
    """Split "KIND:PATH"; the kind is empty if not given."""
    kind, colon, path = str(data).partition(":")
    # The first part of C:\videos is not a kind.
    if not colon or len(kind) == 1 or os.path.exists(data):
        return "", expanded(data)
    return kind, expanded(path)


def _choose_loader(files: Files, kind: str) -> Loader:
    """Return the loader of a kind, by default of the first one whose mark is in the folder.

    Raises:
        DatasetError: if the folder lacks the mark; it says what would be read.
    """
    loaders: Mapping[str, Loader] = DATASETS
    if kind:
        loaders = {kind: pick("kind of dataset", kind, DATASETS)}
    for name in sorted(loaders, key=lambda name: name in GENERAL):
        loader = loaders[name]
        if files.named(*loader.marks) or (kind and not loader.marks):
            return loader

    if not any(files.folder.iterdir()):
        raise DatasetError(
            f"{files.folder} is empty. Name the folder of a dataset, or its captions file."
        )
    unread = files.named(*UNREAD)
    if unread:
        advice = "Save its table as CSV or JSON lines, or unpack it."
        raise DatasetError(
            f"{files.folder} has no captions that can be read, but {unread[0].name}. {advice}"
        )
    marks = (
        f"{' or '.join(loader.marks)} ({name})" for name, loader in loaders.items() if loader.marks
    )
    message = f"{files.folder} has no captions or annotations. Looked for {'; '.join(marks)}."
    if kind:
        message += f" Expected {loaders[kind].source}."
    raise DatasetError(message)
