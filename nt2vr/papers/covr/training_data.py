"""What a fusion is trained on: triplets of the built-in world or of a dataset, embedded; and what a step draws."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.errors import DatasetError
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.negation.generate.modifications import Modification
from nt2vr.papers.covr import benchmark
from nt2vr.papers.covr.benchmark import EmbeddedQueries, TextVectors
from nt2vr.papers.covr.datasets import CovrSample, CovrSet, load_covr
from nt2vr.papers.covr.edits import (
    Edit,
    Family,
    WishTable,
    ask_for,
    copies,
    training_families,
)
from nt2vr.papers.covr.settings import FusionSettings, fusion_settings
from nt2vr.progress import Progress, silent
from nt2vr.settings import resolve_path
from nt2vr.world import NAME
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.clip_loader import frame_cache
from trainer.data.digests import Digests, digest

# Families per file of embeddings.
BLOCK = 1_000
# Frames per clip; more would be nearly alike.
FRAMES = 2
# Texts per triplet, of which each step draws one.
NUM_WORDINGS = 4


@dataclass(frozen=True, eq=False)
class FusionData:
    """Triplets of a reference, texts and a target, embedded.

    Attributes:
        pictures: (R, D), one frame of each family's reference.
        wanted: (Q, K, D), embeddings of the wanted parts of K texts; zeros for none.
        unwanted: (Q, K, D), sums of those of their unwanted parts.
        references: (Q,), family of each triplet.
        targets: (Q,), rows of `clips`.
        clips: (V, D): twins and edited scenes, then the references themselves.
        families: (V,), family of each clip.
        right: rows of `clips` that are right for each triplet.
        sources: (Q,), equal for triplets whose references have the same caption; None: for those of
            the same family.
        frames: (V - R, F, D), frames of the clips but the references; None unless targets are
            weighted by frame.
        tokens: (U, T, D) in half precision, of each different text; None unless a fusion attends to
            them.
        token_rows: (Q, K), rows of `tokens`.
        reference_frames: (R, F, D); None where each reference is one picture.
    """

    pictures: Tensor
    wanted: Tensor
    unwanted: Tensor
    references: Tensor
    targets: Tensor
    clips: Tensor
    families: Tensor
    right: Sequence[Sequence[int]]
    sources: Tensor | None = None
    frames: Tensor | None = None
    tokens: Tensor | None = None
    token_rows: Tensor | None = None
    reference_frames: Tensor | None = None


class LoadedData(NamedTuple):
    """What a run is trained on.

    Attributes:
        validation: the queries that it is validated with.
        name: of the data, with its size.
        digests: of a dataset's triplets; empty for the built-in world.
    """

    triplets: FusionData
    validation: EmbeddedQueries
    name: str
    digests: Digests


def load(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> LoadedData:
    """Embed what a fusion is trained on, and the queries that it is validated with.

    Of a dataset, whose splits must be "train" and "val", at most `num_clips` triplets are taken, a
    random choice.
    """
    if not config.dataset.is_world:
        return _load_dataset(encoder, config, cache, progress)
    deep = fusion_settings(config).blocks > 0
    held_out = benchmark.covr_world(cache, "validation")
    validation = benchmark.embed_queries(held_out, encoder, progress, deep)
    return LoadedData(
        triplets=load_families(encoder, config, cache, progress),
        validation=validation,
        name=f"{NAME}, {config.dataset.num_clips} families",
        digests={},
    )


def _load_dataset(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress
) -> LoadedData:
    deep = fusion_settings(config).blocks > 0
    path = resolve_path(config.dataset.data)
    training = load_covr(path, "train")
    held_out = load_covr(path, "val")
    numbers = range(len(training.samples))
    if config.dataset.num_clips < len(numbers):
        rng = random.Random(config.run.seed)
        training = _chosen(training, rng.sample(numbers, config.dataset.num_clips))
    with Decoder() as decoder, frame_cache(cache) as store:
        training_files = benchmark.covr_files(training, decoder, store)
        queries = benchmark.embed_queries(training_files, encoder, progress, deep)
        held_out_files = benchmark.covr_files(held_out, decoder, store)
        validation = benchmark.embed_queries(held_out_files, encoder, progress, deep)
        digests = {
            "train": _digests(training, _complete(queries), store),
            "validation": _digests(held_out, _complete(validation), store),
        }
    triplets = triplets_of(training, queries)
    name = f"{training.name}, {len(triplets.targets)} triplets"
    return LoadedData(triplets, validation, name, digests)


def _digests(dataset: CovrSet, rows: Iterable[int], store: Cache) -> tuple[int, ...]:
    """Hash the triplets in some rows, with the contents of their files."""
    hashes = []
    for row in rows:
        sample = dataset.samples[row]
        names = [sample.reference, *sample.targets]
        contents = []
        for name in names:
            if name in dataset.media:
                contents.append(store.content_hash(dataset.media[name]))
        hashes.append(digest(names, contents, sample.text, sample.caption, sample.before))
    return tuple(hashes)


class _WorldTriplet(NamedTuple):
    """An edit of the built-in world.

    Attributes:
        family: its number.
        target: row of the edited scene among all clips.
    """

    family: int
    target: int
    edit: Edit


def load_families(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress = silent
) -> FusionData:
    settings = fusion_settings(config)
    families = training_families(config.dataset.num_clips, config.run.seed)
    references = [family.reference for family in families]
    pictures, clips, frames = _embedded_clips(
        families, encoder, cache, by_frame=settings.weigh_frames, progress=progress
    )

    triplets, clip_families = _world_triplets(families)
    texts = _texts_of(triplets, references, random.Random(config.run.seed))
    wanted, unwanted = _embedded_parts(texts, encoder)
    table = WishTable([*_clips_of(families), *references])
    data = FusionData(
        pictures=torch.from_numpy(pictures),
        wanted=wanted,
        unwanted=unwanted,
        references=torch.tensor([triplet.family for triplet in triplets]),
        targets=torch.tensor([triplet.target for triplet in triplets]),
        clips=torch.from_numpy(np.concatenate([clips, pictures])),
        families=torch.tensor([*clip_families, *range(len(families))]),
        right=[table.right(triplet.edit.requirements) for triplet in triplets],
        frames=frames,
    )
    if settings.blocks:
        tokens, token_rows = _embedded_tokens(texts, encoder)
        data = replace(data, tokens=tokens, token_rows=token_rows)
    return data


def _world_triplets(families: Sequence[Family]) -> tuple[list[_WorldTriplet], list[int]]:
    """Return a triplet per edit, and the family of each clip: a twin of the reference, then its edits."""
    triplets = []
    clip_families: list[int] = []
    for number, family in enumerate(families):
        clip_families.append(number)
        for edit in family.edits:
            triplets.append(_WorldTriplet(number, len(clip_families), edit))
            clip_families.append(number)
    return triplets, clip_families


def _texts_of(
    triplets: Sequence[_WorldTriplet], references: Sequence[Scene], rng: random.Random
) -> list[Modification]:
    """Draw NUM_WORDINGS texts for each triplet, one triplet after another."""
    texts = []
    for triplet in triplets:
        for _ in range(NUM_WORDINGS):
            texts.append(ask_for(references[triplet.family], triplet.edit.changes, rng))
    return texts


def _embedded_clips(
    families: Sequence[Family], encoder: Encoder, cache: Path, by_frame: bool, progress: Progress
) -> tuple[Vectors, Vectors, Tensor | None]:
    """Embed the references as pictures (R, D), the other clips (V - R, D) and, if `by_frame`, their frames."""
    framing = encoder.framing
    # A run on more families reuses the files of the first blocks.
    reference_files = []
    clip_files = []
    for start in range(0, len(families), BLOCK):
        block = families[start : start + BLOCK]
        references = [family.reference for family in block]
        reference_files.append(
            ClipFile.of("train", scenes=references, num_frames=1, framing=framing, cache=cache)
        )
        clip_files.append(
            ClipFile.of(
                "train", scenes=_clips_of(block), num_frames=FRAMES, framing=framing, cache=cache
            )
        )

    pictures = np.concatenate([file.embeddings(encoder, progress) for file in reference_files])
    if not by_frame:
        clips = np.concatenate([file.embeddings(encoder, progress) for file in clip_files])
        return pictures, clips, None
    frames = np.concatenate([file.frame_embeddings(encoder, progress) for file in clip_files])
    # Each frame is pooled as a clip.
    pooled_frames = torch.from_numpy(encoder.pool(frames[..., None, :]))
    return pictures, encoder.pool(frames), pooled_frames


def _chosen(dataset: CovrSet, rows: Sequence[int]) -> CovrSet:
    """Return the samples in some rows, which rank their targets."""
    samples = []
    targets: dict[str, None] = {}
    for row in sorted(rows):
        sample = replace(dataset.samples[row], gallery="", subset=())
        samples.append(sample)
        targets |= dict.fromkeys(name for name in sample.targets if name in dataset.media)
    names = (*targets, *(sample.reference for sample in samples))
    return replace(
        dataset,
        samples=tuple(samples),
        media={name: dataset.media[name] for name in names},
        galleries={"": tuple(targets)},
    )


def triplets_of(dataset: CovrSet, embedded: EmbeddedQueries) -> FusionData:
    """Arrange the triplets of a dataset: each has a family of its own, and clips have none.

    Right for a triplet are its target, and the targets of others that have the same caption: P(i)
    of CoVR's paper. The queries are `embedded` in their order; a DatasetError refuses fewer than
    two with a target and readable files.
    """
    rows = _complete(embedded)
    if len(rows) < 2:
        raise DatasetError(
            f"{dataset.name} has {len(rows)} triplets with a target to train on. Choose other data."
        )
    samples = [dataset.samples[row] for row in rows]
    rights = [embedded.queries[row].relevant.tolist() for row in rows]
    vectors = embedded.combined
    data = FusionData(
        pictures=torch.from_numpy(vectors.picture[rows]),
        wanted=torch.from_numpy(vectors.wanted[rows])[:, None],
        unwanted=torch.from_numpy(vectors.unwanted[rows])[:, None],
        references=torch.arange(len(rows)),
        targets=torch.tensor([right[0] for right in rights]),
        clips=torch.from_numpy(embedded.clips),
        families=torch.full((len(embedded.clips),), -1),
        right=_right_by_caption(samples, rights),
        sources=_source_numbers(samples),
        token_rows=torch.arange(len(rows))[:, None],
    )
    if vectors.tokens is not None:
        data = replace(data, tokens=torch.from_numpy(vectors.tokens[rows]).half())
    if vectors.frames is not None:
        data = replace(data, reference_frames=torch.from_numpy(vectors.frames[rows]))
    return data


def _right_by_caption(
    samples: Sequence[CovrSample], rights: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return the right clips of each triplet, and of those whose targets have the same caption."""
    # A target without a caption is like no other.
    captions = [sample.caption or number for number, sample in enumerate(samples)]
    right_of: dict[str | int, set[int]] = defaultdict(set)
    for caption, right in zip(captions, rights, strict=True):
        right_of[caption].update(right)
    return [sorted(right_of[caption]) for caption in captions]


