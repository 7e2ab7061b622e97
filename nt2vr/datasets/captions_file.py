"""One captions file: its rows, or MS-COCO's form, as entries of a dataset."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import (
    Annotations,
    Listing,
    Split,
    split_in,
    split_named,
)
from nt2vr.datasets.caption_rows import (
    CAPTION,
    NAME,
    PATH,
    PlacedRow,
    Row,
    captions_of,
    first_value,
    read_rows,
)
from nt2vr.datasets.files import Files, expecting, listed, read_text
from nt2vr.datasets.lookup import unique_ids
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json
from nt2vr.progress import Progress

# Only the first column always has a split; FiftyOne's tags may say anything.
SPLIT = ("split", "subset", "partition", "tags")
FORM = (
    f'a table with a column "caption" ({", ".join(CAPTION[2:10])} do, too), a column "path" or "video_id" and '
    'optionally "split"; or JSON, an array or one object per line, with such keys, or with MS-COCO\'s "images" and '
    '"annotations"'
)
COCO_KEYS = ('"images"', '"annotations"', '"caption"')
# Files of MS-COCO without captions.
COCO_OTHERS = ("instances_", "person_keypoints_", "panoptic_", "stuff_", "image_info_")
# Rows between reports of progress.
REPORT_EVERY = 5_000
# The second form is Label Studio's.
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|/data/local-files/\?d=")
ABSOLUTE = re.compile(r"/|[a-zA-Z]:/")


def read_captions_file(files: Files, path: Path, needs_captions: bool = True) -> Annotations:
    """Read a captions file, from whose folder no relative path may lead out."""
    with expecting(path, FORM):
        if is_coco(path):
            return _read_coco(files, path)
        file_name = files.relative(path)
        rows = _reported(read_rows(path), file_name, files.progress)
        listings = listings_of(
            rows, root=f"{path.parent.as_posix()}/", source=file_name, needs_captions=needs_captions
        )
        if not listings:
            raise ValueError("it has no rows")
        return Annotations(path.parent.name, listings)


def listings_of(
    rows: Iterable[PlacedRow], root: str, source: str, needs_captions: bool = True
) -> list[Listing]:
    """Describe the videos of rows.

    Args:
        rows: each with its place in the source.
        root: folder of their paths, with a final "/".
        source: name of the captions file, relative to the folder of the dataset.
    """
    folder = source.rpartition("/")[0]
    listings = []
    for place, row in rows:
        video_id = first_value(row, NAME)
        file = first_value(row, PATH)
        if not (video_id or file):
            raise ValueError(
                f"{place} names no video: give it a video_id or a path, not {listed(row)}"
            )

        file_path = ""
        if file:
            file_path = _path_within(root, _checked_name(file, place), place)
        # An address is an id with single slashes, as in the indexes and reports of 0.2.0.
        if video_id:
            video_id = _checked_name(video_id, place)
        else:
            video_id = file_path.replace("//", "/")
        listings.append(
            Listing(
                video_id,
                captions_of(row, place, needs_captions),
                split=_split_of(row),
                place=f"{source}, {place}",
                file=file_path,
                folder=folder,
            )
        )
    return listings


def _split_of(row: Row) -> Split:
    split_column, *other_columns = SPLIT
    if row.get(split_column):
        return split_named(str(row[split_column]))
    for column in other_columns:
        split = split_in(str(row.get(column, "")))
        if split:
            return split
    return "all"


def _reported(rows: Iterator[PlacedRow], file_name: str, progress: Progress) -> Iterator[PlacedRow]:
    """Report how many rows are read."""
    for number, row in enumerate(rows):
        if number % REPORT_EVERY == 0:
            progress(number, 0, f"reading captions: {file_name}, {number:,} rows")
        yield row


def _read_coco(files: Files, path: Path) -> Annotations:
    """Read MS-COCO's form: images with ids and file names, and annotations with their captions."""
    content = parse_json(read_text(path))
    captions: dict[Any, list[str]] = {image["id"]: [] for image in content["images"]}
    num_lost = 0
    for number, annotation in enumerate(content["annotations"], 1):
        texts = captions_of(annotation, f"annotation {number}", needs_one=True)
        if annotation["image_id"] in captions:
            captions[annotation["image_id"]] += texts
        else:
            num_lost += 1

    file_name = files.relative(path)
    listings = _coco_listings(
        content["images"], captions, root=f"{path.parent.as_posix()}/", source=file_name
    )
    remarks = []
    if num_lost:
        remarks.append(f"{num_lost} captions in {file_name} are of images that it does not list.")
    return Annotations(files.folder.name, listings, tuple(remarks))


def _coco_listings(
    images: Iterable[Any], captions: Mapping[Any, list[str]], root: str, source: str
) -> list[Listing]:
    names = {}
    for image in images:
        image_id = image["id"]
        names[image_id] = _checked_name(image["file_name"], f"image {image_id}")
    ids = unique_ids(names.values())

    folder = source.rpartition("/")[0]
    listings = []
    for image_id, name in names.items():
        place = f"{source}, image {image_id}"
        listings.append(
            Listing(
                video_id=ids[name],
                captions=captions[image_id],
                place=place,
                file=_path_within(root, name, place),
                folder=folder,
            )
        )
    return listings


def _checked_name(name: Any, place: str) -> str:
    text = str(name).strip()
    if text and isinstance(name, str | int) and not isinstance(name, bool):
        return text
    raise ValueError(f"{place} names its video {quoted(name)}: give it a video_id or a path")


def _path_within(root: str, name: str, place: str) -> str:
    """Return a path relative to the folder `root`, normalised; one that leads out is refused.

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
        raise DatasetError(f"{place}: the path {name!r} leads out of the folder")
    return path


def is_array(path: Path) -> bool:
    """Whether a JSON file is an array."""
    with path.open("rb") as file:
        head = file.read(64)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def is_coco(path: Path) -> bool:
    """Whether a file has captions in MS-COCO's form."""
    if path.suffix.lower() != ".json" or path.name.startswith(COCO_OTHERS) or is_array(path):
        return False
    content = path.read_bytes()
    return all(key.encode() in content for key in COCO_KEYS)
