"""Evaluation data by name: built-in world, gallery, tasks, datasets, captions alone."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.features import Features, read_features
from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.errors import ConfigError, DatasetError, did_you_mean, quoted
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.built_in import NUM_CLIPS, SEED, gallery_benchmark, shown_benchmark, world_benchmark
from nt2vr.evaluation.captioned import captioned_benchmark
from nt2vr.evaluation.tasks import class_benchmark, is_task, task_benchmark
from nt2vr.evaluation.words import WORDS, read_words, words_benchmark
from nt2vr.files import expanded
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.media.store import Cache
from nt2vr.negation.generate.build import cached_query_sets
from nt2vr.negation.generate.query_sets import CaptionedVideos, QuerySets
from nt2vr.progress import Progress
from nt2vr.settings import ASSETS
from nt2vr.world import WORLD

GALLERY = "gallery"
LIBRARY = "library:"  # before the name or id of a library
CLASSES = "classes:"  # before a folder with a folder per class, or the built-in world
BUILT_IN = (WORLD, GALLERY, CLASSES + WORLD)
FRAMES = frozenset({""})  # what models read that read no features
KINDS = ("original", "negated", "composed")


@dataclass(frozen=True)
class Data:
    """Selection of evaluation data.

    Attributes:
        name: "world", "gallery" (the shipped one), "library:NAME", a task's file or folder, or a dataset's folder or
            captions file; after "words:", captions alone, see `words`; after "classes:", a folder with a folder per
            class, or "world".
        clips: number of clips of the built-in world.
        seed: seed of these clips, or of a dataset's generated queries.
        split: split of a dataset; "all" for datasets without splits.
        queries: folder with a dataset's query sets, from `nt2vr queries build` or released with nT2VR; None generates
            them from the captions.
        prompts: of classes: one, or a file with one per line, see `read_prompts`.
    """

    name: str = WORLD
    clips: int = NUM_CLIPS
    seed: int = SEED
    split: Split = "test"
    queries: Path | None = None
    prompts: str = ""

    @property
    def is_path(self) -> bool:
        """Whether the name is that of a file or folder, not of shipped data or a library."""
        return self.name not in ("", *BUILT_IN) and not self.name.startswith(LIBRARY)

    @property
    def has_classes(self) -> bool:
        """Whether it may have classes, which prompts ask for: a folder per class, or a task's file."""
        return self.name.startswith(CLASSES) or (self.is_path and is_task(Path(self.name)))

    @property
    def has_features(self) -> bool:
        """Whether models that read features of videos can be evaluated on it: a dataset, or captions alone."""
        return self.is_path and not self.has_classes


def load_benchmark(
    data: Data,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    libraries: Libraries | None = None,
    reads: Set[str] = FRAMES,
) -> Benchmark:
    """Load a benchmark, without loading models or decoding videos; an Nt2vrError says what cannot be used.

    Args:
        folder: cache folder for clips of the built-in world and for generated queries.
        reads: `features` on the cards of the models to come. If all read some, videos need no files.
    """
    if data.name.startswith("~"):
        data = replace(data, name=str(expanded(data.name)))
    _check(data, reads)
    path = data.name.partition(":")[2]
    if data.name in (WORLD, CLASSES + WORLD):
        build = world_benchmark if data.name == WORLD else shown_benchmark
        return build(folder, data.clips, data.seed, progress=progress)
    if data.name == GALLERY:
        return gallery_benchmark(load_gallery(ASSETS / "gallery" / "gallery.jsonl"), decoder, cache, progress)
    if data.name.startswith(CLASSES):
        return class_benchmark(expanded(path), decoder, cache, progress, data.prompts)
    if data.name.startswith(WORDS):
        return words_benchmark(Path(path).stem, read_words(path, data.split), data.seed, folder, progress)
    if libraries is not None and data.name.startswith(LIBRARY):
        library = libraries.find(path)
        dataset = _captioned(libraries, library.id, library.name)
        found = _dataset_benchmark(data, dataset, folder, decoder, cache, progress, reads, library.source.key)
        return replace(found, source={**found.source, "library": library.id})
    _check_there(data.name, libraries)
    if is_task(Path(data.name)):
        return task_benchmark(Path(data.name), decoder, cache, progress, data.prompts)
    dataset = load_dataset(data.name, data.split, with_files=bool(reads & FRAMES))
    return _dataset_benchmark(data, dataset, folder, decoder, cache, progress, reads)


