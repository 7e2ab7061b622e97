"""Rows of captions files, in the forms that people and annotation tools write them.

    table         CSV or TSV with a header
    JSON lines    an object per line, in .jsonl or .json
    JSON          an array of objects; {"data": […]} or FiftyOne's {"samples": […]} around one; an object with a list
                  or object per column, as pandas writes it; or {"a.png": "a caption", …}
    Label Studio  tasks of its full export: {"data": {…}, "annotations": [{"result": […]}]}
    LLaVA         {"image", "conversations": [{"from": "human", …}, {"from": "gpt", "value": a caption}]}

A cell may hold several captions, as a JSON array, or as Python or NumPy prints a list.
"""

import ast
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from nt2vr.datasets.files import listed, read_table, read_text
from nt2vr.datasets.lookup import MEDIA_SUFFIXES, suffix_of
from nt2vr.errors import quoted
from nt2vr.files import parse_json

CAPTION = (
    "caption",
    "captions",
    "text",
    "title",
    "sentence",
    "sentences",
    "description",
    "comment",
    "prompt",
    "raw",
    *(f"caption{number}" for number in range(10)),
    *(f"caption_{number}" for number in range(10)),
)
# Columns that each have a caption of the same video.
NUMBERED = re.compile(r"caption_?\d+")
NAME = ("video_id", "id", "image_id")
# The last one is that of Label Studio's template for captions.
PATH = (
    "path",
    "filepath",
    "file_path",
    "file_name",
    "filename",
    "file",
    "video_path",
    "image_path",
    "img_path",
    "video",
    "image",
    "img",
    "clip",
    "video_name",
    "image_name",
    "img_name",
    "clip_name",
    "clip_path",
    "image_file_name",
    "video_file_name",
    "image_filename",
    "video_filename",
    "image_file",
    "video_file",
    "captioning",
)
# Keys of the array of objects.
WRAPPERS = ("data", "samples", "annotations")
QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
NUMPY_LIST = re.compile(r"""\[(?:'[^']*'|"[^"]*")(?:\s+(?:'[^']*'|"[^"]*"))*\]""")
# By column in lower case.
Row = Mapping[str, Any]
# A row, after its place in the file.
PlacedRow = tuple[str, Row]


def read_rows(path: Path) -> Iterator[PlacedRow]:
    """Yield the rows of a captions file, each with its place in it."""
    if path.suffix.lower() in (".csv", ".tsv"):
        yield from read_table(path, CAPTION, (*NAME, *PATH))
        return
    for place, entry in _entries(path):
        if not isinstance(entry, dict):
            raise ValueError(f"{place} is not an object")
        yield place, _without_tool_form(_lower_columns(entry), place)


def _lower_columns(entry: Mapping[str, Any]) -> Row:
    return {name.strip().lower(): value for name, value in entry.items()}


def first_value(row: Row, names: Iterable[str]) -> Any:
    """Return the value of the first of some columns that is not empty.

    It is "" if all of them are empty, and None if the row has none of them.
    """
    has_column = False
    for name in names:
        if name in row:
            has_column = True
            value = row[name]
            if value is not None and value != "":
                return value
    return "" if has_column else None


def captions_of(row: Row, place: str, needs_one: bool) -> list[str]:
    """Return the captions of a row.

    Args:
        needs_one: whether a row without a column of captions is a ValueError.
    """
    numbered = [row[name] for name in row if is_numbered(name)]
    value = numbered or first_value(row, CAPTION)
    if value is None:
        if needs_one:
            raise ValueError(f"{place} has no caption among {listed(row)}")
        return []
    # By far the most frequent case.
    if isinstance(value, str) and not value.startswith("["):
        return [value.strip()]

    captions = []
    for caption in _captions_in_cell(value):
        text = "" if _is_missing(caption) else caption
        if not isinstance(text, str):
            raise ValueError(f"{place} has no caption, but {quoted(value)}")
        captions.append(text.strip())
    return captions


# Cached, since it is called for each row.
@cache
def is_numbered(column: str) -> bool:
    """Whether a column has one of several captions, such as caption_2."""
    return NUMBERED.fullmatch(column) is not None


