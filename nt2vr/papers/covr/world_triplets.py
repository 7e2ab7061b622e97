"""Triplets of the built-in world: families of a reference and its edits, embedded."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.change_wording import ask_for
from nt2vr.papers.covr.edits import Edit, Family, RequirementTable, copies, training_families
from nt2vr.papers.covr.embedded_queries import TextVectors
from nt2vr.papers.covr.fusion_data import FusionData, LoadedData
from nt2vr.papers.covr.modifications import Modification
from nt2vr.papers.covr.settings import fusion_settings
from nt2vr.papers.covr.world_benchmark import covr_world
from nt2vr.progress import Progress, silent
from nt2vr.world import NAME
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig

# Families per file of embeddings.
BLOCK = 1_000
# Frames per clip; more would be nearly alike.
FRAMES = 2
# Texts per triplet, of which each step draws one.
NUM_WORDINGS = 4


def load_world(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress
) -> LoadedData:
    """Embed `num_clips` families of the built-in world, and held-out queries about it."""
    held_out = covr_world(cache, "validation")
    validation = held_out.embedded_queries(encoder, progress, deep=fusion_settings(config).attends)
    return LoadedData(
        triplets=load_families(encoder, config, cache=cache, progress=progress),
        validation=validation,
        name=f"{NAME}, {config.dataset.num_clips} families",
        digests={},
    )


class _WorldTriplet(NamedTuple):
    """A reference, and an edit of it.

    Attributes:
        family: number of the reference.
        target: row of the edited scene among all clips.
    """

    family: int
    reference: Scene
    target: int
    edit: Edit


def load_families(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> FusionData:
    settings = fusion_settings(config)
    families = training_families(config.dataset.num_clips, config.run.seed)
    clips = _embedded_clips(
        families, encoder=encoder, cache=cache, by_frame=settings.weigh_frames, progress=progress
    )

    triplets = _triplets_of(families)
    texts = _texts_of(triplets, Random(config.run.seed))
    wanted, unwanted = _embedded_parts(texts, encoder)
    data = FusionData(
        pictures=clips.pictures,
        wanted=wanted,
        unwanted=unwanted,
        references=torch.tensor([triplet.family for triplet in triplets]),
        targets=torch.tensor([triplet.target for triplet in triplets]),
        clips=torch.cat([clips.of_families, clips.pictures]),
        families=_families_of_clips(families),
        right=_right_clips(triplets, families),
        frames=clips.frames,
    )
    if not settings.attends:
        return data
    tokens, token_rows = _embedded_tokens(texts, encoder)
    return replace(data, tokens=tokens, token_rows=token_rows)


def _references_of(families: Sequence[Family]) -> list[Scene]:
    return [family.reference for family in families]


def _clips_of(families: Sequence[Family]) -> list[Scene]:
    """Return a twin of each reference, followed by its edits."""
    clips = []
    for family in families:
        clips += copies(family.reference, 1)
        for edit in family.edits:
            clips.append(edit.scene)
    return clips


def _families_of_clips(families: Sequence[Family]) -> Tensor:
    """Return the family of each clip: of those of `_clips_of`, then of the references."""
    numbers = []
    for number, family in enumerate(families):
        numbers += [number] * (1 + len(family.edits))
    return torch.tensor([*numbers, *range(len(families))])


def _triplets_of(families: Sequence[Family]) -> list[_WorldTriplet]:
    """Return a triplet per edit."""
    triplets = []
    target = 0
    for number, family in enumerate(families):
        # A twin of the reference comes before its edits.
        target += 1
        for edit in family.edits:
            triplets.append(
                _WorldTriplet(
                    family=number,
                    reference=family.reference,
                    target=target,
                    edit=edit,
                )
            )
            target += 1
    return triplets


def _right_clips(triplets: Sequence[_WorldTriplet], families: Sequence[Family]) -> list[list[int]]:
    """Return the rows of all clips that are right for each triplet."""
    table = RequirementTable([*_clips_of(families), *_references_of(families)])
    return [table.right(triplet.edit.requirements) for triplet in triplets]


def _texts_of(triplets: Sequence[_WorldTriplet], rng: Random) -> list[Modification]:
    """Draw NUM_WORDINGS texts for each triplet, one triplet after another."""
    texts = []
    for triplet in triplets:
        for _ in range(NUM_WORDINGS):
            texts.append(ask_for(triplet.reference, triplet.edit.changes, rng))
    return texts


class _EmbeddedClips(NamedTuple):
    """The clips of families, embedded.

    Attributes:
        pictures: (R, D), of the references.
        of_families: (V - R, D), those of `_clips_of`.
        frames: (V - R, F, D), theirs, if targets are weighed by frame.
    """

    pictures: Tensor
    of_families: Tensor
    frames: Tensor | None


def _embedded_clips(
    families: Sequence[Family], encoder: Encoder, cache: Path, by_frame: bool, progress: Progress
) -> _EmbeddedClips:
    """Embed the clips of all families; a run on more of them reuses the files of the first blocks."""
    clip_file = partial(ClipFile.of, "train", framing=encoder.framing, cache=cache)
    pictures = []
    clips = []
    for start in range(0, len(families), BLOCK):
        block = families[start : start + BLOCK]
        picture_file = clip_file(scenes=_references_of(block), num_frames=1)
        pictures.append(picture_file.embeddings(encoder, progress))
        file = clip_file(scenes=_clips_of(block), num_frames=FRAMES)
        if by_frame:
            clips.append(file.frame_embeddings(encoder, progress))
        else:
            clips.append(file.embeddings(encoder, progress))

    embedded_pictures = torch.from_numpy(np.concatenate(pictures))
    embedded_clips = np.concatenate(clips)
    if not by_frame:
        return _EmbeddedClips(embedded_pictures, torch.from_numpy(embedded_clips), frames=None)
    return _EmbeddedClips(
        pictures=embedded_pictures,
        of_families=torch.from_numpy(encoder.pool(embedded_clips)),
        # Each frame is pooled as a clip.
        frames=torch.from_numpy(encoder.pool(embedded_clips[..., None, :])),
    )


def _embedded_tokens(texts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed the tokens of each different text, in half precision; also return the row of each text."""
    row_of: dict[str, int] = {}
    token_rows = []
    for modification in texts:
        token_rows.append(row_of.setdefault(modification.text, len(row_of)))
    tokens = torch.from_numpy(encoder.encode_tokens(list(row_of))).half()
    return tokens, torch.tensor(token_rows).view(-1, NUM_WORDINGS)


def _embedded_parts(texts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed wanted and unwanted parts, each text once; an absent part is zeros, and several unwanted are summed."""
    parts: list[str] = []
    for modification in texts:
        parts += (modification.wanted_text, *modification.unwanted)
    vectors = TextVectors(encoder, parts)
    shape = (-1, NUM_WORDINGS, encoder.embed_dim)
    wanted = vectors.of(modification.wanted_text for modification in texts)
    unwanted = vectors.sums_of(modification.unwanted for modification in texts)
    return torch.from_numpy(wanted).view(shape), torch.from_numpy(unwanted).view(shape)
