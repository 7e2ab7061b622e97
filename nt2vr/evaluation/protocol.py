"""Evaluation protocol: what systems search for with judged queries, and their results, stored by every input."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nt2vr.evaluation.embed_media import Vectors
from nt2vr.evaluation.measures import Measured, joined
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.scoring import caption_ranks, choices_of, measure_block, measure_choices
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import atomic_write
from nt2vr.media.store import LIMITS, evict, mark_used, read_cached
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.progress import Progress, silent
from nt2vr.registry import pick
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    Parts,
    System,
    anchor_of,
    check_strategy,
    exclusion_of,
    tau_of,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")
Understand = Callable[[str], Query]
Step = Callable[[float], None]  # gets the share of the work that is done, from 0 to 1

PROTOCOL = 5  # cache version: raise it when measurements change
PLAIN = "plain"  # the strategy that needs no parts
CONTROLS = (PLAIN, "drop")
PARSING = 0.5  # share of the work, where texts must be parsed
CHUNK = 64  # texts between two steps
BLOCK = 1024  # queries per block: 12 MB of scores for 3,000 videos
TINY = 1e-12  # below which a mean has no direction


class ResultStore:
    """Stores one file per result, and limits their number; not of strategies from outside, whose code may change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, digest: str, spec: Mapping[str, Any]) -> Measured | None:
        path = self._path(digest, spec)
        mark_used(path)
        return None if spec["strategy"] in STRATEGIES.added else read_cached(path, _read)

    def put(self, digest: str, spec: Mapping[str, Any], measured: Measured) -> None:
        """Store a result; a full disk or a read-only folder only costs measuring it again."""
        if spec["strategy"] in STRATEGIES.added:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(self._path(digest, spec)) as partial:
                np.savez_compressed(partial, **vars(measured))
        except OSError as error:
            sentence = "Results cannot be stored in %s (%s). They will be measured again."
            logger.warning(sentence, self._folder, error.strerror)
        evict(self._folder.glob("[!.]*.npz"), LIMITS["results"])

    def _path(self, digest: str, spec: Mapping[str, Any]) -> Path:
        """Return the file of a result; models are identified by their weights, not by their names."""
        known = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = blake2b(json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12).hexdigest()
        return self._folder / f"{key}.npz"


def _read(path: Path) -> Measured:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})


def parse_query(text: str) -> Query:
    """Parse a query as the Search tab does."""
    return understand(text, load_tagger())


class Asked(NamedTuple):
    vectors: Vectors  # (Q, D), what a system searches for with Q queries; zeros search for nothing
    exclusions: list[Exclusion | None]  # Q, what is taken from the scores of a vector, and how frames are weighed


def ask_systems(
    encoder: Encoder,
    systems: Sequence[System],
    queries: Sequence[JudgedQuery],
    understand: Understand,
    step: Step = lambda _: None,
    averaged: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Asked]:
    """Compute what a model's systems search for, encoding each text once.

    Captions have nothing to exclude, so every strategy searches for the full text. A system without anything to search
    for (`drop` on "not B") gets zeros, for which all videos tie. What `step`, called now and then, raises ends the
    work; `averaged` is that of `TextBenchmark`, and `understand` parses queries whose parts are unknown.
    """
    card, parsing = encoder.card, 0.0
    parts: list[tuple[str, tuple[str, ...]]] = [("", ())] * len(queries)
    if any(system.strategy != PLAIN for system in systems):
        steps = ticking(queries, lambda share: step(PARSING * share))
        parts, parsing = [_parts(query, understand) for query in steps], PARSING
    sentences = [encoder.query_name(query.query_id, query.text) for query in queries]
    texts = chain(sentences, *((wanted, *unwanted) for wanted, unwanted in parts))
    embeddings = _embedded(texts, encoder, averaged, lambda share: step(parsing + (1 - parsing) * share))
    nothing, anchor, tau = np.zeros((0, encoder.embed_dim), np.float32), anchor_of(encoder), tau_of(card)
    strengths = [system.strength_for(card) for system in systems]
    asked = [Asked(np.zeros((len(queries), encoder.embed_dim), np.float32), []) for _ in systems]
    rows = enumerate(zip(queries, sentences, parts, strict=True))
    for row, (query, sentence, (wanted, unwanted)) in ticking(list(rows), lambda _: step(1)):
        away = np.stack([embeddings[text] for text in unwanted]) if unwanted else nothing
        for system, strength, found in zip(systems, strengths, asked, strict=True):
            strategy = PLAIN if query.kind == "original" else system.strategy
            given = Parts(embeddings[sentence], embeddings.get(wanted), away, strength, anchor, tau=tau).by_text(card)
            vector = pick("strategy", strategy, STRATEGIES).vector(given)
            found.exclusions.append(exclusion_of(strategy, given))
            if vector is not None:
                found.vectors[row] = vector
    return asked


