"""Evaluation protocol: runs systems on a benchmark, reusing stored results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors
from nt2vr.evaluation.choices import choices_of, measure_choices
from nt2vr.evaluation.measures import Measured, joined, measure_block
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.result_store import ResultStore
from nt2vr.evaluation.scoring import PLAIN, ask_systems
from nt2vr.evaluation.video_to_text import caption_ranks
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import BUILT_IN, STRENGTHS, tau_of
from nt2vr.search.systems import System, check_strategy

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
    return store if system.strategy in BUILT_IN else None


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
