"""Training data of a fusion embedded once by frozen towers: the built-in world's families, or a dataset's triplets."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.datasets.covr import CovrSet, load_covr
from nt2vr.errors import ConfigError, DatasetError
from nt2vr.evaluation.covr import EmbeddedQueries, covr_files, covr_world, embed_queries
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.negation.generate.wordings import Modification
from nt2vr.progress import Progress, silent
from nt2vr.settings import resolve_path
from nt2vr.world import NAME, WORLD
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.edits import Family, WishTable, ask_for, copies, training_families
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.clips import frame_cache

BLOCK = 1_000  # families per file of embeddings
FRAMES = 2  # per clip: frames of one clip are nearly alike
WORDINGS = range(4)  # texts per triplet, of which each step draws one


@dataclass(frozen=True, eq=False)
class FusionData:
    """Triplets and their candidates."""

    pictures: Tensor  # (R, D), one frame of each family's reference
    wanted: Tensor  # (Q, K, D), embeddings of the wanted parts of K texts; zeros for none
    unwanted: Tensor  # (Q, K, D), sums of those of their unwanted parts
    references: Tensor  # (Q,), family of each triplet
    targets: Tensor  # (Q,), rows of `clips`
    clips: Tensor  # (V, D): twins and edited scenes, then the references themselves
    families: Tensor  # (V,), family of each clip
    right: Sequence[Sequence[int]]  # rows of `clips` that are right for each triplet
    # (Q,), equal for triplets whose references have the same caption; None: for those of the same family
    sources: Tensor | None = None
    # (V - R, F, D), frames of the clips but the references; None unless targets are weighted by frame
    frames: Tensor | None = None
    # (U, T, D) in half precision, of each different text; None unless a fusion attends to them
    tokens: Tensor | None = None
    spelled: Tensor | None = None  # (Q, K), rows of `tokens`
    shown: Tensor | None = None  # (R, F, D), frames of the references; None where each is one picture


def load(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> tuple[FusionData, EmbeddedQueries, str]:
    """Embed what a fusion is trained on, and the queries that it is validated with; also name the data, with its size.

    Data is the built-in world, or the folder of a dataset with the splits "train" and "val"; a DatasetError says what
    it lacks. Of a dataset, at most `num_clips` triplets are taken, a random choice.
    """
    assert config.fusion_settings, "a fusion is trained"
    deep = config.fusion_settings.blocks > 0
    if config.data == WORLD:
        validation = embed_queries(covr_world(cache, "validation"), encoder, progress, deep)
        families = load_families(encoder, config, cache, progress=progress)
        return families, validation, f"{NAME}, {config.num_clips} families"
    training, held_out = (load_covr(resolve_path(config.data), split) for split in ("train", "val"))
    if config.num_clips < (count := len(training.samples)):
        training = _chosen(training, random.Random(config.seed).sample(range(count), config.num_clips))
    with Decoder() as decoder, frame_cache(cache) as store:
        asked, validation = (
            embed_queries(covr_files(some, decoder, store), encoder, progress, deep) for some in (training, held_out)
        )
    triplets = triplets_of(training, asked)
    return triplets, validation, f"{training.name}, {len(triplets.targets)} triplets"


def load_families(encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent) -> FusionData:
    """Draw and embed training families of the built-in world."""
    settings = config.fusion_settings
    assert settings, "a fusion is trained"
    families = training_families(config.num_clips, config.seed)
    references = [family.reference for family in families]
    pictures, clips, frames = _embedded_clips(families, encoder, cache, settings.weigh_frames, progress)
    edits = [(number, edit) for number, family in enumerate(families) for edit in (None, *family.edits)]
    triplets = [(number, row, edit) for row, (number, edit) in enumerate(edits) if edit]  # None is the twin
    rng = random.Random(config.seed)
    texts = [ask_for(references[number], edit.changes, rng) for number, _, edit in triplets for _ in WORDINGS]
    wanted, unwanted = _embedded_parts(texts, encoder)
    tokens, spelled = _embedded_tokens(texts, encoder) if settings.blocks else (None, None)
    table = WishTable([*_clips_of(families), *references])
    numbers, targets, changes = zip(*triplets, strict=True)
    return FusionData(
        torch.from_numpy(pictures),
        wanted,
        unwanted,
        torch.tensor(numbers),
        torch.tensor(targets),
        torch.from_numpy(np.concatenate([clips, pictures])),
        torch.tensor([*(number for number, _ in edits), *range(len(families))]),
        [table.right(edit.wish) for edit in changes],
        frames=frames,
        tokens=tokens,
        spelled=spelled,
    )


def _embedded_clips(
    families: Sequence[Family], encoder: Encoder, cache: Path, by_frame: bool, progress: Progress
) -> tuple[NDArray[np.float32], NDArray[np.float32], Tensor | None]:
    """Embed the references as pictures (R, D), the other clips (V - R, D) and, if `by_frame`, their frames."""
    blocks = [families[start : start + BLOCK] for start in range(0, len(families), BLOCK)]  # more reuse the first
    framing = encoder.card.framing
    files = [ClipFile.of("train", [each.reference for each in block], 1, framing, cache) for block in blocks]
    pictures = np.concatenate([file.embeddings(encoder, progress) for file in files])
    files = [ClipFile.of("train", _clips_of(block), FRAMES, framing, cache) for block in blocks]
    if not by_frame:
        return pictures, np.concatenate([file.embeddings(encoder, progress) for file in files]), None
    frames = np.concatenate([file.frame_embeddings(encoder, progress) for file in files])
    return pictures, encoder.pool(frames), torch.from_numpy(encoder.pool(frames[..., None, :]))


def _chosen(dataset: CovrSet, rows: Sequence[int]) -> CovrSet:
    samples = tuple(replace(dataset.samples[row], gallery="", subset=()) for row in sorted(rows))
    targets = tuple(dict.fromkeys(name for each in samples for name in each.targets if name in dataset.media))
    needed = dict.fromkeys((*targets, *(each.reference for each in samples)))
    return replace(
        dataset, samples=samples, media={name: dataset.media[name] for name in needed}, galleries={"": targets}
    )


def triplets_of(dataset: CovrSet, embedded: EmbeddedQueries) -> FusionData:
    """Arrange the triplets of a dataset: each has a family of its own, and clips have none.

    Right for a triplet are its target, and the targets of others that have the same caption: P(i) of CoVR's paper. The
    queries are `embedded` in their order; a DatasetError refuses fewer than two with a target and readable files.
    """
    rows, vectors = _complete(embedded), embedded.combined
    if len(rows) < 2:
        raise DatasetError(
            f"{dataset.name} has {len(rows)} triplets with a target to train on. Name a split with more."
        )
    samples, rights = zip(*((dataset.samples[row], embedded.queries[row].right) for row in rows), strict=True)
    captions = [sample.caption or number for number, sample in enumerate(samples)]  # without one, like no other
    alike: dict[object, set[int]] = defaultdict(set)
    for caption, right in zip(captions, rights, strict=True):
        alike[caption].update(right)
    sources = [sample.before or sample.reference for sample in samples]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sources))}
    return FusionData(
        torch.from_numpy(vectors.picture[rows]),
        torch.from_numpy(vectors.wanted[rows])[:, None],
        torch.from_numpy(vectors.unwanted[rows])[:, None],
        torch.arange(len(rows)),
        torch.tensor([right[0] for right in rights]),
        torch.from_numpy(embedded.clips),
        torch.full((len(embedded.clips),), -1),
        [sorted(alike[caption]) for caption in captions],
        torch.tensor([*map(numbers.__getitem__, sources)]),
        tokens=None if vectors.tokens is None else torch.from_numpy(vectors.tokens[rows]).half(),
        spelled=torch.arange(len(rows))[:, None],
        shown=None if vectors.frames is None else torch.from_numpy(vectors.frames[rows]),
    )


def _complete(embedded: EmbeddedQueries) -> list[int]:
    """Return the queries that have a target, and whose picture and target could be read."""
    has_picture, has_clip = (np.asarray(some.any(axis=1)) for some in (embedded.combined.picture, embedded.clips))
    targets = [query.right[0] if query.right else None for query in embedded.queries]
    return [row for row, target in enumerate(targets) if target is not None and has_clip[target] and has_picture[row]]


def _clips_of(families: Sequence[Family]) -> list[Scene]:
    return [
        scene
        for family in families
        for scene in (*copies(family.reference, 1), *(edit.scene for edit in family.edits))
    ]


def _embedded_tokens(parts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed the tokens of each different text, in half precision; also return the row of each text."""
    if not isinstance(encoder, OpenClipEncoder):
        raise ConfigError(f"{encoder.name} has no tokens for cross-attention. Set blocks to 0.")
    rows = {text: row for row, text in enumerate(dict.fromkeys(part.text for part in parts))}
    spelled = torch.tensor([rows[part.text] for part in parts]).view(-1, len(WORDINGS))
    return torch.from_numpy(encoder.encode_tokens([*rows])).half(), spelled


def _embedded_parts(parts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed wanted and unwanted parts, each text once; an absent part is zeros, and several unwanted are summed."""
    texts = list(dict.fromkeys(text for part in parts for text in (part.wanted_text, *part.unwanted) if text))
    vectors = dict(zip(texts, torch.from_numpy(encoder.encode_text(texts)), strict=True))
    nothing, shape = torch.zeros(encoder.embed_dim), (-1, len(WORDINGS), encoder.embed_dim)
    wanted = torch.stack([vectors.get(part.wanted_text, nothing) for part in parts])
    unwanted = torch.stack([sum((vectors[text] for text in part.unwanted), nothing) for part in parts])
    return wanted.view(shape), unwanted.view(shape)
