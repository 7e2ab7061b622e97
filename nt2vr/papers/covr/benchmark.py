"""Retrieval by a picture plus a text (covr): a reference, and a text that says what should be different.

Measures each composition, its controls (the picture alone, the text alone) and the target's full
caption, by kind of change. Violations, the share of the first five that show what was to be
removed, are won by ignoring the picture: never read them without R@1. In datasets a reference is
embedded like a clip, all of its frames pooled.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, DatasetError, reason_of
from nt2vr.evaluation.benchmark_kinds import ModelBenchmark, ModelData, Places
from nt2vr.evaluation.embed_media import embed_files, unreadable_remark
from nt2vr.evaluation.metric_names import recall
from nt2vr.evaluation.queries import JudgedQuery, cue_of, mask, row_array
from nt2vr.evaluation.report import Presentation, Report, Result
from nt2vr.evaluation.scoring import first_ranks, first_rows, score_table, shares_among_first
from nt2vr.files import expanded, hash_text, write_json
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.papers.covr.compositions import COMPOSITIONS, PARTS, CompositionWeights
from nt2vr.papers.covr.datasets import CovrSample, CovrSet, load_covr
from nt2vr.papers.covr.edits import Family, WishTable, choose_families, gallery_of
from nt2vr.papers.covr.presentation import (
    ALL,
    CIRR_MEAN,
    COVR,
    FIRST,
    FULL_CAPTION,
    KS,
    PICTURE_PLUS_TEXT,
    R_1,
    SEEN,
    SUBSET_R_1,
    UNSEEN,
    VIOLATIONS,
    covr_result,
    mean_average_precision,
    within_subset,
)
from nt2vr.progress import Progress, silent
from nt2vr.search.exclusion import Exclusion, averaged
from nt2vr.search.references import combine, reads_tokens
from nt2vr.search.strategies import System
from nt2vr.world import NAME, WORLD
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.scenes import SceneSplit

MAP_KS = (5, 10, 25, 50)
SUBSET_KS = (1, 2, 3)
# Predictions per query that CIRR's test server takes, of recall and of its subset measure.
TAKEN = 50
TAKEN_OF_SUBSET = 3
# The only system of embeddings from elsewhere.
GIVEN = "as given"
# How often the search for the weights of `parts` refines them.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class CovrQuery(JudgedQuery):
    """A query with a reference: its truth, and what it ranks, as rows of a benchmark.

    Of the inherited fields, `relevant` are the clips that count in R@k; `violating` those that show
    what was to be removed, which is empty for other changes.

    Attributes:
        reference: row of its picture among `EmbeddedMedia.references`.
        caption: full caption of a right clip; empty if unknown.
        left_out: rows that are not ranked: the reference itself.
        subset: rows to rank in a second measure, as in CIRR; empty for none.
        labels: further groups that it is reported in.
        matches: rows that count in mAP@k, where these are more; empty for `relevant`.
        ranked: rows that are ranked; None for all.
    """

    reference: int = 0
    caption: str = ""
    left_out: tuple[int, ...] = ()
    subset: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    matches: tuple[int, ...] = ()
    ranked: slice | None = None


class EmbeddedMedia(NamedTuple):
    """The references and clips of a benchmark under a model.

    Attributes:
        references: (R, D), one frame or picture each.
        clips: (V, D), or (V, F, D); see `TextBenchmark`.
        frames: embeds those of references, (R, F, D); None where each is one picture.
    """

    references: Vectors
    clips: Vectors
    frames: Callable[[], Vectors] | None = None


@dataclass(frozen=True, eq=False)
class CovrBenchmark(ModelBenchmark[EmbeddedMedia]):
    """Queries of a picture plus a text; a report identifies clips by their rows."""

    presentation: ClassVar[Presentation] = COVR

    queries: tuple[CovrQuery, ...]
    # Of the clips of a dataset.
    clip_ids: Sequence[str] = ()

    @property
    def title(self) -> str:
        return f"{self.name}, {PICTURE_PLUS_TEXT}"

    @property
    def digest(self) -> str:
        truth = [(query.kind, query.text, tuple(query.relevant.tolist())) for query in self.queries]
        identity = (self.name, sorted(self.source.items()), truth)
        return hash_text(repr(identity))

    def systems_of(self, encoder: Encoder) -> list[System]:
        """Return every composition that a model has, its controls, and the full caption where it is known."""
        if encoder.capabilities.given_queries_only:
            return [System(encoder.name, GIVEN)]
        strategies = [*COMPOSITIONS, PARTS, *encoder.composers]
        if any(query.caption.strip() for query in self.queries):
            strategies.append(FULL_CAPTION)
        return [System(encoder.name, strategy) for strategy in strategies]

    def measure(
        self,
        encoder: Encoder,
        systems: Sequence[System],
        media: EmbeddedMedia | None = None,
        progress: Progress = silent,
    ) -> list[Result]:
        """Measure compositions of one model; a DatasetError says if no targets are published."""
        if not any(len(query.relevant) for query in self.queries):
            raise DatasetError(
                f"The targets of {self.name} are not published, so it cannot be measured here. Choose another split, "
                "such as val, or write what its test server takes: nt2vr covr --submit FILE."
            )
        embedded = embed_queries(self, encoder, progress, media=media)
        card = encoder.card
        results = []
        for system in systems:
            outcome = measure(vectors_for(embedded, system.strategy, encoder), embedded)
            table = summarise(self.queries, outcome)
            results.append(
                covr_result(
                    card.name,
                    system=system.strategy,
                    ranks=outcome.ranks,
                    table=table,
                    spec=card.fingerprints,
                )
            )
        return results

    def report(
        self, results: Sequence[Result], notes: Sequence[str] = (), named: Sequence[str] = ()
    ) -> Report:
        # A dataset's ids are for its test server; reports name a query by its reference and its
        # text.
        queries = tuple(replace(query, query_id="") for query in self.queries)
        return replace(super().report(results, notes, named), queries=queries)


class EmbeddedQueries(NamedTuple):
    """The queries of a benchmark under a model: the input of every composition.

    Attributes:
        combined: their embeddings, (Q, D) each.
        captions: (Q, D), embeddings of the targets' captions; zeros where unknown.
        clips: (V, D), or (V, F, D), whose frames the wanted part weighs.
        precomputed: (Q, D), vectors of the queries from elsewhere, in place of all compositions.
    """

    queries: tuple[CovrQuery, ...]
    combined: PictureQuery
    captions: Vectors
    clips: Vectors
    precomputed: Vectors | None = None


class TextVectors:
    """The embeddings of texts, each embedded once; zeros for blank texts."""

    def __init__(self, encoder: Encoder, texts: Iterable[str]) -> None:
        written = list(dict.fromkeys(filter(str.strip, texts)))
        self._zeros = np.zeros(encoder.embed_dim, np.float32)
        self._vectors = dict(zip(written, encoder.encode_text(written), strict=True))

    def of(self, texts: Iterable[str]) -> Vectors:
        """Return the vectors of texts, (T, D)."""
        return np.stack([self._vectors.get(text, self._zeros) for text in texts])

    def sums_of(self, groups: Iterable[Iterable[str]]) -> Vectors:
        """Return the sum of the vectors of each group of texts, (G, D)."""
        sums = []
        for texts in groups:
            total = self._zeros
            for text in texts:
                total = total + self._vectors.get(text, self._zeros)
            sums.append(total)
        return np.stack(sums)


def embed_queries(
    benchmark: CovrBenchmark,
    encoder: Encoder,
    progress: Progress = silent,
    deep: bool = False,
    media: EmbeddedMedia | None = None,
) -> EmbeddedQueries:
    """Parse and embed the queries of a benchmark, each text once; look embeddings from elsewhere up by query id.

    `deep` also embeds tokens and frames, for a fusion that is to get cross-attention; for one that
    has it, they are embedded anyway. `media` are as of `CovrBenchmark.embed`, and embedded if None.
    """
    if media is None:
        media = benchmark.embed(encoder, progress)
    queries = benchmark.queries
    if encoder.capabilities.given_queries_only:
        precomputed = encoder.encode_text([query.query_id for query in queries])
        zeros = np.zeros_like(precomputed)
        unused = PictureQuery(
            picture=zeros,
            sentence=zeros,
            wanted=zeros,
            unwanted=zeros,
        )
        return EmbeddedQueries(
            queries=queries,
            combined=unused,
            captions=zeros,
            clips=media.clips,
            precomputed=precomputed,
        )

    tagger = load_tagger()
    texts = [query.text for query in queries]
    captions = [query.caption for query in queries]
    parsed = [understand(text, tagger, editing=True) for text in texts]
    wanted = [" ".join(query.wanted) for query in parsed]
    unwanted = [query.unwanted for query in parsed]
    vectors = TextVectors(encoder, chain(wanted, texts, captions, *unwanted))

    references = [query.reference for query in queries]
    combined = PictureQuery(
        picture=media.references[references],
        sentence=vectors.of(texts),
        wanted=vectors.of(wanted),
        unwanted=vectors.sums_of(unwanted),
    )
    if deep or reads_tokens(encoder):
        frames = _reference_frames(media, encoder)[references]
        combined = replace(combined, tokens=encoder.encode_tokens(texts), frames=frames)
    return EmbeddedQueries(
        queries=queries,
        combined=combined,
        captions=vectors.of(captions),
        clips=media.clips,
    )


def _reference_frames(media: EmbeddedMedia, encoder: Encoder) -> Vectors:
    """Return the frames of references (R, F, D); pictures are clips of one frame."""
    if media.frames is None:
        return media.references[:, None]
    # Each frame is pooled as a clip.
    return encoder.pool(media.frames()[..., None, :])


def vectors_of(
    embedded: EmbeddedQueries,
    system: str,
    weights: CompositionWeights,
    composers: Mapping[str, Composer] = MappingProxyType({}),
) -> Vectors:
    """Return the query vectors (Q, D) of a composition, of a model's composer, or of FULL_CAPTION."""
    if system == FULL_CAPTION:
        return embedded.captions
    if system in COMPOSITIONS:
        return COMPOSITIONS[system](embedded.combined, weights)
    return combine(system, query=embedded.combined, weights=weights, composers=composers)


