"""Evaluation data by name: built-in world, gallery, tasks, datasets, captions alone.

Without videos, a video stands for the mean of the embeddings of its captions. A caption that serves
as a query, or that a query negates, is left out of every video that has it, duplicates included, so
that no query finds itself. The captions also decide which videos are relevant; what they do not say
counts as absent.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.datasets.video_inputs import VideoVectors, read_vectors
from nt2vr.errors import ConfigError, DatasetError, did_you_mean, quoted
from nt2vr.evaluation.built_in import (
    NUM_CLIPS,
    SEED,
    gallery_benchmark,
    shown_benchmark,
    world_benchmark,
)
from nt2vr.evaluation.class_tasks import class_benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos, content_of, embed_files, embed_vectors
from nt2vr.evaluation.queries import NO_CAPTION, JudgedQuery, cue_of, renumbered, row_array
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import expanded
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video, load_gallery
from nt2vr.media.store import Cache
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.absences import AbsenceQuery
from nt2vr.negation.generate.build import (
    cached_absences,
    cached_query_sets,
    missing_kinds,
    read_contents,
)
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.query_sets import CaptionedVideos, QuerySets, read_captioned_videos
from nt2vr.progress import Progress, silent
from nt2vr.settings import ASSETS
from nt2vr.world import WORLD

GALLERY = "gallery"
LIBRARY = "library:"  # before the name or id of a library
CLASSES = "classes:"  # before a folder with a folder per class, or the built-in world
BUILT_IN = (WORLD, GALLERY, CLASSES + WORLD)
WORLDS: Mapping[str, Callable[..., TextBenchmark]] = {
    WORLD: world_benchmark,
    CLASSES + WORLD: shown_benchmark,
}
Inputs = frozenset[VideoInputName | None]  # that models read; None for frames
FRAMES: Inputs = frozenset({None})
KINDS = ("original", "negated", "composed")
LOST = {  # why queries are left out
    "original": "have no text, or their video is not here",
    "negated": "have no text, or no original query that they deny",
    "composed": "have no relevant video here",
}
WORDS = "words:"  # before the name of data whose captions stand for the videos
CHUNK = 256  # texts encoded between two steps
REMARK = (
    "No videos: each stands for the mean of its captions' embeddings. Finding text by text is easier than finding "
    "videos, captions decide both the gallery and what is relevant, and what they do not say counts as absent."
)


@dataclass(frozen=True)
class Data:
    """Selection of evaluation data.

    Its name is "world", "gallery" (the shipped one), "library:NAME", a task's file or folder, or a
    dataset's folder or captions file; after "words:", captions alone; after "classes:", a folder
    with a folder per class, or "world".
    """

    name: str = WORLD
    clips: int = NUM_CLIPS  # of the built-in world
    seed: int = SEED  # of these clips, or of a dataset's generated queries
    # of a dataset; "all" for datasets without splits; empty is test, or validation where there is
    # no test split
    split: Split | Literal[""] = ""
    queries: Path | None = (
        None  # folder with a dataset's query sets; None generates them from the captions
    )
    prompts: str = ""  # of classes: one, or a file with one per line, see `read_prompts`

    @property
    def is_path(self) -> bool:
        """Whether the name is that of a file or folder, not of shipped data or a library."""
        return self.name not in ("", *BUILT_IN) and not self.name.startswith(LIBRARY)

    @property
    def has_classes(self) -> bool:
        """Whether it asks what each video shows, as tasks do, too."""
        return self.name.startswith(CLASSES) or (self.is_path and is_task(expanded(self.name)))


def _check(data: Data, video_inputs: Sequence[VideoInputName]) -> None:
    name, has_classes = quoted(data.name), data.has_classes
    if data.prompts and (data.name in WORLDS or not has_classes):
        raise ConfigError(
            f"{name} takes no prompts. Leave them out, or name a folder of folders per class."
        )
    if data.split not in ("", "test", "all") and not data.is_path:
        raise ConfigError(f"{name} has no splits. Leave out the split.")
    if video_inputs and (has_classes or not data.is_path):
        kind, input_name = video_inputs[0]
        raise ConfigError(
            f"{name} has no {kind} {quoted(input_name)}, which a model reads instead of frames. Choose a "
            "captioned dataset that has them, or other models."
        )


def load_benchmark(
    data: Data,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    libraries: Libraries | None = None,
    inputs: Inputs = FRAMES,
) -> TextBenchmark:
    """Load a benchmark, without loading models or decoding videos; an Nt2vrError says what cannot be used.

    The folder is a cache for clips of the built-in world and for generated queries. The models to
    come read `inputs`; if none reads frames, videos need no files.
    """
    name, path = data.name, data.name.partition(":")[2]
    _check(data, _other_than_frames(inputs))
    if build := WORLDS.get(name):
        return build(folder, data.clips, data.seed, progress=progress)
    if name == GALLERY:
        return gallery_benchmark(
            load_gallery(ASSETS / "gallery" / "gallery.jsonl"), decoder, cache, progress
        )
    if data.has_classes:
        read, file = (class_benchmark, path) if name.startswith(CLASSES) else (task_benchmark, name)
        return read(expanded(file), decoder, cache, progress, data.prompts)
    if name.startswith(WORDS):
        return words_benchmark(
            Path(path).stem, read_words(path, data.split, progress), data.seed, folder, progress
        )
    places = folder, decoder, cache, progress, inputs
    if libraries is not None and name.startswith(LIBRARY):
        library = libraries.find(path)
        videos = tuple(
            video for video in libraries.gallery(library.id).videos if any(video.captions)
        )
        if not videos:
            raise DatasetError(
                f"{library.name} has no captions to evaluate with. Choose another library."
            )
        found = _dataset_benchmark(
            data, Dataset(library.name, "all", videos), *places, library.source.key
        )
        return replace(found, source={**found.source, "library": library.id})
    if name.startswith(LIBRARY) or not kind_and_path(name)[1].exists():
        known = [
            WORLD,
            GALLERY,
            *(f"{LIBRARY}{info.name}" for info in (libraries.infos() if libraries else ())),
        ]
        raise DatasetError(
            f"{quoted(name)} is not there.{did_you_mean(name, known)} "
            f"Name {', '.join(known)}, the folder of a dataset, or its captions file."
        )
    dataset = load_dataset(
        name,
        data.split or "test",
        with_files=None in inputs,
        progress=progress,
        or_validation=not data.split,
    )
    return _dataset_benchmark(data, dataset, *places)


def _other_than_frames(inputs: Inputs) -> list[VideoInputName]:
    return sorted(video_input for video_input in inputs if video_input is not None)


def _dataset_benchmark(
    data: Data,
    dataset: Dataset,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    inputs: Inputs,
    key: str = "",
) -> TextBenchmark:
    """Build a benchmark over a dataset's videos; queries without a relevant video are left out, and counted."""
    has_files = None in inputs
    videos = dataset.videos
    remarks = list(dataset.remarks)
    vectors = _read_inputs(data, videos, inputs)
    videos_with_vectors = _with_vectors(videos, vectors)
    num_missing = len(videos) - len(videos_with_vectors)
    if num_missing:
        names = ", ".join(f"{kind} {name}" for kind, name in vectors)
        treatment = "ranked last by models that read them" if has_files else "left out"
        remarks.append(
            f"{num_missing} of {len(videos)} videos have no {names}; they are {treatment}."
        )
    if not has_files:
        videos = videos_with_vectors
    captions = {video.video_id: video.captions for video in videos}
    if data.queries:
        sets = QuerySets.read(expanded(data.queries))
        if absent := [kind for kind in KINDS if not getattr(sets, kind)]:
            lacks = f"{data.queries.name} has no {' and no '.join(absent)} queries"
            remarks.append(f"{lacks}; nothing is measured on them.")
        gaps = list[str]()
    else:
        sets = cached_query_sets(
            CaptionedVideos.all_as_queries(captions), data.seed, folder, progress
        )
        gaps = missing_kinds(KINDS[1:], [kind for kind in KINDS if getattr(sets, kind)])
    queries, lost = judged_queries(sets, {video_id: row for row, video_id in enumerate(captions)})
    source: dict[str, Any] = {"data": dataset.name, "split": dataset.split}
    if has_files:
        source["content"] = content_of(videos, cache, progress)
    for name, of_input in vectors.items():
        source.setdefault(name.kind, {})[name.name] = of_input.digest
    source["remarks"] = [*remarks, *lost]
    embed = embed_vectors(videos, vectors, embed_files(videos, decoder, cache, key))
    return TextBenchmark(
        name=dataset.name,
        video_ids=tuple(captions),
        queries=queries,
        embed=embed,
        source=source,
        leaves_out_unreadable=has_files,
        videos=tuple(videos) if has_files else (),
        gaps=tuple(gaps),
    )


