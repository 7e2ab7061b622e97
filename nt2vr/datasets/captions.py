"""Captions files of one's own: tables, JSON, MS-COCO's form, or a text file beside each video."""

import csv
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import Annotations, Listing, Loader, Split, split_named, split_of_path
from nt2vr.datasets.files import DELIMITERS, Files, expecting, listed, read_table, read_text
from nt2vr.datasets.lookup import unique_ids
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json
from nt2vr.progress import Progress

TABLES, OTHERS = ("*.csv", "*.tsv", "*.jsonl"), ("*.json", "*.txt")
CAPTION = ("caption", "captions", "text", "title", "sentence", "description", "comment")
NAME = ("video_id", "id", "image_id")
PATH = (
    *("path", "filepath", "file_path", "file_name", "filename", "file", "video_path", "image_path"),
    *("video", "image", "video_name", "image_name"),
)
FORM = (
    f'a table with a column "caption" ({", ".join(CAPTION[2:])} do, too), a column "path" or "video_id" and '
    'optionally "split"; or JSON, an array or one object per line, with such keys, or with MS-COCO\'s "images" and '
    '"annotations"'
)
COCO_KEYS = ('"images"', '"annotations"', '"caption"')
COCO_OTHERS = ("instances_", "person_keypoints_", "panoptic_", "stuff_", "image_info_")  # without captions
HEAD_BYTES = 16_384  # that hold the first entry of a JSON array
REPORT_EVERY = 5_000  # rows
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|/data/local-files/\?d=")  # the latter of Label Studio
ABSOLUTE = re.compile(r"/|[a-zA-Z]:/")
Row = Mapping[str, Any]  # by column in lower case


def _load(files: Files) -> Annotations:
    """Read the tables, and the JSON files beside them."""
    tables = files.named(*TABLES)
    paths = [path for path in tables if _has_captions(path)] or tables
    arrays = [path for path in files.named("*.json") if _is_array(path) and _names_captions(path)]
    return _merged(files, [*paths, *arrays])


def _load_others(files: Files) -> Annotations:
    """Read JSON files; or else the text files beside videos, one caption per line."""
    json_files = files.named("*.json")
    texts = files.named("*.txt")
    arrays = [path for path in json_files if _is_array(path)]
    paths = [path for path in arrays if _names_captions(path)]
    paths += [path for path in json_files if path not in arrays and _is_coco(path)]
    if not paths:
        paths = arrays or ([] if texts else json_files)
    return _merged(files, paths) if paths else _beside_videos(files, texts)


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
        listings = [listing._replace(split="train") if listing.split == "all" else listing for listing in listings]
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


def _beside_videos(files: Files, texts: Sequence[Path]) -> Annotations:
    """Read the text files that are named like a video or picture beside them."""
    media: dict[str, list[str]] = defaultdict(list)  # by path without suffix
    for file in files.media.files:
        media[os.path.splitext(file)[0]].append(file)
    beside = {path: media[files.relative(path.with_suffix(""))] for path in texts}
    videos = {path: candidates[0] for path, candidates in beside.items() if candidates}
    if not videos:
        missing = "no captions file, and no text file is named like a video or picture beside it"
        raise DatasetError(f"{files.folder} has no captions or annotations: {missing}. Expected {FORM}.")

    ids = unique_ids(videos.values())
    listings = []
    for path, video in videos.items():
        with expecting(path, "a caption per line"):
            captions = [line.strip() for line in read_text(path).split("\n")]
        listings.append(Listing(ids[video], captions, place=files.relative(path), file=video))
    return Annotations(files.folder.name, listings)


def read_captions_file(files: Files, path: Path, needs_captions: bool = True) -> Annotations:
    """Read a captions file, from whose folder no relative path may lead out."""
    with expecting(path, FORM):
        if path.suffix.lower() == ".json" and not _is_array(path):
            return _coco(files, path)
        listings = _own_rows(files, path, needs_captions)
        if not listings:
            raise ValueError("it has no rows")
        return Annotations(path.parent.name, listings)


def _own_rows(files: Files, path: Path, needs_captions: bool) -> list[Listing]:
    """Describe the rows of a table, of JSON lines or of a JSON array."""
    is_table = path.suffix.lower() in (".csv", ".tsv")
    rows = read_table(path, CAPTION, (*NAME, *PATH)) if is_table else _objects(path)
    file_name = files.relative(path)
    folder = file_name.rpartition("/")[0]
    root = f"{path.parent.as_posix()}/"
    listings = []
    for where, row in _reported(rows, file_name, files.progress):
        video_id = _first(row, NAME)
        file = _first(row, PATH)
        if not (video_id or file):
            raise ValueError(f"{where} names no video: give it a video_id or a path, not {listed(row)}")
        file_path = _path_within(root, _checked_name(file, where), where) if file else ""
        # an address is an id with single slashes, as in the indexes and reports of 0.2.0
        video_id = _checked_name(video_id, where) if video_id else file_path.replace("//", "/")
        captions = _captions(row, where, needs_captions)
        split = split_named(str(row["split"])) if row.get("split") else "all"
        place = f"{file_name}, {where}"
        listings.append(Listing(video_id, captions, split, place, file_path, folder))
    return listings


