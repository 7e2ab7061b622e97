"""One captions file: its rows, or MS-COCO's form, as entries of a dataset."""

import os
import re
from collections.abc import Iterable, Iterator
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


REPORT_EVERY = 5_000  # rows


ADDRESS = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]*://|/data/local-files/\?d="
)  # the latter of Label Studio


ABSOLUTE = re.compile(r"/|[a-zA-Z]:/")


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


def _is_array(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(64)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _is_coco(path: Path) -> bool:
    if path.suffix.lower() != ".json" or path.name.startswith(COCO_OTHERS) or _is_array(path):
        return False
    content = path.read_bytes()
    return all(key.encode() in content for key in COCO_KEYS)
