"""Evaluation protocol: what systems search for with judged queries, and their results, stored by every input."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors
from nt2vr.evaluation.measures import Measured, caption_ranks, joined, measure_block
from nt2vr.evaluation.questions import choices_of, measure_choices
from nt2vr.evaluation.report import Report, Result
from nt2vr.files import atomic_write
from nt2vr.media.store import LIMITS, evict, mark_used, read_cached
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.models.precomputed import PrecomputedEncoder
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.progress import Progress, silent
from nt2vr.registry import pick
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.strategies import STRATEGIES, STRENGTHS, Parts, anchor_of, exclusion_of, tau_of
from nt2vr.search.systems import System, check_strategy

logger = logging.getLogger(__name__)

PROTOCOL = 5  # cache version: raise it when measurements change


@cache
def _warn(folder: Path, reason: str | None) -> None:
    logger.warning("Results cannot be stored in %s (%s). They will be measured again.", folder, reason)


class ResultStore:
    """Stores one file per result, written atomically, and at most `LIMITS["results"]` of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, digest: str, spec: Mapping[str, Any]) -> Measured | None:
        """Return the result of a system on the benchmark with this digest, or None."""
        path = self._path(digest, spec)
        mark_used(path)
        return read_cached(path, _read)

    def put(self, digest: str, spec: Mapping[str, Any], measured: Measured) -> None:
        """Store a result; a full disk or a read-only folder only costs measuring it again."""
        path = self._path(digest, spec)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as partial:
                np.savez_compressed(partial, **vars(measured))
        except OSError as error:
            _warn(self._folder, error.strerror)
        evict(self._folder.glob("[!.]*.npz"), LIMITS["results"])

    def _path(self, digest: str, spec: Mapping[str, Any]) -> Path:
        """Return the file of a result; models are identified by their weights, not by their names."""
        known = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = blake2b(json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12).hexdigest()
        return self._folder / f"{key}.npz"


def _read(path: Path) -> Measured:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})


Understand = Callable[[str], Query]
Step = Callable[[float], None]  # gets the share of the work that is done, from 0 to 1
PLAIN = "plain"  # the strategy that needs no parts
BOOLEAN = "boolean"
PARSING = 0.5  # share of the work, where texts must be parsed
CLAMP = 0.0  # below which the authors' code takes nothing: s(x, wanted) - alpha * max(0, s(x, unwanted))
CHUNK = 64  # texts between two steps
TINY = 1e-12  # below which a mean has no direction
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


class Asked(NamedTuple):
    """What a system searches for with Q queries."""

    vectors: Vectors  # (Q, D); zeros search for nothing
    exclusions: Sequence[Exclusion | None]  # Q, what is taken from the scores of a vector, and how frames are weighed


def ask_systems(
    encoder: Encoder,
    systems: Sequence[System],
    queries: Sequence[JudgedQuery],
    understand: Understand,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = NOTHING,
) -> list[Asked]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text, unless the authors' code splits
    them for `boolean`, which is then clamped as theirs. A system without anything to search for (`drop` on "not B")
    gets zeros, for which all videos tie.

    Args:
        understand: parses queries whose parts are unknown.
        step: called now and then; what it raises ends the work.
        averaged: see `Benchmark.averaged`.
    """
    needs_no_parts = all(system.strategy == PLAIN for system in systems)
    parts = [("", ())] * len(queries) if needs_no_parts else _parsed(queries, understand, step)
    as_code = any(system.strategy == BOOLEAN for system in systems)
    splits = [(as_code and query.boolean) or some for query, some in zip(queries, parts, strict=True)]
    names = [query.text for query in queries]
    if isinstance(encoder, PrecomputedEncoder):
        names = [encoder.known_name(query.query_id, query.text) for query in queries]
    texts = dict.fromkeys(text for text in names if text)
    texts |= dict.fromkeys(text for wanted, unwanted in (*parts, *splits) for text in (wanted, *unwanted) if text)
    parts_of_text = {text: averaged.get(text, (text,)) for text in texts}
    each = dict.fromkeys(one for some in parts_of_text.values() for one in some)
    encoded = _encoded(encoder, list(each), step, 0 if needs_no_parts else PARSING)
    embeddings = {text: _mean([encoded[one] for one in some]) for text, some in parts_of_text.items()}
    nothing = np.zeros((0, encoder.embed_dim), np.float32)
    anchor, tau = anchor_of(encoder), tau_of(encoder.card)
    strengths = [system.strength_for(encoder.card) for system in systems]
    found = [np.zeros((len(queries), encoder.embed_dim), np.float32) for _ in systems]
    exclusions: list[list[Exclusion | None]] = [[] for _ in systems]
    for row, query in enumerate(queries):
        if row % CHUNK == 0:
            step(1)
        for system, strength, vectors, taken in zip(systems, strengths, found, exclusions, strict=True):
            is_split = system.strategy == BOOLEAN and query.boolean is not None
            strategy = PLAIN if query.kind == "original" and not is_split else system.strategy
            wanted, unwanted = splits[row] if is_split else parts[row]
            away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
            sentence, part = embeddings[names[row]], embeddings[wanted] if wanted else None
            given = Parts(sentence, part, away, strength, anchor, tau=tau).by_text(encoder.card)
            vector, loss = pick("strategy", strategy, STRATEGIES).vector(given), exclusion_of(strategy, given)
            if is_split and wanted and unwanted:
                vector, loss = given.wanted, Exclusion(away, strength, CLAMP, loss.focus if loss else None)
            taken.append(loss)
            if vector is not None:
                vectors[row] = vector
    return list(map(Asked, found, exclusions))


def _parsed(queries: Sequence[JudgedQuery], understand: Understand, step: Step) -> list[tuple[str, tuple[str, ...]]]:
    parts = []
    for number, query in enumerate(queries):
        if number % CHUNK == 0:
            step(PARSING * number / len(queries))
        parts.append(parts_of(query, understand))
    return parts


def _encoded(encoder: Encoder, texts: Sequence[str], step: Step, done: float) -> dict[str, Vectors]:
    embeddings: dict[str, Vectors] = {}
    for start in range(0, len(texts), CHUNK):
        step(done + (1 - done) * start / len(texts))
        chunk = texts[start : start + CHUNK]
        embeddings |= zip(chunk, encoder.encode_text(chunk), strict=True)
    return embeddings


def _mean(vectors: Sequence[Vectors]) -> Vectors:
    """Return the normalised mean of several embeddings; a single one as it is."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), TINY), np.float32)


