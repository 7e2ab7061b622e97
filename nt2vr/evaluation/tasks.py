"""Benchmarks from published files, recognised by their columns.

    captions                                   NegBench retrieval: true captions with negations, a Python list per row
    class                                      classes, asked by prompts; dataset names the data set of several
    sentence, pos_image_id, neg_image_id       SVO-Probes; subj_neg, verb_neg and obj_neg name the group

These are CSV files, as are some of the questions of `foils`. Their rows also name an image or video in one of the
columns MEDIA: its path relative to the CSV file, or the authors' own path, of which the file's name is looked up below
the CSV's folder.
"""

import ast
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from nt2vr.datasets.files import Files, stem
from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, cue_of, row_array
from nt2vr.evaluation.classes import ClassTask, Prompts, class_files, class_questions
from nt2vr.evaluation.foils import CSV_FORMS, NEGATED, Question, file_of, foil_files, questions_of, read_foils
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.progress import Progress, silent

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
    """Read a task; a ConfigError says why it cannot be used. `prompts` are those of classes, see `Prompts.read`."""
    folder, name = (path if path.is_dir() else path.parent).absolute(), path.stem
    has_classes = False
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                lines = list(csv.DictReader(file))
            columns = set(lines[0]) if lines else set[str]()
            has_classes = "class" in columns and not columns & {"captions", "pos_image_id", *CSV_FORMS}
            if "pos_image_id" in columns:
                videos, task = _pictures(lines, folder)
                name += f", {len(task[1]):,} of {len(lines):,} pairs" * (len(task[1]) < len(lines))
            elif "captions" in columns:
                videos, task = _retrieval(lines, folder)
            elif has_classes:
                videos, task = _classes(lines, folder, Prompts.read(prompts, folder))
            else:
                name += ", whole pictures" * ({"hard_negs", REGION} <= columns)
                videos, task = _questions(questions_of(lines, path.stem, CSV_FORMS), folder)
        else:
            videos, task = _questions(read_foils(path, progress), folder)
    except (MemoryError, TimeoutError) as error:
        raise ConfigError(f"{path} takes too much memory or time to read. Choose a smaller file.") from error
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError, AttributeError, csv.Error) as error:
        reason = f"there is no column {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"{path} cannot be used ({reason}). See nt2vr/evaluation/tasks.py and foils.py.") from error
    if prompts and not has_classes:
        raise ConfigError(f"{path} has no classes. Leave out the prompts.")
    return _benchmark(name, path, videos, task, decoder, cache, progress)


def class_benchmark(
    folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> Benchmark:
    """Read a folder per class, or several data sets of such folders; errors as of `task_benchmark`."""
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


def _retrieval(lines: Lines, folder: Path) -> tuple[list[Video], ClassTask]:
    videos, of_line = _looked_up([file_of(line) for line in lines], folder)
    queries = [
        JudgedQuery("retrieval", caption, row_array((video,)), cue=cue_of(caption))
        for line, video in zip(lines, of_line, strict=True)
        for caption in ast.literal_eval(line["captions"])
    ]
    return videos, ((), tuple(queries), {})


def _classes(lines: Lines, folder: Path, prompts: Prompts) -> tuple[list[Video], ClassTask]:
    videos, of_line = _looked_up([file_of(line) for line in lines], folder)
    labels = {row: (each["class"], each.get("dataset") or "") for row, each in zip(of_line, lines, strict=True)}
    return videos, class_questions([labels[row] for row in sorted(labels)], prompts)


def _pictures(lines: Lines, folder: Path) -> tuple[list[Video], ClassTask]:
    """Read sentences with a right and a wrong picture; pairs of which a picture is not there are left out."""
    names = [line[column] for line in lines for column in ("pos_image_id", "neg_image_id")]
    videos, places = _looked_up(names, folder)
    there = [video.path.is_file() for video in videos]
    new = {place: row for row, place in enumerate(place for place, is_there in enumerate(there) if is_there)}
    queries = []
    for row, line in enumerate(lines):
        right, wrong = places[2 * row : 2 * row + 2]
        if right in new and wrong in new:
            group = "; ".join(name for column, name in SVO.items() if line[column].lower() == "true")
            relevant, hard = row_array((new[right],)), row_array((new[wrong],))
            queries.append(JudgedQuery("picture", line["sentence"], relevant, hard, group=group))
    return [videos[place] for place in new], ((), tuple(queries), {})


def _questions(asked: Sequence[Question], folder: Path) -> tuple[list[Video], ClassTask]:
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
