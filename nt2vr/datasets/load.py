"""Dataset loading: chooses a loader, matches captions with files, takes a split."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from nt2vr.datasets import captions, flickr, msrvtt, vatex
from nt2vr.datasets.base import Annotations, Captions, Dataset, Loader, Split, such_as
from nt2vr.datasets.files import Files
from nt2vr.errors import ConfigError, DatasetError, counted
from nt2vr.files import expanded
from nt2vr.media.gallery import Video
from nt2vr.registry import Registry, check_word, pick


def _checked(name: str, loader: Any) -> Loader:
    check_word("kind of dataset", name)
    if not isinstance(loader, Loader):
        raise ConfigError(f"the kind of dataset {name} is no Loader of nt2vr.datasets.base")
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
HELD_OUT_SHARE = 0.1  # of the training videos, for datasets without a validation split
HELD_OUT = 1_000  # at most; the same in every training and evaluation, so that none takes trained videos as unseen


def load_dataset(data: str | Path, split: Split = "all", with_files: bool = True) -> Dataset:
    """Load the videos of a split with their captions.

    If a dataset has no validation split, a tenth of its training videos, at most HELD_OUT, are held out, by a hash of
    their ids. Without any splits, all of its videos are for training, and all are its test split, too. The kind of the
    folder, or captions file, is inferred unless given as "KIND:PATH". Unless `with_files`, only captions are read.
    """
    kind, path = kind_and_path(data)
    loaders = {kind: pick("kind of dataset", kind, DATASETS)} if kind else DATASETS
    files = Files(path)
    annotations = _marked(files, loaders).load(files)
    name, described = annotations.name, list(dict.fromkeys(chain(*annotations.splits.values())))
    there = dict.fromkeys(described, files.folder)
    if with_files:
        there = {each: file for each in described if (file := _file_of(each, annotations, files)) and file.is_file()}
    if not there:
        named = such_as([file.name for file in files.media.values()]) or "none"
        lacking = f"None of the {len(described)} videos that {name} describes ({such_as(described)}) has a file under"
        advice = "Put the videos there, named by their ids."
        raise DatasetError(f"{lacking} {files.folder}; the files there: {named}. {advice}")
    splits = {
        part: {each: said for each, some in captions.items() if each in there and (said := list(filter(None, some)))}
        for part, captions in annotations.splits.items()
    }
    takes_all = split == "test" and splits.keys() == {"all"}
    split = "all" if takes_all else split
    chosen = captions_of_split(name, splits, split)
    videos = tuple(Video(video_id, there[video_id], tuple(some)) for video_id, some in chosen.items())
    if not videos:
        raise DatasetError(f"{name} has no {split} videos with captions under {files.folder}.")
    remarks = _remarks(described, splits, files, there) if with_files else []
    if takes_all:
        remarks.insert(0, NO_SPLITS.format(name=name, count=counted(len(videos), "video")))
    return Dataset(name, split, videos, tuple(remarks))


def videos_of(path: Path) -> list[Video]:
    """List the videos that a captions file of one's own names, with or without captions, files or splits."""
    files, annotations = Files(path), captions.annotations_of(path, needs_captions=False)
    videos = []
    for name, texts in captions_of_split(annotations.name, annotations.splits, "all").items():
        file = _file_of(name, annotations, files) or annotations.paths.get(name, files.folder / name)
        videos.append(Video(name, file, tuple(filter(None, texts))))
    return videos


def kind_and_path(data: str | Path) -> tuple[str, Path]:
    """Split "KIND:PATH"; the kind is empty if not given."""
    kind, colon, path = str(data).partition(":")
    if not colon or len(kind) == 1 or os.path.exists(data):  # C:\videos has no kind
        kind, path = "", str(data)
    return kind, expanded(path)


def sample_ids(ids: Iterable[str], count: int) -> list[str]:
    """Take at most `count` ids, always the same: those with the lowest hashes."""
    return sorted(ids, key=lambda each: blake2b(each.encode(), digest_size=8).digest())[:count]


