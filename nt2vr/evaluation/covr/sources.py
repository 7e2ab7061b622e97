"""Data for picture plus text (covr): the built-in world, with exact truth, and datasets.

In datasets a reference is embedded like a clip, all of its frames pooled.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nt2vr.datasets.covr import CovrSet, load_covr
from nt2vr.errors import ConfigError
from nt2vr.evaluation.covr.protocol import CovrBenchmark, CovrQuery, EmbeddedMedia
from nt2vr.evaluation.media import embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.edits.families import Edit, Family, WishTable, choose_families, gallery_of
from nt2vr.world.scenes import Scene, SceneSplit

WORLD = "world"
PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}
SEEN, UNSEEN = "seen wordings", "unseen wordings"


@dataclass(frozen=True)
class CovrData:
    """Selection of evaluation data.

    Attributes:
        name: "world", or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO.
        split: "test" or "validation" scenes, or a dataset's split.
        per_kind: queries per kind of change in the built-in world; 0 for its default.

    Raises:
        ConfigError: if the built-in world has no such split, or too many queries are asked for.
    """

    name: str = WORLD
    split: str = "test"
    per_kind: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.name != WORLD:
            return
        if self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}.")


def load_covr_benchmark(data: CovrData, folder: Path, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Load a benchmark; `folder` stores embeddings of the built-in world, `cache` those of files.

    Raises:
        DatasetError: if the data cannot be read.
    """
    if data.name == WORLD:
        return covr_world(folder, data.split, data.per_kind)  # type: ignore[arg-type]  # checked
    split = "val" if data.split == "validation" else data.split
    return covr_files(load_covr(Path(data.name), split), decoder, cache)


def covr_world(cache: Path, split: SceneSplit = "test", per_kind: int = 0, seed: int = 0) -> CovrBenchmark:
    """Build queries about held-out scenes: "test" for reporting, "validation" for choices.

    Args:
        per_kind: queries per kind of change; 0 for PER_KIND.
        seed: 0 for SEEDS.
    """
    per_kind, seed = per_kind or PER_KIND[split], seed or SEEDS[split]
    families = choose_families(split, per_kind, seed)
    references, clips = [family.reference for family in families], gallery_of(families)

    def embed(encoder: Encoder, progress: Progress, should_stop: ShouldStop) -> EmbeddedMedia:
        framing = encoder.card.framing
        pictures = ClipFile.of(split, references, 1, framing, cache).embeddings_alone(encoder, progress, should_stop)
        videos = ClipFile.of(split, clips, encoder.num_frames, framing, cache)
        return EmbeddedMedia(pictures, videos.embeddings_alone(encoder, progress, should_stop))

    return CovrBenchmark(
        name="world" if split == "test" else f"world, {split}",
        queries=tuple(_queries(families, clips)),
        embed=embed,
        source={"data": "built-in world", "split": split, "queries per kind": per_kind, "seed": seed, "look": LOOK},
        references=[{"scene": scene.to_dict()} for scene in references],
    )


def _queries(families: Sequence[Family], clips: Sequence[Scene]) -> list[CovrQuery]:
    table = WishTable(clips)
    return [
        CovrQuery(
            kind=edit.kind,
            text=edit.modification.text,
            reference=row,
            right=tuple(table.right(edit.wish)),
            violating=_violating(edit, clips),
            caption=full_caption(edit.scene),
            labels=(UNSEEN if edit.unseen else SEEN,),
            parts=(edit.modification.wanted_text, edit.modification.unwanted),
            names=edit.names,
        )
        for row, family in enumerate(families)
        for edit in family.edits
    ]


def _violating(edit: Edit, clips: Sequence[Scene]) -> tuple[int, ...]:
    if not edit.kind.startswith("remove"):
        return ()
    return tuple(row for row, clip in enumerate(clips) if edit.wish.violated_by(clip))


def full_caption(scene: Scene) -> str:
    """Return the longest of a scene's captions, which names all of it."""
    return max(captions(scene, 6, random.Random(scene.look).getrandbits(16)), key=len)


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; the reference of a query is not ranked for it."""
    rows = {media_id: row for row, media_id in enumerate(dataset.media)}
    embed_videos = embed_files([Video(name, path) for name, path in dataset.media.items()], decoder, cache)

    def embed(encoder: Encoder, progress: Progress, should_stop: ShouldStop) -> EmbeddedMedia:
        embeddings = embed_videos(encoder, progress, should_stop)
        return EmbeddedMedia(embeddings, embeddings)

    queries = tuple(
        CovrQuery(
            kind=sample.kind,
            text=sample.text,
            reference=rows[sample.reference],
            right=tuple(rows[target] for target in sample.targets if target in rows),
            caption=sample.caption,
            left_out=(rows[sample.reference],),
            subset=tuple(rows[each] for each in sample.subset if each in rows),
        )
        for sample in dataset.samples
    )
    source = {"data": dataset.name, "files": len(rows)}
    references = [{"path": str(path)} for path in dataset.media.values()]
    return CovrBenchmark(dataset.name, queries, embed, source, references)
