"""What a task of a published file asks, and the benchmark that is made of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nt2vr.datasets.files import Files
from nt2vr.datasets.lookup import MediaName
from nt2vr.evaluation.embed_media import content_of, embed_files
from nt2vr.evaluation.queries import JudgedQueries, row_numbers
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.progress import Progress


class Task(NamedTuple):
    """What a file asks.

    Attributes:
        texts: candidate answers, of which queries name rows.
        averaged: texts that stand for the mean of several.
        unclear: why videos have no file although files fit their names, by id.
    """

    videos: Sequence[Video]
    queries: JudgedQueries
    texts: tuple[str, ...] = ()
    averaged: Mapping[str, tuple[str, ...]] = {}
    remarks: tuple[str, ...] = ()
    unclear: Mapping[str, str] = {}


class NamedFiles(NamedTuple):
    """The files that a task names.

    Attributes:
        rows: of each name, among the videos.
        unclear: as of `Task`.
    """

    videos: list[Video]
    rows: list[int]
    unclear: dict[str, str]


def named_files(names: Sequence[str], folder: Path) -> NamedFiles:
    """Find files by their paths, or else by name anywhere in the folder."""
    row_of = row_numbers(names)
    paths = {name: folder / name for name in row_of}
    missing = [name for name, path in paths.items() if not path.is_file()]
    unclear = {}
    if missing:
        located = Files(folder).media.locate({name: MediaName(name) for name in row_of})
        unclear = located.unclear
        for name in missing:
            if name in located.files:
                paths[name] = folder / located.files[name]
    videos = [Video(name, path) for name, path in paths.items()]
    return NamedFiles(videos, [row_of[name] for name in names], unclear)


def benchmark_of_task(
    task: Task, name: str, path: Path, decoder: Decoder, cache: Cache, progress: Progress
) -> TextBenchmark:
    """Return the benchmark of a task that was read from a file or folder."""
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
