"""Evaluation protocol: the systems that are compared with texts, and their results, stored by every input."""

import json
import logging
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.evaluation.text_systems import PLAIN, system_spec
from nt2vr.files import atomic_write
from nt2vr.media.limits import LIMITS, evict, mark_used
from nt2vr.media.store import read_cached
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import STRATEGIES, System, check_strategy

logger = logging.getLogger(__name__)

PROTOCOL = 5  # cache version: raise it when measurements change
CONTROLS = (PLAIN, "drop")


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
        key = blake2b(
            json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12
        ).hexdigest()
        return self._folder / f"{key}.npz"


def _read(path: Path) -> Measured:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})


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
    controls = [
        System(base, each)
        for base in bases
        for each in CONTROLS
        if each == PLAIN or with_parts[base]
    ]
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

    Results in the `store` are used again; new ones are added after each model, and stay if
    `progress` stops the work.
    """
    by_model = sorted(dict.fromkeys(systems), key=lambda system: system.model)
    cards = {system: models.card(system.model) for system in by_model}
    for system, card in cards.items():
        check_strategy(system, card)
    specs = {system: system_spec(system, card) for system, card in cards.items()}
    notes = dict.fromkeys(
        f"{system.model}: {card.notes}" for system, card in cards.items() if card.notes
    )

    def stored() -> dict[System, Measured]:
        digest = benchmark.digest
        found = {system: store.get(digest, spec) for system, spec in specs.items()} if store else {}
        return {system: measured for system, measured in found.items() if measured is not None}

    measured = stored()
    if benchmark.leaves_out_unreadable and len(measured) < len(specs):
        benchmark = benchmark.without(_unreadable(benchmark, cards, models, progress))
        measured = stored()
    videos = dict[str, EmbeddedVideos]()  # by what embeds them
    for model, group in groupby(
        [each for each in by_model if each not in measured], lambda system: system.model
    ):
        progress(0, 0, f"loading {model}")
        encoder, missing = models.load(model), list(group)
        key = encoder.card.text_key if benchmark.captions else encoder.card.visual_key
        if key not in videos:  # models with equal keys share them
            videos = {key: benchmark.embed(encoder, progress)}
        results = benchmark.measure(encoder, missing, videos[key], progress)
        for system, result in zip(missing, results, strict=True):
            measured[system] = result.measured
            if store is not None:
                store.put(benchmark.digest, specs[system], result.measured)
    results = [
        Result(system.name, specs[system], measured[system]) for system in dict.fromkeys(systems)
    ]
    return benchmark.report(results, list(notes), [system.name for system in named])


def _unreadable(
    benchmark: TextBenchmark, cards: Mapping[System, Card], models: Catalog, progress: Progress
) -> dict[str, str]:
    """Return the videos that cannot be read, which one of the models that see frames finds out, with the reasons."""
    unreadable = dict(benchmark.unreadable)
    seeing = [system.model for system, card in cards.items() if card.capabilities.sees_files]
    if seeing:
        progress(0, 0, f"loading {seeing[0]}")
        embedded = benchmark.embed(models.load(seeing[0]), progress)
        for video_id, reason in embedded.unreadable.items():
            unreadable.setdefault(video_id, reason)
    return unreadable