def sample(videos: Iterable[Video], count: int) -> list[Video]:
    """Take at most `count` videos, like `sample_ids`."""
    by_id = {video.video_id: video for video in videos}
    return [by_id[each] for each in sample_ids(by_id, count)]


def held_out_of(video_ids: Collection[str]) -> list[str]:
    """Choose the videos held out for validation without a split of their own: a tenth, but at most HELD_OUT."""
    return sample_ids(video_ids, min(HELD_OUT, max(1, int(HELD_OUT_SHARE * len(video_ids)))))


def _marked(files: Files, loaders: Mapping[str, Loader]) -> Loader:
    for _, loader in sorted(loaders.items(), key=lambda item: item[0] in GENERAL):
        if files.named(*loader.marks):
            return loader
    if not any(files.folder.iterdir()):
        raise DatasetError(f"{files.folder} is empty. Name the folder of a dataset, or its captions file.")
    sought = "; ".join(f"{' or '.join(loader.marks)} ({name})" for name, loader in loaders.items())
    more = f" Expected {next(iter(loaders.values())).source}." if len(loaders) == 1 else ""
    raise DatasetError(f"{files.folder} has no captions or annotations. Looked for {sought}.{more}")


def _file_of(video_id: str, annotations: Annotations, files: Files) -> Path | None:
    path = annotations.paths.get(video_id)
    if path is not None and path.is_file():
        return path
    names = [video_id, annotations.aliases.get(video_id, video_id)]
    if path and path.is_relative_to(files.folder):
        names.append(path.relative_to(files.folder).as_posix())
    return next(filter(None, map(files.find, names)), None)


def _remarks(
    described: Sequence[str], splits: Mapping[Split, Captions], files: Files, there: Mapping[str, Path]
) -> list[str]:
    """Report captions without files, files without captions, and videos in several splits."""
    endings, used = {path.suffix for path in there.values()}, {os.path.realpath(path) for path in there.values()}
    captioned = dict.fromkeys(chain(*splits.values()))
    missing = [each for each in described if each not in there]
    silent = [each for each in there if each not in captioned]
    alike = (path for path in files.media.values() if path.suffix in endings)
    others = [path.name for path in alike if os.path.realpath(path) not in used]
    leaked = sorted(_evaluated(splits) & splits.get("train", {}).keys())
    remarks = {
        f"{len(missing)} of {len(described)} described videos have no file under {files.folder}": missing,
        f"{len(silent)} of {len(there)} videos have no caption": silent,
        f"{len(others)} files under {files.folder} are not described": others,
        f"{len(leaked)} training videos are in another split too": leaked,
    }
    return [f"{remark} ({such_as(names)}); they are left out." for remark, names in remarks.items() if names]


def _evaluated(splits: Mapping[Split, Captions]) -> set[str]:
    return {video_id for part in ("validation", "test") for video_id in splits.get(part, {})}


def _without(captions: Captions, video_ids: Collection[str]) -> Captions:
    return {video_id: some for video_id, some in captions.items() if video_id not in video_ids}


def captions_of_split(name: str, splits: Mapping[Split, Captions], split: Split) -> Captions:
    """Return the captions of a split, held out if need be, see `load_dataset`; no training video is in another."""
    if split == "all":
        return {video_id: captions for part in splits.values() for video_id, captions in part.items()}
    parts = dict(splits)
    if (training := parts.get("train", parts.get("all"))) is not None:
        parts["train"] = training = _without(training, _evaluated(splits))
        if "validation" not in splits:
            parts["train"] = _without(training, {*held_out_of(training)})
            parts["validation"] = _without(training, parts["train"])
    if split not in parts:
        known = ", ".join(part for part in splits if part != "all") or "none"
        advice = "Add its file, or choose another split, such as all, which has every video."
        raise DatasetError(f"{name} has no {split} split here (there: {known}). {advice}")
    return parts[split]
