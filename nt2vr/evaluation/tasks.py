"""Benchmarks from published files, recognised by their columns or keys.

    NegBench     CSVs: captions (true captions with negations, a Python list); or caption_0 …
                 caption_3, correct_answer, of which correct_answer_template names the group
    pairs        a CSV: caption, negated_caption
    CREPE        a CSV: image_id, caption, hard_negs (a Python list); x, y, width, height of a region
    classes      a CSV: class, asked by prompts; dataset names the data set of several
    SugarCREPE   {"0": {"filename", "caption", "negative_caption"}, …}, a file per fold

Rows of CSV files also name a file in one of the columns MEDIA: its path relative to the CSV file,
or the authors' own, whose last part is looked up below the CSV's folder.

Sources: RAIVNLab/sugar-crepe, RAIVNLab/CREPE.
"""

import ast
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets.files import UNREADABLE, head_of, read_json, text
from nt2vr.errors import ConfigError
from nt2vr.evaluation.class_tasks import class_task, read_prompts
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array, row_numbers
from nt2vr.evaluation.task_data import Task, benchmark_of_task, named_files
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.extension import loaded
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress, silent

# Columns that name the file; the first that is there.
MEDIA = (
    "image_path",
    "filepath",
    "video_path",
    "path",
    "image_file",
    "filename",
    "file_name",
    "image",
    "video",
    "video_id",
    "image_id",
)
NEGATED = ("negated_caption", "negated")
# A column of CREPE, whose authors cut the region out of the picture.
REGION = "width"
UNCUT_REMARK = "The authors cut the described region out of each picture; here pictures are whole."
# Limits of the child that reads a file of an extension: memory for PyTorch and so many times the
# file, and time.
MEMORY_BYTES = 3 << 30
MEMORY_FACTOR = 12
TIMEOUT_S = 900.0

Row = Mapping[str, Any]


class Question(NamedTuple):
    """A question about the picture or video of a file, named as published.

    Attributes:
        groups: names of the subsets that it belongs to; empty ones do not count.
        right: number of the right one among the answers.
    """

    file: str
    answers: Sequence[str]
    groups: Sequence[str]
    right: int = 0
    kind: str = "pair"


# Reads the rows of a file, its path and the prompts of classes, see `read_prompts`.
TableReader = Callable[[Sequence[Row], Path, str], Task]
# Reads a row and the name of its file without suffix.
QuestionReader = Callable[[Row, str], Question]
# By a column of the rows.
Forms = Mapping[str, QuestionReader]
# Reads a file in a process of its own, whose memory and time are limited.
QuestionFileReader = Callable[[Path, Progress], Sequence[Question]]


def is_task(path: Path) -> bool:
    """Return whether a file or folder is one that `task_benchmark` reads."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return bool(foil_files(path))
    # Files of captions have the column "caption", too.
    marks = {*tables(), *NEGATED} - {"caption"}
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        columns = next(csv.reader(file), ())
    return not marks.isdisjoint(columns)


def foil_files(path: Path) -> list[Path]:
    """Return the files of foils that a file or folder stands for; none if it is something else."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.json") if foil_files(file))
    if not path.is_file():
        return []
    suffix = path.suffix.lower()
    if suffix == ".json":
        head = head_of(path)
        has_mark = any(f'"{mark}"' in head for mark in JSON_FORMS)
        return [path] if has_mark else []
    if suffix in question_files():
        return [path]
    return []


