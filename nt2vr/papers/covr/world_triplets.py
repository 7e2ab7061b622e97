"""Triplets of the built-in world: families of a reference and its edits, embedded."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor

from nt2vr.evaluation.queries import row_numbers
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.papers.covr.change_wording import Modification, ask_for
from nt2vr.papers.covr.edits import Edit, Family, RequirementTable, copies, training_families
from nt2vr.papers.covr.embedded_queries import TextVectors
from nt2vr.papers.covr.fusion_data import FusionData, LoadedData
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
    return LoadedData(
        validation=held_out.embedded_queries(
            encoder, progress, deep=fusion_settings(config).attends
        ),
        triplets=load_families(encoder, config, cache=cache, progress=progress),
        name=f"{NAME}, {config.dataset.num_clips} families",
        digests={},
    )


def load_families(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> FusionData:
    settings = fusion_settings(config)
    families = training_families(config.dataset.num_clips, config.run.seed)
    pictures, clips = _embed(
        families, encoder=encoder, cache=cache, by_frame=settings.weigh_frames, progress=progress
    )
    frames = None
    if settings.weigh_frames:
        # Each frame is pooled as a clip.
        frames = torch.from_numpy(encoder.pool(clips[..., None, :]))
        clips = encoder.pool(clips)

    triplets = _Triplets(families)
    table = RequirementTable([*triplets.clips, *_references_of(families)])
    texts = _texts_of(triplets.edits, Random(config.run.seed))
    wanted, unwanted = _embedded_parts(texts, encoder)
    data = FusionData(
        pictures=torch.from_numpy(pictures),
        wanted=wanted,
        unwanted=unwanted,
        references=torch.tensor(triplets.references),
        targets=torch.tensor(triplets.targets),
        clips=torch.from_numpy(np.concatenate([clips, pictures])),
        families=torch.tensor([*triplets.families, *range(len(families))]),
        right=[table.right(edit.requirements) for edit in triplets.edits],
        frames=frames,
    )
    if not settings.attends:
        return data
    return _with_tokens(data, texts, encoder)


class _Triplets:
    """The edits of families: each makes a triplet of its reference, texts and a target.

    Attributes:
        clips: a twin of each reference, followed by its edits.
        families: number of the family of each clip.
        references: that of each edit.
        targets: row of each edit among the clips.
    """

    def __init__(self, families: Sequence[Family]) -> None:
        self.clips: list[Scene] = []
        self.families: list[int] = []
        self.edits: list[Edit] = []
        self.references: list[int] = []
        self.targets: list[int] = []
        for number, family in enumerate(families):
            self.clips += copies(family.reference, 1)
            for edit in family.edits:
                self.edits.append(edit)
                self.references.append(number)
                self.targets.append(len(self.clips))
                self.clips.append(edit.scene)
            self.families += [number] * (1 + len(family.edits))


def _references_of(families: Sequence[Family]) -> list[Scene]:
    return [family.reference for family in families]


def _embed(
    families: Sequence[Family], encoder: Encoder, cache: Path, by_frame: bool, progress: Progress
) -> tuple[Vectors, Vectors]:
    """Embed the references of families, (R, D), and their clips, (V - R, D), or by frame (V - R, F, D).

    A run on more families reuses the files of the first blocks.
    """
    clip_file = partial(ClipFile.of, "train", framing=encoder.framing, cache=cache)
    pictures = []
    clips = []
    for start in range(0, len(families), BLOCK):
        block = families[start : start + BLOCK]
        picture_file = clip_file(scenes=_references_of(block), num_frames=1)
        pictures.append(picture_file.embeddings(encoder, progress))
        file = clip_file(scenes=_Triplets(block).clips, num_frames=FRAMES)
        embed = file.frame_embeddings if by_frame else file.embeddings
        clips.append(embed(encoder, progress))
    return np.concatenate(pictures), np.concatenate(clips)


def _texts_of(edits: Sequence[Edit], rng: Random) -> list[Modification]:
    """Draw NUM_WORDINGS texts for each edit, one edit after another."""
    texts = []
    for edit in edits:
        for _ in range(NUM_WORDINGS):
            texts.append(ask_for(edit.changes, rng))
    return texts


def _with_tokens(data: FusionData, texts: Sequence[Modification], encoder: Encoder) -> FusionData:
    """Add the tokens of each different text, in half precision, and the row of each text."""
    row_of = row_numbers(modification.text for modification in texts)
    tokens = torch.from_numpy(encoder.encode_tokens(list(row_of))).half()
    token_rows = torch.tensor([row_of[modification.text] for modification in texts])
    return replace(data, tokens=tokens, token_rows=token_rows.view(-1, NUM_WORDINGS))


def _embedded_parts(texts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed wanted and unwanted parts, each text once; an absent part is zeros, and several unwanted are summed."""
    parts = ((modification.wanted_text, *modification.unwanted) for modification in texts)
    vectors = TextVectors(encoder, chain.from_iterable(parts))
    shape = (-1, NUM_WORDINGS, encoder.embed_dim)
    wanted = vectors.of(modification.wanted_text for modification in texts)
    unwanted = vectors.sums_of(modification.unwanted for modification in texts)
    return torch.from_numpy(wanted).view(shape), torch.from_numpy(unwanted).view(shape)
