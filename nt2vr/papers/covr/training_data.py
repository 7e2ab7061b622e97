"""What a fusion is trained on: triplets of the built-in world or of a dataset, embedded; and what a step draws."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import DatasetError
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.wordings import Modification
from nt2vr.papers.covr import benchmark
from nt2vr.papers.covr.benchmark import EmbeddedQueries
from nt2vr.papers.covr.datasets import CovrSet, load_covr
from nt2vr.papers.covr.edits import Family, WishTable, ask_for, copies, training_families
from nt2vr.papers.covr.settings import FusionSettings, fusion_settings
from nt2vr.progress import Progress, silent
from nt2vr.settings import resolve_path
from nt2vr.world import NAME
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.clip_loader import frame_cache
from trainer.data.digests import Digests, digest

BLOCK = 1_000  # families per file of embeddings
FRAMES = 2  # per clip: frames of one clip are nearly alike
WORDINGS = range(4)  # texts per triplet, of which each step draws one


@dataclass(frozen=True, eq=False)
class FusionData:
    pictures: Tensor  # (R, D), one frame of each family's reference
    wanted: Tensor  # (Q, K, D), embeddings of the wanted parts of K texts; zeros for none
    unwanted: Tensor  # (Q, K, D), sums of those of their unwanted parts
    references: Tensor  # (Q,), family of each triplet
    targets: Tensor  # (Q,), rows of `clips`
    clips: Tensor  # (V, D): twins and edited scenes, then the references themselves
    families: Tensor  # (V,), family of each clip
    right: Sequence[Sequence[int]]  # rows of `clips` that are right for each triplet
    # (Q,), equal for triplets whose references have the same caption; None: for those of the same
    # family
    sources: Tensor | None = None
    # (V - R, F, D), frames of the clips but the references; None unless targets are weighted by
    # frame
    frames: Tensor | None = None
    # (U, T, D) in half precision, of each different text; None unless a fusion attends to them
    tokens: Tensor | None = None
    spelled: Tensor | None = None  # (Q, K), rows of `tokens`
    shown: Tensor | None = (
        None  # (R, F, D), frames of the references; None where each is one picture
    )


def load(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> tuple[FusionData, EmbeddedQueries, str, Digests]:
    """Embed what a fusion is trained on, and the queries that it is validated with.

    Of a dataset, whose splits must be "train" and "val", at most `num_clips` triplets are taken, a
    random choice.

    Returns:
        The triplets, the queries, the name of the data with its size, and digests of a dataset's
        triplets.
    """
    deep = fusion_settings(config).blocks > 0
    if config.dataset.is_world:
        validation = benchmark.embed_queries(
            benchmark.covr_world(cache, "validation"), encoder, progress, deep
        )
        families = load_families(encoder, config, cache, progress=progress)
        return families, validation, f"{NAME}, {config.dataset.num_clips} families", {}

    training, held_out = (
        load_covr(resolve_path(config.dataset.data), split) for split in ("train", "val")
    )
    if config.dataset.num_clips < (count := len(training.samples)):
        training = _chosen(
            training, random.Random(config.run.seed).sample(range(count), config.dataset.num_clips)
        )
    with Decoder() as decoder, frame_cache(cache) as store:
        files = (benchmark.covr_files(some, decoder, store) for some in (training, held_out))
        asked, validation = (
            benchmark.embed_queries(some, encoder, progress, deep) for some in files
        )
        digests = {
            "train": _digests(training, _complete(asked), store),
            "validation": _digests(held_out, _complete(validation), store),
        }
    triplets = triplets_of(training, asked)
    return triplets, validation, f"{training.name}, {len(triplets.targets)} triplets", digests


def _digests(dataset: CovrSet, rows: Iterable[int], store: Cache) -> tuple[int, ...]:
    """Hash the triplets in some rows, with the contents of their files."""
    hashes = []
    for row in rows:
        sample = dataset.samples[row]
        names = [sample.reference, *sample.targets]
        contents = [
            store.content_hash(dataset.media[name]) for name in names if name in dataset.media
        ]
        hashes.append(digest(names, contents, sample.text, sample.caption, sample.before))
    return tuple(hashes)


def load_families(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> FusionData:
    settings = fusion_settings(config)
    families = training_families(config.dataset.num_clips, config.run.seed)
    references, rng = [family.reference for family in families], random.Random(config.run.seed)
    pictures, clips, frames = _embedded_clips(
        families, encoder, cache, settings.weigh_frames, progress
    )
    edits = [
        (number, edit) for number, family in enumerate(families) for edit in (None, *family.edits)
    ]
    triplets = [
        (number, row, edit) for row, (number, edit) in enumerate(edits) if edit
    ]  # None is the twin
    texts = [
        ask_for(references[number], edit.changes, rng)
        for number, _, edit in triplets
        for _ in WORDINGS
    ]
    wanted, unwanted = _embedded_parts(texts, encoder)
    tokens, spelled = _embedded_tokens(texts, encoder) if settings.blocks else (None, None)
    table, (numbers, targets, changes) = (
        WishTable([*_clips_of(families), *references]),
        zip(*triplets, strict=True),
    )
    return FusionData(
        torch.from_numpy(pictures),
        wanted,
        unwanted,
        torch.tensor(numbers),
        torch.tensor(targets),
        torch.from_numpy(np.concatenate([clips, pictures])),
        torch.tensor([*(number for number, _ in edits), *range(len(families))]),
        [table.right(edit.requirements) for edit in changes],
        frames=frames,
        tokens=tokens,
        spelled=spelled,
    )


def _embedded_clips(
    families: Sequence[Family], encoder: Encoder, cache: Path, by_frame: bool, progress: Progress
) -> tuple[NDArray[np.float32], NDArray[np.float32], Tensor | None]:
    """Embed the references as pictures (R, D), the other clips (V - R, D) and, if `by_frame`, their frames."""
    blocks = [
        families[start : start + BLOCK] for start in range(0, len(families), BLOCK)
    ]  # more reuse the first
    framing = encoder.framing
    files = [
        ClipFile.of("train", [each.reference for each in block], 1, framing, cache)
        for block in blocks
    ]
    pictures = np.concatenate([file.embeddings(encoder, progress) for file in files])
    files = [ClipFile.of("train", _clips_of(block), FRAMES, framing, cache) for block in blocks]
    if not by_frame:
        return (
            pictures,
            np.concatenate([file.embeddings(encoder, progress) for file in files]),
            None,
        )
    frames = np.concatenate([file.frame_embeddings(encoder, progress) for file in files])
    return pictures, encoder.pool(frames), torch.from_numpy(encoder.pool(frames[..., None, :]))


def _chosen(dataset: CovrSet, rows: Sequence[int]) -> CovrSet:
    samples = tuple(replace(dataset.samples[row], gallery="", subset=()) for row in sorted(rows))
    targets = tuple(
        dict.fromkeys(name for each in samples for name in each.targets if name in dataset.media)
    )
    media = {
        name: dataset.media[name] for name in (*targets, *(each.reference for each in samples))
    }
    return replace(dataset, samples=samples, media=media, galleries={"": targets})


def triplets_of(dataset: CovrSet, embedded: EmbeddedQueries) -> FusionData:
    """Arrange the triplets of a dataset: each has a family of its own, and clips have none.

    Right for a triplet are its target, and the targets of others that have the same caption: P(i)
    of CoVR's paper. The queries are `embedded` in their order; a DatasetError refuses fewer than
    two with a target and readable files.
    """
    rows, vectors = _complete(embedded), embedded.combined
    if len(rows) < 2:
        raise DatasetError(
            f"{dataset.name} has {len(rows)} triplets with a target to train on. Choose other data."
        )
    samples = [dataset.samples[row] for row in rows]
    rights = [embedded.queries[row].relevant.tolist() for row in rows]
    captions = [
        sample.caption or number for number, sample in enumerate(samples)
    ]  # without one, like no other
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
    has_picture, has_clip = (
        np.asarray(some.any(axis=1)) for some in (embedded.combined.picture, embedded.clips)
    )
    targets = [query.relevant[:1].tolist() for query in embedded.queries]
    return [
        row
        for row, target in enumerate(targets)
        if target and has_clip[target[0]] and has_picture[row]
    ]


def _clips_of(families: Sequence[Family]) -> list[Scene]:
    return [
        scene
        for each in families
        for scene in (*copies(each.reference, 1), *(edit.scene for edit in each.edits))
    ]


def _embedded_tokens(parts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed the tokens of each different text, in half precision; also return the row of each text."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(part.text for part in parts))}
    spelled = torch.tensor([rows[part.text] for part in parts]).view(-1, len(WORDINGS))
    return torch.from_numpy(encoder.encode_tokens([*rows])).half(), spelled


def _embedded_parts(parts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed wanted and unwanted parts, each text once; an absent part is zeros, and several unwanted are summed."""
    texts = list(
        dict.fromkeys(text for part in parts for text in (part.wanted_text, *part.unwanted) if text)
    )
    vectors = dict(zip(texts, torch.from_numpy(encoder.encode_text(texts)), strict=True))
    nothing, shape = torch.zeros(encoder.embed_dim), (-1, len(WORDINGS), encoder.embed_dim)
    wanted = torch.stack([vectors.get(part.wanted_text, nothing) for part in parts])
    unwanted = torch.stack(
        [sum((vectors[text] for text in part.unwanted), nothing) for part in parts]
    )
    return wanted.view(shape), unwanted.view(shape)


def batches(
    data: FusionData, settings: FusionSettings, batch_size: int, steps: int, seed: int
) -> Iterator[Tensor]:
    """Yield the rows of each step's triplets; every family, target or triplet once before any is drawn again."""
    generator = torch.Generator().manual_seed(seed)
    groups, count = groups_of(data, settings)
    order = torch.zeros(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < batch_size:
            order = torch.randperm(count, generator=generator)
        rows = torch.isin(groups, order[:batch_size]).nonzero()[:, 0]
        if settings.iterate == "targets":
            drawn = rows[torch.randperm(len(rows), generator=generator)].tolist()
            rows = torch.tensor(sorted({int(groups[row]): row for row in drawn}.values()))
        yield rows
        order = order[batch_size:]


def groups_of(data: FusionData, settings: FusionSettings) -> tuple[Tensor, int]:
    """Return the group of each triplet, of which a step draws `batch`, and the number of groups."""
    if settings.iterate == "families":
        return data.references, len(data.pictures)
    if settings.iterate == "triplets":
        return torch.arange(len(data.targets)), len(data.targets)
    targets, groups = torch.unique(data.targets, return_inverse=True)
    return groups, len(targets)
