"""Files of captions with another verb, which rules, a language model or a person may have written.

One JSON object per line: {"caption": "a man cuts a cake", "phrases": ["cutting cake"],
"changed": ["a man eats a cake"]}.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.json_lines import is_list_of_texts, objects_of, write_lines
from nt2vr.papers.vfc.verb_changes import CaptionVerbs, ChangedCaption
from nt2vr.papers.vfc.verb_uses import keys_of


def write_verbs(path: Path, captions: Iterable[CaptionVerbs]) -> int:
    """Write the captions that have a changed version or a verb phrase; return their number."""
    lines = []
    for caption in captions:
        if caption.phrases or caption.changed:
            row = {
                "caption": caption.caption,
                "phrases": caption.phrases,
                "changed": [changed.text for changed in caption.changed],
            }
            lines.append(json.dumps(row, ensure_ascii=False))
    write_lines(path, lines)
    return len(lines)


def read_verbs(path: Path) -> dict[str, CaptionVerbs]:
    """Read a file of captions with another verb, by caption. Parses each text, to know its keys."""
    verbs_of = {}
    for number, row in objects_of(path):
        caption = row.get("caption")
        phrases = row.get("phrases", [])
        changed = row.get("changed", [])
        if (
            not isinstance(caption, str)
            or not is_list_of_texts(phrases)
            or not is_list_of_texts(changed)
        ):
            raise ConfigError(
                f"Line {number} of {path} lacks a caption, or lists of phrases and changed. Add them."
            )
        verbs_of[caption] = CaptionVerbs(
            caption=caption,
            keys=keys_of(caption),
            phrases=tuple(phrases),
            changed=tuple(ChangedCaption(text, keys_of(text)) for text in changed),
        )
    return verbs_of
