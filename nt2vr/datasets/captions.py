"""Captions files of one's own: tables, JSON, MS-COCO's form, or a text file beside each video."""

import csv
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

from nt2vr.datasets.base import (
    Annotations,
    Listing,
    Loader,
    Split,
    split_of_path,
)
from nt2vr.datasets.caption_rows import (
    CAPTION,
    Row,
    are_captioned,
    captions_of,
)
from nt2vr.datasets.captions_file import FORM, is_array, is_coco, listings_of, read_captions_file
from nt2vr.datasets.files import (
    DELIMITERS,
    EXCEL_DELIMITER,
    Files,
    expecting,
    head_of,
    read_text,
)
from nt2vr.datasets.lookup import VIDEO_SUFFIXES, suffix_of, unique_ids
from nt2vr.errors import DatasetError
from nt2vr.files import parse_json

TABLES = ("*.csv", "*.tsv", "*.jsonl")
OTHERS = ("*.json", "*.txt", "*.caption")
# Suffixes of the captions file next to a video; the first one that exists counts.
NEXT_TO_VIDEO = (".caption", ".txt", ".json")
ReadRows = Callable[[Path], Iterable[Row]]


def _load(files: Files) -> Annotations:
    """Read the tables, and the JSON files of captions next to them."""
    tables = files.named(*TABLES)
    captioned_tables = list(filter(_has_captions, tables)) or tables
    return _merged(files, captioned_tables + _captions_json_files(files))


def _load_others(files: Files) -> Annotations:
    """Read JSON files; without any for captions, the captions files next to each video."""
    captions_files = _captions_json_files(files)
    if captions_files:
        return _merged(files, captions_files)
    next_to_videos = _files_next_to_videos(files)
    if next_to_videos:
        return _read_next_to_videos(files, next_to_videos)

    json_files = files.named("*.json")
    if json_files:
        arrays = list(filter(is_array, json_files))
        return _merged(files, arrays or json_files)
    missing = "no captions file, and no text file is named like a video or picture beside it"
    raise DatasetError(
        f"{files.folder} has no captions or annotations: {missing}. Expected {FORM}."
    )


def _captions_json_files(files: Files) -> list[Path]:
    paths = []
    for path in files.named("*.json"):
        if is_coco(path) or (is_array(path) and _names_captions(path)):
            paths.append(path)
    return paths


def _merged(files: Files, paths: Sequence[Path]) -> Annotations:
    """Read captions files; each of several must say by its name or folder which split it describes.

    Videos without a split are for training if others have one.
    """
    splits = {path: split_of_path(files.relative(path)) for path in paths}
    if len(paths) > 1 and None in splits.values():
        raise files.refuse_several(paths)

    listings = []
    remarks: list[str] = []
    name = files.folder.name
    for path, split in splits.items():
        annotations = read_captions_file(files, path)
        remarks += annotations.remarks
        listings += _in_split(annotations.listings, split)
        if len(paths) == 1:
            name = annotations.name
    if any(listing.split != "all" for listing in listings):
        listings = _in_split(listings, "train")
    return Annotations(name, with_unique_ids(listings), tuple(remarks))


def _in_split(listings: Iterable[Listing], split: Split | None) -> list[Listing]:
    """Put the entries without a split into one."""
    changed = []
    for listing in listings:
        if split and listing.split == "all":
            listing = listing._replace(split=split)
        changed.append(listing)
    return changed


def with_unique_ids(listings: Sequence[Listing]) -> list[Listing]:
    """Name videos by their files if one id stands for several.

    So it is where each split counts its files from 0.
    """
    files_of = defaultdict(set)
    for listing in listings:
        files_of[listing.video_id].add((listing.folder, listing.file))

    unique = []
    for listing in listings:
        if len(files_of[listing.video_id]) > 1:
            listing = listing._replace(video_id=listing.path, file=listing.file or listing.video_id)
        unique.append(listing)
    return unique


def _files_next_to_videos(files: Files) -> dict[str, Path]:
    """Return the captions file of each video that has one of the same name next to it."""
    captions_files = {files.relative(path): path for path in files.named(*OTHERS)}
    next_to_videos = {}
    used_names = set()
    videos_first = sorted(files.media.files, key=lambda file: suffix_of(file) not in VIDEO_SUFFIXES)
    for video in videos_first:
        name = os.path.splitext(video)[0]
        # A picture with the name of a video is its thumbnail.
        if name in used_names:
            continue
        for suffix in NEXT_TO_VIDEO:
            if name + suffix in captions_files:
                next_to_videos[video] = captions_files[name + suffix]
                used_names.add(name)
                break
    return next_to_videos


def _read_next_to_videos(files: Files, next_to_videos: Mapping[str, Path]) -> Annotations:
    """Read a captions file per video: one caption per line, or a JSON object."""
    ids = unique_ids(next_to_videos)
    listings = []
    for video, path in next_to_videos.items():
        with expecting(path, 'a caption per line, or a JSON object with "caption"'):
            if path.suffix.lower() == ".json":
                captions = captions_of(parse_json(read_text(path)), "it", needs_one=True)
            else:
                captions = list(map(str.strip, read_text(path).split("\n")))
        listings.append(
            Listing(
                video_id=ids[video],
                captions=captions,
                place=files.relative(path),
                file=video,
            )
        )
    return Annotations(files.folder.name, listings)


def loader_of(name: str, read: ReadRows) -> Loader:
    """Return a loader for rows that a function reads from a path, with keys as in JSON lines."""

    def load(files: Files) -> Annotations:
        rows = [(f"row {number}", row) for number, row in enumerate(read(files.path), 1)]
        with expecting(files.path, f"rows of the dataset {name} with keys as in a captions file"):
            listings = listings_of(rows, f"{files.folder.as_posix()}/", name)
        return Annotations(files.folder.name, with_unique_ids(listings))

    return Loader((), f"what the registered dataset {name} reads", load)


def _has_captions(path: Path) -> bool:
    """Whether a table has columns of captions and videos; one that cannot be read may have them."""
    with suppress(OSError, ValueError, csv.Error):
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline().strip()
            if head.lower().startswith(EXCEL_DELIMITER):
                head = file.readline().strip()
        if path.suffix.lower() == ".jsonl":
            return are_captioned(parse_json(head or "{}"))
        for delimiter in DELIMITERS:
            columns = next(csv.reader(StringIO(head), delimiter=delimiter), [])
            if are_captioned(columns):
                return True
        return False
    return True


def _names_captions(path: Path) -> bool:
    """Whether the first entries of a JSON file have a key for captions."""
    head = head_of(path).lower()
    return any(f'"{name}"' in head for name in CAPTION)


LOADER = Loader(TABLES, f"your own captions file: {FORM}", _load)
OTHER_LOADER = Loader(
    OTHERS, f"a JSON array, or a text file beside each video: {FORM}", _load_others
)
