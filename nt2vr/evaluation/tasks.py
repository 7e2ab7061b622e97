"""Benchmarks from published files, recognised by their columns or keys, and from a folder per class.

    NegBench     CSVs: captions (true captions with negations, a Python list); or caption_0 … caption_3,
                 correct_answer, of which correct_answer_template names the group
    pairs        a CSV: caption, negated_caption
    CREPE        a CSV: image_id, caption, hard_negs (a Python list); x, y, width, height of a region
    classes      a CSV: class, asked by prompts; dataset names the data set of several
    SugarCREPE   {"0": {"filename", "caption", "negative_caption"}, …}, a file per fold

Rows of CSV files also name a file in one of the columns MEDIA: its path relative to the CSV file,
or the authors' own, whose last part is looked up below the CSV's folder. As CoN-CLIP does, every
class is asked for as it is and denied; as CLIP does, several prompts stand for the normalised mean
of their embeddings.

Sources: RAIVNLab/sugar-crepe, RAIVNLab/CREPE, jaisidhsingh/CoN-CLIP (Singh et al., "Learn 'No' to
Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025).
"""

import ast
import csv
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, filterfalse
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets.files import Files, read_json, text
from nt2vr.datasets.lookup import MEDIA_SUFFIXES, MediaName, files_below
from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.embed_media import content_of, embed_files
from nt2vr.evaluation.measures import LENIENT
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.extension import extensions, load
from nt2vr.files import expanded
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress, silent

MEDIA = (  # columns that name the file; the first that is there
    *("image_path", "filepath", "video_path", "path"),
    *("image_file", "filename", "file_name", "image", "video", "video_id", "image_id"),
)
NEGATED = ("negated_caption", "negated")
REGION = "width"  # a column of CREPE, whose authors cut the region out of the picture
WHOLE = "The authors cut the described region out of each picture; here pictures are whole."
# Limits of the child that reads a file of an extension: memory for PyTorch and so many times the
# file, and time
MEMORY_BYTES = 3 << 30
MEMORY_FACTOR = 12
TIMEOUT_S = 900.0
HEAD = 16_384  # characters of a file that hold its first entry
PROMPTS, SLOT, MAX_PROMPTS = "prompts.txt", "{}", 1_000  # next to the classes

Row = Mapping[str, Any]


class Task(NamedTuple):
    videos: Sequence[Video]
    queries: Sequence[JudgedQuery]
    texts: tuple[str, ...] = ()
    averaged: Mapping[str, tuple[str, ...]] = {}
    remarks: tuple[str, ...] = ()
    unclear: Mapping[str, str] = {}  # why videos have no file although files fit their names


class NamedFiles(NamedTuple):
    """The files that a task names."""

    videos: list[Video]
    rows: list[int]  # of each name, among the videos
    unclear: dict[str, str]  # as of `Task`


class Question(NamedTuple):
    """A question about the picture or video of a file, named as published."""

    file: str
    answers: Sequence[str]
    groups: Sequence[str]  # names of the subsets that it belongs to; empty ones do not count
    right: int = 0  # place of the true one of the answers
    kind: str = "pair"


# Reads the rows of a file, its path and the prompts of classes, see `read_prompts`
TableReader = Callable[[Sequence[Row], Path, str], Task]
QuestionReader = Callable[
    [Row, str], Question
]  # reads a row and the name of its file without suffix
# Reads a file in a process of its own, whose memory and time are limited
QuestionFileReader = Callable[[Path, Progress], Sequence[Question]]


def is_task(path: Path) -> bool:
    if path.suffix.lower() != ".csv" or not path.is_file():
        return bool(foil_files(path))
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        marks = {*tables(), *NEGATED} - {"caption"}
        return not marks.isdisjoint(next(csv.reader(file), ()))


