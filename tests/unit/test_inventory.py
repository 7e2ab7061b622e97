"""Everything that a person can name: commands, presets, settings, systems, datasets and columns of reports.

`python -m tests.unit.test_inventory` writes the list anew, after something was added on purpose.
Nothing in it may go.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from cyclopts import App

from nt2vr.cli import app
from nt2vr.datasets.load import DATASETS
from nt2vr.evaluation.columns import (
    BOTH_WAYS,
    HONEST,
    OTHERS,
    PAPER,
)
from nt2vr.extension import poolings
from nt2vr.models.card import POOLINGS
from nt2vr.models.catalog import Catalog
from nt2vr.papers.covr.presentation import (
    ALL,
    FURTHER,
    MAP,
    R_1,
    REMOVALS,
    SEEN,
    UNSEEN,
    VIOLATIONS,
)
from nt2vr.presets import preset_files, sweep_files
from nt2vr.search.strategies import STRATEGIES
from nt2vr.settings import ASSETS
from trainer.config import FIELDS, TrainConfig, load_config
from trainer.losses import LOSSES

PATH = Path(__file__).parents[1] / "data" / "inventory.json"


HELP_FLAGS = ("--help", "-h", "--version", "-V", "--install-completion")


def inventory() -> dict[str, Any]:
    """Return the names, with the defaults of what has some."""
    columns = []
    for group in (*PAPER, *BOTH_WAYS, *HONEST, *OTHERS):
        columns += [column.key for column in group.columns]
    return {
        "commands": dict(sorted(commands(app, "nt2vr"))),
        "presets": {name: load_config(path).flat() for name, path in preset_files().items()},
        "sweeps": list(sweep_files()),
        "settings": {key: TrainConfig().flat()[key] for key in FIELDS},
        "losses": {name: asdict(loss()) for name, loss in LOSSES.items()},
        "strategies": sorted(STRATEGIES),
        "models": sorted(Catalog([ASSETS / "models"]).names()),
        "datasets": sorted(DATASETS),
        "poolings": sorted([*POOLINGS, *poolings()]),
        "columns": sorted(columns),
        "columns of pictures plus texts": sorted(
            {ALL, SEEN, UNSEEN, REMOVALS, R_1, VIOLATIONS, MAP, *FURTHER}
        ),
    }


def commands(parent: App, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command with the names of its parameters."""
    names = [name for name in parent if name not in HELP_FLAGS]
    if not names:
        arguments = parent.assemble_argument_collection()
        yield path, sorted(chain.from_iterable(argument.names for argument in arguments))
    for name in names:
        yield from commands(parent[name], f"{path} {name}")


def lost(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield what was there and is not, or has another default; more of it is allowed."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            if key in now:
                yield from lost(value, now[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}"
    elif (
        isinstance(before, list)
        and isinstance(now, list)
        and all(isinstance(name, str) for name in before)
    ):
        yield from (f"{path}/{name}" for name in before if name not in now)
    elif before != now:
        yield f"{path}: {before} is {now}"


def test_nothing_that_a_person_can_name_has_gone() -> None:
    before = json.loads(PATH.read_text(encoding="utf-8"))
    now = json.loads(json.dumps(inventory()))
    assert list(lost(before, now)) == []


if __name__ == "__main__":
    PATH.write_text(json.dumps(inventory(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
