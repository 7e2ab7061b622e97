"""Spawned child processes that do not import the parent's main script again.

A notebook or a script without an `if __name__ == "__main__"` guard would otherwise start its own work in every child.
"""

import sys
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Lock
from types import ModuleType
from typing import Any

_starting = Lock()  # the main module is replaced for the moment in which a child is described to itself


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _starting:
            main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = main


class WithoutMain(SpawnContext):
    """The `spawn` start method, for functions of importable modules only."""

    Process = _Process