def foil_files(path: Path) -> list[Path]:
    """Return the files of foils that a file or folder stands for; none if it is something else."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.json") if foil_files(file))
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            head = file.read(HEAD)
        return [path] if any(f'"{mark}"' in head for mark in JSON_FORMS) else []
    return [path] if path.suffix.lower() in question_files() and path.is_file() else []


def task_benchmark(
    path: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> TextBenchmark:
    """Read a task; a ConfigError says why it cannot be used. `prompts` are those of classes, see `read_prompts`."""
    try:
        task = _table(path, prompts) if path.suffix.lower() == ".csv" else _foils(path, progress)
    except (MemoryError, TimeoutError) as error:
        raise ConfigError(
            f"{path} takes too much memory or time to read. Choose a smaller file."
        ) from error
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        SyntaxError,
        IndexError,
        AttributeError,
        csv.Error,
    ) as error:
        reason = f"there is no column {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(
            f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py."
        ) from error
    if prompts and not any(query.kind == "class" for query in task.queries):
        raise ConfigError(f"{path} has no classes. Leave out the prompts.")
    return _benchmark(path.stem, path, task, decoder, cache, progress)


def class_benchmark(
    folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> TextBenchmark:
    """Read a folder per class, or several data sets of such folders; errors as of `task_benchmark`."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder. Name one that has a folder per class.")
    folder = folder.absolute()
    media = (file for file in files_below(folder) if file.suffix.lower() in MEDIA_SUFFIXES)
    files = sorted(file for file in media if file.parent != folder)
    if not files:
        raise ConfigError(
            f"{folder} has no classes. Put the pictures or videos of each class in a folder of its own."
        )
    data_sets = [
        file.parent.parent.relative_to(folder).as_posix().removeprefix(".") for file in files
    ]
    labels = [(file.parent.name, data) for file, data in zip(files, data_sets, strict=True)]
    videos = [Video(file.relative_to(folder).as_posix(), file) for file in files]
    task = class_task(videos, labels, read_prompts(prompts, folder))
    return _benchmark(folder.name, folder, task, decoder, cache, progress)


def _benchmark(
    name: str, path: Path, task: Task, decoder: Decoder, cache: Cache, progress: Progress
) -> TextBenchmark:
    return TextBenchmark(
        name=name,
        video_ids=tuple(video.video_id for video in task.videos),
        queries=tuple(task.queries),
        embed=embed_files(task.videos, decoder, cache),
        source={
            "data": str(path),
            "content": content_of(task.videos, cache, progress),
            "remarks": list(task.remarks),
        },
        texts=task.texts,
        averaged=task.averaged,
        leaves_out_unreadable=True,
        unreadable=task.unclear,
        videos=tuple(task.videos),
    )


def _table(path: Path, prompts: str) -> Task:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    columns = lines[0] if lines else {}
    read = next((read for mark, read in tables().items() if mark in columns), _csv_questions)
    return read(lines, path.absolute(), prompts)


def _true_captions(lines: Sequence[Row], path: Path, prompts: str) -> Task:
    (videos, rows, unclear), queries = (
        named_files([file_of(line) for line in lines], path.parent),
        list[JudgedQuery](),
    )
    for row, line in zip(rows, lines, strict=True):
        said = ast.literal_eval(line["captions"])
        queries += (
            JudgedQuery("retrieval", each, row_array((row,)), cue=cue_of(each)) for each in said
        )
    return Task(videos, queries, unclear=unclear)


def _class_table(lines: Sequence[Row], path: Path, prompts: str) -> Task:
    videos, rows, unclear = named_files([file_of(line) for line in lines], path.parent)
    labels = {
        row: (each["class"], each.get("dataset") or "")
        for row, each in zip(rows, lines, strict=True)
    }
    task = class_task(
        videos, [labels[row] for row in range(len(videos))], read_prompts(prompts, path.parent)
    )
    return task._replace(unclear=unclear)


def _csv_questions(lines: Sequence[Row], path: Path, prompts: str) -> Task:
    task = _questions(_in_form(lines, path.stem, csv_forms()), path.parent)
    return task._replace(remarks=(WHOLE,)) if {"hard_negs", REGION} <= lines[0].keys() else task


