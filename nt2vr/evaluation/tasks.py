"""Benchmarks from published CSV formats, recognised by their columns.

    captions                                   NegBench retrieval: true captions with negations, a Python list per row
    caption_0 … caption_3, correct_answer      NegBench multiple choice; correct_answer_template names the group
    caption, negated_caption                   CC-Neg: image, caption, negated caption
    class                                      CoN-CLIP's negated prompts

Each row also has the path of an image or video relative to the CSV file, in a column image_path, filepath, video_path
or path.
"""

import ast
import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, QueryKind, cue_of, row_array
from nt2vr.evaluation.choices import class_questions
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.progress import Progress, ShouldStop, never, silent

MEDIA = ("image_path", "filepath", "video_path", "path")
NEGATED = ("negated_caption", "negated")
MARKS = frozenset({"captions", "caption_0", "class", *NEGATED})  # columns found only in tasks
Lines = Sequence[Mapping[str, str]]
Task = tuple[tuple[str, ...], tuple[JudgedQuery, ...]]  # candidate texts, queries or questions


def task_benchmark(
    path: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, should_stop: ShouldStop = never
) -> Benchmark:
    """Read a task.

    Raises:
        ConfigError: if the file cannot be used, with the reason.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
        videos, of_line = _videos(lines, path.parent.absolute())
        texts, queries = _reader(lines)(lines, of_line)
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError, csv.Error) as error:
        reason = f"there is no column {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py.") from error
    return Benchmark(
        path.stem,
        tuple(video.video_id for video in videos),
        queries,
        embed_files(videos, decoder, cache),
        {"data": str(path), "content": content_of(videos, cache, progress, should_stop)},
        texts=texts,
    )


def _videos(lines: Lines, folder: Path) -> tuple[list[Video], list[int]]:
    """Return the distinct files, and the position of each line's file among them."""
    if not lines:
        raise ValueError("it has no rows")
    column = next((column for column in MEDIA if column in lines[0]), MEDIA[0])
    names = [line[column] for line in lines]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return [Video(name, folder / name) for name in places], [places[name] for name in names]


def _reader(lines: Lines) -> Callable[[Lines, Sequence[int]], Task]:
    readers = {"captions": _retrieval, "caption_0": _choices, "caption": _pairs, "class": _classes}
    for column, reader in readers.items():
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


def _pairs(lines: Lines, videos: Sequence[int]) -> Task:
    column = next((column for column in NEGATED if column in lines[0]), NEGATED[0])
    questions = [
        (video, [line["caption"], line[column]], 0, cue_of(line[column]))
        for line, video in zip(lines, videos, strict=True)
    ]
    return _task_of(questions, "pair")


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


def _classes(lines: Lines, videos: Sequence[int]) -> Task:
    labels = {video: line["class"] for line, video in zip(lines, videos, strict=True)}
    return class_questions([labels[video] for video in sorted(labels)])
