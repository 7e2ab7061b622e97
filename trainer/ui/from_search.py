"""Short runs of the preset `stage`, started and watched from the Search tab."""

from dataclasses import dataclass
from pathlib import Path

from nt2vr.models.card import read_card
from nt2vr.ui.trainings import Training
from trainer.config_file import load_config
from trainer.presets import PRESETS
from trainer.runs.manager import RunManager
from trainer.ui.view import left_text, percent, progress_text, word_of

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

    def look(self, run: str) -> Training:
        found = self.manager.get(run)
        status = found.status
        return Training(
            status.state,
            word_of(status),
            progress_text(found),
            left_text(status.eta_s),
            percent(found),
            (status.error or "") if status.state == "failed" else "",
            found.is_under_way,
        )

    def stop(self, run: str) -> None:
        self.manager.stop(run)
