"""Captions with another verb as files, and by a language model with VFC's two prompts.

One JSON object per line: {"caption", "phrases": […], "changed": […]}.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.chat import ChatEndpoint
from nt2vr.negation.generate.query_sets import objects_of, write_lines
from nt2vr.negation.generate.verb_changes import MOST, Changed, VerbLine, frames_of
from nt2vr.negation.parse.wordlists import text_of

MAX_TOKENS = 512  # output length that the paper allows
MAX_CHARS = 500  # of a changed caption
_NUMBERED = re.compile(r"^\s*\d+\s*[).:]\s*(.+?)\s*$")
_QUOTED = re.compile("[\u2018'\"\u201c]([^\u2018\u2019'\"\u201c\u201d]+)[\u2019'\"\u201d]")


def line_by_chat(endpoint: ChatEndpoint, caption: str, own: Iterable[str]) -> VerbLine:
    """Have a language model change the verbs of a caption, and extract its verb phrases.

    Args:
        own: lemmas of the verbs of the caption and of its video's other captions; answers with one are dropped.
    """
    answer = endpoint.complete(_prompt("verb_change_prompt.txt", caption), MAX_TOKENS)
    changed = changed_in(answer, caption, frozenset(own))
    answer = endpoint.complete(_prompt("verb_phrase_prompt.txt", caption), MAX_TOKENS)
    return line_of(caption, phrases_in(answer), changed)


def _prompt(file: str, caption: str) -> str:
    """Fill in one of VFC's prompts, as published.

    Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models", ICCV 2023,
    appendix C.5.
    """
    return text_of(f"wordings/{file}").rstrip("\n").format(caption=caption)


def changed_in(answer: str, caption: str, own: frozenset[str]) -> list[str]:
    """Return the numbered sentences of an answer; those after a blank line, or with one of the verbs, are dropped."""
    lines = answer.strip().split("\n\n")[0].splitlines()
    texts = [match[1].rstrip(".") for line in lines if (match := _NUMBERED.match(line))]
    texts = [text for text in dict.fromkeys(texts) if text.isprintable() and len(text) <= MAX_CHARS]
    said = caption.lower().rstrip(" .")
    return [text for text in texts if text.lower() != said and not own & {each.verb for each in frames_of(text)}][
        :MOST
    ]


def phrases_in(answer: str) -> list[str]:
    """Return the quoted verb phrases in the first line of an answer."""
    first = (answer.strip().splitlines() or [""])[0]
    return [text.strip() for text in _QUOTED.findall(first) if text.strip() and text.isprintable()]


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