def task_benchmark(
    path: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> TextBenchmark:
    """Read a task; a ConfigError says why it cannot be used.

    `prompts` are those of classes, see `read_prompts`.
    """
    try:
        if path.suffix.lower() == ".csv":
            task = _read_table(path, prompts)
        else:
            task = _read_foils(path, progress)
    except (MemoryError, TimeoutError) as error:
        raise ConfigError(
            f"{path} takes too much memory or time to read. Choose a smaller file."
        ) from error
    except (*UNREADABLE, SyntaxError) as error:
        if isinstance(error, KeyError):
            reason = f"there is no column {error}"
        else:
            reason = str(error)
        raise ConfigError(
            f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py."
        ) from error
    if prompts and all(query.kind != "class" for query in task.queries):
        raise ConfigError(f"{path} has no classes. Leave out the prompts.")
    return benchmark_of_task(
        task, name=path.stem, path=path, decoder=decoder, cache=cache, progress=progress
    )


def _read_table(path: Path, prompts: str) -> Task:
    """Read a CSV file by the first column that decides how."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = rows[0] if rows else {}
    for column, reader in tables().items():
        if column in columns:
            return reader(rows, path.absolute(), prompts)
    return _csv_questions(rows, path.absolute(), prompts)


def _true_captions(rows: Sequence[Row], path: Path, prompts: str) -> Task:
    files = named_files([file_of(row) for row in rows], path.parent)
    queries = []
    for video, row in zip(files.rows, rows, strict=True):
        for caption in ast.literal_eval(row["captions"]):
            queries.append(
                JudgedQuery(
                    kind="retrieval",
                    text=caption,
                    relevant=row_array((video,)),
                    cue=cue_of(caption),
                )
            )
    return Task(files.videos, queries, unclear=files.unclear)


def _class_table(rows: Sequence[Row], path: Path, prompts: str) -> Task:
    files = named_files([file_of(row) for row in rows], path.parent)
    label_of = {
        video: (row["class"], row.get("dataset") or "")
        for video, row in zip(files.rows, rows, strict=True)
    }
    # The rows of files are numbered as they first come.
    labels = list(label_of.values())
    task = class_task(files.videos, labels, read_prompts(prompts, path.parent))
    return task._replace(unclear=files.unclear)


def _csv_questions(rows: Sequence[Row], path: Path, prompts: str) -> Task:
    task = _task_of(_in_form(rows, path.stem, csv_forms()), path.parent)
    has_regions = "hard_negs" in rows[0] and REGION in rows[0]
    if has_regions:
        return task._replace(remarks=(UNCUT_REMARK,))
    return task


def _read_foils(path: Path, progress: Progress) -> Task:
    questions = []
    for file in foil_files(path):
        reader = question_files().get(file.suffix.lower())
        if reader is None:
            rows = list(read_json(file).values())
            questions += _in_form(rows, file.stem, JSON_FORMS)
        else:
            memory_bytes = MEMORY_BYTES + MEMORY_FACTOR * file.stat().st_size
            questions += run_limited(
                reader, file, memory_bytes=memory_bytes, timeout_s=TIMEOUT_S, progress=progress
            )
    folder = path if path.is_dir() else path.parent
    return _task_of(questions, folder.absolute())


def _in_form(rows: Sequence[Row], fold: str, forms: Forms) -> list[Question]:
    """Read rows as the first form says whose column they have."""
    if not rows:
        raise ValueError("it has no rows")
    for column, reader in forms.items():
        if column in rows[0]:
            return [reader(row, fold) for row in rows]
    raise ValueError(f"its columns are {', '.join(rows[0])}")


def file_of(row: Row) -> str:
    """Return the name of a row's picture or video, as published."""
    name: str = _first_cell(row, MEDIA)
    return name


def _first_cell(row: Row, columns: Sequence[str]) -> Any:
    """Return the cell in the first of some columns that a row has; a KeyError names the first one."""
    for column in columns:
        if column in row:
            return row[column]
    raise KeyError(columns[0])


def _sugar_crepe(row: Row, fold: str) -> Question:
    file = text(row["filename"])
    answers = (text(row["caption"]), text(row["negative_caption"]))
    return Question(file, answers, groups=(fold,))


def _crepe(row: Row, fold: str) -> Question:
    foils = [text(foil) for foil in ast.literal_eval(row["hard_negs"])]
    complexity = re.search(r"complexity_(\d+)", fold)
    groups = [f"complexity {complexity[1]}"] if complexity else []
    return Question(row["image_id"], (row["caption"], *foils), groups)


def _negbench(row: Row, fold: str) -> Question:
    columns = []
    for column in row:
        # None has what a line has beyond the last column.
        if column is not None and column.startswith("caption_"):
            columns.append(column)
    # caption_10 comes after caption_9.
    columns.sort(key=lambda column: (len(column), column))
    return Question(
        file=file_of(row),
        answers=[row[column] for column in columns],
        groups=(row.get("correct_answer_template") or "",),
        right=int(row["correct_answer"]),
        kind="choice",
    )


def _pair(row: Row, fold: str) -> Question:
    negated = _first_cell(row, NEGATED)
    return Question(file_of(row), (row["caption"], negated), groups=(cue_of(negated),))


# The first column that is there decides how a file is read.
JSON_FORMS: Forms = {"negative_caption": _sugar_crepe, "hard_negs": _crepe}
CSV_FORMS: Forms = {
    "hard_negs": _crepe,
    "caption_0": _negbench,
    "caption": _pair,
}


@cache
def csv_forms() -> Forms:
    """Return how the rows of a CSV file of questions are read, with those of extensions last."""
    return {**CSV_FORMS, **loaded(lambda extension: extension.questions)}


@cache
def question_files() -> Mapping[str, QuestionFileReader]:
    """Return how files of questions that only extensions know are read, by suffix."""
    return loaded(lambda extension: extension.question_files)


@cache
def tables() -> Mapping[str, TableReader]:
    """Return how CSV files are read, with those of extensions first."""
    readers = loaded(lambda extension: extension.tables)
    readers["captions"] = _true_captions
    readers |= dict.fromkeys(csv_forms(), _csv_questions)
    readers["class"] = _class_table
    return readers


def _task_of(questions: Sequence[Question], folder: Path) -> Task:
    files = named_files([question.file for question in questions], folder)
    text_rows = row_numbers(chain.from_iterable(question.answers for question in questions))
    queries = []
    for question, video in zip(questions, files.rows, strict=True):
        answers = [text_rows[answer] for answer in question.answers]
        # The others are wrong.
        del answers[question.right]
        queries.append(
            JudgedQuery(
                kind=question.kind,
                text=question.answers[question.right],
                relevant=row_array((video,)),
                others=row_array(answers),
                group="; ".join(filter(None, question.groups)),
                cue=cue_of(" ".join(question.answers)),
            )
        )
    return Task(files.videos, queries, texts=tuple(text_rows), unclear=files.unclear)