def vectors_for(embedded: EmbeddedQueries, system: str, encoder: Encoder) -> Vectors:
    """Return the query vectors (Q, D) of one of a model's systems, with the weights that its card has."""
    if embedded.precomputed is not None:
        return embedded.precomputed
    weights = CompositionWeights.of(encoder.card.composition)
    return vectors_of(embedded, system, weights, encoder.composers)


class Outcome(NamedTuple):
    """What a system does for each query.

    Attributes:
        ranks: of each query's best right clip, (Q,); 1 is best.
        shares: (Q,) by measure, NaN where a query has none.
    """

    ranks: NDArray[np.int64]
    shares: Mapping[str, NDArray[np.float64]]


def scores_of(vectors: Vectors, embedded: EmbeddedQueries) -> Vectors:
    """Score all clips for each query: (Q, V); -inf for what is not ranked, and for unreadable files (zeros)."""
    clips = embedded.clips
    exclusions: list[Exclusion] = []
    if clips.ndim > 2:
        nothing = np.zeros((0, vectors.shape[1]), np.float32)
        for wanted in embedded.combined.wanted:
            exclusions.append(Exclusion(nothing, 0.0, focus=wanted))
    scores = score_table(vectors, clips, exclusions, gallery=clips)

    is_readable = clips.any(axis=tuple(range(1, clips.ndim)))
    scores[:, ~is_readable] = -np.inf
    for of_query, query in zip(scores, embedded.queries, strict=True):
        of_query[list(query.left_out)] = -np.inf
        if query.ranked is not None:
            of_query[: query.ranked.start] = -np.inf
            of_query[query.ranked.stop :] = -np.inf
    return scores


