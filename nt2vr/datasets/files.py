"""Files of a dataset: its annotations by name, and readers of text, JSON and tables."""

import csv
import filecmp
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.datasets.lookup import MEDIA_SUFFIXES, MediaLookup, relative_files, suffix_of
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json
from nt2vr.progress import Progress, silent

DELIMITERS = ",;\t|"
# Before the delimiter, in a first line for Excel.
EXCEL_DELIMITER = "sep="
# What files of another form than expected raise.
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, csv.Error)
# Characters of a JSON file that hold its first entry.
HEAD = 16_384
# Columns that are named in a message.
MOST_COLUMNS = 20


class Files:
    """The visible files in a folder and below it; links to folders are followed."""

    def __init__(self, path: Path, progress: Progress = silent) -> None:
        """Scan a folder, or that of an annotation file, whose other annotations are left out.

        Args:
            progress: gets the number of rows that readers have read.
        """
        if not os.path.exists(path):
            raise DatasetError(
                f"{path} is not there. Name the folder of a dataset, or its captions file."
            )
        progress(0, 0, "listing files")
        self.progress = progress
        self.path = path.absolute()
        self.folder = self.path if path.is_dir() else self.path.parent
        relative_paths = relative_files(self.folder)
        self.media = MediaLookup(self.folder, relative_paths)
        self._annotations = [self.path]
        if path.is_dir():
            names = (name for name in relative_paths if suffix_of(name) not in MEDIA_SUFFIXES)
            self._annotations = [self.folder / name for name in names]

    def named(self, *patterns: str) -> list[Path]:
        """Return the annotation files that match a pattern in any case, shallowest first."""
        matching = []
        for file in self._annotations:
            if any(fnmatch(file.name.lower(), pattern.lower()) for pattern in patterns):
                matching.append(file)
        return matching

    def single(self, *patterns: str) -> Path | None:
        """Return the only annotation file that matches a pattern, or None.

        Copies of one file count as one; a DatasetError refuses several others.
        """
        paths = self.named(*patterns)
        if not paths:
            return None
        first, *further = paths
        for path in further:
            if not filecmp.cmp(first, path, shallow=False):
                raise self.refuse_several(paths)
        return first

    def refuse_several(self, paths: Collection[Path]) -> DatasetError:
        """Return the error that names several files of which only one can be read."""
        names = ", ".join(map(self.relative, paths))
        advice = "Name one of them, or a folder that has only one."
        return DatasetError(f"{self.folder} has several captions files ({names}). {advice}")

    def relative(self, path: Path) -> str:
        """Return the path of an annotation file relative to the folder, with "/"."""
        return path.relative_to(self.folder).as_posix()


@contextmanager
def expecting(path: Path, form: str) -> Iterator[None]:
    """Turn an error in a file's content into a DatasetError that names the file and its form."""
    try:
        yield
    except InterruptedError:
        # The work was cancelled.
        raise
    except (*UNREADABLE, DatasetError) as error:
        if isinstance(error, KeyError):
            reason = f"{error} is missing"
        else:
            reason = str(error).rstrip(".")
        raise DatasetError(f"{path} cannot be used ({reason}). Expected {form}.") from error


def read_names(path: Path) -> list[str]:
    """Read a list of names: one per line, or a NumPy array of strings."""
    if path.suffix == ".npy":
        return texts(np.load(path, allow_pickle=False).tolist())
    return path.read_text("utf-8").split()


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


def head_of(path: Path) -> str:
    """Read the beginning of a JSON file, which has its first entry."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.read(HEAD)


def read_table(path: Path, *needed: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a CSV file, each with its line, by column in lower case.

    Args:
        needed: names for each column that the file must have.
    """
    content = read_text(path)
    first_line = 0
    if content[: len(EXCEL_DELIMITER)].lower() == EXCEL_DELIMITER:
        content = content.partition("\n")[2]
        first_line = 1
    delimiter, columns = _table_head(content, needed)
    reader = csv.reader(StringIO(content, ""), delimiter=delimiter)
    next(reader)
    for cells in reader:
        place = f"line {first_line + reader.line_num}"
        if "".join(cells[len(columns) :]).strip():
            raise ValueError(
                f"{place} has more cells than the header; quote captions that contain {quoted(delimiter)}"
            )
        if not "".join(cells).strip():
            continue

        row = dict(zip(columns, cells, strict=False))
        if _first_missing(row.keys(), needed) is not None:
            # Flickr30k's results.csv has such a line.
            if delimiter == "|":
                continue
            raise ValueError(f"{place} has fewer cells than the header")
        yield place, row


def _table_head(content: str, needed: Iterable[Collection[str]]) -> tuple[str, list[str]]:
    """Return the delimiter under which a table has the needed columns, and all in lower case."""
    heads = []
    for delimiter in DELIMITERS:
        head = next(csv.reader(StringIO(content, ""), delimiter=delimiter), [])
        columns = [cell.strip().lower() for cell in head]
        if _first_missing(columns, needed) is None:
            return delimiter, columns
        heads.append(columns)
    most_columns = max(heads, key=len)
    missing = _first_missing(most_columns, needed)
    raise ValueError(f"column {missing} is missing; found {listed(most_columns)}")


def _first_missing(columns: Collection[str], needed: Iterable[Collection[str]]) -> str | None:
    """Return the first name of a needed column that a table has under none of its names."""
    for names in needed:
        if set(columns).isdisjoint(names):
            return next(iter(names))
    return None


def listed(columns: Iterable[str]) -> str:
    """List up to MOST_COLUMNS names of columns."""
    names = list(dict.fromkeys(filter(None, columns)))
    return ", ".join(names[:MOST_COLUMNS]) or "no named column"


def text(value: object) -> str:
    """Strip a string."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value.strip()


def texts(values: Iterable[object]) -> list[str]:
    """Strip strings."""
    return list(map(text, values))
