"""Questions as they are published: a picture or video, and texts of which one is true of it.

    NegBench     a CSV: caption_0 … caption_3, correct_answer; correct_answer_template names the group
    NExT-QA      a CSV: question, answer, a0 … a4, type, which is causal, temporal or descriptive
    pairs        a CSV: caption, negated_caption
    CREPE        a CSV: image_id, caption, hard_negs (a Python list); x, y, width, height of a region
    SugarCREPE   {"0": {"filename", "caption", "negative_caption"}, …}, a file per fold
    CC-Neg       ccneg_preprocessed.pt: {"image_paths": […], "annotations": [{"json", "sop_data"}, …], "num_ops"}

Sources: RAIVNLab/sugar-crepe, RAIVNLab/CREPE, jaisidhsingh/CoN-CLIP.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets.files import read_json, text
from nt2vr.evaluation.benchmark import cue_of
from nt2vr.models.foreign_file import read_tensors
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress

MEDIA = (  # columns that name the file; the first that is there
    *("image_path", "filepath", "video_path", "path"),
    *("image_file", "filename", "file_name", "image", "video", "video_id", "image_id"),
)
NEGATED = ("negated_caption", "negated")
QUESTION_TYPES = {"C": "causal", "T": "temporal", "D": "descriptive"}  # first letters of NExT-QA's types
CC_NEG_TEST = 40_000  # the last of CC-Neg, which its authors evaluate on
CC_NEG_BYTES = 1 << 30  # of its list of annotations, at most
MEMORY_BYTES, MEMORY_FACTOR = 3 << 30, 12  # of the child that reads it: PyTorch, and times the file
TIMEOUT_S = 900.0
HEAD = 16_384  # characters of a file that hold its first entry
COMPLEXITY = re.compile(r"complexity_(\d+)")
ANSWER = re.compile(r"a\d")

Row = Mapping[str, Any]


class Question(NamedTuple):
    """A question about the picture or video of a file, named as published."""

    file: str
    answers: Sequence[str]
    groups: Sequence[str]  # names of the subsets that it belongs to; empty ones do not count
    right: int = 0  # place of the true one of the answers
    kind: str = "pair"


def file_of(row: Row) -> str:
    """Return what a line of a CSV file calls its picture or video."""
    name: str = row[next((column for column in MEDIA if column in row), MEDIA[0])]
    return name


def _sugar_crepe(row: Row, stem: str) -> Question:
    return Question(text(row["filename"]), (text(row["caption"]), text(row["negative_caption"])), (stem,))


def _crepe(row: Row, stem: str) -> Question:
    groups = [f"complexity {number}" for number in COMPLEXITY.findall(stem)[:1]]
    return Question(row["image_id"], (row["caption"], *map(text, ast.literal_eval(row["hard_negs"]))), groups)


def _negbench(row: Row, stem: str) -> Question:
    columns = [column for column in row if column and column.startswith("caption_")]
    columns.sort(key=lambda column: (len(column), column))  # caption_10 after caption_9
    groups = (row.get("correct_answer_template") or "",)
    return Question(file_of(row), [row[each] for each in columns], groups, int(row["correct_answer"]), "choice")


def _next_qa(row: Row, stem: str) -> Question:
    """Ask “question answer”, as VFC does."""
    columns = sorted(column for column in row if column and ANSWER.fullmatch(column))
    answers = [f"{row['question']} {row[column]}" for column in columns]
    groups = (QUESTION_TYPES.get(row["type"][:1], ""), row["type"])
    return Question(file_of(row), answers, groups, int(row["answer"]), "choice")


def _pair(row: Row, stem: str) -> Question:
    negated = row[next((column for column in NEGATED if column in row), NEGATED[0])]
    return Question(file_of(row), (row["caption"], negated), (cue_of(negated),))


Forms = Mapping[str, Callable[[Row, str], Question]]  # by a column; the first that is there
JSON_FORMS: Forms = {"negative_caption": _sugar_crepe, "hard_negs": _crepe}
CSV_FORMS: Forms = {"hard_negs": _crepe, "caption_0": _negbench, "caption": _pair, "a0": _next_qa}


def foil_files(path: Path) -> list[Path]:
    """Return the files of foils that a file or folder stands for; none if it is something else."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.json") if foil_files(file))
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            head = file.read(HEAD)
        return [path] if any(f'"{mark}"' in head for mark in JSON_FORMS) else []
    return [path] if path.suffix.lower() == ".pt" and path.is_file() else []


def read_foils(path: Path, progress: Progress) -> list[Question]:
    """Read the questions of a file or folder that `foil_files` knows."""
    found: list[Question] = []
    for file in foil_files(path):
        if file.suffix.lower() == ".pt":
            limit = MEMORY_BYTES + MEMORY_FACTOR * file.stat().st_size
            found += run_limited(_cc_neg, file, memory_bytes=limit, timeout_s=TIMEOUT_S, progress=progress)
        else:
            found += questions_of(list(read_json(file).values()), file.stem, JSON_FORMS)
    return found


def questions_of(rows: Sequence[Row], stem: str, forms: Forms) -> list[Question]:
    """Read rows of one form; `stem` is the name of their file, which names a fold."""
    if not rows:
        raise ValueError("it has no rows")
    form = next((form for mark, form in forms.items() if mark in rows[0]), None)
    if form is None:
        raise ValueError(f"its columns are {', '.join(rows[0])}")
    return [form(row, stem) for row in rows]


def _cc_neg(file: Path, progress: Progress) -> list[Question]:
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
        questions.append(Question(text(paths[row]), (caption, foil), groups))
    return questions


def _pair_counts(num_ops: object) -> Iterator[tuple[int, str]]:
    """Yield rows with their number of object-predicate pairs; the file lists the rows per number."""
    if isinstance(num_ops, Mapping):
        for count, rows in num_ops.items():
            yield from ((int(row), f"{count} pairs") for row in rows)