def _read_inputs(
    data: Data, videos: Sequence[Video], inputs: Inputs
) -> dict[VideoInputName, VideoVectors]:
    video_ids = [video.video_id for video in videos]
    vectors = {}
    for name in _other_than_frames(inputs):
        vectors[name] = read_vectors(name, data.name, video_ids)
    return vectors


def _with_vectors(
    videos: Sequence[Video], vectors: Mapping[VideoInputName, VideoVectors]
) -> tuple[Video, ...]:
    """Return the videos that have a vector in each input."""
    for of_input in vectors.values():
        videos = [video for video in videos if video.video_id in of_input.of_video]
    return tuple(videos)


def judged_queries(
    sets: QuerySets, row_of: Mapping[str, int]
) -> tuple[tuple[JudgedQuery, ...], list[str]]:
    """Find the videos of queries; also return remarks that count the queries left out."""
    composed = (judged_composed(query, row_of) for query in sets.composed)
    queries = [
        *_judged_captions(sets, row_of),
        *(query for query in composed if len(query.relevant)),
    ]
    found, remarks = (
        Counter(query.kind if query.kind in KINDS else "composed" for query in queries),
        [],
    )
    for kind in KINDS:
        if lost := (total := len(getattr(sets, kind))) - found[kind]:
            remarks.append(f"{lost} of {total} {kind} queries {LOST[kind]}; they are left out.")
    return tuple(queries), remarks