def _foils(path: Path, progress: Progress) -> Task:
    questions: list[Question] = []
    for file in foil_files(path):
        read = question_files().get(file.suffix.lower())
        if read is not None:
            memory_bytes = MEMORY_BYTES + MEMORY_FACTOR * file.stat().st_size
            questions += run_limited(
                read, file, memory_bytes=memory_bytes, timeout_s=TIMEOUT_S, progress=progress
            )
        else:
            questions += _in_form(list(read_json(file).values()), file.stem, JSON_FORMS)
    return _questions(questions, (path if path.is_dir() else path.parent).absolute())


def _in_form(rows: Sequence[Row], fold: str, forms: Mapping[str, QuestionReader]) -> list[Question]:
    columns = rows[0] if rows else {}
    form = next((form for mark, form in forms.items() if mark in columns), None)
    if form is None:
        raise ValueError(f"its columns are {', '.join(columns)}" if rows else "it has no rows")
    return [form(row, fold) for row in rows]


def file_of(row: Row) -> str:
    name: str = row[next((column for column in MEDIA if column in row), MEDIA[0])]
    return name


def _sugar_crepe(row: Row, fold: str) -> Question:
    return Question(
        text(row["filename"]), (text(row["caption"]), text(row["negative_caption"])), (fold,)
    )


def _crepe(row: Row, fold: str) -> Question:
    groups = [f"complexity {number}" for number in re.findall(r"complexity_(\d+)", fold)[:1]]
    return Question(
        row["image_id"], (row["caption"], *map(text, ast.literal_eval(row["hard_negs"]))), groups
    )


def _negbench(row: Row, fold: str) -> Question:
    columns = [column for column in row if column and column.startswith("caption_")]
    columns.sort(key=lambda column: (len(column), column))  # caption_10 after caption_9
    groups = (row.get("correct_answer_template") or "",)
    return Question(
        file_of(row), [row[each] for each in columns], groups, int(row["correct_answer"]), "choice"
    )


def _pair(row: Row, fold: str) -> Question:
    negated = row[next((column for column in NEGATED if column in row), NEGATED[0])]
    return Question(file_of(row), (row["caption"], negated), (cue_of(negated),))


# Both by a column; the first that is there tells how a file is read.
JSON_FORMS: Mapping[str, QuestionReader] = {"negative_caption": _sugar_crepe, "hard_negs": _crepe}
CSV_FORMS: Mapping[str, QuestionReader] = {
    "hard_negs": _crepe,
    "caption_0": _negbench,
    "caption": _pair,
}


@cache
def csv_forms() -> Mapping[str, QuestionReader]:
    """Return how the rows of a CSV file of questions are read, with those of extensions last."""
    forms = dict(CSV_FORMS)
    for extension in extensions():
        forms |= {column: load(reference) for column, reference in extension.questions.items()}
    return forms


@cache
def question_files() -> Mapping[str, QuestionFileReader]:
    """Return how files of questions that only extensions know are read, by suffix."""
    readers: dict[str, QuestionFileReader] = {}
    for extension in extensions():
        readers |= {
            suffix: load(reference) for suffix, reference in extension.question_files.items()
        }
    return readers


@cache
def tables() -> Mapping[str, TableReader]:
    """Return how CSV files are read, with those of extensions first."""
    readers: dict[str, TableReader] = {}
    for extension in extensions():
        readers |= {column: load(reference) for column, reference in extension.tables.items()}
    readers["captions"] = _true_captions
    readers |= dict.fromkeys(csv_forms(), _csv_questions)
    readers["class"] = _class_table
    return readers


def named_files(names: Sequence[str], folder: Path) -> NamedFiles:
    """Find files by their paths, or else by name anywhere in the folder."""
    row_of = {name: row for row, name in enumerate(dict.fromkeys(names))}
    paths = {name: folder / name for name in row_of}
    unclear: dict[str, str] = {}
    if not all(path.is_file() for path in paths.values()):
        located = Files(folder).media.locate({name: MediaName(name) for name in row_of})
        unclear = located.unclear
        for name, path in paths.items():
            if name in located.files and not path.is_file():
                paths[name] = folder / located.files[name]
    videos = [Video(name, path) for name, path in paths.items()]
    return NamedFiles(videos, [row_of[name] for name in names], unclear)