def parts_of(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    """Return the wanted part and the unwanted parts, parsing the text if they are unknown."""
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    parsed = understand(query.text)
    return " ".join(parsed.wanted), parsed.unwanted


CONTROLS = ("plain", "drop")
BLOCK = 1024  # queries per block: 12 MB of scores for 3,000 videos


def with_controls(systems: Sequence[System], models: Catalog) -> list[System]:
    """Prepend the controls that every table needs: the base models, with strategies `plain` and `drop`.

    They reveal mistakes in the set-up, and how far merely ignoring the negation gets.
    """
    names = models.names()
    bases = dict.fromkeys(_base(system.model, models, names) for system in systems)
    with_parts = {base: not models.card(base).queries for base in bases}
    controls = [System(base, each) for base in bases for each in CONTROLS if each == "plain" or with_parts[base]]
    return list(dict.fromkeys([*controls, *systems]))


def _base(model: str, models: Catalog, names: Sequence[str]) -> str:
    """Follow a model's bases back as far as they are available."""
    seen = {model}
    while (base := models.card(model).base) in names and base not in seen:
        seen.add(base)
        model = base
    return model


def evaluate(
    benchmark: Benchmark,
    systems: Sequence[System],
    models: Catalog,
    store: ResultStore | None = None,
    progress: Progress = silent,
) -> Report:
    """Evaluate systems on a benchmark, one model at a time; errors as of `Catalog.load`.

    Args:
        store: earlier results to reuse; new ones are added after each model, and stay if `progress` stops the work.
    """
    benchmark = _readable(benchmark, systems, models, store, progress)
    digest, found, notes = benchmark.digest, dict[System, Result](), list[str]()
    videos = dict[str, Vectors]()  # by what embeds them
    for model, group in groupby(sorted(set(systems), key=lambda system: system.model), lambda system: system.model):
        card = models.card(model)
        specs = {system: system_spec(system, card) for system in group}
        for system in specs:
            check_strategy(system, card)
        notes += [f"{model}: {card.notes}"] if card.notes else []
        for system, spec in specs.items():
            kept = _kept(system, store)
            if kept is not None and (measured := kept.get(digest, spec)) is not None:
                found[system] = Result(system.name, spec, measured)
        if missing := [system for system in specs if system not in found]:
            progress(0, 0, f"loading {model}")
            encoder = models.load(model)
            key = encoder.card.text_key if benchmark.captions else encoder.card.video_key
            if key not in videos:  # models with equal keys share them
                videos = {key: benchmark.embed(encoder, progress)}
            values = ask(encoder, missing, videos[key], benchmark, progress)
            for system, measured in zip(missing, values, strict=True):
                found[system] = Result(system.name, specs[system], measured)
                if (kept := _kept(system, store)) is not None:
                    kept.put(digest, specs[system], measured)
    return Report.of(benchmark, [found[system] for system in dict.fromkeys(systems)], notes)


def _readable(
    benchmark: Benchmark, systems: Sequence[System], models: Catalog, store: ResultStore | None, progress: Progress
) -> Benchmark:
    """Leave out videos that cannot be read, once one of the models has read them all.

    If all results are stored, all could be read: otherwise they are stored for the videos that could.
    """
    if benchmark.unreadable is None:
        return benchmark
    cards = {system: models.card(system.model) for system in systems}
    kept = ((_kept(system, store), system_spec(system, card)) for system, card in cards.items())
    if all(each is not None and each.get(benchmark.digest, spec) is not None for each, spec in kept):
        return benchmark
    seeing = (system.model for system, card in cards.items() if not card.features and not card.queries)
    if (model := next(seeing, None)) is not None:
        progress(0, 0, f"loading {model}")
        benchmark.embed(models.load(model), progress)
    return benchmark.without_unreadable()


def system_spec(system: System, card: Card) -> dict[str, Any]:
    """Describe a system as plain JSON data: the towers of its model, and its strategy with strength and anchor."""
    known = STRENGTHS.get(system.strategy)
    tau = tau_of(card) if system.strategy == "rectified" else None
    anchor = card.exclusion.get("anchor") if system.strategy == "anchored" else None
    return {
        "model": system.model,
        "base": card.base,
        "visual_fingerprint": card.visual_fingerprint,
        "text_fingerprint": card.text_fingerprint,
        **({"settings": f"{card.visual_settings} {card.text_settings}"} if card.visual_settings else {}),
        "frames": card.frames,
        **({"pooling": card.pooling_key} if card.pooling != Card.pooling else {}),
        **({"words": dict(card.words)} if card.words else {}),
        **({"features": card.features} if card.features else {}),
        **({"positions": card.positions} if card.positions != Card.positions else {}),
        "strategy": system.strategy,
        "alpha": None,
        **({known.word: system.strength_for(card)} if known else {}),
        **({"anchor": anchor} if anchor else {}),
        **({} if tau is None else {"tau": tau}),
        **({"shifts": dict(card.shifts)} if card.shifts else {}),
    }


def _kept(system: System, store: ResultStore | None) -> ResultStore | None:
    """Return where a system's results are stored: nowhere for a strategy from outside, whose code may change."""
    return store if system.strategy not in STRATEGIES.added else None


def ask(
    encoder: Encoder, systems: Sequence[System], videos: Vectors, benchmark: Benchmark, progress: Progress = silent
) -> list[Measured]:
    """Measure strategies of one model in bounded memory, encoding each text once per block.

    Ranks of captions are those of `plain`, which alone searches for captions as they are; of other strategies, 0.
    """
    queries, doing = benchmark.queries, f"queries, {encoder.name}"
    blocks: list[list[Measured]] = [[] for _ in systems]
    captions = list[Vectors]()
    for start, block in _blocks(queries):

        def step(share: float, start: int = start, size: int = len(block)) -> None:
            progress(start + int(share * size), len(queries), doing)

        step(0)
        wrong, places = choices_of(block, benchmark.texts)
        asked = ask_systems(encoder, systems, [*block, *wrong], parse_query, step, benchmark.averaged)
        for system, parts, found in zip(systems, blocks, asked, strict=True):
            step(1)
            if system.strategy == PLAIN:
                captions.append(found.vectors[[row for row, query in enumerate(block) if query.kind == "original"]])
            if block[0].is_question:
                parts.append(measure_choices(found.vectors, videos, block, places, found.exclusions))
            else:
                count = len(benchmark.video_ids)
                parts.append(measure_block(found.vectors, videos, block, count, found.exclusions))
    progress(len(queries), len(queries), doing)
    results, originals = [joined(parts) for parts in blocks], [query for query in queries if query.kind == "original"]
    if not originals or benchmark.captions:  # videos in words are made of the captions that they would rank
        return results
    ranks = caption_ranks(videos, np.concatenate(captions), originals) if captions else np.zeros(0, np.int32)
    none = np.zeros(len(benchmark.video_ids), np.int32)
    return [
        replace(result, video_ranks=ranks if system.strategy == PLAIN else none)
        for system, result in zip(systems, results, strict=True)
    ]


def _blocks(queries: Sequence[JudgedQuery]) -> Iterator[tuple[int, Sequence[JudgedQuery]]]:
    """Yield queries in blocks of questions or of searches, each with the position of its first."""
    first = 0
    for size in (len(list(alike)) for _, alike in groupby(queries, lambda query: query.is_question)):
        for start in range(first, first + size, BLOCK):
            yield start, queries[start : min(start + BLOCK, first + size)]
        first += size


def parse_query(text: str) -> Query:
    """Parse a query as the Search tab does."""
    return understand(text, load_tagger())
