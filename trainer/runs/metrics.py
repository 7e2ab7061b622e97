"""metrics.jsonl and TensorBoard's event files, appended as a run trains."""

import math
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.files import parse_json
from trainer.config import TrainConfig
from trainer.runs.run_folder import RunFolder

COMPARED = 4096  # bytes: some lines, as a single one may come out equal


def check_tensorboard(config: TrainConfig) -> None:
    """Check that event files can be written, if a config asks for them."""
    if config.tensorboard and find_spec("tensorboard") is None:
        raise ConfigError("Event files need the package tensorboard. Install it, or set tensorboard to false.")


class MetricsWriter:
    """Appends to metrics.jsonl, and to event files in RUN/tensorboard if the config asks for them."""

    def __init__(self, run: RunFolder, config: TrainConfig, steps: int) -> None:
        """Open event files that replace what earlier ones say after step `steps`."""
        self._run = run
        self._events: Any = None
        if config.tensorboard:
            from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  needs an optional package

            self._events = SummaryWriter(run.path / "tensorboard", purge_step=steps + 1)

    def append(self, values: Mapping[str, float]) -> None:
        """Append a line of metrics, with its "epoch" and "step"."""
        self._run.append_metrics(values)
        if self._events:
            for name in values.keys() - {"epoch", "step"}:
                self._events.add_scalar(name, values[name], values["step"])

    def close(self) -> None:
        if self._events:
            self._events.close()


class MetricsReader:
    """Incremental reader of metrics.jsonl: each row is read once, unless a resumed run has cut the file back."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._rows = path, 0, list[dict[str, float]]()
        self._end = b""  # of what has been read
        self._reading = threading.Lock()

    def rows(self) -> list[dict[str, float]]:
        """Return the rows so far, without a line that is still being written or was cut off by a crash."""
        with self._reading:
            try:
                with self._path.open("rb") as file:
                    file.seek(self._offset - len(self._end))
                    if file.read(len(self._end)) != self._end:  # cut back, and maybe written on, or another file
                        self._offset, self._end, self._rows = 0, b"", []
                        file.seek(0)
                    added = file.read()
            except FileNotFoundError:
                return []
            complete = added[: added.rfind(b"\n") + 1]
            self._offset += len(complete)
            self._end = (self._end + complete)[-COMPARED:]
            self._rows += filter(None, map(_row, complete.splitlines()))
            return list(self._rows)


def _row(line: bytes) -> dict[str, float] | None:
    with suppress(ValueError):
        values = parse_json(line.decode())
        if isinstance(values, dict):
            return {key: v for key, v in values.items() if isinstance(v, int | float) and math.isfinite(v)}
    return None