def _questions(asked: Sequence[Question], folder: Path) -> Task:
    videos, of_question, unclear = named_files([each.file for each in asked], folder)
    texts, queries = dict[str, int](), []
    for each, video in zip(asked, of_question, strict=True):
        places = [texts.setdefault(text, len(texts)) for text in each.answers]
        others = row_array(other for number, other in enumerate(places) if number != each.right)
        group, cue = "; ".join(filter(None, each.groups)), cue_of(" ".join(each.answers))
        right, relevant = each.answers[each.right], row_array((video,))
        queries.append(JudgedQuery(each.kind, right, relevant, others=others, group=group, cue=cue))
    return Task(videos, queries, tuple(texts), unclear=unclear)


@cache
def class_groups() -> Mapping[str, frozenset[str]]:
    """Return the names of the classes of each group that extensions know."""
    groups: dict[str, frozenset[str]] = {}
    for extension in extensions():
        for name, path in extension.class_groups.items():
            groups[name] = frozenset(path.read_text(encoding="utf-8").splitlines())
    return groups


class Prompts(NamedTuple):
    """Sentences with a slot for the name of a class; `negated` ones deny it, and there may be none."""

    plain: tuple[str, ...] = ("this is a photo of a {}",)
    negated: tuple[str, ...] = ("this is not a photo of a {}",)


def read_prompts(given: str, folder: Path) -> Prompts:
    """Read a prompt, or a file with one per line, by default PROMPTS in a folder; negations tell which deny."""
    path = expanded(given) if given else folder / PROMPTS
    if not given and not path.is_file():
        return Prompts()
    try:
        lines = [given] if SLOT in given else path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The prompts of {path} cannot be read: name a text file with one per line."
        ) from error
    lines = list(dict.fromkeys(filter(None, map(str.strip, lines))))
    for line in lines:
        if line.count(SLOT) != 1:
            raise ConfigError(
                f"A prompt needs one {SLOT} for the name of the class, unlike {quoted(line)}."
            )
    prompts = Prompts(tuple(filterfalse(cue_of, lines)), tuple(filter(cue_of, lines)))
    if not prompts.plain or len(lines) > MAX_PROMPTS:
        raise ConfigError(f"Give 1 to {MAX_PROMPTS:,} prompts, at least one without a negation.")
    return prompts


def class_task(
    videos: Sequence[Video], labels: Sequence[tuple[str, str]], prompts: Prompts
) -> Task:
    """Ask about each video with plain prompts, then with negated prompts if there are any.

    Of each video, `labels` are its class and its data set, for whose classes it is asked; a
    ConfigError refuses a data set with a single class.
    """
    named = [(label.lower().replace("_", " "), data.replace("; ", ", ")) for label, data in labels]
    classes: dict[str, dict[str, None]] = {}
    for name, data in named:
        classes.setdefault(data, {})[name] = None
    if alone := [data for data, names in classes.items() if len(names) < 2]:
        raise ConfigError(
            f"{alone[0] or 'The data'} has a single class. Give at least two to choose between."
        )
    texts, averaged, questions = dict[str, int](), dict[str, tuple[str, ...]](), list[JudgedQuery]()
    for kind, lines in (("class", prompts.plain), (LENIENT, prompts.negated)):
        if not lines:
            continue
        said = {
            name: tuple(line.replace(SLOT, name) for line in lines)
            for name in chain(*classes.values())
        }
        averaged |= {each[0]: each for each in said.values() if len(each) > 1}
        places = {name: texts.setdefault(each[0], len(texts)) for name, each in said.items()}
        of_class = {
            data: row_array(places[name] for name in names) for data, names in classes.items()
        }
        for video, (name, data) in enumerate(named):
            groups = [data] if len(classes) > 1 else []
            groups += [
                group
                for group, names in class_groups().items()
                if name in names <= classes[data].keys()
            ]
            group, others = (
                "; ".join(filter(None, groups)),
                of_class[data][of_class[data] != places[name]],
            )
            questions.append(
                JudgedQuery(kind, said[name][0], row_array((video,)), others=others, group=group)
            )
    return Task(videos, questions, tuple(texts), averaged)
