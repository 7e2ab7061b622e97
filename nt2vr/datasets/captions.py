"""Captions files of one's own: tables, JSON, MS-COCO's form, or a text file beside each video."""

import csv
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import (
    Annotations,
    Listing,
    Loader,
    Split,
    split_in,
    split_named,
    split_of_path,
)
from nt2vr.datasets.caption_rows import (
    CAPTION,
    NAME,
    PATH,
    Row,
    are_captioned,
    captions_of,
    first_value,
    read_rows,
)
from nt2vr.datasets.files import DELIMITERS, EXCEL_DELIMITER, Files, expecting, listed, read_text
from nt2vr.datasets.lookup import VIDEO_SUFFIXES, suffix_of, unique_ids
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json
from nt2vr.progress import Progress

TABLES = ("*.csv", "*.tsv", "*.jsonl")
OTHERS = ("*.json", "*.txt", "*.caption")
BESIDE = (
    ".caption",
    ".txt",
    ".json",
)  # suffixes of a video's own captions file; the first one that is there counts
SPLIT = (
    "split",
    "subset",
    "partition",
    "tags",
)  # only the first is always one; FiftyOne's tags may say anything
FORM = (
    f'a table with a column "caption" ({", ".join(CAPTION[2:10])} do, too), a column "path" or "video_id" and '
    'optionally "split"; or JSON, an array or one object per line, with such keys, or with MS-COCO\'s "images" and '
    '"annotations"'
)
COCO_KEYS = ('"images"', '"annotations"', '"caption"')
COCO_OTHERS = (
    "instances_",
    "person_keypoints_",
    "panoptic_",
    "stuff_",
    "image_info_",
)  # without captions
HEAD_BYTES = 16_384  # that hold the first entry of a JSON array
REPORT_EVERY = 5_000  # rows
ADDRESS = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]*://|/data/local-files/\?d="
)  # the latter of Label Studio
ABSOLUTE = re.compile(r"/|[a-zA-Z]:/")
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


def read_captions_file(files: Files, path: Path, needs_captions: bool = True) -> Annotations:
    """Read a captions file, from whose folder no relative path may lead out."""
    with expecting(path, FORM):
        if _is_coco(path):
            return _coco(files, path)
        listings = _own_rows(files, path, needs_captions)
        if not listings:
            raise ValueError("it has no rows")
        return Annotations(path.parent.name, listings)


def _own_rows(files: Files, path: Path, needs_captions: bool) -> list[Listing]:
    """Describe the rows of a captions file."""
    file_name = files.relative(path)
    rows = _reported(read_rows(path), file_name, files.progress)
    return _listings(rows, f"{path.parent.as_posix()}/", file_name, needs_captions)


def _listings(
    rows: Iterable[tuple[str, Row]], root: str, source: str, needs_captions: bool = True
) -> list[Listing]:
    """Describe rows, each with its place in the `source`; `root` is the folder of their paths, with a final "/"."""
    folder = source.rpartition("/")[0]
    listings = []
    for where, row in rows:
        video_id = first_value(row, NAME)
        file = first_value(row, PATH)
        if not (video_id or file):
            raise ValueError(
                f"{where} names no video: give it a video_id or a path, not {listed(row)}"
            )
        file_path = _path_within(root, _checked_name(file, where), where) if file else ""
        # an address is an id with single slashes, as in the indexes and reports of 0.2.0
        video_id = _checked_name(video_id, where) if video_id else file_path.replace("//", "/")
        captions = captions_of(row, where, needs_captions)
        place = f"{source}, {where}"
        listings.append(Listing(video_id, captions, _split_of(row), place, file_path, folder))
    return listings


def loader_of(name: str, read: ReadRows) -> Loader:
    """Return a loader for rows that a function reads from the path of a dataset, with keys as in JSON lines."""

    def load(files: Files) -> Annotations:
        rows = [(f"row {number}", row) for number, row in enumerate(read(files.path), 1)]
        with expecting(files.path, f"rows of the dataset {name} with keys as in a captions file"):
            listings = _listings(rows, f"{files.folder.as_posix()}/", name)
        return Annotations(files.folder.name, with_unique_ids(listings))

    return Loader((), f"what the registered dataset {name} reads", load)


def _split_of(row: Row) -> Split:
    if row.get(SPLIT[0]):
        return split_named(str(row[SPLIT[0]]))
    others = (split_in(str(row[name])) for name in SPLIT[1:] if name in row)
    return next(filter(None, others), "all")


def _reported(
    rows: Iterator[tuple[str, Row]], file_name: str, progress: Progress
) -> Iterator[tuple[str, Row]]:
    """Report how many rows are read."""
    for number, row in enumerate(rows):
        if number % REPORT_EVERY == 0:
            progress(number, 0, f"reading captions: {file_name}, {number:,} rows")
        yield row


def _coco(files: Files, path: Path) -> Annotations:
    """Read MS-COCO's form: images with ids and file names, and annotations with the captions of an image."""
    data = parse_json(read_text(path))
    captions: dict[Any, list[str]] = {image["id"]: [] for image in data["images"]}
    num_lost = 0
    for number, annotation in enumerate(data["annotations"], 1):
        texts = captions_of(annotation, f"annotation {number}", needs_one=True)
        if annotation["image_id"] in captions:
            captions[annotation["image_id"]] += texts
        else:
            num_lost += 1

    names = {
        image["id"]: _checked_name(image["file_name"], f"image {image['id']}")
        for image in data["images"]
    }
    ids = unique_ids(names.values())
    file_name = files.relative(path)
    folder = file_name.rpartition("/")[0]
    root = f"{path.parent.as_posix()}/"
    listings = []
    for image_id, name in names.items():
        place = f"{file_name}, image {image_id}"
        file_path = _path_within(root, name, place)
        listings.append(
            Listing(ids[name], captions[image_id], place=place, file=file_path, folder=folder)
        )
    remarks = (
        [f"{num_lost} captions in {file_name} are of images that it does not list."]
        if num_lost
        else []
    )
    return Annotations(files.folder.name, listings, tuple(remarks))


def _checked_name(name: Any, where: str) -> str:
    text = str(name).strip()
    if text and isinstance(name, str | int) and not isinstance(name, bool):
        return text
    raise ValueError(f"{where} names its video {quoted(name)}: give it a video_id or a path")


def _path_within(root: str, name: str, where: str) -> str:
    """Return a path relative to the folder `root` (with a final "/"), normalised; one that leads out is refused.

    An address, and an absolute path, perhaps of another machine, only name a file, and cannot lead
    anywhere.
    """
    path = name.replace("\\", "/").removeprefix(root)
    if path.startswith("/") or ":" in path:
        if ADDRESS.match(name):
            return name
        if ABSOLUTE.match(path):
            return path.lstrip("/")
    if "./" in path or "//" in path or path.endswith("."):
        path = os.path.normpath(path).replace(os.sep, "/")
    if path == ".." or path.startswith("../"):
        raise DatasetError(f"{where}: the path {name!r} leads out of the folder")
    return path


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


def _is_array(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(64)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _is_coco(path: Path) -> bool:
    if path.suffix.lower() != ".json" or path.name.startswith(COCO_OTHERS) or _is_array(path):
        return False
    content = path.read_bytes()
    return all(key.encode() in content for key in COCO_KEYS)


LOADER = Loader(TABLES, f"your own captions file: {FORM}", _load)
OTHER_LOADER = Loader(
    OTHERS, f"a JSON array, or a text file beside each video: {FORM}", _load_others
)
