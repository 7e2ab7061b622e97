"""Files of captions with another verb.

Files, whoever wrote them, have JSON lines: {"caption", "phrases": […], "changed": […]}.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.query_sets import objects_of, write_lines
from nt2vr.papers.vfc.verb_changes import Changed, VerbLine
from nt2vr.papers.vfc.verb_uses import frames_of


def _keys(text: str) -> tuple[str, ...]:
    return tuple(frame.key for frame in frames_of(text))


def write_verbs(path: Path, lines: Iterable[VerbLine]) -> int:
    """Write captions that have a changed version or a verb phrase; return their number."""
    rows = [
        {
            "caption": line.caption,
            "phrases": line.phrases,
            "changed": [each.text for each in line.changed],
        }
        for line in lines
        if line.phrases or line.changed
    ]
    write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows))
    return len(rows)


def read_verbs(path: Path) -> dict[str, VerbLine]:
    """Read a file of `write_verbs`, by caption; parses each text."""
    found: dict[str, VerbLine] = {}
    for number, row in objects_of(path):
        caption, *lists = row.get("caption"), row.get("phrases", []), row.get("changed", [])
        fits = all(
            isinstance(some, list) and all(isinstance(text, str) for text in some) for some in lists
        )
        if not isinstance(caption, str) or not fits:
            raise ConfigError(
                f"Line {number} of {path} lacks a caption, or lists of phrases and changed. Add them."
            )
        phrases, changed = lists
        keyed = tuple(Changed(text, _keys(text)) for text in changed)
        found[caption] = VerbLine(caption, _keys(caption), tuple(phrases), keyed)
    return found
