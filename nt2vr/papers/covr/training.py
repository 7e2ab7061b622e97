"""Training of a fusion: a reference picture and a text become one vector. Its data, losses, learner and measures."""

import logging
import math
import os
import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from nt2vr.errors import ConfigError, DatasetError, counted
from nt2vr.evaluation.metric_names import recall
from nt2vr.files import atomic_folder
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.card import CARD, read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.wordings import Modification
from nt2vr.papers.covr import benchmark
from nt2vr.papers.covr.benchmark import EmbeddedQueries
from nt2vr.papers.covr.compositions import PARTS, CompositionWeights
from nt2vr.papers.covr.datasets import CovrSet, load_covr
from nt2vr.papers.covr.edits import Family, WishTable, ask_for, copies, training_families
from nt2vr.papers.covr.fusion import FILE, Fusion, save_fusion
from nt2vr.papers.covr.presentation import ALL, VIOLATIONS
from nt2vr.papers.covr.settings import PREFIX, FusionSettings, fusion_settings
from nt2vr.progress import Progress, ShouldStop, silent, stoppable
from nt2vr.settings import resolve_path
from nt2vr.world import NAME
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.clips import frame_cache
from trainer.data.digests import Digests, digest
from trainer.distributed import world_size
from trainer.loop import go_on
from trainer.optimizer import Steps, build_optimizer
from trainer.runs.loggers import check_loggers
from trainer.runs.resume import Change, read_saved
from trainer.runs.run_folder import RunFolder, State

logger = logging.getLogger(__name__)
TRACKED = (recall(1), recall(5), recall(10), VIOLATIONS)
BLOCK = 1_000  # families per file of embeddings
NEVER = -1e9  # logarithm of 0, with a gradient
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
        [table.right(edit.wish) for edit in changes],
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


def train_run(
    run: RunFolder, config: TrainConfig, cache: Path, should_stop: ShouldStop, progress: Progress
) -> State:
    """Train the fusion that a config describes, to the end of the run, with a checkpoint per epoch."""
    assert config.encoder.base_folder, "guaranteed by the config"
    check_loggers(config)
    if world_size() > 1:
        raise ConfigError("A fusion is trained by one process. Start the run without torchrun.")
    encoder = read_checkpoint(config.encoder.base_folder, "auto")
    data, validation, name, digests = load(encoder, config, cache, stoppable(progress, should_stop))
    settings = fusion_settings(config)
    count = groups_of(data, settings)[1]
    if count < config.batches.batch_size:
        what = {"targets": "distinct targets"}.get(settings.iterate, settings.iterate)
        raise ConfigError(
            f"{name} has {count} {what}, fewer than batch_size ({config.batches.batch_size}). Lower it."
        )
    learner = FusionLearner(
        config.replace(num_clips=count), data, benchmark.choose_weights(validation)
    )
    saved = read_saved(run, learner.config, digests)
    logger.info("Training %s on %s.", config.encoder.name, name)
    validator = partial(FusionValidator, learner, validation, name, saved.changes)
    return go_on(learner, run, saved, validator, learner.draw, should_stop)


class FusionLearner(Steps):
    """A fusion in training, over frozen towers; it starts at the weights of the training-free `parts`.

    Every candidate that a person would call almost right is a negative: the reference, its twin,
    and its other edits. The config's `num_clips` is the number of groups that there are.
    """

    def __init__(self, config: TrainConfig, data: FusionData, weights: CompositionWeights) -> None:
        torch.manual_seed(config.run.seed)
        self.weights, self.settings, self._data = weights, fusion_settings(config), data
        sizes = self.settings.hidden, self.settings.blocks
        self._module = Fusion(data.clips.shape[1], weights.wanted, weights.unwanted, *sizes)
        super().__init__(
            config, {"fusion": self._module}, build_optimizer(self._module, nn.ModuleList(), config)
        )

    @property
    def fusion(self) -> Fusion:
        return self._module.rounded()

    def draw(self, epoch: int, done: int = 0) -> Generator[Tensor]:
        config, seed = self.config, 1_000 * self.config.run.seed + epoch
        drawn = batches(
            self._data, self.settings, config.batches.batch_size, config.batches_per_epoch, seed
        )
        yield from islice(drawn, done, None)

    def loss(self, batch: Tensor) -> tuple[Tensor, dict[str, float]]:
        loss = LOSSES[self.settings.loss](self._module, self._data, batch, self.settings)
        return loss, {self.settings.loss: loss.item()}


