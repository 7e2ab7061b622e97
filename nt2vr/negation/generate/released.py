"""Peculiarities of nT2VR's released files: names, lines of JSON or Python literals.

`COLLECTION.caption.txt` or, for MSR-VTT1k, `COLLECTION.captionsubset.txt` has the original queries,
`COLLECTION.negated.txt` and `COLLECTION.composed.txt` have the others. With `_neginfo` at the end of the name, lines
are objects with the parts of the sentence, for boolean search. `COLLECTION.caption.negation.txt` has training captions
with all their negations. COLLECTION is msrvtt10ktest, msrvtt1kAtest or vatex_test1k5, for example.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.files import parse_json

NAMES = {  # endings of nT2VR's names for each of ours, the first that is there is read
    "original.txt": ("captionsubset_neginfo.txt", "captionsubset.txt", "caption_neginfo.txt", "caption.txt"),
    "negated.txt": ("negated_neginfo.txt", "negated_withneginfo.txt", "negated.txt", "caption.negation.txt"),
    "composed.jsonl": ("composed.txt",),
}
CUES_OF_CODE = re.compile(r" not | n't ")
DENIED_FIRST = "negstionfirst"  # as their composer writes it: 1 if the denied clause comes first
CLAUSES_OF_CODE, DENIALS_OF_CODE = re.compile("and|while"), re.compile("not|don't|doesn't")  # within words, too
MAX_CHARS = 1 << 20  # of a line that is an object; a composed query with all 10,000 videos of MSR-VTT has 120,000


def find(folder: Path, name: str) -> Path:
    """Return the file of a query set: by our name if it is there or nothing is, otherwise by nT2VR's.

    Raises:
        ConfigError: if there are files of several collections.
    """
    for ending in () if (folder / name).is_file() else NAMES[name]:
        if found := sorted(folder.glob(f"*.{ending}")):
            if len(found) > 1:
                names = ", ".join(path.name for path in found[:3])
                raise ConfigError(f"{folder} has query sets of several collections ({names}). Keep one per folder.")
            return found[0]
    return folder / name


def object_of(line: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object or, as in nT2VR's composed queries, a Python dict of literals; None if neither."""
    if len(line) > MAX_CHARS:
        return None
    for parse in (parse_json, ast.literal_eval):
        try:
            fields = parse(line)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return fields if isinstance(fields, dict) else None
    return None


def parts_of(fields: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the wanted and the unwanted part that a `_neginfo` line names; None and "" if it names none."""
    wanted, unwanted = fields.get("poscap"), fields.get("negcap")
    if not isinstance(unwanted, str) or not unwanted.strip():
        return None, ""
    pieces = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    return " , ".join(filter(None, (str(piece).strip() for piece in pieces))), unwanted.strip()


def split_as_code(text: str, denied_first: bool | None = None) -> tuple[str, tuple[str, ...]]:
    """Split a sentence for boolean search as the authors' code does: the wanted part, and the unwanted one if any.

    The clause stays with the cue ("a man sings and", "dance"); "doesn't" is no cue, as no space precedes its "n't".
    Where the file says which clause is denied, they are cut at the first "and" or "while", and what is beyond a second
    one is lost; a sentence without any, which their code cannot read, stays whole.

    Args:
        denied_first: whether the denied clause comes first; None if the file does not say.

    Source: `adhocTextDataset` in data_providerneg.py of ruc-aimc-lab/nT2VR.
    """
    if denied_first is not None and len(clauses := CLAUSES_OF_CODE.split(text)) > 1:
        denied, wanted = clauses[:2] if denied_first else clauses[1::-1]
        return wanted.strip(), (DENIALS_OF_CODE.sub("", denied).strip(),)
    if denied_first is not None:
        return text, ()
    wanted, *unwanted = CUES_OF_CODE.split(text)
    return wanted.strip(), tuple(part.strip() for part in unwanted[:1] if part.strip())


def negated_captions(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the negations of a training caption, each with the caption's id and a number: "video0#enc#3#1"."""
    negations = fields.get("false", ())
    texts = (each.get("falsesent") for each in negations if isinstance(each, dict))
    for number, text in enumerate(text for text in texts if isinstance(text, str) and text.strip()):
        yield f"{fields.get('id')}#{number}", text.strip()