def _check(data: Data, reads: Set[str]) -> None:
    """Refuse options that the data do not have."""
    if data.prompts and data.name == CLASSES + WORLD:
        raise ConfigError("The classes of the built-in world have sentences of their own. Leave out the prompts.")
    if data.prompts and not data.has_classes:
        raise ConfigError(f"{quoted(data.name)} has no classes. Leave out the prompts.")
    if data.split not in ("test", "all") and not data.is_path:
        raise ConfigError(f"{quoted(data.name)} has no splits. Leave out the split.")
    if (names := sorted(reads - FRAMES)) and not data.has_features:
        raise ConfigError(
            f"{quoted(data.name)} has no features {quoted(names[0])}, which a model reads instead of frames. Choose a "
            "captioned dataset that has them, or other models."
        )


def _dataset_benchmark(
    data: Data,
    dataset: Dataset,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    reads: Set[str],
    key: str = "",
) -> Benchmark:
    """Build the benchmark of a captioned dataset; `key` as for `captioned_benchmark`."""
    has_files, ids = bool(reads & FRAMES), [video.video_id for video in dataset.videos]
    features = {name: read_features(data.name, name, ids) for name in sorted(reads - FRAMES)}
    if features:
        dataset = _with_features(dataset, features, has_files)
    if data.queries:
        sets = QuerySets.read(expanded(data.queries))
        if absent := [kind for kind in KINDS if not getattr(sets, kind)]:
            remark = f"{data.queries.name} has no {' and no '.join(absent)} queries; nothing is measured on them."
    else:
        captions = CaptionedVideos.all_as_queries({video.video_id: video.captions for video in dataset.videos})
        sets, absent = cached_query_sets(captions, data.seed, folder, progress), []
    benchmark = captioned_benchmark(dataset, sets, decoder, cache, progress, features, has_files, key)
    if not absent:
        return benchmark
    return replace(benchmark, source={**benchmark.source, "remarks": [*benchmark.source["remarks"], remark]})


def _with_features(dataset: Dataset, features: Mapping[str, Features], has_files: bool) -> Dataset:
    """Add a remark on videos that lack features; unless others have files, leave these out."""
    there = tuple(
        video for video in dataset.videos if all(video.video_id in each.of_video for each in features.values())
    )
    if not (missing := len(dataset.videos) - len(there)):
        return dataset
    ranked = "ranked last by models that read them" if has_files else "left out"
    remark = f"{missing} of {len(dataset.videos)} videos have no features {', '.join(features)}; they are {ranked}."
    return replace(dataset, videos=dataset.videos if has_files else there, remarks=(*dataset.remarks, remark))


def _check_there(name: str, libraries: Libraries | None) -> None:
    """Refuse a name of data that is nothing here, with the closest one."""
    if name.startswith(LIBRARY) or kind_and_path(name)[1].exists():
        return
    known = [WORLD, GALLERY, *(f"{LIBRARY}{info.name}" for info in (libraries.infos() if libraries else ()))]
    raise DatasetError(
        f"{quoted(name)} is not there.{did_you_mean(name, known)} "
        f"Name {', '.join(known)}, the folder of a dataset, or its captions file."
    )


def _captioned(libraries: Libraries, library_id: str, name: str) -> Dataset:
    videos = tuple(video for video in libraries.gallery(library_id).videos if any(video.captions))
    if not videos:
        raise DatasetError(f"{name} has no captions, so there are no queries to evaluate. Choose another library.")
    return Dataset(name, "all", videos)
