"""Benchmarks on the built-in world: sentences with exact truth, and an oracle."""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors, cue_of, row_array
from nt2vr.evaluation.classes import shown_questions
from nt2vr.evaluation.folds import PAIRS, fold_questions
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.evaluation.ranks import KS
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.negation.generate.denials import Denial
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.altered import shown_classes
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import SceneTable
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.sentences import SceneDenialKind, SceneDenials

NUM_CLIPS = 2_000
SEED = 7
NEGATED_KINDS: tuple[SceneDenialKind, ...] = ("composed", "without", "not")


def world_benchmark(
    cache: Path,
    num_clips: int = NUM_CLIPS,
    seed: int = SEED,
    split: SceneSplit = "test",
    progress: Progress = silent,
    num_pairs: int = PAIRS,
) -> Benchmark:
    """Build a benchmark of held-out scenes.

    Args:
        split: "test" for reporting, "validation" for model selection.
        num_pairs: at most, of a caption and a foil per fold, see `folds`.
    """
    scenes = sample_scenes(split, num_clips, seed)
    captions = captions_of(scenes)
    queries = world_queries([caption.text for caption in captions], SceneDenials(scenes), progress)
    texts, pairs = fold_questions(scenes, captions, num_pairs)
    return _benchmark(
        WORLD if split == "test" else f"{WORLD}, {split}",
        scenes,
        (*queries, *pairs),
        {"data": NAME, "split": split, "clips": num_clips, "seed": seed, "look": LOOK},
        cache,
        texts,
        {"oracle": oracle_metrics(scenes, captions)},
    )


def shown_benchmark(cache: Path, num_clips: int = NUM_CLIPS, seed: int = SEED) -> Benchmark:
    """Build questions about what held-out scenes show: who, which deed and which place, among all of the world's."""
    scenes = sample_scenes("test", num_clips, seed)
    texts, questions = shown_questions(shown_classes(), SceneTable(scenes).holding)
    source = {"data": f"{NAME}, classes", "split": "test", "clips": num_clips, "seed": seed, "look": LOOK}
    return _benchmark(f"{WORLD}, classes", scenes, questions, source, cache, texts)


def _benchmark(
    name: str,
    scenes: Sequence[Scene],
    queries: tuple[JudgedQuery, ...],
    source: Mapping[str, Any],
    cache: Path,
    texts: tuple[str, ...],
    references: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Benchmark:
    split = scenes[0].split

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        clips = ClipFile.of(split, scenes, encoder.num_frames, encoder.card.framing, cache)
        return clips.embeddings(as_scored(encoder), progress, keeps_frames=True)

    ids = tuple(f"{split}-{source['seed']}-{row:05d}" for row in range(len(scenes)))
    return Benchmark(name, ids, queries, embed, source, references, texts)


def gallery_benchmark(gallery: Gallery, decoder: Decoder, cache: Cache, progress: Progress = silent) -> Benchmark:
    """Build the same kind of benchmark from a gallery, as the shipped one; a ConfigError says if no scene is known."""
    videos = [video for video in gallery.videos if video.scene is not None]
    scenes = [Scene.from_dict(video.scene or {}) for video in videos]
    captions = captions_of(scenes)
    return Benchmark(
        name=gallery.name,
        video_ids=tuple(video.video_id for video in videos),
        queries=world_queries([caption.text for caption in captions], SceneDenials(scenes), progress),
        embed=embed_files(videos, decoder, cache, gallery.key),
        source={"data": gallery.name, "clips": len(videos), "content": content_of(videos, cache, progress)},
        references={"oracle": oracle_metrics(scenes, captions)} if scenes else {},
    )


def captions_of(scenes: Sequence[Scene]) -> list[SceneCaption]:
    """Return one caption per scene, the query of its "original" search."""
    return [describe(scene, _generator(row)) for row, scene in enumerate(scenes)]


def _generator(row: int) -> random.Random:
    return random.Random(f"validation {row}")  # as for the metrics in the cards of all models


def world_queries(
    captions: Sequence[str], sentences: SceneDenials, progress: Progress = silent
) -> tuple[JudgedQuery, ...]:
    """Generate queries per scene: its caption, its caption with one thing denied, and one of each negated kind.

    The latter are left out if no scene satisfies them, or none shows both of their parts: they would be uninformative.
    """
    queries = [JudgedQuery("original", caption, row_array((row,))) for row, caption in enumerate(captions)]
    for row in range(len(captions)):
        if negated := sentences.negated(row, _generator(row)):
            queries.append(_judged(negated, (row,), original=row))
    draws = list(product(NEGATED_KINDS, range(len(captions))))
    for kind, row in tracked(draws, len(draws), "writing queries", progress):
        sentence = sentences.draw(row, kind, _generator(row))
        fitting, both = sentences.fitting(sentence), sentences.showing_both(sentence)
        if sentence.kind == kind and fitting.any() and both.any():  # scenes of vehicles allow no composed query
            shown = sentences.showing_unwanted(sentence)
            queries.append(_judged(sentence, *(np.flatnonzero(some) for some in (fitting, both, shown))))
    return tuple(queries)


def _judged(
    sentence: Denial,
    relevant: Iterable[int],
    hard: Iterable[int] = (),
    violating: Iterable[int] = (),
    *,
    original: int | None = None,
) -> JudgedQuery:
    return JudgedQuery(
        sentence.kind,
        sentence.text,
        row_array(relevant),
        row_array(hard),
        row_array(violating),
        wanted=sentence.wanted,
        unwanted=(sentence.unwanted,),
        original=original,
        cue=cue_of(sentence.text),
    )


def oracle_metrics(scenes: Sequence[Scene], captions: Sequence[SceneCaption]) -> dict[str, float]:
    """Expected R@k and MIR of an oracle that knows the scenes but must guess among the n clips matching a caption.

        E[R@k] = min(k, n) / n        E[1 / rank] = (1 + 1/2 + … + 1/n) / n

    An upper bound for models on these captions.
    """
    table = SceneTable(scenes)
    fitting = np.array([table.holding(caption.claim).sum() for caption in captions])
    recalls = {f"original/R@{k}": 100 * float((np.minimum(k, fitting) / fitting).mean()) for k in KS}
    harmonic = np.cumsum(1 / np.arange(1, fitting.max() + 1))
    return {**recalls, "original/MIR": float((harmonic[fitting - 1] / fitting).mean())}
