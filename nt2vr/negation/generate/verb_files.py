"""Captions with another verb as files, whoever changed them.

One JSON object per line: {"caption", "phrases": […], "changed": […]}.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.query_sets import objects_of, write_lines
from nt2vr.negation.generate.verb_changes import Changed, VerbLine, frames_of


def line_of(caption: str, phrases: Sequence[str], changed: Sequence[str]) -> VerbLine:
    """Add the keys of verb phrases to texts."""
    keyed = tuple(Changed(text, _keys(text)) for text in changed)
    return VerbLine(caption, _keys(caption), tuple(phrases), keyed)


def _keys(text: str) -> tuple[str, ...]:
    return tuple(frame.key for frame in frames_of(text))


def write_verbs(path: Path, lines: Iterable[VerbLine]) -> int:
    """Write captions that have a changed version or a verb phrase; return their number."""
    rows = [
        {"caption": line.caption, "phrases": line.phrases, "changed": [each.text for each in line.changed]}
        for line in lines
        if line.phrases or line.changed
    ]
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))
    return len(rows)


def read_verbs(path: Path) -> dict[str, VerbLine]:
    """Read a file of `write_verbs`, by caption; parses each text."""
    return {line.caption: line for line in (_line(path, number, row) for number, row in objects_of(path))}


def _line(path: Path, number: int, row: dict[str, Any]) -> VerbLine:
    caption, phrases, changed = row.get("caption"), row.get("phrases", []), row.get("changed", [])
    lists = [some for some in (phrases, changed) if isinstance(some, list) and all(isinstance(x, str) for x in some)]
    if not isinstance(caption, str) or len(lists) < 2:
        raise ConfigError(f"Line {number} of {path} lacks a caption, or lists of phrases and changed. Add them.")
    return line_of(caption, phrases, changed)
