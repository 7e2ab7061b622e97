"""Dataset loading: chooses a loader, matches captions with files, takes a split."""

import gc
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets import captions, flickr, msrvtt, vatex
from nt2vr.datasets.base import Captions, Dataset, Listing, Loader, Split, split_of_folders, such_as
from nt2vr.datasets.files import Files
from nt2vr.datasets.lookup import Located, MediaName, suffix_of
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
HELD_OUT_SHARE = 0.1  # of the training videos, for datasets without a validation split
HELD_OUT = 1_000  # at most; the same in every training and evaluation, so that none takes trained videos as unseen
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
NAMED_UNCLEAR = 3  # videos whose reason is told


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


@dataclass
class Described:
    """What the annotations say about one video."""

    first: Listing
    captions: dict[Split, list[str]] = field(default_factory=dict)
    places: dict[Split, str] = field(default_factory=dict)  # first entry in each split

    def add(self, other: "Described") -> None:
        """Add what is said about the same video under another id."""
        for split, texts in other.captions.items():
            self.captions.setdefault(split, []).extend(texts)
            self.places.setdefault(split, other.places[split])


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
    listings = captions.with_unique_ids(
        captions.read_captions_file(files, path.absolute(), False).listings
    )
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


def _described(listings: Sequence[Listing]) -> dict[str, Described]:
    """Collect the entries of each video."""
    described: dict[str, Described] = {}
    for listing in listings:
        entry = described.get(listing.video_id)
        if entry is None:
            entry = described[listing.video_id] = Described(listing)
        entry.captions.setdefault(listing.split, []).extend(listing.captions)
        entry.places.setdefault(listing.split, listing.place)
    return described


def _media_names(described: Mapping[str, Described]) -> dict[str, MediaName]:
    """Return the names that files are looked up by."""
    names = {}
    for video_id, entry in described.items():
        listing = entry.first
        alias = listing.alias
        if listing.file and not suffix_of(listing.file):  # perhaps the address of a web page
            alias = alias or video_id
        names[video_id] = MediaName(listing.file or video_id, listing.folder, alias)
    return names


def _by_file(described: Mapping[str, Described], located: Located) -> dict[str, Described]:
    """Leave videos without a file out, and take several ids of one file as one video, under its first id."""
    first_ids: dict[str, str] = {}
    videos: dict[str, Described] = {}
    for video_id, entry in described.items():
        file = located.files.get(video_id)
        if file is None:
            continue
        first_id = first_ids.setdefault(file, video_id)
        if first_id == video_id:
            videos[video_id] = entry
        else:
            videos[first_id].add(entry)
    return videos


def _check_splits(name: str, described: Mapping[str, Described]) -> None:
    """Refuse clips that are in two splits: what was trained on would be evaluated."""
    shared = [video_id for video_id, entry in described.items() if len(entry.captions) > 1]
    if not shared:
        return
    entry = described[shared[0]]
    file = entry.first.file
    clip = f"{shared[0]} ({file})" if file not in ("", shared[0]) else shared[0]
    places = [f"{split} ({place})" if place else split for split, place in entry.places.items()]
    others = f", and {counted(len(shared) - 1, 'other video')} too" if len(shared) > 1 else ""
    raise DatasetError(
        f"{name} cannot be used: {clip} is in two splits, {' and '.join(places)}{others}. "
        "Remove it from all splits but one."
    )


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


def _check_found(
    name: str, described: Mapping[str, Described], located: Located, files: Files
) -> None:
    """Refuse annotations of which no video has a file."""
    if located.files:
        return
    if located.unclear:
        reason = next(f"{video_id}: {reason}" for video_id, reason in located.unclear.items())
        advice = "Write the files' folders and suffixes, too."
        raise DatasetError(
            f"No video that {name} describes can be tied to one file ({reason}). {advice}"
        )
    there = such_as([path.rpartition("/")[2] for path in files.media.files]) or "none"
    lacking = (
        f"None of the {len(described)} videos that {name} describes "
        f"({such_as(list(described))}) has a file under"
    )
    advice = "Put the videos there, named by their ids."
    raise DatasetError(f"{lacking} {files.folder}; the files there: {there}. {advice}")


def _missing_remarks(
    described: Mapping[str, Described], located: Located, files: Files
) -> list[str]:
    """Report captions without a file, and those that may be of several."""
    remarks = []
    with_file = located.files | located.unclear
    missing = [video_id for video_id in described if video_id not in with_file]
    if missing:
        absent = (
            f"{len(missing)} of {len(described)} described videos have no file under {files.folder}"
        )
        remarks.append(_left_out(absent, missing))
    return remarks + unclear_remark(located, len(described), "described videos")


def unclear_remark(located: Located, count: int, what: str) -> list[str]:
    """Report names that fit several files, or a file that fits another name, too; nothing if there are none."""
    if not located.unclear:
        return []
    reasons = [f"{name}: {reason}" for name, reason in located.unclear.items()]
    more = f"; and {len(reasons) - NAMED_UNCLEAR:,} more" if len(reasons) > NAMED_UNCLEAR else ""
    shown = "; ".join(reasons[:NAMED_UNCLEAR])
    return [
        f"{len(reasons)} of {count} {what} cannot be tied to one file ({shown}{more}); they are left out."
    ]


def _further_remarks(
    described: Mapping[str, Described], located: Located, files: Files
) -> list[str]:
    """Report videos without captions, and files that nothing describes."""
    remarks = []
    silent_videos = [video_id for video_id, entry in described.items() if not any(_texts(entry))]
    if silent_videos:
        count = f"{len(silent_videos)} of {len(described)} videos have no caption"
        remarks.append(_left_out(count, silent_videos))
    used = {located.files[video_id] for video_id in described}
    suffixes = {os.path.splitext(path)[1] for path in used}
    others = [
        path
        for path in files.media.files
        if path not in used and os.path.splitext(path)[1] in suffixes
    ]
    if others:
        targets = _targets_of_links(files.folder, used)
        others = [path for path in others if os.path.realpath(files.folder / path) not in targets]
    if others:
        count = f"{len(others)} files under {files.folder} are not described"
        remarks.append(_left_out(count, [path.rpartition("/")[2] for path in others]))
    return remarks


def _targets_of_links(folder: Path, paths: Iterable[str]) -> set[str]:
    return {os.path.realpath(folder / path) for path in paths if os.path.islink(folder / path)}


def _texts(entry: Described) -> Iterator[str]:
    for texts in entry.captions.values():
        yield from texts


def _left_out(count: str, names: Sequence[str]) -> str:
    return f"{count} ({such_as(names)}); they are left out."


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
