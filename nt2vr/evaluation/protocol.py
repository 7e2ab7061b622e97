"""The evaluation itself: each system is asked each query of a benchmark, unless it was measured before."""

from collections.abc import Sequence
from functools import cache
from itertools import groupby

from nt2vr.evaluation.benchmark import Benchmark, Vectors
from nt2vr.evaluation.choices import choices_of, measure_choices
from nt2vr.evaluation.measures import Measured, joined, measure_block
from nt2vr.evaluation.report import Report, Result, system_spec
from nt2vr.evaluation.result_store import ResultStore
from nt2vr.evaluation.scoring import query_vectors
from nt2vr.language.query import Query, understand
from nt2vr.language.tagger import Tagger, load_tagger
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop, never, silent
from nt2vr.search.systems import System

BLOCK = 1024  # queries asked at a time: 12 MB of scores for 3,000 videos


def with_controls(systems: Sequence[System], models: Catalog) -> list[System]:
    """Put first what every table must show: the models that trainings started from, whole and with `drop`.

    So a mistake in the set-up shows, and so does what merely ignoring the denied part brings.
    """
    names = models.names()
    bases = dict.fromkeys(_base(system.model, models, names) for system in systems)
    controls = [System(base, strategy) for base in bases for strategy in ("plain", "drop")]
    return list(dict.fromkeys([*controls, *systems]))


def _base(model: str, models: Catalog, names: Sequence[str]) -> str:
    """Follow a model's trainings back as far as the models are there."""
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
    should_stop: ShouldStop = never,
) -> Report:
    """Ask systems a benchmark's queries, one model after the other.

    Args:
        benchmark: videos and queries.
        systems: which; `with_controls` adds what belongs beside them.
        models: where their encoders come from.
        store: results of earlier evaluations; each model's results are added as soon as it is done.
        progress: called with the steps done and in all, and what is being done.
        should_stop: asked again and again.

    Raises:
        InterruptedError: if `should_stop` said so; the models done by then are kept.
        ConfigError: if there is no such model.
        CheckpointError: if it cannot be loaded.
    """
    digest, found, notes = benchmark.digest, dict[System, Result](), list[str]()
    seen = dict[str, Vectors]()  # video embeddings, by the models that share them
    for model, group in groupby(sorted(set(systems), key=lambda system: system.model), lambda system: system.model):
        card = models.card(model)
        specs = {system: system_spec(system, card) for system in group}
        notes += [f"{model}: {card.notes}"] if card.notes else []
        for system, spec in specs.items():
            if store is not None and (measured := store.get(digest, spec)) is not None:
                found[system] = Result(system.name, spec, measured)
        if missing := [system for system in specs if system not in found]:
            encoder = models.load(model)
            key = encoder.card.video_key
            if key not in seen:
                seen = {key: benchmark.embed(encoder, progress, should_stop)}
            values = ask(encoder, missing, seen[key], benchmark, progress, should_stop)
            for system, measured in zip(missing, values, strict=True):
                found[system] = Result(system.name, specs[system], measured)
                if store is not None:
                    store.put(digest, specs[system], measured)
    return Report.of(benchmark, [found[system] for system in dict.fromkeys(systems)], notes)


def ask(
    encoder: Encoder,
    systems: Sequence[System],
    videos: Vectors,
    benchmark: Benchmark,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> list[Measured]:
    """Ask strategies of one model, each text encoded once, in bounded memory.

    Args:
        encoder: the model.
        systems: its strategies.
        videos: (V, D), the benchmark's videos as the model sees them.
        benchmark: videos and queries.
        progress: as for `evaluate`.
        should_stop: likewise.

    Raises:
        InterruptedError: if `should_stop` said so.
    """
    queries, doing = benchmark.queries, f"queries, {encoder.name}"
    blocks: list[list[Measured]] = [[] for _ in systems]
    for start in range(0, len(queries), BLOCK):
        if should_stop():
            raise InterruptedError
        progress(start, len(queries), doing)
        block = queries[start : start + BLOCK]
        wrong, places = choices_of(block, benchmark.texts)
        vectors = query_vectors(encoder, systems, [*block, *wrong], read)
        for parts, found in zip(blocks, vectors, strict=True):
            if benchmark.texts:
                parts.append(measure_choices(found, videos, block, places))
            else:
                parts.append(measure_block(found, videos, block))
    progress(len(queries), len(queries), doing)
    return [joined(parts) for parts in blocks]


def read(text: str) -> Query:
    """Understand a sentence as the search page does."""
    return understand(text, _tagger())


@cache
def _tagger() -> Tagger:
    return load_tagger()
