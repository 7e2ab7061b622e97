"""Benchmarks from published files, recognised by their columns or keys.

    NegBench     CSVs: captions (true captions with negations, a Python list); or caption_0 … caption_3,
                 correct_answer, of which correct_answer_template names the group
    NExT-QA      a CSV: question, answer, a0 … a4, type, which is causal, temporal or descriptive
    pairs        a CSV: caption, negated_caption
    CREPE        a CSV: image_id, caption, hard_negs (a Python list); x, y, width, height of a region
    classes      a CSV: class, asked by prompts; dataset names the data set of several
    SVO-Probes   a CSV: sentence, pos_image_id, neg_image_id; subj_neg, verb_neg and obj_neg name the group
    SugarCREPE   {"0": {"filename", "caption", "negative_caption"}, …}, a file per fold
    CC-Neg       ccneg_preprocessed.pt: {"image_paths": […], "annotations": [{"json", "sop_data"}, …], "num_ops"}

Rows of CSV files also name an image or video in one of the columns MEDIA: its path relative to the CSV file, or the
authors' own path, of which the file's name is looked up below the CSV's folder.

Sources: RAIVNLab/sugar-crepe, RAIVNLab/CREPE, jaisidhsingh/CoN-CLIP.
"""

import ast
import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets.files import Files, read_json, stem, text
from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, cue_of, row_array
from nt2vr.evaluation.classes import Prompts, Task, class_files, class_questions, read_prompts
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.foreign_file import read_tensors
from nt2vr.models.spawn import run_limited
from nt2vr.progress import Progress, silent

MEDIA = (  # columns that name the file; the first that is there
    *("image_path", "filepath", "video_path", "path"),
    *("image_file", "filename", "file_name", "image", "video", "video_id", "image_id"),
)
NEGATED = ("negated_caption", "negated")
QUESTION_TYPES = {"C": "causal", "T": "temporal", "D": "descriptive"}  # first letters of NExT-QA's types
CC_NEG_TEST = 40_000  # the last of CC-Neg, which its authors evaluate on
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
    data: Any = read_tensors(file)
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


MARKS = frozenset({"captions", "caption_0", "class", "hard_negs", "pos_image_id", "a0", *NEGATED})  # only in tasks
REGION = "width"  # a column of CREPE, whose authors cut the region out of the picture
SVO = {"subj_neg": "subject", "verb_neg": "verb", "obj_neg": "object"}
Lines = Sequence[Mapping[str, str]]


def is_task(path: Path) -> bool:
    """Return whether a file or folder is a task rather than captions or a dataset."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return bool(foil_files(path))
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return bool(MARKS & set(next(csv.reader(file), ())))


def task_benchmark(
    path: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> Benchmark:
    """Read a task; a ConfigError says why it cannot be used. `prompts` are those of classes, see `read_prompts`."""
    folder = (path if path.is_dir() else path.parent).absolute()
    try:
        if path.suffix.lower() == ".csv":
            name, videos, task = _table(path, folder, prompts)
        else:
            name, (videos, task) = path.stem, _questions(read_foils(path, progress), folder)
    except (MemoryError, TimeoutError) as error:
        raise ConfigError(f"{path} takes too much memory or time to read. Choose a smaller file.") from error
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError, AttributeError, csv.Error) as error:
        reason = f"there is no column {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py.") from error
    if prompts and task[1] and task[1][0].kind != "class":
        raise ConfigError(f"{path} has no classes. Leave out the prompts.")
    return _benchmark(name, path, videos, task, decoder, cache, progress)


def _table(path: Path, folder: Path, prompts: str) -> tuple[str, list[Video], Task]:
    """Read a CSV file of any form; return also the name of the benchmark, which tells what is left out."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    columns, name = set(lines[0]) if lines else set[str](), path.stem
    if "pos_image_id" in columns:
        videos, task = _pictures(lines, folder)
        few = f", {len(task[1]):,} of {len(lines):,} pairs" if len(task[1]) < len(lines) else ""
        return f"{name}{few}", videos, task
    if "captions" in columns:
        return name, *_retrieval(lines, folder)
    if "class" in columns and columns.isdisjoint(CSV_FORMS):
        return name, *_classes(lines, folder, read_prompts(prompts, folder))
    whole = ", whole pictures" if {"hard_negs", REGION} <= columns else ""
    return f"{name}{whole}", *_questions(questions_of(lines, name, CSV_FORMS), folder)