def are_captioned(columns: Iterable[str]) -> bool:
    """Whether columns, in any letter case, name captions and what they are of."""
    names = {column.strip().lower() for column in columns}
    return not names.isdisjoint(CAPTION) and not names.isdisjoint((*NAME, *PATH))


def _captions_in_cell(value: Any) -> list[Any]:
    """Return the captions in a cell, which may be a list, also one that was written as text.

    A text is one that starts with "[": `captions_of` takes others as they are.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, str) or not value.endswith("]"):
        return [value]
    if NUMPY_LIST.fullmatch(value):
        return [text[1:-1] for text in QUOTED.findall(value)]
    try:
        captions = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        # It is a caption in brackets.
        return [value]
    if isinstance(captions, list) and _is_text(captions):
        return captions
    return [value]


def _is_missing(caption: Any) -> bool:
    """Whether a value is None or NaN, as pandas writes an empty cell."""
    return caption is None or (isinstance(caption, float) and math.isnan(caption))


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the entries of JSON lines, or of JSON, each with its place."""
    content = read_text(path)
    if path.suffix.lower() == ".jsonl" or _are_lines(content):
        yield from _json_lines(content)
        return
    entries = parse_json(content)
    if isinstance(entries, dict):
        entries = _array_in(entries)
    for number, entry in enumerate(entries, 1):
        yield f"entry {number}", entry


def _are_lines(content: str) -> bool:
    """Whether text begins with a line that is an object of its own, followed by another."""
    first, _, rest = content.lstrip().partition("\n")
    if not (first.startswith("{") and rest.lstrip().startswith("{")):
        return False
    try:
        parse_json(first)
    except ValueError:
        return False
    return True


def _json_lines(content: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as error:
            raise ValueError(f"line {number} is not JSON: {error}") from None


def _array_in(content: dict[str, Any]) -> list[Any]:
    """Return the entries that an object of one of the known forms holds."""
    for key in WRAPPERS:
        if isinstance(content.get(key), list):
            return list(content[key])
    if are_captioned(content):
        return _rows_of_columns(content)
    if content and all(suffix_of(name) in MEDIA_SUFFIXES for name in content):
        column = "path"
    elif content and all(map(_is_text, content.values())):
        column = "video_id"
    else:
        raise ValueError("it is neither an array of objects nor an object of a known form")
    return [{column: name, "captions": captions} for name, captions in content.items()]


def _is_text(captions: Any) -> bool:
    texts = captions if isinstance(captions, list) else [captions]
    return all(isinstance(caption, str) for caption in texts)


def _rows_of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turn columns, each a list or an object by row, into rows; others are one row."""
    values = list(columns.values())
    column_types = set(map(type, values))
    if column_types == {list} and len(set(map(len, values))) == 1:
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*values, strict=True)]
    if column_types != {dict}:
        return [dict(columns)]

    rows = []
    for key in dict.fromkeys(chain(*values)):
        rows.append({name: column.get(key) for name, column in columns.items()})
    return rows


def _without_tool_form(row: Row, place: str) -> Row:
    """Turn an entry of Label Studio's or LLaVA's form into one with a path and captions."""
    if isinstance(row.get("data"), dict) and isinstance(row.get("annotations"), list):
        return _label_studio_row(row)
    if isinstance(row.get("conversations"), list) and first_value(row, CAPTION) is None:
        return _llava_row(row, place)
    return row


def _llava_row(row: Row, place: str) -> Row:
    """Take the only answer of a conversation as the caption."""
    answers = [turn["value"] for turn in row["conversations"] if turn["from"] == "gpt"]
    if len(answers) != 1:
        raise ValueError(
            f"{place} is a conversation with {len(answers)} answers; a caption is one answer"
        )
    return {**row, "captions": answers}


def _label_studio_row(task: Row) -> Row:
    """Return the file of a task, and the texts of all its annotations that were not cancelled."""
    captions: list[str] = []
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        for region in annotation.get("result", ()):
            captions += _as_list(region.get("value", {}).get("text", ()))
    path = first_value(_lower_columns(task["data"]), PATH)
    return {"id": task.get("id"), "path": path, "captions": captions}


def _as_list(value: Any) -> Collection[Any]:
    if isinstance(value, str):
        return [value]
    return list(value)
