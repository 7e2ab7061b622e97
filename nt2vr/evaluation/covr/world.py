"""Covr benchmark on the built-in world, with exact truth."""

import random
from collections.abc import Sequence
from pathlib import Path

from nt2vr.evaluation.covr.protocol import CovrBenchmark, CovrQuery, Embedded
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.edits.families import Edit, Family, WishTable, choose_families, gallery_of
from nt2vr.world.scenes import Scene, SceneSplit

PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}
SEEN, UNSEEN = "seen wordings", "unseen wordings"


def covr_world(cache: Path, split: SceneSplit = "test", per_kind: int = 0, seed: int = 0) -> CovrBenchmark:
    """Build composed queries about held-out scenes.

    Args:
        cache: folder for embeddings.
        split: "test" for reporting, "validation" for choices.
        per_kind: queries per kind of change; 0 for PER_KIND.
        seed: of the scenes; 0 for SEEDS.
    """
    per_kind, seed = per_kind or PER_KIND[split], seed or SEEDS[split]
    families = choose_families(split, per_kind, seed)
    references, clips = [family.reference for family in families], gallery_of(families)

    def embed(encoder: Encoder, progress: Progress, should_stop: ShouldStop) -> Embedded:
        framing = encoder.card.framing
        pictures = ClipFile.of(split, references, 1, framing, cache).embeddings_alone(encoder, progress, should_stop)
        videos = ClipFile.of(split, clips, encoder.num_frames, framing, cache)
        return Embedded(pictures, videos.embeddings_alone(encoder, progress, should_stop))

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
