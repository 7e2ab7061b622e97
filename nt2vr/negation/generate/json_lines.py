"""Files of lines, of which some or all are JSON objects."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.files import JsonObject, atomic_write, parse_json

# Most characters of a line that is an object; a composed query with all 10,000 videos of MSR-VTT has
# 120,000.
_MAX_CHARS = 1 << 20

# The fields of a line that is an object.
Fields = Mapping[str, Any]


def objects_of(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """Yield the objects of a file of JSON lines, with the numbers of the lines."""
    for number, line in lines_of_file(path):
        yield number, _required_object(path, number, line)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def lines_of_file(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, with their numbers."""
    try:
        # Some editors write a byte order mark.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there. Name a file of captions or queries.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be opened ({error.strerror}). Name a file of captions or queries."
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} cannot be read as text ({error}). Choose a UTF-8 file."
        ) from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


class PlacedLine(NamedTuple):
    """A line of a file, with its fields if it is an object; `place` names it in messages."""

    place: str
    line: str
    fields: Fields


def rows_of(path: Path) -> Iterator[PlacedLine]:
    """Yield the lines of a file that are not blank; those with a brace must be objects."""
    for number, line in lines_of_file(path):
        fields = {}
        if line.startswith("{"):
            fields = _required_object(path, number, line)
        yield PlacedLine(f"Line {number} of {path}", line, fields)


def _required_object(path: Path, number: int, line: str) -> JsonObject:
    fields = object_of(line)
    if fields is None:
        raise ConfigError(
            f"Line {number} of {path} is not a JSON object: {line[:60]!r}. "
            "Write one object per line."
        )
    return fields


def object_of(line: str) -> JsonObject | None:
    """Parse a line as a JSON object or a Python dict of literals; None if it is neither.

    nT2VR's composed queries are the latter.
    """
    if len(line) > _MAX_CHARS:
        return None
    for parse in (parse_json, ast.literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            fields = parse(line)
            return fields if isinstance(fields, dict) else None
    return None


def is_list_of_texts(value: Any) -> bool:
    """Return whether a value of a JSON file is a list of strings, which may be empty."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