def _judged_captions(sets: QuerySets, row_of: Mapping[str, int]) -> list[JudgedQuery]:
    queries: list[JudgedQuery] = []
    places: dict[str, int] = {}  # of captions, by their ids
    for caption in sets.original:
        row = row_of.get(caption.cap_id.rpartition("#enc#")[0] or caption.video_id)
        if row is not None and caption.text:
            places[caption.cap_id] = len(queries)
            queries.append(
                JudgedQuery("original", caption.text, row_array((row,)), query_id=caption.cap_id)
            )
    for caption in sets.negated:
        place = places.get(
            caption.cap_id, places.get(caption.cap_id.rpartition("#")[0])
        )  # nT2VR's ids: cap_id#N
        if place is not None and caption.text:
            right, unwanted = (
                queries[place].relevant,
                (caption.unwanted,) if caption.unwanted else (),
            )
            denied = JudgedQuery(
                "negated", caption.text, right, wanted=caption.wanted, original=place
            )
            queries.append(
                replace(
                    denied, unwanted=unwanted, cue=cue_of(caption.text), query_id=caption.cap_id
                )
            )
    return queries


def judged_composed(query: ComposedQuery, row_of: Mapping[str, int]) -> JudgedQuery:
    """Find the videos of a composed query, or of one for absent content."""
    kind = query.kind if isinstance(query, AbsenceQuery) else "composed"
    wanted = (
        None if kind == "composed" and not query.wanted else query.wanted
    )  # missing from nT2VR's own files
    parts, cue = (wanted, (query.unwanted,) if query.unwanted else ()), cue_of(query.caption)
    relevant, hard, violating = (
        row_array(row_of[video_id] for video_id in ids if video_id in row_of)
        for ids in (query.video_ids, query.hard_ids, query.violating_ids)
    )
    return JudgedQuery(
        kind, query.caption, relevant, hard, violating, *parts, cue=cue, query_id=query.cap_id
    )