def class_benchmark(
    folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> Benchmark:
    """Read a folder per class, or several data sets of such folders; errors as of `task_benchmark`."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder. Name one that has a folder per class.")
    folder = folder.absolute()
    files = class_files(folder)
    task = class_questions([each[1:] for each in files], read_prompts(prompts, folder))
    videos = [Video(file.relative_to(folder).as_posix(), file) for file, _, _ in files]
    return _benchmark(folder.name, folder, videos, task, decoder, cache, progress)


def _benchmark(
    name: str, path: Path, videos: Sequence[Video], task: Task, decoder: Decoder, cache: Cache, progress: Progress
) -> Benchmark:
    texts, queries, averaged = task
    ids, unreadable = tuple(video.video_id for video in videos), dict[str, str]()
    embed = embed_files(videos, decoder, cache, unreadable=unreadable)
    source = {"data": str(path), "content": content_of(videos, cache, progress)}
    return Benchmark(name, ids, queries, embed, source, texts=texts, averaged=averaged, unreadable=unreadable)


def _looked_up(names: Sequence[str], folder: Path) -> tuple[list[Video], list[int]]:
    """Find files by their paths, or else by name anywhere in the folder; return them and the place of each name."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    paths = {name: folder / name for name in places}
    if missing := [name for name, path in paths.items() if not path.is_file()]:
        media = Files(folder).media
        paths |= {name: media[stem(name)] for name in missing if stem(name) in media}
    return [Video(name, path) for name, path in paths.items()], [places[name] for name in names]


def _retrieval(lines: Lines, folder: Path) -> tuple[list[Video], Task]:
    videos, of_line = _looked_up([file_of(line) for line in lines], folder)
    queries = [
        JudgedQuery("retrieval", caption, row_array((video,)), cue=cue_of(caption))
        for line, video in zip(lines, of_line, strict=True)
        for caption in ast.literal_eval(line["captions"])
    ]
    return videos, ((), tuple(queries), {})


def _classes(lines: Lines, folder: Path, prompts: Prompts) -> tuple[list[Video], Task]:
    videos, of_line = _looked_up([file_of(line) for line in lines], folder)
    labels = {row: (each["class"], each.get("dataset") or "") for row, each in zip(of_line, lines, strict=True)}
    return videos, class_questions([labels[row] for row in sorted(labels)], prompts)


def _pictures(lines: Lines, folder: Path) -> tuple[list[Video], Task]:
    """Read sentences with a right and a wrong picture; pairs of which a picture is not there are left out."""
    videos, _ = _looked_up([line[column] for line in lines for column in ("pos_image_id", "neg_image_id")], folder)
    there = [video for video in videos if video.path.is_file()]
    rows = {video.video_id: row for row, video in enumerate(there)}
    queries = []
    for line in lines:
        group = "; ".join(name for column, name in SVO.items() if line[column].lower() == "true")
        right, wrong = rows.get(line["pos_image_id"]), rows.get(line["neg_image_id"])
        if right is not None and wrong is not None:
            relevant, hard = row_array((right,)), row_array((wrong,))
            queries.append(JudgedQuery("picture", line["sentence"], relevant, hard, group=group))
    return there, ((), tuple(queries), {})


def _questions(asked: Sequence[Question], folder: Path) -> tuple[list[Video], Task]:
    videos, of_question = _looked_up([each.file for each in asked], folder)
    texts = {text: place for place, text in enumerate(dict.fromkeys(text for each in asked for text in each.answers))}
    queries = [
        JudgedQuery(
            each.kind,
            each.answers[each.right],
            row_array((video,)),
            others=row_array(texts[text] for place, text in enumerate(each.answers) if place != each.right),
            group="; ".join(filter(None, each.groups)),
            cue=cue_of(" ".join(each.answers)),
        )
        for each, video in zip(asked, of_question, strict=True)
    ]
    return videos, (tuple(texts), tuple(queries), {})
