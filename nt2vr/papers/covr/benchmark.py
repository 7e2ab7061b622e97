"""Retrieval by a picture plus a text (covr): a reference, and a text that says what should be different.

Measures each composition, its controls (the picture alone, the text alone) and the target's full
caption, by kind of change. Violations, the share of the first five that show what was to be
removed, are won by ignoring the picture: never read them without R@1. In datasets a reference is
embedded like a clip, all of its frames pooled.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, DatasetError, reason_of
from nt2vr.evaluation.benchmark_kinds import ModelBenchmark, ModelData, Places
from nt2vr.evaluation.embed_media import embed_files, unreadable_remark
from nt2vr.evaluation.metric_names import recall
from nt2vr.evaluation.queries import JudgedQuery, cue_of, mask, row_array
from nt2vr.evaluation.report import Presentation, Report, Result
from nt2vr.evaluation.scoring import first_ranks, first_rows, score_table, shares_among_first
from nt2vr.files import expanded, write_json
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.papers.covr.compositions import COMPOSITIONS, PARTS, CompositionWeights
from nt2vr.papers.covr.datasets import CovrSample, CovrSet, load_covr
from nt2vr.papers.covr.edits import WishTable, choose_families, gallery_of
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
TAKEN, TAKEN_OF_SUBSET = 50, 3  # predictions per query that CIRR's test server takes
GIVEN = "as given"  # embeddings from elsewhere
ROUNDS = 2  # of the search for the weights of `parts`
Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class CovrQuery(JudgedQuery):
    """A query with a reference: its truth, and what it ranks, as rows of a benchmark.

    Of the inherited fields, `relevant` are the clips that count in R@k; `violating` those that show
    what was to be removed, which is empty for other changes.
    """

    reference: int = 0  # row of its picture among `EmbeddedMedia.references`
    caption: str = ""  # full caption of a right clip; empty if unknown
    left_out: tuple[int, ...] = ()  # rows that are not ranked: the reference itself
    subset: tuple[int, ...] = ()  # rows to rank in a second measure, as in CIRR; empty for none
    labels: tuple[str, ...] = ()  # further groups that it is reported in
    matches: tuple[
        int, ...
    ] = ()  # rows that count in mAP@k, where these are more; empty for `relevant`
    ranked: slice | None = None  # rows that are ranked; None for all


class EmbeddedMedia(NamedTuple):
    """References (R, D), one frame or picture each, and clips (V, D), or (V, F, D); see `TextBenchmark`."""

    references: Vectors
    clips: Vectors
    frames: Callable[[], Vectors] | None = (
        None  # embeds those (R, F, D) of references; None where each is one
    )


@dataclass(frozen=True, eq=False)
class CovrBenchmark(ModelBenchmark[EmbeddedMedia]):
    """Queries of a picture plus a text; a report identifies clips by their rows."""

    presentation: ClassVar[Presentation] = COVR

    queries: tuple[CovrQuery, ...]
    clip_ids: Sequence[str] = ()  # of the clips of a dataset

    @property
    def title(self) -> str:
        return f"{self.name}, {PICTURE_PLUS_TEXT}"

    @property
    def digest(self) -> str:
        queries = [
            (query.kind, query.text, tuple(query.relevant.tolist())) for query in self.queries
        ]
        known = (self.name, sorted(self.source.items()), queries)
        return blake2b(repr(known).encode(), digest_size=12).hexdigest()

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
                covr_result(card.name, system.strategy, outcome.ranks, table, card.fingerprints)
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
    """The queries of a benchmark under a model: the input of every composition."""

    queries: tuple[CovrQuery, ...]
    combined: PictureQuery  # their embeddings, (Q, D) each
    captions: Vectors  # (Q, D), embeddings of the targets' captions; zeros where unknown
    clips: Vectors  # (V, D), or (V, F, D), whose frames the wanted part weighs
    given: Vectors | None = (
        None  # (Q, D), vectors of the queries from elsewhere, in place of all compositions
    )


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
    media = benchmark.embed(encoder, progress) if media is None else media
    queries = benchmark.queries
    if encoder.capabilities.given_queries_only:
        given = encoder.encode_text([query.query_id for query in queries])
        none = np.zeros_like(given)
        return EmbeddedQueries(
            queries, PictureQuery(none, none, none, none), none, media.clips, given
        )
    tagger, nothing = load_tagger(), np.zeros(encoder.embed_dim, np.float32)
    texts, captions = [query.text for query in queries], [query.caption for query in queries]
    read = [understand(text, tagger, editing=True) for text in texts]
    wanted, unwanted = [" ".join(each.wanted) for each in read], [each.unwanted for each in read]
    written = list(dict.fromkeys(filter(str.strip, chain(wanted, texts, captions, *unwanted))))
    vectors = defaultdict(lambda: nothing, zip(written, encoder.encode_text(written), strict=True))
    of_texts, of_wanted, of_captions = (
        np.stack([vectors[one] for one in some]) for some in (texts, wanted, captions)
    )
    references = [query.reference for query in queries]
    left_out = np.stack([sum((vectors[text] for text in some), nothing) for some in unwanted])
    combined = PictureQuery(media.references[references], of_texts, of_wanted, left_out)
    if deep or reads_tokens(encoder):
        frames = media.references[:, None]
        if media.frames is not None:
            frames = encoder.pool(media.frames()[..., None, :])  # each frame as a clip
        combined = replace(combined, tokens=encoder.encode_tokens(texts), frames=frames[references])
    return EmbeddedQueries(queries, combined, of_captions, media.clips)


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
    return combine(system, embedded.combined, weights, composers)


class Outcome(NamedTuple):
    """The rank of each query's best right clip, (Q,) and 1 is best; and shares (Q,) by measure, NaN where none is."""

    ranks: NDArray[np.int64]
    shares: Mapping[str, NDArray[np.float64]]


