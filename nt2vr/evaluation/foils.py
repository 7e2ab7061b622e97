"""Caption-and-foil files as they are published: a picture's true caption against texts that are false of it.

    SugarCREPE   {"0": {"filename", "caption", "negative_caption"}, …}, a file per fold
    VALSE        {id: {"image_file", "caption", "foil", "mturk": {"caption"}}, …}, a file per phenomenon
    CREPE        a CSV: image_id, caption, hard_negs (a Python list); x, y, width, height of a region
    CC-Neg       ccneg_preprocessed.pt: {"image_paths": […], "annotations": [{"json", "sop_data"}, …], "num_ops"}

Sources: RAIVNLab/sugar-crepe, Heidelberg-NLP/VALSE, RAIVNLab/CREPE, jaisidhsingh/CoN-CLIP.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.datasets.files import read_json, text
from nt2vr.evaluation.benchmark import cue_of
from nt2vr.models.foreign_file import read_tensors
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress

AGREED = 2  # of VALSE's three annotators, who chose the caption and not the foil: its valid samples
CC_NEG_TEST = 40_000  # the last of CC-Neg, which its authors evaluate on
CC_NEG_BYTES = 1 << 30  # of its list of annotations, at most
MEMORY_BYTES, MEMORY_FACTOR = 3 << 30, 12  # of the child that reads it: PyTorch, and times the file
TIMEOUT_S = 900.0
HEAD = 16_384  # characters of a file that hold its first entry
COMPLEXITY = re.compile(r"complexity_(\d+)")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Foils:
    """One question.

    Attributes:
        file: path or name of the picture, as published.
        foils: texts that are false.
        groups: names of the subsets that it belongs to.
    """

    file: str
    caption: str
    foils: tuple[str, ...]
    groups: tuple[str, ...]


def _sugar_crepe(row: Row, stem: str) -> Foils:
    return Foils(text(row["filename"]), text(row["caption"]), (text(row["negative_caption"]),), (stem,))


def _valse(row: Row, stem: str) -> Foils | None:
    if row["mturk"]["caption"] < AGREED:
        return None
    return Foils(text(row["image_file"]), text(row["caption"]), (text(row["foil"]),), (stem,))


def _crepe(row: Row, stem: str) -> Foils:
    wrong = tuple(text(each) for each in ast.literal_eval(row["hard_negs"]))
    found = COMPLEXITY.search(stem)
    return Foils(row["image_id"], row["caption"], wrong, (f"complexity {found[1]}",) if found else ())


ADAPTERS: Mapping[str, Callable[[Row, str], Foils | None]] = {  # by a column that only this form has
    "negative_caption": _sugar_crepe,
    "mturk": _valse,
    "hard_negs": _crepe,
}


def foil_files(path: Path) -> list[Path]:
    """Return the files of foils that a file or folder stands for; none if it is something else."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.json") if foil_files(file))
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            head = file.read(HEAD)
        return [path] if any(f'"{mark}"' in head for mark in ADAPTERS) else []
    return [path] if path.suffix.lower() == ".pt" and path.is_file() else []


def read_foils(path: Path, progress: Progress) -> list[Foils]:
    """Read the questions of a file or folder."""
    found: list[Foils] = []
    for file in foil_files(path):
        if file.suffix.lower() == ".pt":
            limit = MEMORY_BYTES + MEMORY_FACTOR * file.stat().st_size
            found += run_limited(_cc_neg, file, memory_bytes=limit, timeout_s=TIMEOUT_S, progress=progress)
        else:
            found += adapted(list(read_json(file).values()), file.stem)
    return found


def adapted(rows: Sequence[Row], stem: str) -> list[Foils]:
    """Convert rows of one form; `stem` is the name of their file, which names a fold or a phenomenon."""
    if not rows:
        raise ValueError("it has no rows")
    adapter = next((adapter for mark, adapter in ADAPTERS.items() if mark in rows[0]), None)
    if adapter is None:
        raise ValueError(f"its columns are {', '.join(rows[0])}")
    return [foils for row in rows if (foils := adapter(row, stem))]


def _cc_neg(file: Path, progress: Progress) -> list[Foils]:
    """Read CC-Neg's last rows. As in its authors' code, negated captions lose their commas, and only they do."""
    data: Any = read_tensors(file, CC_NEG_BYTES)
    paths, notes = data["image_paths"], data["annotations"]
    if len(paths) != len(notes):
        raise ValueError(f"it has {len(paths)} pictures and {len(notes)} annotations")
    pairs = dict(_pair_counts(data.get("num_ops")))
    questions = []
    for row in range(max(0, len(paths) - CC_NEG_TEST), len(paths)):
        caption = text(notes[row]["json"]["caption"])
        foil = text(notes[row]["sop_data"]["negative-prompt"]).replace(",", "")
        groups = (cue_of(foil), "with a comma" if "," in caption else "without a comma", pairs.get(row, ""))
        questions.append(Foils(text(paths[row]), caption, (foil,), tuple(group for group in groups if group)))
    return questions


def _pair_counts(num_ops: object) -> Iterator[tuple[int, str]]:
    """Yield rows with their number of object-predicate pairs; the file lists the rows per number."""
    if isinstance(num_ops, Mapping):
        for count, rows in num_ops.items():
            yield from ((int(row), f"{count} pairs") for row in rows)
