"""Retrieval by a picture plus a text (covr): a reference, and a text that says what should be different.

Measures each composition, its controls (the picture alone, the text alone) and the target's full caption, by kind of
change. Violations, the share of the first five that show what was to be removed, are won by ignoring the picture:
never read them without R@1. In datasets a reference is embedded like a clip, all of its frames pooled.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.covr import CovrSample, CovrSet, load_covr
from nt2vr.errors import ConfigError, DatasetError, reason_of
from nt2vr.evaluation.embed_media import embed_files, unreadable_remark
from nt2vr.evaluation.queries import JudgedQuery, cue_of, mask, row_array
from nt2vr.evaluation.report import PICTURE_PLUS_TEXT, Report, covr_result
from nt2vr.evaluation.roles import FULL_CAPTION
from nt2vr.evaluation.scoring import first_ranks, first_rows, score_table, shares_among_first
from nt2vr.files import expanded, write_json
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.progress import Progress, silent
from nt2vr.search.exclusion import Exclusion, averaged
from nt2vr.search.references import COMBINATIONS, CovrVectors, Weights, attends, combine
from nt2vr.world import NAME, WORLD
from nt2vr.world.captions import captions
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.edits import WishTable, choose_families, gallery_of
from nt2vr.world.scenes import SceneSplit

if TYPE_CHECKING:  # imports torch
    from nt2vr.models.fusion import Fusion

KS = (1, 5, 10, 50)
MAP_KS = (5, 10, 25, 50)
SUBSET_KS = (1, 2, 3)
CIRR_MEAN = "mean of R@5 and subset R@1"
FIRST = 5  # clips checked for violations
TAKEN, TAKEN_OF_SUBSET = 50, 3  # predictions per query that CIRR's test server takes
GIVEN = "as given"  # embeddings from elsewhere
ROUNDS = 2  # of the search for the weights of `parts`
ALL = "all kinds"  # mean over kinds, so that frequent ones do not count more
Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class CovrQuery:
    """A query with its truth, as rows of a benchmark."""

    kind: str
    text: str
    reference: int
    right: tuple[int, ...]  # rows of the clips that count in R@k
    violating: tuple[int, ...] = ()  # rows of the clips that show what was to be removed; empty for other changes
    caption: str = ""  # full caption of a right clip; empty if unknown
    left_out: tuple[int, ...] = ()  # rows that are not ranked: the reference itself
    subset: tuple[int, ...] = ()  # rows to rank in a second measure, as in CIRR; empty for none
    labels: tuple[str, ...] = ()  # further groups that it is reported in
    parts: tuple[str | None, tuple[str, ...]] = (None, ())  # wanted part and unwanted parts, if known
    matches: tuple[int, ...] = ()  # rows that count in mAP@k, where these are more; empty for `right`
    ranked: slice | None = None  # rows that are ranked; None for all
    query_id: str = ""  # for test servers and embeddings from elsewhere; empty in the built-in world


class EmbeddedMedia(NamedTuple):
    """References (R, D), one frame or picture each, and clips (V, D), or (V, F, D) for `TextBenchmark.embed`'s reason."""

    references: Vectors
    clips: Vectors
    frames: Callable[[], Vectors] | None = None  # embeds those (R, F, D) of references; None where each is one


@dataclass(frozen=True, eq=False)
class CovrBenchmark:
    name: str
    queries: tuple[CovrQuery, ...]
    embed: Callable[[Encoder, Progress], EmbeddedMedia]
    source: Mapping[str, Any]  # origin as plain JSON data
    references: Sequence[Mapping[str, Any]]  # the `scene` of each in the built-in world, or the `path` of its file
    clip_ids: Sequence[str] = ()  # of the clips of a dataset


class EmbeddedQueries(NamedTuple):
    """The queries of a benchmark under a model: the input of every composition."""

    queries: tuple[CovrQuery, ...]
    combined: CovrVectors  # their embeddings, (Q, D) each
    captions: Vectors  # (Q, D), embeddings of the targets' captions; zeros where unknown
    clips: Vectors  # (V, D), or (V, F, D), whose frames the wanted part weighs
    given: Vectors | None = None  # (Q, D), vectors of the queries from elsewhere, in place of all compositions