def scores_of(vectors: Vectors, embedded: EmbeddedQueries) -> Vectors:
    """Score all clips for each query: (Q, V); -inf for what is not ranked, and for unreadable files (zeros)."""
    clips, nothing = embedded.clips, np.zeros((0, vectors.shape[1]), np.float32)
    weighing = (
        [Exclusion(nothing, 0.0, focus=wanted) for wanted in embedded.combined.wanted]
        if clips.ndim > 2
        else ()
    )
    scores = score_table(vectors, clips, weighing, clips)
    scores[:, ~clips.any(axis=(1, 2)[: clips.ndim - 1])] = -np.inf
    for row, query in enumerate(embedded.queries):
        scores[row, list(query.left_out)] = -np.inf
        if query.ranked is not None:
            scores[row, : query.ranked.start] = scores[row, query.ranked.stop :] = -np.inf
    return scores


def measure(vectors: Vectors, embedded: EmbeddedQueries) -> Outcome:
    """Rank all clips for each query. A tie counts against the system, so zeros, which ask for nothing, rank last."""
    scores = scores_of(vectors, embedded)
    queries, count = embedded.queries, scores.shape[1]
    right = mask([query.relevant for query in queries], count)
    violating = mask([query.violating for query in queries], count)
    subset = mask([query.subset for query in queries], count)
    matches = mask([query.matches or query.relevant for query in queries], count)
    ranks = first_ranks(scores, right)
    shares: dict[str, NDArray[np.float64]] = {recall(k): np.where(ranks <= k, 1.0, 0.0) for k in KS}
    violated = shares_among_first(scores, violating, FIRST)
    shares[VIOLATIONS] = np.where(violating.any(axis=1) & vectors.any(axis=1), violated, np.nan)
    shares |= average_precisions(scores, matches)
    inside = first_ranks(np.where(subset | right, scores, -np.inf).astype(np.float32), right)
    for k in SUBSET_KS:
        shares[within_subset(recall(k))] = np.where(subset.any(axis=1), inside <= k, np.nan)
    return Outcome(ranks, shares)


