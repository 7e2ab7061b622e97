"""What the page knows of a trainer, which it is passed: it can start a run, show it and stop it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Training:
    """A run as the page shows it."""

    state: str  # "preparing", "running", "stopping", or how it ended
    word: str  # the state in words
    doing: str = ""  # progress in words
    left: str = ""  # time left in words
    share: str = "0"  # progress in percent
    error: str = ""  # reason for a failure
    under_way: bool = False  # whether it is training


class Trainings(Protocol):
    """Starts, shows and stops runs."""

    def start(self, base: Path, name: str) -> str:
        """Start a short run from a checkpoint folder, the model `name`; return its id. May raise an Nt2vrError."""

    def under_way(self) -> str:
        """Return the id of the run that is training; "" if there is none."""

    def look(self, run: str) -> Training:
        """Return a run; raises ConfigError if it does not exist."""

    def stop(self, run: str) -> None:
        """Ask a run to stop; raises RunError if it is not training."""
