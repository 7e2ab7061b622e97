"""What the page knows of a trainer, which it is passed: it can start a run, show it and stop it."""

from pathlib import Path
from typing import Any, Protocol


class Trainings(Protocol):
    """Starts, shows and stops runs."""

    def start(self, base: Path, name: str) -> str:
        """Start a short run from a checkpoint folder, the model `name`; return its id. May raise an Nt2vrError."""

    def under_way(self) -> str:
        """Return the id of the run that is training; "" if there is none."""

    def look(self, run: str) -> dict[str, Any]:
        """Return a run as template data; raises ConfigError if it does not exist.

        Its `state`, also as a `word`, progress in words (`done`, `left`) and percent (`share`), the `error` that it
        failed by, and whether it is `under_way`.
        """

    def stop(self, run: str) -> None:
        """Ask a run to stop; raises RunError if it is not training."""