def read_words(
    path: str, split: Split | Literal[""], progress: Progress = silent
) -> CaptionedVideos:
    """Read lines of captions with their ids, or the captions of a dataset, whose videos may be missing."""
    file = expanded(path)
    if file.is_file() and file.suffix.lower() == ".txt":
        return read_captioned_videos(file)
    dataset = load_dataset(
        file, split or "test", with_files=False, progress=progress, or_validation=not split
    )
    return CaptionedVideos.all_as_queries(
        {video.video_id: video.captions for video in dataset.videos}
    )


def words_benchmark(
    name: str, videos: CaptionedVideos, seed: int, folder: Path, progress: Progress = silent
) -> TextBenchmark:
    """Build a benchmark of captions; the generated queries, drawn by the seed, are cached in the folder."""
    captions = {video_id: tuple(texts) for video_id, texts in videos.captions.items() if texts}
    row_of = {video_id: row for row, video_id in enumerate(captions)}
    contents = cache(
        partial(read_contents, videos, progress)
    )  # parsed once for both, unless both are cached
    judged, remarks = judged_queries(
        cached_query_sets(videos, seed, folder, progress, contents), row_of
    )
    absences = cached_absences(videos, seed, folder, contents)
    judged = (*judged, *(judged_composed(query, row_of) for query in absences))
    # rows of texts that stand for videos: first one per video, then further ones for single queries
    texts = list(dict.fromkeys(chain(*captions.values())))
    place_of, keys = {text: place for place, text in enumerate(texts)}, list(map(key_of, texts))
    rows = [[place_of[text] for text in some] for some in captions.values()]
    having: dict[str, dict[int, None]] = defaultdict(dict)  # videos that have a caption
    for video, places in enumerate(rows):
        for place in places:
            having[keys[place]][video] = None

    @cache
    def instead(key: str) -> dict[int, int]:
        """Add a row for each video that has a caption, which stands for it without that caption."""
        found = dict.fromkeys(having[key], NO_CAPTION)
        for video in having[key]:
            if left := [place for place in rows[video] if keys[place] != key]:
                found[video] = len(rows)
                rows.append(left)
        return found

    kept: dict[int, JudgedQuery] = {}
    for place, query in enumerate(judged):
        if query.kind not in ("original", "negated"):
            kept[place] = query
            continue
        others = instead(key_of(judged[place if query.original is None else query.original].text))
        if others.get(int(query.relevant[0])) != NO_CAPTION:
            kept[place] = replace(query, instead=others)
    queries = renumbered(kept)
    gaps = missing_kinds((*KINDS[1:], "without", "not"), {query.kind for query in judged})
    if lost := len(judged) - len(queries):
        remarks.append(
            f"{lost} queries are their video's only caption, or deny it; they are left out."
        )

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
        """Return one unit vector per row under a model."""
        embeddings = np.empty((len(texts), encoder.embed_dim), np.float32)
        for start in range(0, len(texts), CHUNK):
            progress(start, len(texts), f"captions, {encoder.name}")
            embeddings[start : start + CHUNK] = encoder.encode_text(texts[start : start + CHUNK])
        means = np.stack([embeddings[sorted(places)].mean(axis=0) for places in rows])
        vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return EmbeddedVideos(np.asarray(vectors, np.float32))

    content = blake2b(json.dumps(list(captions.items())).encode(), digest_size=12).hexdigest()
    source = {
        "data": "captions",
        "content": content,
        "captions": "all",
        "seed": seed,
        "remarks": [REMARK, *remarks],
    }
    return TextBenchmark(
        name=f"{name} in words",
        video_ids=tuple(captions),
        queries=queries,
        embed=embed,
        source=source,
        captions=captions,
        gaps=tuple(gaps),
    )


def key_of(caption: str) -> str:
    """Return a caption as duplicates are compared: ignoring case, spaces and the final full stop."""
    return " ".join(caption.lower().split()).rstrip(" .")
