"""Evaluation protocol: the systems that are compared with texts, and their results, stored by every input."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.roles import Spec
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.evaluation.text_systems import system_spec
from nt2vr.files import atomic_write, hash_text
from nt2vr.media.limits import LIMITS, evict, mark_used
from nt2vr.media.store import read_cached
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import STRATEGIES, System, check_strategy

logger = logging.getLogger(__name__)

# Version of stored results: raise it when measurements change.
PROTOCOL = 5


class ResultStore:
    """Stores one file per result, and limits their number.

    Results of strategies from outside are not stored, since their code may change.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, digest: str, spec: Spec) -> Measured | None:
        """Return the result of a system on the benchmark of this digest, if it is stored."""
        if spec["strategy"] in STRATEGIES.added:
            return None
        path = self._path(digest, spec)
        mark_used(path)
        return read_cached(path, _read)

    def put(self, digest: str, spec: Spec, measured: Measured) -> None:
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

    def _path(self, digest: str, spec: Spec) -> Path:
        """Return the file of a result; models are identified by their weights, not by their names."""
        identity = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = hash_text(json.dumps([PROTOCOL, digest, identity], sort_keys=True))
        return self._folder / f"{key}.npz"


def _read(path: Path) -> Measured:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})


def with_controls(systems: Sequence[System], models: Catalog) -> list[System]:
    """Prepend the controls that every table needs: the base models, plain and `drop`.

    They reveal mistakes in the set-up, and how far merely ignoring the negation gets.
    """
    controls = []
    for base in dict.fromkeys(_first_base(system.model, models) for system in systems):
        controls.append(System(base))
        if not models.card(base).capabilities.given_queries_only:
            controls.append(System(base, "drop"))
    return list(dict.fromkeys([*controls, *systems]))


def _first_base(model: str, models: Catalog) -> str:
    """Return what a model was first trained from, as far back as the models are there."""
    names = models.names()
    visited = {model}
    while True:
        base = models.card(model).base
        if base not in names or base in visited:
            return model
        visited.add(base)
        model = base


def evaluate(
    benchmark: TextBenchmark,
    systems: Sequence[System],
    models: Catalog,
    store: ResultStore | None = None,
    progress: Progress = silent,
    named: Sequence[System] = (),
) -> Report:
    """Evaluate systems on a benchmark, one model at a time; errors as of `Catalog.load`.

    Args:
        store: its results are used again. New ones are added after each model, and stay if
            `progress` stops the work.
        named: the systems that a person has named; the others are controls.
    """
    cards = {system: models.card(system.model) for system in systems}
    specs = {}
    for system, card in cards.items():
        check_strategy(system, card)
        specs[system] = system_spec(system, card)

    measured = _stored(store, benchmark.digest, specs)
    if benchmark.leaves_out_unreadable and len(measured) < len(specs):
        benchmark = benchmark.without(_unreadable(benchmark, cards, models, progress))
        measured = _stored(store, benchmark.digest, specs)

    missing = [system for system in specs if system not in measured]
    for system, of_system in _measure(benchmark, systems=missing, models=models, progress=progress):
        measured[system] = of_system
        if store is not None:
            store.put(benchmark.digest, specs[system], of_system)

    return benchmark.report(
        [Result(system.name, spec, measured[system]) for system, spec in specs.items()],
        notes=_notes_of(cards),
        named=[system.name for system in named],
    )


def _notes_of(cards: Mapping[System, Card]) -> list[str]:
    """Return what the cards of models note, once per model."""
    notes = [f"{system.model}: {card.notes}" for system, card in cards.items() if card.notes]
    return list(dict.fromkeys(notes))


def _stored(
    store: ResultStore | None, digest: str, specs: Mapping[System, Spec]
) -> dict[System, Measured]:
    if store is None:
        return {}
    stored = {}
    for system, spec in specs.items():
        measured = store.get(digest, spec)
        if measured is not None:
            stored[system] = measured
    return stored


def _measure(
    benchmark: TextBenchmark, systems: Sequence[System], models: Catalog, progress: Progress
) -> Iterator[tuple[System, Measured]]:
    """Yield the results of systems, model by model; models with equal keys share embeddings."""
    last_key = ""
    videos = None
    by_model = sorted(systems, key=lambda system: system.model)
    for model, group in groupby(by_model, lambda system: system.model):
        progress(0, 0, f"loading {model}")
        encoder = models.load(model)
        key = benchmark.media_key(encoder.card)
        if key != last_key:
            videos = benchmark.embed(encoder, progress)
            last_key = key
        of_model = list(group)
        results = benchmark.measure(encoder, of_model, videos, progress)
        for system, result in zip(of_model, results, strict=True):
            yield system, result.measured


def _unreadable(
    benchmark: TextBenchmark, cards: Mapping[System, Card], models: Catalog, progress: Progress
) -> dict[str, str]:
    """Return the videos that cannot be read, with the reasons; a model that sees frames finds them."""
    unreadable = dict(benchmark.unreadable)
    seeing = [system.model for system, card in cards.items() if card.capabilities.sees_files]
    if not seeing:
        return unreadable
    model = min(seeing)
    progress(0, 0, f"loading {model}")
    embedded = benchmark.embed(models.load(model), progress)
    for video_id, reason in embedded.unreadable.items():
        unreadable.setdefault(video_id, reason)
    return unreadable
