"""Runs whose processes are stand-ins: each trains until it is stopped or ended."""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from trainer.runs import manager as manager_module
from trainer.runs.run_folder import RunFolder, RunStatus, State


class HeldRuns:
    """Takes the place of the processes that a RunManager starts and stops, while a test runs.

    Attributes:
        started: the ids of the runs, in the order in which they were started.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[str] = []
        self._locks = ExitStack()
        self._run: RunFolder | None = None
        monkeypatch.setattr(manager_module, "_launch", self._launch)
        monkeypatch.setattr(os, "kill", self._kill)

    def end(self, state: State = "finished") -> None:
        """End the run under way, if any."""
        if self._run is not None:
            self._run.write_status(RunStatus(state, os.getpid()))
        self._locks.close()

    def _launch(
        self, run: RunFolder, environment: Mapping[str, str], options: Sequence[str] = ()
    ) -> None:
        self._locks.enter_context(run.training())
        self._run = run
        run.write_status(RunStatus("running", os.getpid()))
        self.started.append(run.path.name)

    def _kill(self, *signal: Any) -> None:
        self.end("stopped")