class FusionValidator:
    """Measures the fusion on held-out queries, and writes its checkpoints, see `Validates`; `parts` once."""

    def __init__(
        self,
        learner: FusionLearner,
        validation: EmbeddedQueries,
        data: str,
        changes: Sequence[Change] = (),
    ) -> None:
        self._learner = learner
        self._validation = validation
        self._data = data
        self._changes = tuple(changes)
        self.held_out = counted(len(validation.queries), "held-out query", "held-out queries")
        self.controls = {f"{PARTS}/{name}": value for name, value in self.measure(PARTS).items()}

    def measure(self, system: str = Fusion.name) -> dict[str, float]:
        composers = {Fusion.name: self._learner.fusion}
        vectors = benchmark.vectors_of(self._validation, system, self._learner.weights, composers)
        table = benchmark.summarise(
            self._validation.queries, benchmark.measure(vectors, self._validation)
        )[ALL]
        return {f"{PREFIX}{name}": table[name] for name in TRACKED if name in table}

    def write(self, epoch: int, folder: Path, metrics: Mapping[str, float]) -> None:
        learner, config = self._learner, self._learner.config
        name, base = config.encoder.name, config.encoder.base_folder
        assert base, "guaranteed by the config"
        card, created = read_card(base), datetime.now(UTC).isoformat(timespec="seconds")
        card = card.replace(
            name=name, base=card.name, epoch=epoch, created=created, changes=self._changes
        )
        with atomic_folder(folder) as unfinished:
            for file in base.iterdir():
                if file.is_file() and file.name not in (CARD, FILE):
                    try:  # files are never changed in place
                        os.link(file.resolve(), unfinished / file.name)
                    except OSError:  # this file system has no links
                        shutil.copyfile(file, unfinished / file.name)
            write_card(unfinished, card.replace(metrics={**card.metrics, **metrics}))
            add_fusion(
                unfinished, learner.fusion, learner.weights, learner.settings, metrics, self._data
            )


def add_fusion(
    folder: Path,
    fusion: Fusion,
    weights: CompositionWeights,
    settings: FusionSettings,
    metrics: Mapping[str, float],
    data: str,
) -> None:
    """Write a fusion into a checkpoint folder, and its entry and weights into the card."""
    entry = {
        "hidden": fusion.hidden,
        "blocks": fusion.blocks,
        "weights": sum(each.numel() for each in fusion.parameters()),
        "data": data,
        "training": settings.as_dict(),
        "metrics": {name: round(value, 4) for name, value in metrics.items()},
        "fingerprint": fusion.fingerprint,
    }
    save_fusion(folder, fusion)
    write_card(folder, read_card(folder).replace(composition=asdict(weights), fusion=entry))


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


def _info_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    own = torch.isin(data.families, data.references[rows])
    own[data.targets[rows]] = True
    others = (~own).nonzero()[:, 0]
    drawn = others[torch.randint(len(others), (settings.random_clips,))] if len(others) else others
    candidates = torch.cat([own.nonzero()[:, 0], torch.unique(drawn)])
    columns = torch.full((len(data.clips),), -1)
    columns[candidates] = torch.arange(len(candidates))
    targets = columns[data.targets[rows]]
    masked = torch.zeros(len(rows), len(candidates), dtype=torch.bool)
    for number, row in enumerate(rows.tolist()):
        right = columns[data.right[row]]
        masked[number, right[right >= 0]] = True
    masked[torch.arange(len(rows)), targets] = False
    queries, wanted = _queries(model, data, rows)
    clips = data.clips[candidates]
    clips[targets] = _targets(data, rows, wanted, settings)
    return info_nce(queries @ clips.T, targets, masked, settings.temperature)


def _hn_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    targets, references = data.targets[rows], data.references[rows]
    sources = references if data.sources is None else data.sources[rows]
    right = [set(data.right[row]) for row in rows.tolist()]
    noisy = torch.tensor([[target in those for target in targets.tolist()] for those in right])
    noisy.fill_diagonal_(False)
    hard = (sources[:, None] == sources) & ~torch.eye(len(rows), dtype=torch.bool)
    queries, wanted = _queries(model, data, rows)
    scores = queries @ _targets(data, rows, wanted, settings).T
    if settings.hn_nce == "as_code":
        return hn_nce_as_code(scores, settings.temperature) / 2
    return hn_nce(scores, hard, noisy, settings.temperature) / (2 * len(rows))


