"""Triplets of a dataset, embedded: each a reference, a text and a target."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nt2vr.errors import DatasetError
from nt2vr.evaluation.queries import row_numbers
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.datasets import CovrSample, CovrSet, load_covr
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries
from nt2vr.papers.covr.file_benchmark import covr_files
from nt2vr.papers.covr.fusion_data import FusionData, LoadedData
from nt2vr.papers.covr.settings import fusion_settings
from nt2vr.progress import Progress
from nt2vr.settings import resolve_path
from trainer.config import TrainConfig
from trainer.data.clip_loader import frame_cache
from trainer.data.digests import digest


def load_dataset(
    encoder: Encoder, config: TrainConfig, cache: Path, progress: Progress
) -> LoadedData:
    """Embed the triplets of the split "train", at most `num_clips`, a random choice; validate on "val"."""
    path = resolve_path(config.dataset.data)
    training = _at_most(config.dataset.num_clips, load_covr(path, "train"), config.run.seed)
    held_out = load_covr(path, "val")
    queries = {}
    digests = {}
    with Decoder() as decoder, frame_cache(cache) as store:
        for split, dataset in {"train": training, "validation": held_out}.items():
            queries[split] = covr_files(dataset, decoder, store).embedded_queries(
                encoder, progress, deep=fusion_settings(config).attends
            )
            digests[split] = _digests(dataset, queries[split], store)
    triplets = triplets_of(training, queries["train"])
    return LoadedData(
        triplets=triplets,
        validation=queries["validation"],
        name=f"{training.name}, {len(triplets.targets)} triplets",
        digests=digests,
    )


def _at_most(num_triplets: int, dataset: CovrSet, seed: int) -> CovrSet:
    """Return a random choice of the samples, which rank their targets; all if there are no more."""
    num_samples = len(dataset.samples)
    if num_triplets >= num_samples:
        return dataset
    rows = random.Random(seed).sample(range(num_samples), num_triplets)
    samples = []
    targets: list[str] = []
    for row in sorted(rows):
        sample = replace(dataset.samples[row], gallery="", subset=())
        samples.append(sample)
        targets += sample.targets
    ranked = tuple(name for name in dict.fromkeys(targets) if name in dataset.media)
    chosen = replace(dataset, samples=tuple(samples), galleries={"": ranked})
    return replace(chosen, media={name: dataset.media[name] for name in chosen.media_ids})


def _digests(dataset: CovrSet, embedded: EmbeddedQueries, store: Cache) -> tuple[int, ...]:
    """Hash the triplets that are complete, with the contents of their files."""
    hashes = []
    for row in _complete(embedded):
        sample = dataset.samples[row]
        names = [sample.reference, *sample.targets]
        paths = [dataset.media[name] for name in names if name in dataset.media]
        contents = list(map(store.content_hash, paths))
        hashes.append(digest(names, contents, sample.text, sample.caption, sample.before))
    return tuple(hashes)


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
    targets = [embedded.queries[row].relevant.tolist() for row in rows]
    vectors = embedded.combined
    data = FusionData(
        pictures=torch.from_numpy(vectors.picture[rows]),
        wanted=torch.from_numpy(vectors.wanted[rows])[:, None],
        unwanted=torch.from_numpy(vectors.unwanted[rows])[:, None],
        references=torch.arange(len(rows)),
        targets=torch.tensor([of_triplet[0] for of_triplet in targets]),
        clips=torch.from_numpy(embedded.clips),
        families=torch.full((len(embedded.clips),), -1),
        right=_right_by_caption(samples, targets),
        sources=_source_numbers(samples),
        token_rows=torch.arange(len(rows))[:, None],
    )
    if vectors.tokens is not None:
        data = replace(data, tokens=torch.from_numpy(vectors.tokens[rows]).half())
    if vectors.frames is not None:
        data = replace(data, reference_frames=torch.from_numpy(vectors.frames[rows]))
    return data


def _right_by_caption(
    samples: Sequence[CovrSample], targets: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Return the targets of each triplet, and of those whose targets have the same caption."""
    # A target without a caption is like no other.
    captions = [sample.caption or number for number, sample in enumerate(samples)]
    targets_of: dict[str | int, set[int]] = defaultdict(set)
    for caption, of_triplet in zip(captions, targets, strict=True):
        targets_of[caption].update(of_triplet)
    return [sorted(targets_of[caption]) for caption in captions]


def _source_numbers(samples: Sequence[CovrSample]) -> Tensor:
    """Number the references, (Q,); those with the same caption have the same number."""
    sources = [sample.before or sample.reference for sample in samples]
    number_of = row_numbers(sources)
    return torch.tensor([number_of[source] for source in sources])


def _complete(embedded: EmbeddedQueries) -> list[int]:
    """Return the queries that have a target, and whose picture and target could be read."""
    has_picture = np.asarray(embedded.combined.picture.any(axis=1))
    has_clip = np.asarray(embedded.clips.any(axis=1))
    rows = []
    for row, query in enumerate(embedded.queries):
        if has_picture[row] and len(query.relevant) and has_clip[query.relevant[0]]:
            rows.append(row)
    return rows