def average_precisions(
    scores: NDArray[np.float32], right: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """AP@k for each k of MAP_KS; none where no query has several right clips, as R@k then says as much.

        AP@k = sum over i <= k of precision@i * right_i / min(k, number of right clips)

    Source: Baldrati et al., "Zero-Shot Composed Image Retrieval with Textual Inversion", ICCV 2023,
    CIRCO's measure.
    """
    if not (right.sum(axis=1) > 1).any():
        return {}
    precisions = np.full((len(MAP_KS), len(scores)), np.nan)
    for row in np.flatnonzero(right.any(axis=1)):
        order = np.lexsort((right[row], -scores[row]))[
            : max(MAP_KS)
        ]  # of tied clips, right ones come last
        hits = right[row][order]
        at = np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits
        precisions[:, row] = [at[:k].sum() / min(k, right[row].sum()) for k in MAP_KS]
    return {mean_average_precision(k): each for k, each in zip(MAP_KS, precisions, strict=True)}


def summarise(queries: Sequence[CovrQuery], outcome: Outcome) -> dict[str, dict[str, float]]:
    """Aggregate to metrics in percent by kind; and, as means over the kinds, of ALL and by label, "negation" first."""
    kinds = np.array([query.kind for query in queries])
    names = list(dict.fromkeys(kinds.tolist()))

    def metrics_of(chosen: NDArray[np.bool_]) -> dict[str, float]:
        shares = {name: each[chosen & ~np.isnan(each)] for name, each in outcome.shares.items()}
        metrics = {name: 100 * float(each.mean()) for name, each in shares.items() if len(each)}
        if SUBSET_R_1 in metrics:
            metrics[CIRR_MEAN] = (metrics[recall(5)] + metrics[SUBSET_R_1]) / 2
        return metrics

    def mean_over_kinds(chosen: NDArray[np.bool_]) -> dict[str, float]:
        rows = [metrics_of(chosen & (kinds == kind)) for kind in names]
        known = dict.fromkeys(name for row in rows for name in row)
        return {name: float(np.mean([row[name] for row in rows if name in row])) for name in known}

    table = {kind: metrics_of(kinds == kind) for kind in names}
    table[ALL] = mean_over_kinds(np.ones(len(queries), bool))
    labels = {label for query in queries for label in query.labels}
    for label in sorted(labels, key=lambda each: (each != "negation", each)):
        table[label] = mean_over_kinds(np.array([label in query.labels for query in queries]))
    return table


def vectors_for(embedded: EmbeddedQueries, system: str, encoder: Encoder) -> Vectors:
    """Return the query vectors (Q, D) of one of a model's systems, with the weights that its card has."""
    if embedded.given is not None:
        return embedded.given
    weights = CompositionWeights.of(encoder.card.composition)
    return vectors_of(embedded, system, weights, encoder.composers)


SHARES = tuple(step / 20 for step in range(1, 20))
PART_WEIGHTS = tuple(step / 5 for step in range(1, 17))  # .2 to 3.2


def choose_weights(embedded: EmbeddedQueries) -> CompositionWeights:
    """Choose the weights of the training-free compositions by mean R@1 over the kinds; use validation queries."""

    def recall(system: str, weights: CompositionWeights) -> float:
        return summarise(
            embedded.queries, measure(vectors_of(embedded, system, weights), embedded)
        )[ALL][R_1]

    best = max(
        (CompositionWeights(sum=share) for share in SHARES),
        key=lambda weights: recall("sum", weights),
    )
    for _ in range(
        ROUNDS
    ):  # one weight at a time, which ends where both together would, in an eighth of the time
        for name in ("wanted", "unwanted"):
            found = (replace(best, **{name: weight}) for weight in PART_WEIGHTS)
            best = max(found, key=lambda weights: recall("parts", weights))
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
    known = [each.strategy for each in benchmark.systems_of(encoder)]
    system = GIVEN if GIVEN in known else system
    if system not in known:
        raise ConfigError(
            f"{encoder.name} has no system {system!r}. Choose one of: {', '.join(known)}."
        )
    scores = scores_of(vectors_for(embedded, system, encoder), embedded)
    inside = np.where(
        mask([query.subset for query in embedded.queries], scores.shape[1]), scores, -np.inf
    )
    files = [path, path.with_name(f"{path.stem}_subset{path.suffix}")]
    forms = (("recall", scores, TAKEN), ("recall_subset", inside, TAKEN_OF_SUBSET))
    for file, (metric, ranked, count) in zip(files, forms, strict=True):
        first = first_rows(ranked, np.zeros(ranked.shape, bool), count).tolist()
        predicted = {
            query.query_id: [benchmark.clip_ids[row] for row in rows if row >= 0]
            for query, rows in zip(embedded.queries, first, strict=True)
        }
        try:
            write_json(file, {"version": "rc2", "metric": metric, **predicted})
        except OSError as error:
            raise ConfigError(
                f"{file} cannot be written ({reason_of(error)}). Name another file."
            ) from error
    return files


PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}


@dataclass(frozen=True)
class CovrData(ModelData):
    """Selection of evaluation data; a ConfigError refuses splits and numbers that the built-in world does not have."""

    name: str = WORLD  # or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO
    split: str = "test"  # or "validation" scenes, or a dataset's split
    per_kind: int = 0  # queries per kind of change in the built-in world; 0 for its default

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
        return benchmark_for(encoder, self, places.folder, places.decoder, places.cache, progress)


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
    known = None if encoder.given_videos is None else encoder.given_videos.keys()
    dataset = load_covr(
        expanded(data.name), "val" if data.split == "validation" else data.split, known
    )
    unreadable: Mapping[str, str] = {}
    if known is None:
        unreadable = embed_files(_videos(dataset), decoder, cache)(encoder, progress).unreadable
    if unreadable:
        kept, num_queries = dataset.without(unreadable), len(dataset.samples)
        remark = unreadable_remark(
            unreadable, len(dataset.media), num_queries - len(kept.samples), num_queries
        )
        if not kept.samples:
            raise DatasetError(f"{dataset.name} has no query left: {remark}")
        dataset = replace(kept, remarks=(*dataset.remarks, remark))
    return covr_files(dataset, decoder, cache)


