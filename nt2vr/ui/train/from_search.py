"""Short runs of the preset `stage`, started and watched from the Search tab."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.models.card import read_card
from nt2vr.ui.train.view import run_view
from trainer.config_file import load_config
from trainer.presets import PRESETS
from trainer.runs.manager import RunManager

PRESET = PRESETS / "stage.json"
MAX_BASE = 40  # characters of the base's name in a run's


@dataclass(frozen=True)
class SearchTrainings:
    """Starts runs of the preset, and shows any run that is training."""

    manager: RunManager
    preset: Path = PRESET

    def start(self, base: Path, name: str) -> str:
        read_card(base)
        changes = {"base": str(base.resolve()), "name": f"{name[:MAX_BASE].strip()} learns not"}
        return self.manager.start(load_config(self.preset, changes))

    def under_way(self) -> str:
        """Return the id of the run that is training; "" if none is."""
        return self.manager.under_way()

    def look(self, run: str) -> dict[str, Any]:
        return run_view(self.manager.get(run))

    def stop(self, run: str) -> None:
        self.manager.stop(run)