def embed_queries(
    benchmark: CovrBenchmark, encoder: Encoder, progress: Progress = silent, deep: bool = False
) -> EmbeddedQueries:
    """Parse and embed the queries of a benchmark, each text once; look embeddings from elsewhere up by query id.

    `deep` also embeds tokens and frames, for a fusion that is to get cross-attention; for one that has it, they are
    embedded anyway.
    """
    media, queries = benchmark.embed(encoder, progress), benchmark.queries
    if encoder.capabilities.given_queries_only:
        given = encoder.encode_text([query.query_id for query in queries])
        none = np.zeros_like(given)
        return EmbeddedQueries(queries, CovrVectors(none, none, none, none), none, media.clips, given)
    tagger, nothing = load_tagger(), np.zeros(encoder.embed_dim, np.float32)
    texts, captions = [query.text for query in queries], [query.caption for query in queries]
    read = [understand(text, tagger, editing=True) for text in texts]
    wanted, unwanted = [" ".join(each.wanted) for each in read], [each.unwanted for each in read]
    written = list(dict.fromkeys(filter(str.strip, chain(wanted, texts, captions, *unwanted))))
    vectors = defaultdict(lambda: nothing, zip(written, encoder.encode_text(written), strict=True))
    of_texts, of_wanted, of_captions = (np.stack([vectors[one] for one in some]) for some in (texts, wanted, captions))
    references = [query.reference for query in queries]
    left_out = np.stack([sum((vectors[text] for text in some), nothing) for some in unwanted])
    combined = CovrVectors(media.references[references], of_texts, of_wanted, left_out)
    if deep or attends(encoder):
        frames = media.references[:, None]
        if media.frames is not None:
            frames = encoder.pool(media.frames()[..., None, :])  # each frame as a clip
        combined = replace(combined, tokens=encoder.encode_tokens(texts), frames=frames[references])
    return EmbeddedQueries(queries, combined, of_captions, media.clips)


def vectors_of(embedded: EmbeddedQueries, system: str, weights: Weights, fusion: "Fusion | None" = None) -> Vectors:
    """Return the query vectors (Q, D) of a composition, "fusion" or FULL_CAPTION."""
    return embedded.captions if system == FULL_CAPTION else combine(system, embedded.combined, weights, fusion)


class Outcome(NamedTuple):
    """The rank of each query's best right clip, (Q,) and 1 is best; and shares (Q,) by measure, NaN where none is."""

    ranks: NDArray[np.int64]
    shares: Mapping[str, NDArray[np.float64]]


def scores_of(vectors: Vectors, embedded: EmbeddedQueries) -> Vectors:
    """Score all clips for each query: (Q, V); -inf for what is not ranked, and for unreadable files (zeros)."""
    clips, nothing = embedded.clips, np.zeros((0, vectors.shape[1]), np.float32)
    weighing = [Exclusion(nothing, 0.0, focus=wanted) for wanted in embedded.combined.wanted] if clips.ndim > 2 else ()
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
    rows = zip(*((q.right, q.violating, q.subset, q.matches or q.right) for q in embedded.queries), strict=True)
    right, violating, subset, matches = (mask(some, scores.shape[1]) for some in rows)
    ranks = first_ranks(scores, right)
    shares: dict[str, NDArray[np.float64]] = {f"R@{k}": np.where(ranks <= k, 1.0, 0.0) for k in KS}
    violations = shares_among_first(scores, violating, FIRST)
    shares[f"violations@{FIRST}"] = np.where(violating.any(axis=1) & vectors.any(axis=1), violations, np.nan)
    shares |= average_precisions(scores, matches)
    inside = first_ranks(np.where(subset | right, scores, -np.inf).astype(np.float32), right)
    for k in SUBSET_KS:
        shares[f"subset R@{k}"] = np.where(subset.any(axis=1), inside <= k, np.nan)
    return Outcome(ranks, shares)