def covr_world(cache: Path, split: SceneSplit, per_kind: int = 0) -> CovrBenchmark:
    """Build queries about held-out scenes: "test" for reporting, "validation" for choices."""
    per_kind, seed = per_kind or PER_KIND[split], SEEDS[split]
    families = choose_families(split, per_kind, seed)
    references, clips = [family.reference for family in families], gallery_of(families)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        framing = encoder.framing
        pictures = ClipFile.of(split, references, 1, framing, cache).embeddings(encoder, progress)
        videos = ClipFile.of(split, clips, encoder.num_frames, framing, cache)
        return EmbeddedMedia(pictures, videos.embeddings(encoder.as_scored(), progress))

    table, queries = WishTable(clips), list[CovrQuery]()
    shown = [{"scene": scene.to_dict()} for scene in references]
    for row, family in enumerate(families):
        for edit in family.edits:
            asked, removes = edit.modification, edit.kind.startswith("remove")
            violating = [
                row
                for row, clip in enumerate(clips)
                if removes and edit.requirements.violated_by(clip)
            ]
            # the longest of a scene's captions names all of it
            caption = max(
                captions(edit.scene, 6, random.Random(edit.scene.seed).getrandbits(16)), key=len
            )
            query = CovrQuery(
                kind=edit.kind,
                text=asked.text,
                relevant=row_array(table.right(edit.requirements)),
                violating=row_array(violating),
                wanted=asked.wanted_text,
                unwanted=asked.unwanted,
                cue=cue_of(asked.text),
                picture=shown[row],
                reference=row,
                caption=caption,
                labels=((SEEN, UNSEEN)[edit.unseen],),
            )
            queries.append(query)
    source = {
        "data": NAME,
        "split": split,
        "queries per kind": per_kind,
        "seed": seed,
        "look": LOOK,
    }
    name = f"{WORLD}, {split}".removesuffix(", test")
    return CovrBenchmark(name, _numbers(len(clips)), tuple(queries), embed, source)


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; a query ranks its own of the galleries, which stand in a row, without its own reference."""
    rows = {media_id: row for row, media_id in enumerate(dataset.media)}
    embed_videos = embed_files(_videos(dataset), decoder, cache)
    embed_frames = embed_files(_videos(dataset), decoder, cache, of_frames=True)
    ids, spans, columns = list[str](), dict[str, slice](), dict[str, dict[str, list[int]]]()
    for name, ranked in dataset.galleries.items():
        spans[name], columns[name] = slice(len(ids), len(ids) + len(ranked)), {}
        for column, media_id in enumerate(ranked, len(ids)):
            columns[name].setdefault(media_id, []).append(column)
        ids += ranked

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        if encoder.given_videos is None:
            embeddings = embed_videos(encoder, progress).vectors
        else:
            nothing = np.zeros(encoder.embed_dim, np.float32)
            embeddings = np.stack(
                [encoder.given_videos.get(name, nothing) for name in dataset.media]
            )

        def frames() -> Vectors:
            return embed_frames(encoder, progress).vectors

        return EmbeddedMedia(averaged(embeddings), embeddings[[rows[name] for name in ids]], frames)

    def query_of(sample: CovrSample) -> CovrQuery:
        def at(media_ids: Iterable[str]) -> tuple[int, ...]:
            return tuple(
                column for each in media_ids for column in columns[sample.gallery].get(each, ())
            )

        right = [sample.target] if sample.target else sample.targets
        return CovrQuery(
            kind=sample.kind,
            text=sample.text,
            relevant=row_array(at(right)),
            cue=cue_of(sample.text),
            picture={"path": str(dataset.media[sample.reference])},
            reference=rows[sample.reference],
            caption=sample.caption,
            left_out=at([sample.reference]),
            subset=at(sample.subset),
            labels=sample.labels,
            matches=at(sample.targets),
            ranked=spans[sample.gallery] if len(spans) > 1 else None,
            query_id=sample.query_id,
        )

    galleries = {name or "all": span.stop - span.start for name, span in spans.items()}
    said = {"reference": "not ranked", "remarks": list(dataset.remarks)}
    source = {"data": dataset.name, "files": len(rows), "galleries": galleries, **said}
    return CovrBenchmark(
        name=dataset.name,
        video_ids=_numbers(len(ids)),
        queries=tuple(map(query_of, dataset.samples)),
        embed=embed,
        source=source,
        clip_ids=ids,
    )


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _videos(dataset: CovrSet) -> list[Video]:
    return [Video(name, path) for name, path in dataset.media.items()]
