"""Benchmarks from published files, recognised by their columns.

    captions                                   NegBench retrieval: true captions with negations, a Python list per row
    caption_0 … caption_3, correct_answer      NegBench multiple choice; correct_answer_template names the group
    question, answer, a0 … a4, type            NExT-QA; type is causal, temporal or descriptive
    caption, negated_caption                   pairs as a CSV: caption, negated caption
    class                                      classes, asked by prompts; dataset names the data set of several
    sentence, pos_image_id, neg_image_id       SVO-Probes; subj_neg, verb_neg and obj_neg name the group

These are CSV files, whose rows also name an image or video in one of the columns MEDIA: its path relative to the CSV
file, or the authors' own path, of which the file's name is looked up below the CSV's folder. Captions with foils in
other forms are read by `foils`.
"""

import ast
import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nt2vr.datasets.files import Files, stem
from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, QueryKind, cue_of, row_array
from nt2vr.evaluation.classes import Averaged, ClassTask, Prompts, class_files, class_questions
from nt2vr.evaluation.foils import Foils, adapted, foil_files, read_foils
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.progress import Progress, silent

MEDIA = (  # columns that name the file; the first that is there
    *("image_path", "filepath", "video_path", "path"),
    *("image_file", "filename", "file_name", "image", "video", "video_id", "image_id"),
)
NEGATED = ("negated_caption", "negated")
MARKS = frozenset({"captions", "caption_0", "class", "hard_negs", "pos_image_id", "a0", *NEGATED})  # only in tasks
REGION = "width"  # a column of CREPE, whose authors cut the region out of the picture
BETWEEN = "; "  # groups of a question
QUESTION_TYPES = {"C": "causal", "T": "temporal", "D": "descriptive"}  # first letters of NExT-QA's types
SVO = {"subj_neg": "subject", "verb_neg": "verb", "obj_neg": "object"}
Lines = Sequence[Mapping[str, str]]
Task = tuple[tuple[str, ...], tuple[JudgedQuery, ...]]  # candidate texts, queries or questions


def is_task(path: Path) -> bool:
    """Return whether a file or folder is a task rather than captions or a dataset."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return bool(foil_files(path))
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return bool(MARKS & set(next(csv.reader(file), ())))


def task_benchmark(
    path: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> Benchmark:
    """Read a task.

    Args:
        prompts: of classes, see `Prompts.read`.

    Raises:
        ConfigError: if the file cannot be used, with the reason.
    """
    folder, name = (path if path.is_dir() else path.parent).absolute(), path.stem
    averaged: Averaged = {}
    has_classes = False
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                lines = list(csv.DictReader(file))
            if lines and "hard_negs" in lines[0]:
                name += ", whole pictures" * (REGION in lines[0])
                videos, (texts, queries) = _foils(adapted(lines, path.stem), folder)
            elif lines and "pos_image_id" in lines[0]:
                videos, (texts, queries) = _pictures(lines, folder)
                name += f", {len(queries):,} of {len(lines):,} pairs" * (len(queries) < len(lines))
            elif lines and "class" in lines[0] and not READERS.keys() & lines[0].keys():
                videos, of_line = _videos(lines, folder)
                labels = {
                    row: (each["class"], each.get("dataset") or "") for row, each in zip(of_line, lines, strict=True)
                }
                asked, has_classes = Prompts.read(prompts, folder), True
                texts, queries, averaged = class_questions([labels[row] for row in sorted(labels)], asked)
            else:
                videos, of_line = _videos(lines, folder)
                texts, queries = _reader(lines)(lines, of_line)
        else:
            videos, (texts, queries) = _foils(read_foils(path, progress), folder)
    except (MemoryError, TimeoutError) as error:
        raise ConfigError(f"{path} takes too much memory or time to read. Choose a smaller file.") from error
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError, AttributeError, csv.Error) as error:
        reason = f"there is no column {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py.") from error
    if prompts and not has_classes:
        raise ConfigError(f"{path} has no classes. Leave out the prompts.")
    return _benchmark(name, path, videos, (texts, queries, averaged), decoder, cache, progress)


def class_benchmark(
    folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> Benchmark:
    """Read a folder per class, or several data sets of such folders.

    Raises:
        ConfigError: if there are none, or the prompts cannot be used.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder. Name one that has a folder per class.")
    folder = folder.absolute()
    files = class_files(folder)
    task = class_questions([each[1:] for each in files], Prompts.read(prompts, folder))
    videos = [Video(file.relative_to(folder).as_posix(), file) for file, _, _ in files]
    return _benchmark(folder.name, folder, videos, task, decoder, cache, progress)


def _benchmark(
    name: str, path: Path, videos: Sequence[Video], task: ClassTask, decoder: Decoder, cache: Cache, progress: Progress
) -> Benchmark:
    texts, queries, averaged = task
    ids, embed = tuple(video.video_id for video in videos), embed_files(videos, decoder, cache)
    source = {"data": str(path), "content": content_of(videos, cache, progress)}
    return Benchmark(name, ids, queries, embed, source, texts=texts, averaged=averaged)