def measure(vectors: Vectors, embedded: EmbeddedQueries) -> Outcome:
    """Rank all clips for each query. A tie counts against the system, so zeros, which ask for nothing, rank last."""
    scores = scores_of(vectors, embedded)
    queries = embedded.queries
    count = scores.shape[1]
    right = mask([query.relevant for query in queries], count)
    violating = mask([query.violating for query in queries], count)
    matches = mask([query.matches or query.relevant for query in queries], count)

    ranks = first_ranks(scores, right)
    shares: dict[str, NDArray[np.float64]] = {}
    for k in KS:
        shares[recall(k)] = np.where(ranks <= k, 1.0, 0.0)
    violated = shares_among_first(scores, violating, FIRST)
    has_violations = violating.any(axis=1) & vectors.any(axis=1)
    shares[VIOLATIONS] = np.where(has_violations, violated, np.nan)
    shares |= average_precisions(scores, matches)
    shares |= _subset_recalls(scores, right, mask([query.subset for query in queries], count))
    return Outcome(ranks, shares)


def _subset_recalls(
    scores: Vectors, right: NDArray[np.bool_], subset: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """Return R@k among the clips of each query's subset, (Q,) by name; NaN for queries without one."""
    subset_scores = np.where(subset | right, scores, -np.inf).astype(np.float32)
    ranks = first_ranks(subset_scores, right)
    has_subset = subset.any(axis=1)
    recalls = {}
    for k in SUBSET_KS:
        recalls[within_subset(recall(k))] = np.where(has_subset, ranks <= k, np.nan)
    return recalls


def average_precisions(scores: Vectors, right: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """AP@k for each k of MAP_KS; none where no query has several right clips, as R@k then says as much.

        AP@k = sum over i <= k of precision@i * right_i / min(k, number of right clips)

    Source: Baldrati et al., "Zero-Shot Composed Image Retrieval with Textual Inversion", ICCV 2023,
    CIRCO's measure.
    """
    num_right = right.sum(axis=1)
    if not (num_right > 1).any():
        return {}
    precisions = {}
    for k in MAP_KS:
        precisions[mean_average_precision(k)] = np.full(len(scores), np.nan)
    for row in np.flatnonzero(num_right):
        # Of tied clips, right ones come last.
        order = np.lexsort((right[row], -scores[row]))
        hits = right[row][order[: max(MAP_KS)]]
        precision_at_hits = np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits
        for k in MAP_KS:
            total = precision_at_hits[:k].sum()
            precisions[mean_average_precision(k)][row] = total / min(k, num_right[row])
    return precisions


def summarise(queries: Sequence[CovrQuery], outcome: Outcome) -> dict[str, dict[str, float]]:
    """Aggregate to metrics in percent by kind; and, as means over the kinds, of ALL and by label, "negation" first."""
    kinds = np.array([query.kind for query in queries])
    table = {}
    for kind in dict.fromkeys(kinds.tolist()):
        table[kind] = _metrics_of(outcome, kinds == kind)
    table[ALL] = _mean_over_kinds(outcome, kinds, np.ones(len(queries), bool))

    labels: set[str] = set()
    for query in queries:
        labels.update(query.labels)
    for label in sorted(labels, key=lambda label: (label != "negation", label)):
        has_label = np.array([label in query.labels for query in queries])
        table[label] = _mean_over_kinds(outcome, kinds, has_label)
    return table


def _metrics_of(outcome: Outcome, chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Average the measures of the chosen queries, in percent, over those that have one."""
    metrics = {}
    for name, shares in outcome.shares.items():
        measured = shares[chosen & ~np.isnan(shares)]
        if len(measured):
            metrics[name] = 100 * float(measured.mean())
    if SUBSET_R_1 in metrics:
        metrics[CIRR_MEAN] = (metrics[recall(5)] + metrics[SUBSET_R_1]) / 2
    return metrics


def _mean_over_kinds(
    outcome: Outcome, kinds: NDArray[np.str_], chosen: NDArray[np.bool_]
) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for kind in dict.fromkeys(kinds.tolist()):
        for name, value in _metrics_of(outcome, chosen & (kinds == kind)).items():
            values[name].append(value)
    return {name: float(np.mean(of_kinds)) for name, of_kinds in values.items()}


# Candidates for the weight of the text in `sum`, .05 to .95.
SUM_WEIGHTS = tuple(step / 20 for step in range(1, 20))
# Candidates for the weights of `parts`, .2 to 3.2.
PART_WEIGHTS = tuple(step / 5 for step in range(1, 17))


def choose_weights(embedded: EmbeddedQueries) -> CompositionWeights:
    """Choose the weights of the training-free compositions by mean R@1 over the kinds; use validation queries."""

    def mean_recall(system: str, weights: CompositionWeights) -> float:
        outcome = measure(vectors_of(embedded, system, weights), embedded)
        return summarise(embedded.queries, outcome)[ALL][R_1]

    of_sum = [CompositionWeights(sum=weight) for weight in SUM_WEIGHTS]
    best = max(of_sum, key=partial(mean_recall, "sum"))
    # One weight at a time ends where both together would, in an eighth of the time.
    for _ in range(ROUNDS):
        for name in ("wanted", "unwanted"):
            of_part = [replace(best, **{name: weight}) for weight in PART_WEIGHTS]
            best = max(of_part, key=partial(mean_recall, PARTS))
    return best


def write_submission(
    benchmark: CovrBenchmark, encoder: Encoder, system: str, path: Path, progress: Progress = silent
) -> list[Path]:
    """Write the first 50 clips of every query of CIRR, as its test server takes them; return the two files.

    `path` is for recall; the subset measure gets a second file, NAME_subset.json. The system is a
    composition, and ignored for embeddings from elsewhere, which have but one. A ConfigError
    refuses what the server would.
    """
    if benchmark.queries[0].kind != "CIRR":
        raise ConfigError(f"{benchmark.name} has no test server that is known here. Choose CIRR.")
    if missing := benchmark.source["remarks"]:
        raise ConfigError(
            f"A submission needs the whole of {benchmark.name}: {' '.join(missing)} Add what is left."
        )
    if not path.parent.is_dir():
        raise ConfigError(f"The folder of {path} is not there. Create it, or name another file.")
    embedded = embed_queries(benchmark, encoder, progress)
    strategies = [system.strategy for system in benchmark.systems_of(encoder)]
    if GIVEN in strategies:
        system = GIVEN
    elif system not in strategies:
        raise ConfigError(
            f"{encoder.name} has no system {system!r}. Choose one of: {', '.join(strategies)}."
        )

    scores = scores_of(vectors_for(embedded, system, encoder), embedded)
    in_subset = mask([query.subset for query in embedded.queries], scores.shape[1])
    subset_scores = np.where(in_subset, scores, -np.inf)
    subset_path = path.with_name(f"{path.stem}_subset{path.suffix}")
    _write_predictions(benchmark, file=path, metric="recall", scores=scores, count=TAKEN)
    _write_predictions(
        benchmark,
        file=subset_path,
        metric="recall_subset",
        scores=subset_scores,
        count=TAKEN_OF_SUBSET,
    )
    return [path, subset_path]


def _write_predictions(
    benchmark: CovrBenchmark, file: Path, metric: str, scores: Vectors, count: int
) -> None:
    """Write the ids of the `count` clips that score highest for each query."""
    content: dict[str, Any] = {"version": "rc2", "metric": metric}
    first = first_rows(scores, np.zeros(scores.shape, bool), count).tolist()
    for query, rows in zip(benchmark.queries, first, strict=True):
        content[query.query_id] = [benchmark.clip_ids[row] for row in rows if row >= 0]
    try:
        write_json(file, content)
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be written ({reason_of(error)}). Name another file."
        ) from error


# Queries per kind of change.
PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}


@dataclass(frozen=True)
class CovrData(ModelData):
    """Selection of evaluation data; a ConfigError refuses splits and numbers that the built-in world does not have.

    Attributes:
        name: the built-in world, or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO.
        split: "test" or "validation" scenes, or a dataset's split.
        per_kind: queries per kind of change in the built-in world; 0 for its default.
    """

    name: str = WORLD
    split: str = "test"
    per_kind: int = 0

    def __post_init__(self) -> None:
        if self.name == WORLD and self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if self.name == WORLD and not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(
                f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}."
            )

    @property
    def title(self) -> str:
        return f"{self.name}, {self.split}, {PICTURE_PLUS_TEXT}"

    @property
    def is_path(self) -> bool:
        return self.name != WORLD

    def load(self, encoder: Encoder, places: Places, progress: Progress) -> CovrBenchmark:
        return benchmark_for(
            encoder,
            data=self,
            folder=places.folder,
            decoder=places.decoder,
            cache=places.cache,
            progress=progress,
        )


def benchmark_for(
    encoder: Encoder,
    data: CovrData,
    folder: Path,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
) -> CovrBenchmark:
    """Load a benchmark for a model that sees frames, or has embeddings from elsewhere, which need no files.

    Files that cannot be read are left out, and named in the remarks. `folder` stores embeddings of
    the built-in world, `cache` those of files. A DatasetError refuses what `load_covr` does, and
    data of which nothing can be asked.
    """
    encoder.card.check_frames()
    if data.name == WORLD:
        return covr_world(folder, data.split, data.per_kind)  # type: ignore[arg-type]  # checked
    if encoder.given_videos is None:
        embedded_ids = None
    else:
        embedded_ids = encoder.given_videos.keys()
    split = "val" if data.split == "validation" else data.split
    dataset = load_covr(expanded(data.name), split, embedded_ids)
    if embedded_ids is None:
        dataset = _readable(dataset, encoder, decoder, cache, progress)
    return covr_files(dataset, decoder, cache)


def _readable(
    dataset: CovrSet, encoder: Encoder, decoder: Decoder, cache: Cache, progress: Progress
) -> CovrSet:
    """Leave out the files that cannot be read, and name them in the remarks."""
    unreadable = embed_files(_videos(dataset), decoder, cache)(encoder, progress).unreadable
    if not unreadable:
        return dataset
    readable = dataset.without(unreadable)
    num_queries = len(dataset.samples)
    num_lost = num_queries - len(readable.samples)
    remark = unreadable_remark(
        unreadable, num_videos=len(dataset.media), num_lost=num_lost, num_queries=num_queries
    )
    if not readable.samples:
        raise DatasetError(f"{dataset.name} has no query left: {remark}")
    return replace(readable, remarks=(*dataset.remarks, remark))


def covr_world(cache: Path, split: SceneSplit, per_kind: int = 0) -> CovrBenchmark:
    """Build queries about held-out scenes: "test" for reporting, "validation" for choices."""
    per_kind = per_kind or PER_KIND[split]
    families = choose_families(split, per_kind, SEEDS[split])
    references = [family.reference for family in families]
    clips = gallery_of(families)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        framing = encoder.framing
        pictures = ClipFile.of(
            split, scenes=references, num_frames=1, framing=framing, cache=cache
        ).embeddings(encoder, progress)
        videos = ClipFile.of(
            split, scenes=clips, num_frames=encoder.num_frames, framing=framing, cache=cache
        )
        return EmbeddedMedia(pictures, videos.embeddings(encoder.as_scored(), progress))

    return CovrBenchmark(
        name=f"{WORLD}, {split}".removesuffix(", test"),
        video_ids=_numbers(len(clips)),
        queries=tuple(_world_queries(families, WishTable(clips))),
        embed=embed,
        source={
            "data": NAME,
            "split": split,
            "queries per kind": per_kind,
            "seed": SEEDS[split],
            "look": LOOK,
        },
    )


def _world_queries(families: Sequence[Family], clips: WishTable) -> Iterator[CovrQuery]:
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


class GalleryRows:
    """The clips of a dataset's galleries, which stand one after another, by id.

    Attributes:
        ids: of all clips.
        spans: rows of each gallery.
    """

    def __init__(self, galleries: Mapping[str, Sequence[str]]) -> None:
        self.ids: list[str] = []
        self.spans: dict[str, slice] = {}
        self._rows: dict[tuple[str, str], list[int]] = defaultdict(list)
        for name, ids in galleries.items():
            self.spans[name] = slice(len(self.ids), len(self.ids) + len(ids))
            for media_id in ids:
                self._rows[name, media_id].append(len(self.ids))
                self.ids.append(media_id)

    def of(self, gallery: str, media_ids: Iterable[str]) -> tuple[int, ...]:
        """Return the rows of those ids that a gallery ranks."""
        rows: list[int] = []
        for media_id in media_ids:
            rows += self._rows.get((gallery, media_id), ())
        return tuple(rows)


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; a query ranks its own of the galleries, without its own reference."""
    media_rows = {media_id: row for row, media_id in enumerate(dataset.media)}
    embed_videos = embed_files(_videos(dataset), decoder, cache)
    embed_frames = embed_files(_videos(dataset), decoder, cache, of_frames=True)
    clips = GalleryRows(dataset.galleries)
    clip_rows = [media_rows[media_id] for media_id in clips.ids]

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        if encoder.given_videos is None:
            vectors = embed_videos(encoder, progress).vectors
        else:
            zeros = np.zeros(encoder.embed_dim, np.float32)
            of_media = [encoder.given_videos.get(media_id, zeros) for media_id in dataset.media]
            vectors = np.stack(of_media)

        def frames() -> Vectors:
            return embed_frames(encoder, progress).vectors

        return EmbeddedMedia(averaged(vectors), vectors[clip_rows], frames)

    def query_of(sample: CovrSample) -> CovrQuery:
        rows_of = partial(clips.of, sample.gallery)
        return CovrQuery(
            kind=sample.kind,
            text=sample.text,
            relevant=row_array(rows_of(sample.answers)),
            cue=cue_of(sample.text),
            picture={"path": str(dataset.media[sample.reference])},
            reference=media_rows[sample.reference],
            caption=sample.caption,
            left_out=rows_of([sample.reference]),
            subset=rows_of(sample.subset),
            labels=sample.labels,
            matches=rows_of(sample.targets),
            ranked=clips.spans[sample.gallery] if len(clips.spans) > 1 else None,
            query_id=sample.query_id,
        )

    return CovrBenchmark(
        name=dataset.name,
        video_ids=_numbers(len(clips.ids)),
        queries=tuple(map(query_of, dataset.samples)),
        embed=embed,
        source={
            "data": dataset.name,
            "files": len(dataset.media),
            "galleries": {name or "all": len(ids) for name, ids in dataset.galleries.items()},
            "reference": "not ranked",
            "remarks": list(dataset.remarks),
        },
        clip_ids=clips.ids,
    )


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _videos(dataset: CovrSet) -> list[Video]:
    return [Video(media_id, path) for media_id, path in dataset.media.items()]
