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
from nt2vr.datasets.captions_file import FORM, _is_array, _is_coco, _listings, read_captions_file
from nt2vr.datasets.files import DELIMITERS, EXCEL_DELIMITER, Files, expecting, read_text
from nt2vr.datasets.lookup import VIDEO_SUFFIXES, suffix_of, unique_ids
from nt2vr.errors import DatasetError
from nt2vr.files import parse_json

TABLES = ("*.csv", "*.tsv", "*.jsonl")
OTHERS = ("*.json", "*.txt", "*.caption")
BESIDE = (
    ".caption",
    ".txt",
    ".json",
)  # suffixes of a video's own captions file; the first one that is there counts
HEAD_BYTES = 16_384  # that hold the first entry of a JSON array
ReadRows = Callable[[Path], Iterable[Row]]


def _load(files: Files) -> Annotations:
    """Read the tables, and the JSON files of captions beside them."""
    tables = files.named(*TABLES)
    paths = [path for path in tables if _has_captions(path)] or tables
    json_files = files.named("*.json")
    paths += [
        path for path in json_files if _is_coco(path) or (_is_array(path) and _names_captions(path))
    ]
    return _merged(files, paths)


def _load_others(files: Files) -> Annotations:
    """Read JSON files; or else the files beside videos that have the captions of one video."""
    json_files = files.named("*.json")
    arrays = [path for path in json_files if _is_array(path)]
    paths = [
        path for path in json_files if _is_coco(path) or (path in arrays and _names_captions(path))
    ]
    if paths:
        return _merged(files, paths)
    beside = _beside_videos(files)
    if beside:
        return _read_beside(files, beside)
    paths = arrays or json_files
    if paths:
        return _merged(files, paths)
    missing = "no captions file, and no text file is named like a video or picture beside it"
    raise DatasetError(
        f"{files.folder} has no captions or annotations: {missing}. Expected {FORM}."
    )


def _merged(files: Files, paths: Sequence[Path]) -> Annotations:
    """Read captions files; each of several must say by its name or folder which split it describes.

    Videos without a split are for training if others have one.
    """
    splits: dict[Path, Split | None] = {path: split_of_path(files.relative(path)) for path in paths}
    if len(paths) > 1 and None in splits.values():
        raise files.refuse_several(paths)

    listings: list[Listing] = []
    remarks: list[str] = []
    for path, split in splits.items():
        annotations = read_captions_file(files, path)
        remarks += annotations.remarks
        for listing in annotations.listings:
            if split and listing.split == "all":
                listing = listing._replace(split=split)
            listings.append(listing)
    if any(listing.split != "all" for listing in listings):
        listings = [
            listing._replace(split="train") if listing.split == "all" else listing
            for listing in listings
        ]
    name = annotations.name if len(paths) == 1 else files.folder.name
    return Annotations(name, with_unique_ids(listings), tuple(remarks))


def with_unique_ids(listings: Sequence[Listing]) -> list[Listing]:
    """Name videos by their files where one id stands for several, as where each split counts its files from 0."""
    files_of: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for listing in listings:
        files_of[listing.video_id].add((listing.folder, listing.file))
    shared_ids = {video_id for video_id, names in files_of.items() if len(names) > 1}
    if not shared_ids:
        return list(listings)
    unique = []
    for listing in listings:
        if listing.video_id in shared_ids:
            file = listing.file or listing.video_id
            video_id = f"{listing.folder}/{file}".lstrip("/")
            listing = listing._replace(video_id=video_id, file=file)
        unique.append(listing)
    return unique


def _beside_videos(files: Files) -> dict[str, Path]:
    """Return the captions file beside each video or picture that has one of the same name."""
    own_files = {files.relative(path): path for path in files.named(*OTHERS)}
    beside: dict[str, Path] = {}
    named: set[str] = set()
    videos_first = sorted(files.media.files, key=lambda file: suffix_of(file) not in VIDEO_SUFFIXES)
    for video in videos_first:
        name = os.path.splitext(video)[0]
        paths = [own_files[name + suffix] for suffix in BESIDE if name + suffix in own_files]
        if paths and name not in named:  # not the thumbnail of a video
            beside[video] = paths[0]
            named.add(name)
    return beside


def _read_beside(files: Files, beside: Mapping[str, Path]) -> Annotations:
    """Read a captions file per video: one caption per line, or a JSON object."""
    ids = unique_ids(beside)
    listings = []
    for video, path in beside.items():
        with expecting(path, 'a caption per line, or a JSON object with "caption"'):
            if path.suffix.lower() == ".json":
                captions = captions_of(parse_json(read_text(path)), "it", needs_one=True)
            else:
                captions = [line.strip() for line in read_text(path).split("\n")]
        listings.append(Listing(ids[video], captions, place=files.relative(path), file=video))
    return Annotations(files.folder.name, listings)


def loader_of(name: str, read: ReadRows) -> Loader:
    """Return a loader for rows that a function reads from the path of a dataset, with keys as in JSON lines."""

    def load(files: Files) -> Annotations:
        rows = [(f"row {number}", row) for number, row in enumerate(read(files.path), 1)]
        with expecting(files.path, f"rows of the dataset {name} with keys as in a captions file"):
            listings = _listings(rows, f"{files.folder.as_posix()}/", name)
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
        heads = (next(csv.reader(StringIO(head), delimiter=mark), []) for mark in DELIMITERS)
        return any(are_captioned(cells) for cells in heads)
    return True


def _names_captions(path: Path) -> bool:
    """Whether the first entries of a JSON file have a key for captions."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.read(HEAD_BYTES).lower()
    return any(f'"{name}"' in head for name in CAPTION)


LOADER = Loader(TABLES, f"your own captions file: {FORM}", _load)
OTHER_LOADER = Loader(
    OTHERS, f"a JSON array, or a text file beside each video: {FORM}", _load_others
)
