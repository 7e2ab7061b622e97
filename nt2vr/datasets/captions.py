"""Captions files of one's own: a table, JSON, or a text file beside each video."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, split_named
from nt2vr.datasets.files import Files, expecting, listed, read_table, read_text
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import parse_json

TABLES, OTHERS = ("*.csv", "*.tsv", "*.jsonl"), ("*.json", "*.txt")
CAPTION = ("caption", "captions", "text", "title", "sentence", "description", "comment")
NAME = ("video_id", "id", "image_id")
PATH = (
    *("path", "filepath", "file_path", "file_name", "filename", "file", "video_path", "image_path"),
    *("video", "image", "video_name", "image_name"),
)
FORM = (
    f'a table with a column "caption" ({", ".join(CAPTION[2:])} do, too), a column "path" or "video_id" and '
    'optionally "split"; or JSON, an array or one object per line, with such keys'
)
Row = Mapping[str, Any]  # by column in lower case


def _load(files: Files) -> Annotations:
    """Read the captions file; videos without a "split" are for training if others have one."""
    found = files.named(*TABLES)
    found = [file for file in found if file.parent == found[0].parent]
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise DatasetError(f"{found[0].parent} has several captions files ({names}). Name one of them.")
    return annotations_of(found[0])


def _load_others(files: Files) -> Annotations:
    """Read a JSON array; or else the text files beside videos, one caption per line."""
    found, texts = files.named("*.json"), files.named("*.txt")
    arrays = [path for path in found if path.read_bytes()[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")]
    if chosen := arrays or (found if not texts else []):
        return annotations_of(chosen[0])
    beside = [path for path in texts if files.media.get(path.stem, Path()).parent == path.parent]
    if not beside:
        missing = "no captions file, and no text file is named like a video or picture beside it"
        raise DatasetError(f"{files.folder} has no captions or annotations: {missing}. Expected {FORM}.")
    captions: Captions = {}
    for path in beside:
        with expecting(path, "a caption per line"):
            captions[path.stem] = list(map(str.strip, read_text(path).split("\n")))
    return Annotations(files.folder.name, {"all": captions}, files.media)


def annotations_of(path: Path, needs_captions: bool = True) -> Annotations:
    """Read a captions file, from whose folder no path may lead out."""
    splits: dict[Split, Captions] = {}
    paths: dict[str, Path] = {}
    with expecting(path, FORM):
        is_table = path.suffix.lower() in (".csv", ".tsv")
        for where, row in read_table(path, CAPTION, (*NAME, *PATH)) if is_table else _objects(path):
            name, file = _first(row, NAME), _first(row, PATH)
            if not (name or file):
                raise ValueError(f"{where} names no video: give it a video_id or a path, not {listed(row)}")
            if file:
                relative = _inside(path.parent, _named(file, where), where)
                video_id = _named(name, where) if name else relative
                paths[video_id] = path.parent / relative
            else:
                video_id = _named(name, where)
            split = split_named(str(row["split"])) if row.get("split") else "all"
            splits.setdefault(split, {}).setdefault(video_id, []).extend(_captions(row, where, needs_captions))
        if not splits:
            raise ValueError("it has no rows")
    if len(splits) > 1:  # only some videos name their split
        splits.setdefault("train", {}).update(splits.pop("all", {}))
    return Annotations(path.parent.name, splits, paths)


def _objects(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the objects of JSON lines, or of a JSON array."""
    is_array, text = path.suffix.lower() == ".json", read_text(path)
    found = parse_json(text) if is_array else text.split("\n")
    if not isinstance(found, list):
        raise ValueError("it is not an array of objects")
    for number, each in enumerate(found, 1):
        where = f"entry {number}" if is_array else f"line {number}"
        if not is_array:
            if not each.strip():
                continue
            try:
                each = parse_json(each)
            except ValueError as error:
                raise ValueError(f"{where} is not JSON: {error}") from None
        if not isinstance(each, dict):
            raise ValueError(f"{where} is not an object")
        yield where, {name.strip().lower(): value for name, value in each.items()}


def _first(row: Row, names: tuple[str, ...]) -> Any:
    """Return what a row has in the first of these columns that is not empty; "" if all are, None without any."""
    found = [row[name] for name in names if name in row]
    return next((value for value in found if value not in (None, "")), "" if found else None)


def _captions(row: Row, where: str, needs_one: bool) -> list[str]:
    said = _first(row, CAPTION)
    if said is None and not needs_one:
        return []
    captions = said if isinstance(said, list) else [said]
    if not all(isinstance(caption, str) for caption in captions):
        raise ValueError(f"{where} has no caption, but {quoted(said)}, among {listed(row)}")
    return [caption.strip() for caption in captions]


def _named(name: Any, where: str) -> str:
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        raise ValueError(f"{where} names its video {quoted(name)}: give it a video_id or a path")
    return str(name).strip()


def _inside(folder: Path, name: str, where: str) -> str:
    """Return a path relative to a folder, with "/"."""
    path = Path(os.path.normpath(folder / name.replace("\\", "/")))
    if not path.is_relative_to(folder):
        raise DatasetError(f"{where}: the path {name!r} leads out of the folder")
    return path.relative_to(folder).as_posix()


LOADER = Loader(TABLES, f"your own captions file: {FORM}", _load)
OTHER_LOADER = Loader(OTHERS, f"a JSON array, or a text file beside each video: {FORM}", _load_others)
