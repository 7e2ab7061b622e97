"""Queries about the built-in world: edits of held-out scenes, with exact truth."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from nt2vr.evaluation.queries import cue_of, row_array
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.benchmark import CovrBenchmark
from nt2vr.papers.covr.edits import Family, RequirementTable, choose_families, gallery_of
from nt2vr.papers.covr.presentation import SEEN, UNSEEN
from nt2vr.papers.covr.queries import CovrQuery, EmbeddedMedia
from nt2vr.progress import Progress
from nt2vr.world import NAME, WORLD
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.scenes import SceneSplit

# Queries per kind of change.
PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}


def covr_world(cache: Path, split: SceneSplit, per_kind: int = 0) -> CovrBenchmark:
    """Build queries about held-out scenes: "test" for reporting, "validation" for choices."""
    per_kind = per_kind or PER_KIND[split]
    families = choose_families(split, per_kind, SEEDS[split])
    references = [family.reference for family in families]
    clips = gallery_of(families)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        clip_file = partial(ClipFile.of, split, framing=encoder.framing, cache=cache)
        pictures = clip_file(scenes=references, num_frames=1)
        videos = clip_file(scenes=clips, num_frames=encoder.num_frames)
        return EmbeddedMedia(
            references=pictures.embeddings(encoder, progress),
            clips=videos.embeddings(encoder.as_scored(), progress),
        )

    return CovrBenchmark(
        name=f"{WORLD}, {split}".removesuffix(", test"),
        video_ids=tuple(map(str, range(len(clips)))),
        queries=tuple(_world_queries(families, RequirementTable(clips))),
        embed=embed,
        source={
            "data": NAME,
            "split": split,
            "queries per kind": per_kind,
            "seed": SEEDS[split],
            "look": LOOK,
        },
    )


def _world_queries(families: Sequence[Family], clips: RequirementTable) -> Iterator[CovrQuery]:
    for row, family in enumerate(families):
        picture = {"scene": family.reference.to_dict()}
        for edit in family.edits:
            rng = random.Random(edit.scene.seed)
            yield CovrQuery(
                kind=edit.kind,
                text=edit.modification.text,
                relevant=row_array(clips.right(edit.requirements)),
                violating=row_array(clips.violating(edit.requirements) if edit.is_removal else ()),
                wanted=edit.modification.wanted_text,
                unwanted=edit.modification.unwanted,
                cue=cue_of(edit.modification.text),
                picture=picture,
                reference=row,
                # The longest of a scene's captions names all of it.
                caption=max(captions(edit.scene, 6, rng.getrandbits(16)), key=len),
                labels=(UNSEEN if edit.unseen else SEEN,),
            )