def average_precisions(scores: NDArray[np.float32], right: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """AP@k for each k of MAP_KS; none where no query has several right clips, as R@k then says as much.

        AP@k = sum over i <= k of precision@i * right_i / min(k, number of right clips)

    Source: Baldrati et al., "Zero-Shot Composed Image Retrieval with Textual Inversion", ICCV 2023, CIRCO's measure.
    """
    if not (right.sum(axis=1) > 1).any():
        return {}
    precisions = np.full((len(MAP_KS), len(scores)), np.nan)
    for row in np.flatnonzero(right.any(axis=1)):
        order = np.lexsort((right[row], -scores[row]))[: max(MAP_KS)]  # of tied clips, right ones come last
        hits = right[row][order]
        at = np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits
        precisions[:, row] = [at[:k].sum() / min(k, right[row].sum()) for k in MAP_KS]
    return {f"mAP@{k}": each for k, each in zip(MAP_KS, precisions, strict=True)}


def summarise(queries: Sequence[CovrQuery], outcome: Outcome) -> dict[str, dict[str, float]]:
    """Aggregate to metrics in percent by kind; and, as means over the kinds, of ALL and by label, "negation" first."""
    kinds = np.array([query.kind for query in queries])
    names = list(dict.fromkeys(kinds.tolist()))

    def metrics_of(chosen: NDArray[np.bool_]) -> dict[str, float]:
        shares = {name: each[chosen & ~np.isnan(each)] for name, each in outcome.shares.items()}
        metrics = {name: 100 * float(each.mean()) for name, each in shares.items() if len(each)}
        if "subset R@1" in metrics:
            metrics[CIRR_MEAN] = (metrics["R@5"] + metrics["subset R@1"]) / 2
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


def outcomes_of(embedded: EmbeddedQueries, encoder: Encoder) -> dict[str, Outcome]:
    """Measure every composition, its controls and the full caption; the fusion if the model has one."""
    return {system: measure(vectors, embedded) for system, vectors in _systems(embedded, encoder).items()}


def _systems(embedded: EmbeddedQueries, encoder: Encoder) -> dict[str, Vectors]:
    if embedded.given is not None:
        return {GIVEN: embedded.given}
    weights, fusion = Weights.of(encoder.card.composition), encoder.fusion
    names = [*COMBINATIONS, *(["fusion"] if fusion else []), *([FULL_CAPTION] if embedded.captions.any() else [])]
    return {name: vectors_of(embedded, name, weights, fusion) for name in names}


SHARES = tuple(step / 20 for step in range(1, 20))
PART_WEIGHTS = tuple(step / 5 for step in range(1, 17))  # .2 to 3.2


def choose_weights(embedded: EmbeddedQueries) -> Weights:
    """Choose the weights of the training-free compositions by mean R@1 over the kinds; use validation queries."""

    def recall(system: str, weights: Weights) -> float:
        return summarise(embedded.queries, measure(vectors_of(embedded, system, weights), embedded))[ALL]["R@1"]

    best = max((Weights(sum=share) for share in SHARES), key=lambda weights: recall("sum", weights))
    for _ in range(ROUNDS):  # one weight at a time, which ends where both together would, in an eighth of the time
        for name in ("wanted", "unwanted"):
            found = (replace(best, **{name: weight}) for weight in PART_WEIGHTS)
            best = max(found, key=lambda weights: recall("parts", weights))
    return best


def covr_report(benchmark: CovrBenchmark, encoder: Encoder, progress: Progress = silent) -> Report:
    """Measure every composition of a model, on numbered clips; a DatasetError says if no targets are published."""
    if not any(query.right for query in benchmark.queries):
        raise DatasetError(
            f"The targets of {benchmark.name} are not published, so it cannot be measured here. Choose another split, "
            "such as val, or write what its test server takes: nt2vr covr --submit FILE."
        )
    embedded, card = embed_queries(benchmark, encoder, progress), encoder.card
    queries = []
    for query in benchmark.queries:
        truth = row_array(query.right), row_array(()), row_array(query.violating)
        queries.append(JudgedQuery(query.kind, query.text, *truth, *query.parts, cue=cue_of(query.text)))
    prints = {"visual_fingerprint": card.visual_fingerprint, "text_fingerprint": card.text_fingerprint}
    results = [
        covr_result(card.name, system, outcome.ranks, summarise(benchmark.queries, outcome), prints)
        for system, outcome in outcomes_of(embedded, encoder).items()
    ]
    known = (benchmark.name, sorted(benchmark.source.items()), [(q.kind, q.text, q.right) for q in benchmark.queries])
    return Report(
        name=f"{benchmark.name}, {PICTURE_PLUS_TEXT}",
        digest=blake2b(repr(known).encode(), digest_size=12).hexdigest(),
        source=benchmark.source,
        references={},
        video_ids=tuple(map(str, range(len(embedded.clips)))),
        texts=(),
        queries=tuple(queries),
        results=tuple(results),
        pictures=tuple(benchmark.references[query.reference] for query in benchmark.queries),
    )


def write_submission(
    benchmark: CovrBenchmark, encoder: Encoder, system: str, path: Path, progress: Progress = silent
) -> list[Path]:
    """Write the first 50 clips of every query of CIRR, as its test server takes them; return the two files.

    `path` is for recall; the subset measure gets a second file, NAME_subset.json. The system is a composition, and
    ignored for embeddings from elsewhere, which have but one. A ConfigError refuses what the server would.
    """
    if benchmark.queries[0].kind != "CIRR":
        raise ConfigError(f"{benchmark.name} has no test server that is known here. Choose CIRR.")
    if missing := benchmark.source["remarks"]:
        raise ConfigError(f"A submission needs the whole of {benchmark.name}: {' '.join(missing)} Add what is left.")
    if not path.parent.is_dir():
        raise ConfigError(f"The folder of {path} is not there. Create it, or name another file.")
    embedded = embed_queries(benchmark, encoder, progress)
    known = _systems(embedded, encoder)
    system = GIVEN if GIVEN in known else system
    if system not in known:
        raise ConfigError(f"{encoder.name} has no system {system!r}. Choose one of: {', '.join(known)}.")
    scores = scores_of(known[system], embedded)
    inside = np.where(mask([query.subset for query in embedded.queries], scores.shape[1]), scores, -np.inf)
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
            raise ConfigError(f"{file} cannot be written ({reason_of(error)}). Name another file.") from error
    return files


PER_KIND = {"validation": 50, "test": 100}
SEEDS = {"validation": 21, "test": 22}
SEEN, UNSEEN = "seen wordings", "unseen wordings"


@dataclass(frozen=True)
class CovrData:
    """Selection of evaluation data; a ConfigError refuses splits and numbers that the built-in world does not have."""

    name: str = WORLD  # or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO
    split: str = "test"  # or "validation" scenes, or a dataset's split
    per_kind: int = 0  # queries per kind of change in the built-in world; 0 for its default

    def __post_init__(self) -> None:
        if self.name == WORLD and self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if self.name == WORLD and not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}.")


