"""Evaluation data by name: built-in world, gallery, tasks, datasets, captions alone."""

from collections.abc import Set
from dataclasses import dataclass, replace
from pathlib import Path

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.features import read_features
from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.errors import ConfigError, DatasetError, did_you_mean, quoted
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.built_in import NUM_CLIPS, SEED, gallery_benchmark, shown_benchmark, world_benchmark
from nt2vr.evaluation.captioned import WORDS, captioned_benchmark, read_words, words_benchmark
from nt2vr.evaluation.tasks import class_benchmark, is_task, task_benchmark
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
            captions file; after "words:", captions alone; after "classes:", a folder with a folder per class, or
            "world".
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
    name, path = data.name, data.name.partition(":")[2]
    has_classes = name.startswith(CLASSES) or (data.is_path and is_task(expanded(name)))
    if data.prompts and (name == CLASSES + WORLD or not has_classes):
        raise ConfigError(
            f"{quoted(name)} takes no prompts. Leave them out, or name a folder with a folder per class."
        )
    if data.split not in ("test", "all") and not data.is_path:
        raise ConfigError(f"{quoted(name)} has no splits. Leave out the split.")
    if (names := sorted(reads - FRAMES)) and (has_classes or not data.is_path):
        raise ConfigError(
            f"{quoted(name)} has no features {quoted(names[0])}, which a model reads instead of frames. Choose a "
            "captioned dataset that has them, or other models."
        )
    if name in (WORLD, CLASSES + WORLD):
        build = world_benchmark if name == WORLD else shown_benchmark
        return build(folder, data.clips, data.seed, progress=progress)
    if name == GALLERY:
        return gallery_benchmark(load_gallery(ASSETS / "gallery" / "gallery.jsonl"), decoder, cache, progress)
    if name.startswith(CLASSES):
        return class_benchmark(expanded(path), decoder, cache, progress, data.prompts)
    if name.startswith(WORDS):
        return words_benchmark(Path(path).stem, read_words(path, data.split), data.seed, folder, progress)
    if libraries is not None and name.startswith(LIBRARY):
        library = libraries.find(path)
        videos = tuple(video for video in libraries.gallery(library.id).videos if any(video.captions))
        if not videos:
            raise DatasetError(f"{library.name} has no captions to evaluate with. Choose another library.")
        dataset = Dataset(library.name, "all", videos)
        found = _dataset_benchmark(data, dataset, folder, decoder, cache, progress, reads, library.source.key)
        return replace(found, source={**found.source, "library": library.id})
    if has_classes:
        return task_benchmark(expanded(name), decoder, cache, progress, data.prompts)
    if name.startswith(LIBRARY) or not kind_and_path(name)[1].exists():
        known = [WORLD, GALLERY, *(f"{LIBRARY}{info.name}" for info in (libraries.infos() if libraries else ()))]
        raise DatasetError(
            f"{quoted(name)} is not there.{did_you_mean(name, known)} "
            f"Name {', '.join(known)}, the folder of a dataset, or its captions file."
        )
    dataset = load_dataset(name, data.split, with_files=bool(reads & FRAMES))
    return _dataset_benchmark(data, dataset, folder, decoder, cache, progress, reads)


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
    there = [video for video in dataset.videos if all(video.video_id in each.of_video for each in features.values())]
    if missing := len(ids) - len(there):
        ranked = "ranked last by models that read them" if has_files else "left out"
        remark = f"{missing} of {len(ids)} videos have no features {', '.join(features)}; they are {ranked}."
        videos = dataset.videos if has_files else tuple(there)
        dataset = replace(dataset, videos=videos, remarks=(*dataset.remarks, remark))
    if data.queries:
        sets = QuerySets.read(expanded(data.queries))
        if absent := [kind for kind in KINDS if not getattr(sets, kind)]:
            remark = f"{data.queries.name} has no {' and no '.join(absent)} queries; nothing is measured on them."
            dataset = replace(dataset, remarks=(*dataset.remarks, remark))
    else:
        captions = CaptionedVideos.all_as_queries({video.video_id: video.captions for video in dataset.videos})
        sets = cached_query_sets(captions, data.seed, folder, progress)
    return captioned_benchmark(dataset, sets, decoder, cache, progress, features, has_files, key)