def _queries(model: Fusion, data: FusionData, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one text per triplet, and return its query and its wanted part, (Q, D) each."""
    drawn = torch.randint(data.wanted.shape[1], (len(rows),))
    references, wanted = data.references[rows], data.wanted[rows, drawn]
    given = data.pictures[references], wanted, data.unwanted[rows, drawn]
    if model.cross is None:
        return model(*given), wanted
    assert data.tokens is not None and data.spelled is not None, "loaded where they are needed"
    frames = data.pictures[references, None] if data.shown is None else data.shown[references]
    return model(*given, data.tokens[data.spelled[rows, drawn]].float(), frames), wanted


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, settings: FusionSettings) -> Tensor:
    if not settings.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


Loss = Callable[[Fusion, FusionData, Tensor, FusionSettings], Tensor]
LOSSES: dict[str, Loss] = {"info_nce": _info_nce, "hn_nce": _hn_nce}


def info_nce(scores: Tensor, targets: Tensor, masked: Tensor, temperature: float) -> Tensor:
    """Cross entropy of the target among all candidates, averaged over the queries.

        loss = mean over i of -log(exp(S_it / tau) / sum over j not masked of exp(S_ij / tau))

    Args:
        scores: (Q, C), cosines of queries and candidates.
        targets: (Q,), column of each query's target t.
        masked: (Q, C), candidates that are right too, and so no negatives; False for targets.
    """
    return cross_entropy((scores / temperature).masked_fill(masked, -torch.inf), targets)


def hn_nce(
    scores: Tensor,
    hard: Tensor,
    noisy: Tensor,
    temperature: float,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Tensor:
    """HN-NCE over a batch of triplets as published, in both directions, summed over the batch.

        loss = sum over i of -log(e(i, i) / (sum over j not in P(i) of w(i, j) e(i, j)
                                             + alpha * sum over j in HN(i) of e(i, j))),  e(i, j) = exp(S_ij / tau)
               and the same with e(j, i)
        w(i, j) = (n - 1) * exp(beta * S_ij / tau) / sum over k != i of exp(beta * S_ik / tau),  w(i, i) = 1

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        hard: (B, B), HN: triplets of the same reference with another target.
        noisy: (B, B), P: other triplets whose target is right for query i as well; they are left
            out everywhere.
        temperature: tau; it and alpha are learned in the paper, and fixed here.
        beta: concentration on similar candidates; 0 weights all alike. n counts those that are not
            in P(i).

    Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI
    2024, section 3.3;
        w as in Radenovic et al., "Filtering, Distillation, and Hard Negatives", CVPR 2023.
    """
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    total = scores.new_zeros(())
    for way, extra, ignored in ((scores, hard, noisy), (scores.T, hard.T, noisy.T)):
        logits = way / temperature
        others = (beta * logits).masked_fill(ignored | itself, NEVER)
        counts = (
            (~(ignored | itself)).sum(dim=1, keepdim=True).clamp(min=1).to(scores.dtype)
        )  # n - 1
        weights = counts.log() + others - others.logsumexp(dim=1, keepdim=True)  # logarithms
        weighted = torch.where(itself, logits, logits + weights).masked_fill(ignored, NEVER)
        again = logits + math.log(alpha) if alpha else logits
        again = again.masked_fill(~extra | ignored | itself | (not alpha), NEVER)
        total = (
            total + (torch.cat([weighted, again], dim=1).logsumexp(dim=1) - logits.diagonal()).sum()
        )
    return total


def hn_nce_as_code(
    scores: Tensor, temperature: float, alpha: float = 1.0, beta: float = 0.5
) -> Tensor:
    """HN-NCE as CoVR's code computes it: without HN and P, alpha on the right pair, averaged over the batch.

        loss = mean over i of log(sum over j of v(i, j) e(i, j)) - S_ii / tau
             + mean over j of log(sum over i of w(i, j) e(i, j)) - S_jj / tau
        v(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_jk / tau),  v(i, i) = alpha
        w(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_kj / tau),  w(i, i) = alpha

    v divides column j by the sum of row j, not of row i, so its rows do not sum to B - 1 unless
    beta is 0.

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        alpha: 1 in their configuration, with beta 0.5 and temperature 0.07.

    Source: `HardNegativeNCE` of lucas-ventura/CoVR.
    """
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    logits = scores / temperature
    others = (beta * logits).masked_fill(itself, NEVER)
    total = torch.zeros((), dtype=scores.dtype, device=scores.device)
    for way in (1, 0):
        weights = (
            math.log(max(len(scores) - 1, 1)) + others - others.logsumexp(dim=way)
        )  # (B, B), per column
        weighted = logits + torch.where(itself, math.log(alpha), weights)
        total = total + (weighted.logsumexp(dim=way) - logits.diagonal()).mean()
    return total


def weighted_targets(frames: Tensor, texts: Tensor, temperature: float = 0.1) -> Tensor:
    """Pool frames by their similarity to a text: sum of softmax(frame . text / temperature) * frame, normalised.

    Args:
        frames: (N, F, D), L2-normalised.
        texts: (N, D), L2-normalised.

    Source: CoVR, section 3.3, after Bain et al., "A CLIP-Hitchhiker's Guide to Long Video
    Retrieval", 2022.
    """
    shares = ((frames @ texts[:, :, None]).squeeze(-1) / temperature).softmax(dim=-1)  # (N, F)
    return normalize((shares[..., None] * frames).sum(dim=1), dim=-1)
