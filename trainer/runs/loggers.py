"""Where a run's metrics go besides metrics.jsonl: TensorBoard's event files, Trackio, or Weights & Biases."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.evaluation.metric_names import Metrics
from trainer.config.config import TrainConfig

# The name under which Trackio and Weights & Biases list runs.
PROJECT = "nt2vr"
# The names that people know, by the config's `logger`.
PACKAGES = {"trackio": "Trackio", "wandb": "Weights & Biases"}


class EventFiles:
    """TensorBoard's event files, in which a resumed run replaces what it had written after its last save."""

    def __init__(self, folder: Path, steps: int) -> None:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  needs an optional package

        self._writer: Any = SummaryWriter(folder, purge_step=steps + 1)

    def log(self, step: int, values: Metrics) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class Tracker:
    """Trackio or Weights & Biases, whose calls are the same; both contact the hosts that they are set up for."""

    def __init__(self, package: str, folder: Path, config: TrainConfig) -> None:
        self._package: Any = import_module(package)
        options: dict[str, Any] = {
            "project": PROJECT,
            "name": folder.name,
            "config": config.flat(),
            "resume": "allow",
        }
        # Without these, wandb starts another run on a resume, and writes into the current folder.
        if package == "wandb":
            options |= {"id": folder.name, "dir": str(folder)}
        self._package.init(**options)

    def log(self, step: int, values: Metrics) -> None:
        self._package.log(dict(values), step=step)

    def close(self) -> None:
        self._package.finish()


Logger = EventFiles | Tracker


def check_loggers(config: TrainConfig) -> None:
    """Refuse a config that names a logger whose package is not installed."""
    if config.run.tensorboard and find_spec("tensorboard") is None:
        raise ConfigError(
            "Event files need the package tensorboard. Install it, or set tensorboard to false."
        )
    if config.run.logger and find_spec(config.run.logger) is None:
        name = PACKAGES[config.run.logger]
        raise ConfigError(
            f"{name} needs the package {config.run.logger}. Install it, or leave logger empty."
        )


def loggers_of(folder: Path, config: TrainConfig, steps: int) -> list[Logger]:
    """Open the loggers that a config names, for a run that has taken so many steps."""
    loggers: list[Logger] = []
    if config.run.tensorboard:
        loggers.append(EventFiles(folder / "tensorboard", steps))
    if config.run.logger:
        loggers.append(Tracker(config.run.logger, folder, config))
    return loggers