def _reported(rows: Iterator[tuple[str, Row]], file_name: str, progress: Progress) -> Iterator[tuple[str, Row]]:
    """Report how many rows are read."""
    for number, row in enumerate(rows):
        if number % REPORT_EVERY == 0:
            progress(number, 0, f"reading captions: {file_name}, {number:,} rows")
        yield row


def _coco(files: Files, path: Path) -> Annotations:
    """Read MS-COCO's form: images with ids and file names, and annotations with the captions of an image."""
    data = parse_json(read_text(path))
    if not isinstance(data, dict) or not {"images", "annotations"} <= data.keys():
        raise ValueError("it is neither an array of objects nor an object with images and annotations")
    captions: dict[Any, list[str]] = {image["id"]: [] for image in data["images"]}
    num_lost = 0
    for number, annotation in enumerate(data["annotations"], 1):
        texts = _captions(annotation, f"annotation {number}", needs_one=True)
        if annotation["image_id"] in captions:
            captions[annotation["image_id"]] += texts
        else:
            num_lost += 1

    names = {image["id"]: _checked_name(image["file_name"], f"image {image['id']}") for image in data["images"]}
    ids = unique_ids(names.values())
    file_name = files.relative(path)
    folder = file_name.rpartition("/")[0]
    root = f"{path.parent.as_posix()}/"
    listings = []
    for image_id, name in names.items():
        place = f"{file_name}, image {image_id}"
        file_path = _path_within(root, name, place)
        listings.append(Listing(ids[name], captions[image_id], place=place, file=file_path, folder=folder))
    remarks = [f"{num_lost} captions in {file_name} are of images that it does not list."] if num_lost else []
    return Annotations(files.folder.name, listings, tuple(remarks))


def _objects(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the objects of JSON lines, or of a JSON array."""
    entries = _array_entries(path) if path.suffix.lower() == ".json" else _json_lines(path)
    for place, entry in entries:
        if not isinstance(entry, dict):
            raise ValueError(f"{place} is not an object")
        yield place, {name.strip().lower(): value for name, value in entry.items()}


def _array_entries(path: Path) -> Iterator[tuple[str, Any]]:
    for number, entry in enumerate(parse_json(read_text(path)), 1):
        yield f"entry {number}", entry


def _json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as error:
            raise ValueError(f"line {number} is not JSON: {error}") from None


def _first(row: Row, names: tuple[str, ...]) -> Any:
    """Return what a row has in the first of these columns that is not empty; "" if all are, None without any."""
    is_there = False
    for name in names:
        if name in row:
            is_there = True
            value = row[name]
            if value is not None and value != "":
                return value
    return "" if is_there else None


def _captions(row: Row, where: str, needs_one: bool) -> list[str]:
    value = _first(row, CAPTION)
    if value is None and not needs_one:
        return []
    captions = value if isinstance(value, list) else [value]
    if not all(isinstance(caption, str) for caption in captions):
        raise ValueError(f"{where} has no caption, but {quoted(value)}, among {listed(row)}")
    return [caption.strip() for caption in captions]


def _checked_name(name: Any, where: str) -> str:
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        raise ValueError(f"{where} names its video {quoted(name)}: give it a video_id or a path")
    return str(name).strip()


def _path_within(root: str, name: str, where: str) -> str:
    """Return a path relative to the folder `root` (with a final "/"), normalised; one that leads out is refused.

    An address, and an absolute path, perhaps of another machine, only name a file, and cannot lead anywhere.
    """
    if ADDRESS.match(name):
        return name
    path = name.replace("\\", "/").removeprefix(root)
    if ABSOLUTE.match(path):
        return path.lstrip("/")
    if "." in path:
        path = os.path.normpath(path).replace(os.sep, "/")
    if path == ".." or path.startswith("../"):
        raise DatasetError(f"{where}: the path {name!r} leads out of the folder")
    return path


def _has_captions(path: Path) -> bool:
    """Whether a table has columns of captions and videos; one that cannot be read may have them."""
    with suppress(OSError, ValueError, csv.Error):
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline().strip()
        if path.suffix.lower() == ".jsonl":
            return _are_captioned(name.strip().lower() for name in parse_json(head or "{}"))
        heads = (next(csv.reader(StringIO(head), delimiter=mark), []) for mark in DELIMITERS)
        return any(_are_captioned(cell.strip().lower() for cell in cells) for cells in heads)
    return True


def _are_captioned(columns: Collection[str] | Iterator[str]) -> bool:
    names = set(columns)
    return not names.isdisjoint(CAPTION) and not names.isdisjoint((*NAME, *PATH))


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
    if path.name.startswith(COCO_OTHERS):
        return False
    content = path.read_bytes()
    return all(key.encode() in content for key in COCO_KEYS)


LOADER = Loader(TABLES, f"your own captions file: {FORM}", _load)
OTHER_LOADER = Loader(OTHERS, f"a JSON array, or a text file beside each video: {FORM}", _load_others)
