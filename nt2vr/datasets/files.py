"""File lookup for datasets: annotation files by name, videos by id."""

import csv
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cached_property
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json
from nt2vr.media.picture import PICTURE_SUFFIXES

VIDEO_SUFFIXES = frozenset(".3gp .avi .flv .gif .m4v .mkv .mov .mp4 .mpeg .mpg .ogv .ts .webm .wmv".split())
DELIMITERS = ",;\t|"
MOST_COLUMNS = 20  # named in a message


class Files:
    """The visible files in a folder and below it; links to folders are followed."""

    def __init__(self, path: Path) -> None:
        """Scan the folder; an annotation file stands for its folder, without other annotations."""
        if not os.path.exists(path):
            raise DatasetError(f"{path} is not there. Name the folder of a dataset, or its captions file.")
        self.folder = path.absolute() if path.is_dir() else path.absolute().parent
        found = sorted(files_below(self.folder), key=lambda file: (len(file.parts), file))
        self.media: dict[str, Path] = {}  # by name without suffix; the first if there are several
        for kind in (VIDEO_SUFFIXES, PICTURE_SUFFIXES):  # a video before its thumbnail
            for file in found:
                if file.suffix.lower() in kind:
                    self.media.setdefault(file.stem, file)
        others = [file for file in found if file.suffix.lower() not in VIDEO_SUFFIXES | PICTURE_SUFFIXES]
        self._annotations = others if path.is_dir() else [path.absolute()]

    @cached_property
    def _folded(self) -> dict[str, Path]:
        """Videos and pictures by path, then by name, in any letter case and Unicode form."""
        by_path = {_fold(file.relative_to(self.folder).as_posix()): file for file in self.media.values()}
        return {_fold(file.stem): file for file in reversed(self.media.values())} | by_path

    def find(self, name: str) -> Path | None:
        """Find a video or picture by its name without suffix; or else by its path or name, as people write them."""
        if name in self.media:
            return self.media[name]
        folded = _fold(name)
        return self._folded.get(folded) or self._folded.get(_fold(stem(folded)))

    def named(self, *patterns: str) -> list[Path]:
        """Return the annotation files that match a pattern, shallowest first."""
        return [file for file in self._annotations if any(fnmatch(file.name, pattern) for pattern in patterns)]


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\\", "/")).casefold().removeprefix("./")


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the visible files in a folder and below it; links to folders are followed, cycles of them once."""
    seen = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:  # a cycle of links
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if not name.startswith("."))


@contextmanager
def expecting(path: Path, form: str) -> Iterator[None]:
    """Turn any error in a file's content into a DatasetError that names the file and its expected `form`."""
    try:
        yield
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, csv.Error, DatasetError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise DatasetError(f"{path} cannot be used ({reason}). Expected {form}.") from error


def read_ids(path: Path) -> list[str]:
    """Read a list of ids: one per line, or a NumPy array of strings; suffixes of pictures are dropped."""
    names = np.load(path, allow_pickle=False).tolist() if path.suffix == ".npy" else path.read_text("utf-8").split()
    return [stem(text(name)) for name in names]


def stem(name: str) -> str:
    """Drop the folders of a file's name, and its suffix if it is that of a video or a picture."""
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in VIDEO_SUFFIXES | PICTURE_SUFFIXES else path.name


def read_json(path: Path) -> Any:
    return parse_json(read_text(path))


def read_text(path: Path) -> str:
    content = path.read_bytes()
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise ValueError
        return content.decode("utf-8-sig")
    except ValueError:
        raise ValueError("it is not UTF-8; save it as “CSV UTF-8”") from None


def read_table(path: Path, *needed: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a CSV file by line, and column in lower case; `needed` has names for each column it needs."""
    text = read_text(path)
    heads = {
        mark: [cell.strip().lower() for cell in next(csv.reader(StringIO(text, ""), delimiter=mark), [])]
        for mark in DELIMITERS
    }
    mark = next((each for each, head in heads.items() if not any(map({*head}.isdisjoint, needed))), "")
    if not mark:
        columns = max(heads.values(), key=len)
        lacking = next(next(iter(names)) for names in needed if {*columns}.isdisjoint(names))
        raise ValueError(f"column {lacking} is missing; found {listed(columns)}")
    columns, reader = heads[mark], csv.reader(StringIO(text, ""), delimiter=mark)
    next(reader)
    for cells in reader:
        where, more = f"line {reader.line_num}", "".join(cells[len(columns) :])
        if more.strip():
            raise ValueError(f"{where} has more cells than the header; quote captions that contain {quoted(mark)}")
        row = dict(zip(columns, cells, strict=False))
        is_short = len(cells) < len(columns) and any(map(row.keys().isdisjoint, needed))
        if not "".join(cells).strip() or (is_short and mark == "|"):  # Flickr30k's results.csv has such a line
            continue
        if is_short:
            raise ValueError(f"{where} has fewer cells than the header")
        yield where, row


def listed(columns: Iterable[str]) -> str:
    """List up to MOST_COLUMNS names of columns."""
    names = list(dict.fromkeys(name for name in columns if name))
    return ", ".join(names[:MOST_COLUMNS]) or "no named column"


def text(value: object) -> str:
    """Strip a string."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value.strip()
