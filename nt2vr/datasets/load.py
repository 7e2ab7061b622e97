"""Dataset loading: chooses a loader, matches captions with files, takes a split."""

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets import captions, flickr, msrvtt, vatex
from nt2vr.datasets.base import Dataset, Loader, Split
from nt2vr.datasets.captions_file import read_captions_file
from nt2vr.datasets.described import (
    _by_file,
    _check_splits,
    _described,
    _media_names,
)
from nt2vr.datasets.files import Files
from nt2vr.datasets.remarks import _check_found, _further_remarks, _missing_remarks
from nt2vr.datasets.splits import _captions_by_split, _split_by_folder, captions_of_split
from nt2vr.errors import ConfigError, DatasetError, counted, quoted
from nt2vr.files import expanded
from nt2vr.media.gallery import Video
from nt2vr.progress import Progress, silent
from nt2vr.registry import Registry, check_word, pick


def _checked(name: str, loader: Any) -> Loader:
    check_word("kind of dataset", name)
    if not isinstance(loader, Loader):
        raise ConfigError(f"The kind of dataset {name} must be a Loader of nt2vr.datasets.base.")
    return loader


BUILT_IN: Mapping[str, Loader] = {  # the first whose mark is found is used
    "msrvtt1k": msrvtt.LOADER_1K,
    "msrvtt3k": msrvtt.LOADER_3K,
    "vatex": vatex.LOADER,
    "karpathy": flickr.KARPATHY_LOADER,
    "folder": captions.LOADER,
    "flickr": flickr.LOADER,
    "captions": captions.OTHER_LOADER,
}
GENERAL = ("folder", "flickr", "captions")  # whose marks others may share
DATASETS = Registry("kind of dataset", BUILT_IN, _checked)
NO_SPLITS = (
    "{name} has no splits, so all of its {count} are taken. Of a model trained on them, only the split “validation” "
    "tells how it does on others."
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


def load_dataset(
    data: str | Path,
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
        or_validation: take the validation split where "test" is asked for and only the former is
            there.

    Raises:
        DatasetError: if the annotations cannot be read, no video has a file, or a clip is in two
            splits.
    """
    with _uncollected():
        return _load(data, split, with_files, progress, or_validation)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector, which takes a quarter of the time to look through 100,000 new rows repeatedly."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _load(
    data: str | Path, split: Split, with_files: bool, progress: Progress, or_validation: bool
) -> Dataset:
    kind, path = kind_and_path(data)
    loaders = {kind: pick("kind of dataset", kind, DATASETS)} if kind else DATASETS
    files = Files(path, progress)
    annotations = _marked(files, loaders).load(files)
    name = annotations.name
    described = _described(annotations.listings)
    remarks = list(annotations.remarks)
    if with_files:
        progress(0, 0, "finding files")
        located = files.media.locate(_media_names(described))
        _check_found(name, described, located, files)
        remarks += _missing_remarks(described, located, files)
        described = _by_file(described, located)
        remarks += _further_remarks(described, located, files)
        paths = located.files
    else:
        paths = {video_id: entry.first.file for video_id, entry in described.items()}
    _check_splits(name, described)
    splits = _captions_by_split(described)
    if splits.keys() == {"all"}:
        splits = _split_by_folder(splits["all"], paths)

    if split == "test" and splits.keys() == {"all"}:
        split = "all"
        remarks.insert(0, NO_SPLITS.format(name=name, count=counted(len(splits["all"]), "video")))
    elif split == "test" and or_validation and "test" not in splits and "validation" in splits:
        split = "validation"
        remarks.insert(0, NO_TEST.format(name=name))
    chosen = captions_of_split(name, splits, split)
    videos = tuple(
        Video(name, files.folder / paths[name], tuple(texts)) for name, texts in chosen.items()
    )
    if not videos:
        which = "videos" if split == "all" else f"{split} videos"
        raise DatasetError(f"{name} has no {which} with captions under {files.folder}.")
    return Dataset(name, split, videos, tuple(remarks))


def videos_of(path: Path, progress: Progress = silent) -> list[ManifestVideo]:
    """List the videos that a captions file of one's own names, with or without captions, files or splits."""
    files = Files(path, progress)
    listings = captions.with_unique_ids(read_captions_file(files, path.absolute(), False).listings)
    described = _described(listings)
    located = files.media.locate(_media_names(described))
    videos = []
    for video_id, entry in described.items():
        file = located.files.get(
            video_id
        ) or f"{entry.first.folder}/{entry.first.file or video_id}".lstrip("/")
        texts = [text for split_texts in entry.captions.values() for text in split_texts if text]
        reason = located.unclear.get(video_id, "")
        if reason:
            reason = (
                f"It cannot be tied to one file: {reason}. Write the file's folder and suffix, too."
            )
        videos.append(ManifestVideo(Video(video_id, files.folder / file, tuple(texts)), reason))
    return videos


def kind_and_path(data: str | Path) -> tuple[str, Path]:
    """Split "KIND:PATH"; the kind is empty if not given."""
    kind, colon, path = str(data).partition(":")
    if not colon or len(kind) == 1 or os.path.exists(data):  # C:\videos has no kind
        kind, path = "", str(data)
    return kind, expanded(path)


def _marked(files: Files, loaders: Mapping[str, Loader]) -> Loader:
    is_named = len(loaders) == 1
    for _, loader in sorted(loaders.items(), key=lambda item: item[0] in GENERAL):
        if files.named(*loader.marks) or (is_named and not loader.marks):
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
    marked = {name: loader for name, loader in loaders.items() if loader.marks}
    sought = "; ".join(f"{' or '.join(loader.marks)} ({name})" for name, loader in marked.items())
    more = f" Expected {next(iter(loaders.values())).source}." if len(loaders) == 1 else ""
    raise DatasetError(f"{files.folder} has no captions or annotations. Looked for {sought}.{more}")