def _videos(lines: Lines, folder: Path) -> tuple[list[Video], list[int]]:
    """Return the distinct files, and the position of each line's file among them."""
    if not lines:
        raise ValueError("it has no rows")
    column = next((column for column in MEDIA if column in lines[0]), MEDIA[0])
    return _looked_up([line[column] for line in lines], folder)


def _looked_up(names: Sequence[str], folder: Path) -> tuple[list[Video], list[int]]:
    """Find files by their paths, or else by name anywhere in the folder; return them and the place of each name."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    paths = {name: folder / name for name in places}
    if missing := [name for name, path in paths.items() if not path.is_file()]:
        media = Files(folder).media
        paths |= {name: media[stem(name)] for name in missing if stem(name) in media}
    return [Video(name, path) for name, path in paths.items()], [places[name] for name in names]


def _reader(lines: Lines) -> Callable[[Lines, Sequence[int]], Task]:
    for column, reader in READERS.items():
        if column in lines[0]:
            return reader
    raise ValueError(f"its columns are {', '.join(lines[0])}")


def _retrieval(lines: Lines, videos: Sequence[int]) -> Task:
    queries = []
    for line, video in zip(lines, videos, strict=True):
        captions = ast.literal_eval(line["captions"])
        queries += [JudgedQuery("retrieval", text, row_array((video,)), cue=cue_of(text)) for text in captions]
    return (), tuple(queries)


def _choices(lines: Lines, videos: Sequence[int]) -> Task:
    columns = sorted(column for column in lines[0] if column.startswith("caption_"))
    questions = [
        (video, [line[column] for column in columns], int(line["correct_answer"]), line.get("correct_answer_template"))
        for line, video in zip(lines, videos, strict=True)
    ]
    return _task_of(questions, "choice")


def _next_qa(lines: Lines, videos: Sequence[int]) -> Task:
    """Read questions with five answers each, asked as “question answer”, as VFC does."""
    columns = sorted(column for column in lines[0] if len(column) == 2 and column[0] == "a" and column[1].isdigit())
    questions = []
    for line, video in zip(lines, videos, strict=True):
        answers = [f"{line['question']} {line[column]}" for column in columns]
        groups = [QUESTION_TYPES.get(line["type"][:1], ""), line["type"]]
        questions.append((video, answers, int(line["answer"]), BETWEEN.join(filter(None, groups))))
    return _task_of(questions, "choice")


def _pairs(lines: Lines, videos: Sequence[int]) -> Task:
    column = next((column for column in NEGATED if column in lines[0]), NEGATED[0])
    questions = [
        (video, [line["caption"], line[column]], 0, cue_of(line[column]))
        for line, video in zip(lines, videos, strict=True)
    ]
    return _task_of(questions, "pair")


def _foils(asked: Sequence[Foils], folder: Path) -> tuple[list[Video], Task]:
    videos, of_line = _looked_up([each.file for each in asked], folder)
    questions = [
        (video, [each.caption, *each.foils], 0, BETWEEN.join(each.groups))
        for each, video in zip(asked, of_line, strict=True)
    ]
    return videos, _task_of(questions, "pair")


def _pictures(lines: Lines, folder: Path) -> tuple[list[Video], Task]:
    """Read sentences with a right and a wrong picture; pairs of which a picture is not there are left out."""
    names = [line[column] for line in lines for column in ("pos_image_id", "neg_image_id")]
    videos, places = _looked_up(names, folder)
    there = [video.path.is_file() for video in videos]
    new = {place: row for row, place in enumerate(place for place, is_there in enumerate(there) if is_there)}
    queries = []
    for row, line in enumerate(lines):
        right, wrong = places[2 * row : 2 * row + 2]
        if right in new and wrong in new:
            group = BETWEEN.join(name for column, name in SVO.items() if line[column].lower() == "true")
            relevant, hard = row_array((new[right],)), row_array((new[wrong],))
            queries.append(JudgedQuery("picture", line["sentence"], relevant, hard, group=group))
    return [videos[place] for place in new], ((), tuple(queries))


def _task_of(questions: Sequence[tuple[int, list[str], int, str | None]], kind: QueryKind) -> Task:
    """Build questions from (video, answers, position of the correct one, group)."""
    distinct = dict.fromkeys(text for _, answers, _, _ in questions for text in answers)
    texts = {text: place for place, text in enumerate(distinct)}
    return tuple(texts), tuple(
        JudgedQuery(
            kind,
            answers[correct],
            row_array((video,)),
            others=row_array(texts[text] for place, text in enumerate(answers) if place != correct),
            group=group or "",
            cue=cue_of(" ".join(answers)),
        )
        for video, answers, correct, group in questions
    )


READERS: Mapping[str, Callable[[Lines, Sequence[int]], Task]] = {
    "captions": _retrieval,
    "caption_0": _choices,
    "caption": _pairs,
    "a0": _next_qa,
}