def _embedded(
    texts: Iterable[str], encoder: Encoder, averaged: Mapping[str, Sequence[str]], step: Step
) -> dict[str, Vectors]:
    """Embed each text once; `averaged` ones are the normalised means of several."""
    members = {text: averaged.get(text, (text,)) for text in texts if text}
    each, encoded = list(dict.fromkeys(chain(*members.values()))), dict[str, Vectors]()
    for start in range(0, len(each), CHUNK):
        step(start / len(each))
        encoded |= zip(each[start : start + CHUNK], encoder.encode_text(each[start : start + CHUNK]), strict=True)
    found = {text: encoded[some[0]] for text, some in members.items()}
    for text, some in members.items():
        if len(some) > 1:
            mean = np.mean([encoded[one] for one in some], axis=0, dtype=np.float64)
            found[text] = np.asarray(mean / max(float(np.linalg.norm(mean)), TINY), np.float32)
    return found


def ticking(items: Sequence[T], step: Step) -> Iterator[T]:
    """Yield items, calling `step` with the share of those that are done before every CHUNK of them."""
    for number, item in enumerate(items):
        if number % CHUNK == 0:
            step(number / len(items))
        yield item


def _parts(query: JudgedQuery, understand: Understand) -> tuple[str, tuple[str, ...]]:
    if query.kind == "original":
        return "", ()
    if query.wanted is not None:
        return query.wanted, query.unwanted
    parsed = understand(query.text)
    return " ".join(parsed.wanted), parsed.unwanted


def with_controls(systems: Sequence[System], models: Catalog) -> list[System]:
    """Prepend the controls that every table needs: the base models, as far back as they are there, plain and `drop`.

    They reveal mistakes in the set-up, and how far merely ignoring the negation gets.
    """
    names, bases = models.names(), dict[str, None]()
    for model in (system.model for system in systems):
        seen = {model}
        while (base := models.card(model).base) in names and base not in seen:
            seen.add(base)
            model = base
        bases[model] = None
    with_parts = {base: not models.card(base).capabilities.given_queries_only for base in bases}
    controls = [System(base, each) for base in bases for each in CONTROLS if each == PLAIN or with_parts[base]]
    return list(dict.fromkeys([*controls, *systems]))


def evaluate(
    benchmark: TextBenchmark,
    systems: Sequence[System],
    models: Catalog,
    store: ResultStore | None = None,
    progress: Progress = silent,
    named: Sequence[System] = (),
) -> Report:
    """Evaluate systems on a benchmark, one model at a time; errors as of `Catalog.load`.

    A person has `named` some of the systems; the others are controls.

    Results in the `store` are used again; new ones are added after each model, and stay if `progress` stops the work.
    """
    by_model = sorted(dict.fromkeys(systems), key=lambda system: system.model)
    cards = {system: models.card(system.model) for system in by_model}
    for system, card in cards.items():
        check_strategy(system, card)
    specs = {system: system_spec(system, card) for system, card in cards.items()}
    notes = dict.fromkeys(f"{system.model}: {card.notes}" for system, card in cards.items() if card.notes)

    def stored() -> dict[System, Measured]:
        digest = benchmark.digest
        found = {system: store.get(digest, spec) for system, spec in specs.items()} if store else {}
        return {system: measured for system, measured in found.items() if measured is not None}

    measured = stored()
    if benchmark.unreadable is not None and len(measured) < len(specs):
        # one of the models that see frames reads all videos, which tells those that cannot be read
        for model in [system.model for system, card in cards.items() if card.capabilities.sees_files][:1]:
            progress(0, 0, f"loading {model}")
            benchmark.embed(models.load(model), progress)
        benchmark = benchmark.without_unreadable()
        measured = stored()
    videos = dict[str, Vectors]()  # by what embeds them
    for model, group in groupby([each for each in by_model if each not in measured], lambda system: system.model):
        progress(0, 0, f"loading {model}")
        encoder, missing = models.load(model), list(group)
        key = encoder.card.text_key if benchmark.captions else encoder.card.video_key
        if key not in videos:  # models with equal keys share them
            videos = {key: benchmark.embed(encoder, progress)}
        for system, found in zip(missing, ask(encoder, missing, videos[key], benchmark, progress), strict=True):
            measured[system] = found
            if store is not None:
                store.put(benchmark.digest, specs[system], found)
    results = [Result(each.name, specs[each], measured[each]) for each in dict.fromkeys(systems)]
    return Report.of(benchmark, results, list(notes), [system.name for system in named])


