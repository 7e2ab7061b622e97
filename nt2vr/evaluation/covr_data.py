"""Data for picture plus text (covr): the built-in world, with exact truth, and datasets.

In datasets a reference is embedded like a clip, all of its frames pooled.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from nt2vr.datasets.covr import CovrSample, CovrSet, load_covr
from nt2vr.errors import ConfigError, DatasetError
from nt2vr.evaluation.benchmark import unreadable_remark
from nt2vr.evaluation.covr import CovrBenchmark, CovrQuery, EmbeddedMedia
from nt2vr.evaluation.media import embed_files
from nt2vr.files import expanded
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder, as_scored
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.progress import Progress, silent
from nt2vr.search.exclusion import averaged
from nt2vr.world import NAME, WORLD
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.edits import Family, WishTable, choose_families, gallery_of
from nt2vr.world.scenes import Scene, SceneSplit

PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}
SEEN, UNSEEN = "seen wordings", "unseen wordings"


@dataclass(frozen=True)
class CovrData:
    """Selection of evaluation data; a ConfigError refuses splits and numbers that the built-in world does not have.

    Attributes:
        name: "world", or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO.
        split: "test" or "validation" scenes, or a dataset's split.
        per_kind: queries per kind of change in the built-in world; 0 for its default.
    """

    name: str = WORLD
    split: str = "test"
    per_kind: int = 0

    def __post_init__(self) -> None:
        if self.name != WORLD:
            return
        if self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}.")


def benchmark_for(
    encoder: Encoder, data: CovrData, folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent
) -> CovrBenchmark:
    """Load a benchmark for a model that sees frames, or has embeddings from elsewhere, which need no files.

    Files that cannot be read are left out, and named in the remarks.

    Args:
        folder: stores embeddings of the built-in world; `cache` those of files.

    Raises:
        DatasetError: as of `load_covr`, or if nothing can be asked about the files that can be read.
    """
    encoder.card.check_frames()
    if data.name == WORLD:
        return covr_world(folder, data.split, data.per_kind)  # type: ignore[arg-type]  # checked
    known = encoder.video_ids if isinstance(encoder, PrecomputedEncoder) else None
    dataset = load_covr(expanded(data.name), "val" if data.split == "validation" else data.split, known)
    unreadable: dict[str, str] = {}
    if known is None:
        embed_files(_videos(dataset), decoder, cache, unreadable=unreadable)(encoder, progress)
    if unreadable:
        kept, num_queries = dataset.without(unreadable), len(dataset.samples)
        remark = unreadable_remark(unreadable, len(dataset.media), num_queries - len(kept.samples), num_queries)
        if not kept.samples:
            raise DatasetError(f"{dataset.name} has no query left: {remark}")
        dataset = replace(kept, remarks=(*dataset.remarks, remark))
    return covr_files(dataset, decoder, cache)


def covr_world(cache: Path, split: SceneSplit, per_kind: int = 0) -> CovrBenchmark:
    """Build queries about held-out scenes: "test" for reporting, "validation" for choices."""
    per_kind, seed = per_kind or PER_KIND[split], SEEDS[split]
    families = choose_families(split, per_kind, seed)
    references, clips = [family.reference for family in families], gallery_of(families)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        framing = encoder.card.framing
        pictures = ClipFile.of(split, references, 1, framing, cache).embeddings(encoder, progress)
        videos = ClipFile.of(split, clips, encoder.num_frames, framing, cache)
        return EmbeddedMedia(pictures, videos.embeddings(as_scored(encoder), progress))

    return CovrBenchmark(
        name=WORLD if split == "test" else f"{WORLD}, {split}",
        queries=tuple(_queries(families, clips)),
        embed=embed,
        source={"data": NAME, "split": split, "queries per kind": per_kind, "seed": seed, "look": LOOK},
        references=[{"scene": scene.to_dict()} for scene in references],
    )


def _queries(families: Sequence[Family], clips: Sequence[Scene]) -> list[CovrQuery]:
    table, shown = WishTable(clips), list(enumerate(clips))
    return [
        CovrQuery(
            kind=edit.kind,
            text=edit.modification.text,
            reference=row,
            right=tuple(table.right(edit.wish)),
            violating=tuple(
                row for row, clip in shown if edit.kind.startswith("remove") and edit.wish.violated_by(clip)
            ),
            caption=full_caption(edit.scene),
            labels=(UNSEEN if edit.unseen else SEEN,),
            parts=(edit.modification.wanted_text, edit.modification.unwanted),
        )
        for row, family in enumerate(families)
        for edit in family.edits
    ]


def full_caption(scene: Scene) -> str:
    """Return the longest of a scene's captions, which names all of it."""
    return max(captions(scene, 6, random.Random(scene.seed).getrandbits(16)), key=len)


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; a query does not rank its own reference.

    Galleries stand in a row, each query ranks its own.
    """
    rows = {media_id: row for row, media_id in enumerate(dataset.media)}
    embed_videos, embed_frames = (
        embed_files(_videos(dataset), decoder, cache, of_frames=some) for some in (False, True)
    )
    ids, spans, columns = list[str](), dict[str, slice](), dict[str, dict[str, list[int]]]()
    for name, ranked in dataset.galleries.items():
        spans[name], columns[name] = slice(len(ids), len(ids) + len(ranked)), {}
        for column, media_id in enumerate(ranked, len(ids)):
            columns[name].setdefault(media_id, []).append(column)
        ids += ranked

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        if isinstance(encoder, PrecomputedEncoder):
            nothing = np.zeros(encoder.embed_dim, np.float32)
            found = (encoder.video(name) for name in dataset.media)
            embeddings = np.stack([nothing if each is None else each for each in found])
        else:
            embeddings = embed_videos(encoder, progress)
        frames = None
        if isinstance(encoder, OpenClipEncoder) and encoder.words is None:
            frames = partial(embed_frames, encoder, progress)
        return EmbeddedMedia(averaged(embeddings), embeddings[[rows[name] for name in ids]], frames)

    def query_of(sample: CovrSample) -> CovrQuery:
        def at(media_ids: Iterable[str]) -> tuple[int, ...]:
            return tuple(column for each in media_ids for column in columns[sample.gallery].get(each, ()))

        return CovrQuery(
            kind=sample.kind,
            text=sample.text,
            reference=rows[sample.reference],
            right=at([sample.target] if sample.target else sample.targets),
            caption=sample.caption,
            left_out=at([sample.reference]),
            subset=at(sample.subset),
            labels=sample.labels,
            matches=at(sample.targets),
            ranked=spans[sample.gallery] if len(spans) > 1 else None,
            query_id=sample.query_id,
        )

    source = {
        "data": dataset.name,
        "files": len(rows),
        "galleries": {name or "all": span.stop - span.start for name, span in spans.items()},
        "reference": "not ranked",
        "remarks": list(dataset.remarks),
    }
    references = [{"path": str(path)} for path in dataset.media.values()]
    return CovrBenchmark(dataset.name, tuple(map(query_of, dataset.samples)), embed, source, references, ids)


def _videos(dataset: CovrSet) -> list[Video]:
    return [Video(name, path) for name, path in dataset.media.items()]
