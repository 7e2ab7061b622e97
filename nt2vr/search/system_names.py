"""The names of all systems that can be chosen: every model with every strategy."""

from collections.abc import Sequence
from contextlib import suppress

from nt2vr.errors import ConfigError
from nt2vr.models.catalog import Catalog, CatalogEntry
from nt2vr.search.plan import MAX_SYSTEMS
from nt2vr.search.strategies import STRATEGIES, System


def system_names(models: Catalog, also: Sequence[str] = (), folds: bool = False) -> list[str]:
    """List every model with every strategy, and single epochs of a run without strategies.

    Args:
        also: names from a link or a report, such as "CLIP anchored λ 1.9". They are appended if
            they are of known models.
        folds: whether to list the runs first, each by its name alone unless `also` names it.
    """
    also = also[:MAX_SYSTEMS]
    entries = models.entries()
    model_names = list(entries)
    if folds:
        model_names.sort(key=lambda model: not _is_of_run(entries[model]))

    names = []
    for model in model_names:
        entry = entries[model]
        is_folded = folds and _is_of_run(entry) and not _names_run_of(also, model)
        if not is_folded:
            names += _names_with_strategies(model, entry)
        elif entry.kind == "run":
            names.append(model)

    for name in dict.fromkeys(also):
        with suppress(ConfigError):
            system = System.named(name, models.names())
            if name not in names and system.name == name:
                names.append(name)
    return names


def _is_of_run(entry: CatalogEntry) -> bool:
    return entry.kind in ("run", "epoch")


def _names_run_of(names: Sequence[str], model: str) -> bool:
    """Return whether some names of systems have one of the run that a model is an epoch of."""
    run = model.partition(" · ")[0]
    return any(name.startswith(run) for name in names)


def _names_with_strategies(model: str, entry: CatalogEntry) -> list[str]:
    """List a model's systems: the model itself, and the model with each strategy that it has."""
    names = [model]
    if entry.kind in ("epoch", "embeddings"):
        return names
    for name, strategy in STRATEGIES.items():
        if strategy.composer in ("", *entry.composers):
            for strength in strategy.offered:
                names.append(System(model, name, strength).name)
    return names
