"""Evaluation data by name: built-in world, gallery, tasks, datasets, captions alone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.datasets.video_inputs import read_vectors
from nt2vr.errors import ConfigError, DatasetError, did_you_mean, quoted
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.built_in import (
    NUM_CLIPS,
    SEED,
    gallery_benchmark,
    shown_benchmark,
    world_benchmark,
)
from nt2vr.evaluation.caption_benchmark import read_words, words_benchmark
from nt2vr.evaluation.class_tasks import class_benchmark
from nt2vr.evaluation.dataset_queries import KINDS, judged_queries
from nt2vr.evaluation.embed_media import InputVectors, content_of, embed_files, embed_vectors
from nt2vr.evaluation.queries import JudgedQueries, row_numbers
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import JsonObject, expanded
from nt2vr.library.libraries import Libraries
from nt2vr.media.gallery import Video, load_gallery
from nt2vr.models.capabilities import VideoInputName
from nt2vr.negation.generate.build import (
    cached_query_sets,
    missing_kinds,
)
from nt2vr.negation.generate.query_sets import CaptionedVideos, QuerySets
from nt2vr.progress import Progress
from nt2vr.settings import ASSETS
from nt2vr.world import WORLD

GALLERY = "gallery"
# Before the name or id of a library.
LIBRARY = "library:"
# Before a folder with a folder per class, or the built-in world.
CLASSES = "classes:"
BUILT_IN = (WORLD, GALLERY, CLASSES + WORLD)
WORLDS: Mapping[str, Callable[..., TextBenchmark]] = {
    WORLD: world_benchmark,
    CLASSES + WORLD: shown_benchmark,
}
# What models read; None for frames.
Inputs = frozenset[VideoInputName | None]
FRAMES: Inputs = frozenset({None})
# Before the name of data whose captions stand for the videos.
WORDS = "words:"


@dataclass(frozen=True)
class Data:
    """Selection of evaluation data.

    Attributes:
        name: "world", "gallery" (the shipped one), "library:NAME", a task's file or folder, or a
            dataset's folder or captions file; after "words:", captions alone; after "classes:", a
            folder with a folder per class, or "world".
        clips: number of clips of the built-in world.
        seed: of these clips, or of a dataset's generated queries.
        split: of a dataset; "all" for datasets without splits; empty for test, or validation where
            there is no test split.
        queries: folder with a dataset's query sets; None generates them from the captions.
        prompts: of classes: one, or a file with one per line, see `read_prompts`.
    """

    name: str = WORLD
    clips: int = NUM_CLIPS
    seed: int = SEED
    split: Split | Literal[""] = ""
    queries: Path | None = None
    prompts: str = ""

    @property
    def is_path(self) -> bool:
        """Whether the name is that of a file or folder, not of shipped data or a library."""
        return self.name not in ("", *BUILT_IN) and not self.name.startswith(LIBRARY)

    @property
    def has_classes(self) -> bool:
        """Whether it asks what each video shows, as tasks do, too."""
        return self.name.startswith(CLASSES) or (self.is_path and is_task(expanded(self.name)))


def _check(data: Data, video_inputs: Sequence[VideoInputName]) -> None:
    name = quoted(data.name)
    if data.prompts and (data.name in WORLDS or not data.has_classes):
        raise ConfigError(
            f"{name} takes no prompts. Leave them out, or name a folder of folders per class."
        )
    if data.split not in ("", "test", "all") and not data.is_path:
        raise ConfigError(f"{name} has no splits. Leave out the split.")
    if video_inputs and (data.has_classes or not data.is_path):
        kind, input_name = video_inputs[0]
        raise ConfigError(
            f"{name} has no {kind} {quoted(input_name)}, which a model reads instead of frames. "
            "Choose a captioned dataset that has them, or other models."
        )


def load_benchmark(
    data: Data,
    places: Places,
    progress: Progress,
    libraries: Libraries | None = None,
    inputs: Inputs = FRAMES,
) -> TextBenchmark:
    """Load a benchmark, without loading models or decoding videos.

    An Nt2vrError says what cannot be used.

    Args:
        inputs: what the models to come read; if none reads frames, videos need no files.
    """
    _check(data, _other_than_frames(inputs))
    name = data.name
    path = name.partition(":")[2]
    decoder = places.decoder
    cache = places.cache
    if name in WORLDS:
        return WORLDS[name](places.folder, data.clips, data.seed, progress=progress)
    if name == GALLERY:
        gallery = load_gallery(ASSETS / "gallery" / "gallery.jsonl")
        return gallery_benchmark(gallery, decoder, cache, progress)
    if name.startswith(CLASSES):
        return class_benchmark(
            expanded(path), decoder=decoder, cache=cache, progress=progress, prompts=data.prompts
        )
    if data.has_classes:
        return task_benchmark(
            expanded(name), decoder=decoder, cache=cache, progress=progress, prompts=data.prompts
        )
    if name.startswith(WORDS):
        return words_benchmark(
            Path(path).stem,
            videos=read_words(path, data.split, progress),
            seed=data.seed,
            folder=places.folder,
            progress=progress,
        )

    reader = _DatasetReader(data, places, progress, inputs)
    if libraries is not None and name.startswith(LIBRARY):
        return reader.library_benchmark(libraries)
    if name.startswith(LIBRARY) or not kind_and_path(name)[1].exists():
        raise _unknown(name, libraries)
    dataset = load_dataset(
        name,
        split=data.split or "test",
        with_files=reader.reads_frames,
        progress=progress,
        or_validation=not data.split,
    )
    return reader.benchmark(dataset)


def _unknown(name: str, libraries: Libraries | None) -> DatasetError:
    names = [WORLD, GALLERY]
    if libraries is not None:
        names += [f"{LIBRARY}{info.name}" for info in libraries.infos()]
    return DatasetError(
        f"{quoted(name)} is not there.{did_you_mean(name, names)} "
        f"Name {', '.join(names)}, the folder of a dataset, or its captions file."
    )


def _other_than_frames(inputs: Inputs) -> list[VideoInputName]:
    return sorted(video_input for video_input in inputs if video_input is not None)


@dataclass(frozen=True)
class _DatasetReader:
    """Makes benchmarks over the videos of datasets and libraries; its fields are as of `load_benchmark`."""

    data: Data
    places: Places
    progress: Progress
    inputs: Inputs

    @property
    def reads_frames(self) -> bool:
        """Whether some model reads the frames of files."""
        return None in self.inputs

    def library_benchmark(self, libraries: Libraries) -> TextBenchmark:
        library = libraries.find(self.data.name.removeprefix(LIBRARY))
        clips = libraries.gallery(library.id).videos
        captioned = tuple(clip for clip in clips if any(clip.captions))
        if not captioned:
            raise DatasetError(
                f"{library.name} has no captions to evaluate with. Choose another library."
            )
        dataset = Dataset(library.name, "all", captioned)
        benchmark = self.benchmark(dataset, gallery_key=library.source.key)
        return replace(benchmark, source={**benchmark.source, "library": library.id})

    def benchmark(self, dataset: Dataset, gallery_key: str = "") -> TextBenchmark:
        """Build a benchmark over a dataset's videos.

        Queries without a relevant video are left out, and counted.
        """
        video_ids = [video.video_id for video in dataset.videos]
        vectors = {}
        for name in _other_than_frames(self.inputs):
            vectors[name] = read_vectors(name, self.data.name, video_ids)
        videos, remarks = self._ranked_videos(dataset, vectors)
        dataset_queries = self._queries(videos)
        source = self._source(dataset, videos, vectors)
        source["remarks"] = [*remarks, *dataset_queries.remarks]
        embed_frames = embed_files(videos, self.places.decoder, self.places.cache, key=gallery_key)
        return TextBenchmark(
            name=dataset.name,
            video_ids=tuple(video.video_id for video in videos),
            queries=dataset_queries.queries,
            embed=embed_vectors(videos, vectors, embed_frames),
            source=source,
            leaves_out_unreadable=self.reads_frames,
            videos=tuple(videos) if self.reads_frames else (),
            gaps=tuple(dataset_queries.gaps),
        )

    def _ranked_videos(
        self, dataset: Dataset, vectors: InputVectors
    ) -> tuple[Sequence[Video], list[str]]:
        """Return the videos that are ranked, and remarks on them."""
        videos = dataset.videos
        # Those that have a vector in each input.
        with_vectors: Sequence[Video] = videos
        for of_input in vectors.values():
            with_vectors = [clip for clip in with_vectors if clip.video_id in of_input.of_video]
        if len(with_vectors) == len(videos):
            return videos, list(dataset.remarks)

        names = ", ".join(f"{kind} {name}" for kind, name in vectors)
        missing = f"{len(videos) - len(with_vectors)} of {len(videos)} videos have no {names}"
        if self.reads_frames:
            remark = f"{missing}; they are ranked last by models that read them."
            return videos, [*dataset.remarks, remark]
        return with_vectors, [*dataset.remarks, f"{missing}; they are left out."]

    def _queries(self, videos: Sequence[Video]) -> "_DatasetQueries":
        """Read the queries, or generate them, and find their videos."""
        data = self.data
        captions = {video.video_id: video.captions for video in videos}
        gaps: Sequence[str] = ()
        remarks: Sequence[str] = ()
        if data.queries:
            sets = QuerySets.read(expanded(data.queries))
            remarks = _absence_remarks(data.queries.name, _kinds_of(sets))
        else:
            captioned = CaptionedVideos.all_as_queries(captions)
            sets = cached_query_sets(captioned, data.seed, self.places.folder, self.progress)
            gaps = missing_kinds(KINDS[1:], _kinds_of(sets))
        queries, remarks_on_queries = judged_queries(sets, row_numbers(captions))
        return _DatasetQueries(queries, gaps, [*remarks, *remarks_on_queries])

    def _source(
        self, dataset: Dataset, videos: Sequence[Video], vectors: InputVectors
    ) -> JsonObject:
        """Return the origin of a dataset's videos, see `Benchmark`."""
        source: JsonObject = {"data": dataset.name, "split": dataset.split}
        if self.reads_frames:
            source["content"] = content_of(videos, self.places.cache, self.progress)
        for name, of_input in vectors.items():
            source.setdefault(name.kind, {})[name.name] = of_input.digest
        return source


class _DatasetQueries(NamedTuple):
    """What is asked of a dataset.

    Attributes:
        gaps: the kinds of queries that could not be generated, see `TextBenchmark`.
        remarks: on queries left out, and on kinds that a file lacks.
    """

    queries: JudgedQueries
    gaps: Sequence[str]
    remarks: Sequence[str]


def _kinds_of(sets: QuerySets) -> list[str]:
    return [kind for kind in KINDS if getattr(sets, kind)]


def _absence_remarks(file_name: str, present: Collection[str]) -> list[str]:
    """Say which kinds of queries a file lacks."""
    absent = [kind for kind in KINDS if kind not in present]
    if not absent:
        return []
    lacks = f"{file_name} has no {' and no '.join(absent)} queries"
    return [f"{lacks}; nothing is measured on them."]
