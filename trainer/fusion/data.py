"""Training data of a fusion embedded once by frozen towers: the built-in world's families, or a dataset's triplets."""

import random
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nt2vr.datasets.covr import CovrSet, load_covr
from nt2vr.errors import ConfigError, DatasetError
from nt2vr.evaluation.covr import EmbeddedQueries, embed_queries
from nt2vr.evaluation.covr_data import covr_files, covr_world
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.negation.generate.wordings import Modification
from nt2vr.progress import Progress, silent
from nt2vr.settings import resolve_path
from nt2vr.world import NAME, WORLD
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.edits import Edit, Family, WishTable, ask_for, copies, training_families
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.clips import frame_cache

BLOCK = 1_000  # families per file of embeddings
FRAMES = 2  # per clip: frames of one clip are nearly alike
WORDINGS = 4  # texts per triplet, of which each step draws one


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


def load_families(
    encoder: Encoder,
    config: TrainConfig,
    cache: Path,
    without: Set[str] = frozenset(),
    progress: Progress = silent,
) -> FusionData:
    """Draw and embed training families; triplets whose changes concern a name in `without` are left out."""
    settings = config.fusion_settings
    assert settings, "a fusion is trained"
    families = training_families(config.num_clips, config.seed)
    scenes = _clips_of(families)
    owners = [row for row, family in enumerate(families) for _ in range(1 + len(family.edits))]
    references = [family.reference for family in families]

    def stored(some: Sequence[Scene], num_frames: int) -> ClipFile:
        return ClipFile.of("train", some, num_frames, encoder.card.framing, cache)

    starts = range(0, len(families), BLOCK)
    blocks = [families[start : start + BLOCK] for start in starts]  # more families reuse the first
    files = [stored([family.reference for family in block], 1) for block in blocks]
    clip_files = [stored(_clips_of(block), FRAMES) for block in blocks]
    pictures = np.concatenate([file.embeddings(encoder, progress) for file in files])
    frames = None
    if settings.weigh_frames:
        of_frames = np.concatenate([file.frame_embeddings(encoder, progress) for file in clip_files])
        clips, frames = encoder.pool(of_frames), torch.from_numpy(encoder.pool(of_frames[..., None, :]))
    else:
        clips = np.concatenate([file.embeddings(encoder, progress) for file in clip_files])
    table = WishTable([*scenes, *references])
    triplets = _triplets(families, without)
    rng = random.Random(config.seed)
    texts = [
        ask_for(families[number].reference, edit.changes, rng) for number, _, edit in triplets for _ in range(WORDINGS)
    ]
    wanted, unwanted = (part.view(len(triplets), WORDINGS, -1) for part in _embedded_parts(texts, encoder))
    tokens, spelled = _embedded_tokens([each.text for each in texts], encoder) if settings.blocks else (None, None)
    return FusionData(
        torch.from_numpy(pictures),
        wanted,
        unwanted,
        torch.tensor([family for family, _, _ in triplets]),
        torch.tensor([target for _, target, _ in triplets]),
        torch.from_numpy(np.concatenate([clips, pictures])),
        torch.tensor([*owners, *range(len(families))]),
        [table.right(edit.wish) for _, _, edit in triplets],
        frames=frames,
        tokens=tokens,
        spelled=None if spelled is None else spelled.view(len(triplets), WORDINGS),
    )


def _chosen(dataset: CovrSet, rows: Sequence[int]) -> CovrSet:
    """Return some of a dataset's triplets with their files; all rank the same targets."""
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
    vectors, clips = embedded.combined, embedded.clips
    there = np.asarray(clips.any(axis=1))
    pairs = list(enumerate(zip(dataset.samples, embedded.queries, strict=True)))
    kept = [
        (row, sample, query)
        for row, (sample, query) in pairs
        if query.right and there[query.right[0]] and vectors.picture[row].any()
    ]
    if len(kept) < 2:
        raise DatasetError(
            f"{dataset.name} has {len(kept)} triplets with a target to train on. Name a split with more."
        )
    alike: dict[str, set[int]] = {}
    for _, sample, query in kept:
        alike.setdefault(sample.caption, set()).update(query.right)
    names = {
        name: number for number, name in enumerate(dict.fromkeys(each.before or each.reference for _, each, _ in kept))
    }
    rows = [row for row, _, _ in kept]
    return FusionData(
        torch.from_numpy(vectors.picture[rows]),
        torch.from_numpy(vectors.wanted[rows])[:, None],
        torch.from_numpy(vectors.unwanted[rows])[:, None],
        torch.arange(len(kept)),
        torch.tensor([query.right[0] for _, _, query in kept]),
        torch.from_numpy(clips),
        torch.full((len(clips),), -1),
        [sorted({*query.right, *(alike[each.caption] if each.caption else ())}) for _, each, query in kept],
        torch.tensor([names[each.before or each.reference] for _, each, _ in kept]),
        tokens=None if vectors.tokens is None else torch.from_numpy(vectors.tokens[rows]).half(),
        spelled=torch.arange(len(kept))[:, None],
        shown=None if vectors.frames is None else torch.from_numpy(vectors.frames[rows]),
    )


def _clips_of(families: Sequence[Family]) -> list[Scene]:
    return [
        scene
        for family in families
        for scene in (*copies(family.reference, 1), *(edit.scene for edit in family.edits))
    ]


def _triplets(families: Sequence[Family], without: Set[str]) -> list[tuple[int, int, Edit]]:
    """List (row of the family, row of the target among all clips, edit)."""
    found, row = [], 0
    for number, family in enumerate(families):
        row += 1  # the twin
        for edit in family.edits:
            if without.isdisjoint(edit.names):
                found.append((number, row, edit))
            row += 1
    return found


def _embedded_tokens(texts: Sequence[str], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed the tokens of each different text, in half precision; also return the row of each text."""
    if not isinstance(encoder, OpenClipEncoder):
        raise ConfigError(f"{encoder.name} has no tokens for cross-attention. Set blocks to 0.")
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    return torch.from_numpy(encoder.encode_tokens([*rows])).half(), torch.tensor([rows[text] for text in texts])


def _embedded_parts(parts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed wanted and unwanted parts, each text once; an absent part is zeros, and several unwanted are summed."""
    texts = list(dict.fromkeys(text for part in parts for text in (part.wanted_text, *part.unwanted) if text))
    vectors = dict(zip(texts, torch.from_numpy(encoder.encode_text(texts)), strict=True))
    nothing = torch.zeros(encoder.embed_dim)
    wanted = torch.stack([vectors.get(part.wanted_text, nothing) for part in parts])
    unwanted = torch.stack([sum((vectors[text] for text in part.unwanted), nothing) for part in parts])
    return wanted, unwanted