def _source_numbers(samples: Sequence[CovrSample]) -> Tensor:
    """Number the references, (Q,); those with the same caption have the same number."""
    numbers: dict[str, int] = {}
    for sample in samples:
        numbers.setdefault(sample.before or sample.reference, len(numbers))
    return torch.tensor([numbers[sample.before or sample.reference] for sample in samples])


def _complete(embedded: EmbeddedQueries) -> list[int]:
    """Return the queries that have a target, and whose picture and target could be read."""
    has_picture = np.asarray(embedded.combined.picture.any(axis=1))
    has_clip = np.asarray(embedded.clips.any(axis=1))
    rows = []
    for row, query in enumerate(embedded.queries):
        if has_picture[row] and len(query.relevant) and has_clip[query.relevant[0]]:
            rows.append(row)
    return rows


def _clips_of(families: Sequence[Family]) -> list[Scene]:
    """Return a twin of each reference, followed by its edits."""
    clips = []
    for family in families:
        clips += copies(family.reference, 1)
        clips += family.edited_scenes
    return clips


def _embedded_tokens(texts: Sequence[Modification], encoder: Encoder) -> tuple[Tensor, Tensor]:
    """Embed the tokens of each different text, in half precision; also return the row of each text."""
    rows: dict[str, int] = {}
    for modification in texts:
        rows.setdefault(modification.text, len(rows))
    token_rows = torch.tensor([rows[modification.text] for modification in texts])
    tokens = torch.from_numpy(encoder.encode_tokens(list(rows))).half()
    return tokens, token_rows.view(-1, NUM_WORDINGS)


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
            # One triplet of each target: the last in a random order.
            shuffled = rows[torch.randperm(len(rows), generator=generator)].tolist()
            last_of_target = {int(groups[row]): row for row in shuffled}
            rows = torch.tensor(sorted(last_of_target.values()))
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
