"""Training from Python: runs that this process trains, as `import nt2vr` offers them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nt2vr.errors import ConfigError, RunError
from nt2vr.files import AnyPath, expanded
from nt2vr.notebook import curve, data_frame, joined, table
from nt2vr.settings import Settings, prepare_environment
from trainer.config import ConfigChanges, TrainConfig, changed, load_config, preset_or_file
from trainer.runs.manager import folders_for
from trainer.runs.run_folder import FRAMES, RUNS, RunFolder, read_metrics
from trainer.session import Plan, lower_rate_of, plan_new, plan_rest, train_here, use_only
from trainer.teaching import new_teaching
from trainer.trainings import loss_names

# Columns of metrics.jsonl that say when a measurement was taken.
WHEN = ("epoch", "step")
NO_CHANGES: ConfigChanges = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Training:
    """A run that has ended; notebooks show its curves.

    Attributes:
        folder: the run's folder, which `train` resumes and the page lists.
        state: "finished", or "stopped" by Ctrl+C.
    """

    folder: Path
    state: str

    @property
    def config(self) -> TrainConfig:
        return load_config(RunFolder(self.folder).config)

    @property
    def metrics(self) -> list[dict[str, float]]:
        """The rows of metrics.jsonl: losses by step, validation by epoch."""
        return read_metrics(RunFolder(self.folder).metrics)

    @property
    def checkpoint(self) -> Path | None:
        """The folder of the newest epoch's checkpoint, which `load_model` takes."""
        epochs = sorted((self.folder / "checkpoints").glob("epoch_*"))
        return epochs[-1] if epochs else None

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per measurement: epoch, step, measure, value."""
        rows = []
        for row in self.metrics:
            for name, value in row.items():
                if name not in WHEN:
                    rows.append((row.get("epoch"), row.get("step"), name, value))
        return data_frame(rows, ("epoch", "step", "measure", "value"))

    def __repr__(self) -> str:
        rows = self.metrics
        last_row = rows[-1] if rows else {}
        values = [f"{name} {value:.3g}" for name, value in last_row.items() if name not in WHEN]
        measured = ", ".join(values) or "nothing measured yet"
        name = self.config.encoder.name
        return f"<Training of {name}, {self.state} in {self.folder}: {measured}>"

    def _repr_html_(self) -> str:
        rows = self.metrics
        config = self.config
        losses = loss_names(config)
        caption = f"{config.encoder.name}: {self.state} ({self.folder})"
        parts = [table((), (), caption)]
        for name in [config.validation.monitor, *losses]:
            along = "step" if name in losses else "epoch"
            measured = [row for row in rows if name in row and along in row]
            points = [(row[along], row[name]) for row in measured]
            if points:
                parts.append(curve(name, along, points))
        return joined(parts)


def train(
    config: AnyPath | Mapping[str, Any] | TrainConfig | None = None,
    run: AnyPath = "",
    changes: ConfigChanges = NO_CHANGES,
    data_dir: AnyPath | None = None,
    device: str = "auto",
) -> Training:
    """Train a new run, or resume one, in this process, as `nt2vr train` does.

    It knows the losses that this process has registered. Ctrl+C stops it cleanly, and
    `train(run=...)` goes on. Progress goes to standard error, and the page shows the run.

    Args:
        config: a preset ("clip-neg"), a file, values by field, or a config; None resumes `run`.
        run: name of the run's folder in the data folder, or a path; by default a new name.
        changes: values by key, which may be dotted: {"epochs": 3, "losses.bnl.m4": -0.1}.
        data_dir: the app's data folder; default NT2VR_DATA, or ~/.cache/nt2vr.
        device: "auto", "cpu", "cuda" or "cuda:1"; it counts before torch has looked for a GPU.

    Raises:
        ConfigError: if the config, its data or its base cannot be used; nothing has been written
            then.
        RunError: if another run trains on the device, the run has finished, or the training failed.
    """
    prepare_environment()
    use_only(device)
    runs = Settings.read(data_dir).data_dir / RUNS
    if config is None:
        if not str(run):
            raise ConfigError("Name a config to train, or the run to resume.")
        return _go_on(RunFolder(_folder(run, runs)), changes)

    train_config = _config_of(config, changes)
    if str(run):
        folder = _folder(run, runs)
    else:
        folders = folders_for(runs, train_config.encoder.name)
        folder = next(path for path in folders if not path.exists())
    new_run = RunFolder(folder)
    return _train(new_run, plan_new(new_run, train_config))


def teach(
    model: str,
    captions: AnyPath | None = None,
    changes: ConfigChanges = NO_CHANGES,
    data_dir: AnyPath | None = None,
    device: str = "auto",
) -> Training:
    """Teach a model negation by sentences alone, in this process; "MODEL taught" joins the models.

    A teaching that was stopped goes on. Arguments and errors as of `train`.

    Args:
        model: its name in the app.
        captions: file of captions to learn from, besides those of the built-in world.
        changes: values by key, such as {"epochs": 6}.
    """
    prepare_environment()
    use_only(device)
    config, folder, is_new = new_teaching(Settings.read(data_dir), model, captions)
    run = RunFolder(folder)
    if not is_new:
        return _go_on(run, NO_CHANGES)
    return _train(run, plan_new(run, config.with_changes(changes)))


def _config_of(
    config: AnyPath | Mapping[str, Any] | TrainConfig, changes: ConfigChanges
) -> TrainConfig:
    if isinstance(config, AnyPath):
        return load_config(preset_or_file(expanded(config)), changes)
    if isinstance(config, TrainConfig):
        return config.with_changes(changes)
    return TrainConfig(**changed(config, changes))


def _folder(run: AnyPath, runs: Path) -> Path:
    """Return the folder of a run, which is a name in the data folder or a path."""
    path = expanded(run)
    is_name = len(path.parts) == 1 and not path.is_absolute()
    return runs / path if is_name else path


def _go_on(run: RunFolder, changes: ConfigChanges) -> Training:
    """Train the rest of a run; at a lower learning rate if its loss became non-finite."""
    return _train(run, plan_rest(run, changes or lower_rate_of(run)))


def _train(run: RunFolder, plan: Plan) -> Training:
    """Train in this process, and return the run; a RunError if it failed."""
    state = train_here(run, plan, run.path.parent / FRAMES)
    if state == "failed":
        status = run.status()
        reason = status.error if status else None
        raise RunError(reason or f"The training in {run.path} failed.")
    return Training(run.path, state)