def system_spec(system: System, card: Card) -> dict[str, Any]:
    """Describe a system as plain JSON data: the towers of its model, and its strategy with strength and anchor."""
    known = STRENGTHS.get(system.strategy)
    optional = {
        "settings": card.visual_settings and f"{card.visual_settings} {card.text_settings}",
        "pooling": None if card.pooling == Card.pooling else card.pooling_key,
        "words": dict(card.words),
        "features": card.features,
        "clip": card.clip_key,
        "positions": None if card.positions == Card.positions else card.positions,
        "anchor": card.exclusion.get("anchor") if system.strategy == "anchored" else None,
        "tau": tau_of(card) if system.strategy == "rectified" else None,
        "shifts": dict(card.shifts),
    }
    return {
        "model": system.model,
        "base": card.base,
        "visual_fingerprint": card.visual_fingerprint,
        "text_fingerprint": card.text_fingerprint,
        "frames": card.frames,
        "strategy": system.strategy,
        "alpha": None,
        **{name: value for name, value in optional.items() if value not in (None, "", {})},
        **({known.word: system.strength_for(card)} if known else {}),
    }


def ask(
    encoder: Encoder, systems: Sequence[System], videos: Vectors, benchmark: TextBenchmark, progress: Progress = silent
) -> list[Measured]:
    """Measure strategies of one model in bounded memory, encoding each text once per block of searches or questions.

    Ranks of captions are those of `plain`, which alone searches for captions as they are; of other strategies, 0.
    """
    queries, doing = benchmark.queries, f"queries, {encoder.name}"
    strategies = [system.strategy for system in systems]
    alike = [list(some) for _, some in groupby(queries, lambda query: query.is_question)]
    blocks = [some[start : start + BLOCK] for some in alike for start in range(0, len(some), BLOCK)]
    measured: list[list[Measured]] = [[] for _ in systems]
    captions, start = list[Vectors](), 0
    for block in blocks:

        def step(share: float, start: int = start, size: int = len(block)) -> None:
            progress(start + int(share * size), len(queries), doing)

        step(0)
        wrong, places = choices_of(block, benchmark.texts)
        asked = ask_systems(encoder, systems, [*block, *wrong], parse_query, step, benchmark.averaged)
        for parts, (vectors, exclusions) in zip(measured, asked, strict=True):
            step(1)
            if block[0].is_question:
                parts.append(measure_choices(vectors, videos, block, places, exclusions))
            else:
                parts.append(measure_block(vectors, videos, block, len(benchmark.video_ids), exclusions))
        if PLAIN in strategies:
            plain = asked[strategies.index(PLAIN)].vectors
            captions.append(plain[[row for row, query in enumerate(block) if query.kind == "original"]])
        start += len(block)
    progress(len(queries), len(queries), doing)
    results = [joined(parts) for parts in measured]
    originals = [query for query in queries if query.kind == "original"]
    if not originals or benchmark.captions:  # videos in words are made of the captions that they would rank
        return results
    none = np.zeros(len(benchmark.video_ids), np.int32)
    ranks = {PLAIN: caption_ranks(videos, np.concatenate(captions), originals)} if captions else {}
    return [replace(each, video_ranks=ranks.get(name, none)) for each, name in zip(results, strategies, strict=True)]