def benchmark_for(
    encoder: Encoder, data: CovrData, folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent
) -> CovrBenchmark:
    """Load a benchmark for a model that sees frames, or has embeddings from elsewhere, which need no files.

    Files that cannot be read are left out, and named in the remarks. `folder` stores embeddings of the built-in world,
    `cache` those of files. A DatasetError refuses what `load_covr` does, and data of which nothing can be asked.
    """
    encoder.card.check_frames()
    if data.name == WORLD:
        return covr_world(folder, data.split, data.per_kind)  # type: ignore[arg-type]  # checked
    known = None if encoder.given_videos is None else encoder.given_videos.keys()
    dataset = load_covr(expanded(data.name), "val" if data.split == "validation" else data.split, known)
    unreadable: dict[str, str] = {}
    if known is None:
        embed_files(_videos(dataset), decoder, cache, unreadable=unreadable)(encoder, progress)
    if unreadable:
        kept, num_queries = dataset.without(unreadable), len(dataset.samples)
        remark = unreadable_remark(unreadable, len(dataset.media), num_queries - len(kept.samples), num_queries)
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
        framing = encoder.card.framing
        pictures = ClipFile.of(split, references, 1, framing, cache).embeddings(encoder, progress)
        videos = ClipFile.of(split, clips, encoder.num_frames, framing, cache)
        return EmbeddedMedia(pictures, videos.embeddings(encoder.as_scored(), progress))

    table, queries = WishTable(clips), []
    for row, edit in ((row, edit) for row, family in enumerate(families) for edit in family.edits):
        asked, removes = edit.modification, edit.kind.startswith("remove")
        right = tuple(table.right(edit.wish))
        violating = tuple(row for row, clip in enumerate(clips) if removes and edit.wish.violated_by(clip))
        # the longest of a scene's captions names all of it
        caption = max(captions(edit.scene, 6, random.Random(edit.scene.seed).getrandbits(16)), key=len)
        labels, parts = ((SEEN, UNSEEN)[edit.unseen],), (asked.wanted_text, asked.unwanted)
        queries.append(CovrQuery(edit.kind, asked.text, row, right, violating, caption, labels=labels, parts=parts))
    source = {"data": NAME, "split": split, "queries per kind": per_kind, "seed": seed, "look": LOOK}
    shown = [{"scene": scene.to_dict()} for scene in references]
    return CovrBenchmark(f"{WORLD}, {split}".removesuffix(", test"), tuple(queries), embed, source, shown)


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
            embeddings = embed_videos(encoder, progress)
        else:
            nothing = np.zeros(encoder.embed_dim, np.float32)
            embeddings = np.stack([encoder.given_videos.get(name, nothing) for name in dataset.media])
        frames = partial(embed_frames, encoder, progress)
        return EmbeddedMedia(averaged(embeddings), embeddings[[rows[name] for name in ids]], frames)

    def query_of(sample: CovrSample) -> CovrQuery:
        def at(media_ids: Iterable[str]) -> tuple[int, ...]:
            return tuple(column for each in media_ids for column in columns[sample.gallery].get(each, ()))

        right, matches = at([sample.target] if sample.target else sample.targets), at(sample.targets)
        query = CovrQuery(sample.kind, sample.text, rows[sample.reference], right, matches=matches)
        query = replace(query, caption=sample.caption, labels=sample.labels, query_id=sample.query_id)
        ranked = spans[sample.gallery] if len(spans) > 1 else None
        return replace(query, ranked=ranked, left_out=at([sample.reference]), subset=at(sample.subset))

    galleries = {name or "all": span.stop - span.start for name, span in spans.items()}
    said = {"reference": "not ranked", "remarks": list(dataset.remarks)}
    source = {"data": dataset.name, "files": len(rows), "galleries": galleries, **said}
    references = [{"path": str(path)} for path in dataset.media.values()]
    return CovrBenchmark(dataset.name, tuple(map(query_of, dataset.samples)), embed, source, references, ids)


def _videos(dataset: CovrSet) -> list[Video]:
    return [Video(name, path) for name, path in dataset.media.items()]
