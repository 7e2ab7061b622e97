"""Child processes that end with their parent, and do not re-import its main script, which may lack a guard."""

import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Lock, Thread
from types import ModuleType
from typing import Any

from nt2vr.errors import causes
from nt2vr.progress import Progress

# In torch's RuntimeError, in the same one cut off because its text found no memory either, and in
# mmap's.
OUT_OF_MEMORY = re.compile(r"can't allocate memory|\[enforce fail a\Z|Cannot allocate memory")

# For a child to end once it has sent its result.
EXIT_S = 2.0
# Between two reports of one state.
STILL_S = 0.5
# For a training to save what it has, once the command that started it is gone.
SAVE_S = 60.0
# Held while another main module stands in for the real one.
_starting = Lock()


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with _starting:
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = main

    def run(self) -> None:
        _end_with_parent()
        super().run()


def _end_with_parent() -> None:
    """End this child once its parent has ended, in whatever way.

    It has a pipe or handle of its parent on all systems.

    Linux's PR_SET_PDEATHSIG would not do: it ends a child with the thread that started it.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, name="end with parent", daemon=True).start()


def stop_at_end_of_input() -> None:
    """Ask this process to stop once its standard input, a pipe that its parent holds open, has ended."""

    def wait() -> None:
        # Not `sys.stdin.read`, whose lock would be held as this process ends.
        with suppress(OSError):
            while os.read(0, 1 << 10):
                pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SAVE_S)
        os._exit(1)

    Thread(target=wait, name="stop at end of input", daemon=True).start()


class WithoutMain(SpawnContext):
    """The `spawn` start method, for functions of importable modules only."""

    Process = _Process


def run_limited(
    function: Callable[..., Any],
    *args: Any,
    memory_bytes: int,
    timeout_s: float,
    progress: Progress,
) -> Any:
    """Return `function(*args, progress)`, run in a child of limited memory and time; its exceptions are raised here.

    Raises:
        MemoryError: also if the process dies.
        TimeoutError: if it takes longer.
    """
    context = WithoutMain()
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_serve, args=(sender, function, args, memory_bytes), daemon=True)
    deadline_s = time.monotonic() + timeout_s
    state = (0, 0, "starting")
    try:
        child.start()
        sender.close()
        while (remaining_s := deadline_s - time.monotonic()) > 0:
            if not receiver.poll(min(remaining_s, STILL_S)):
                # It raises if a person cancels a step that takes long.
                progress(*state)
                continue
            kind, content = receiver.recv()
            if kind == "result":
                # A child that is killed leaves its semaphores, of which Python complains.
                child.join(EXIT_S)
                return content
            if kind == "error":
                raise content
            state = content
            progress(*state)
        raise TimeoutError
    except EOFError:
        raise MemoryError from None
    finally:
        child.kill()
        child.join()
        receiver.close()


def _serve(
    sender: Connection, function: Callable[..., Any], args: tuple[Any, ...], memory_bytes: int
) -> None:
    def report(*state: Any) -> None:
        sender.send(("progress", state))

    limit_memory(memory_bytes)
    try:
        answer = function(*args, report)
        sender.send(("result", answer))
    except Exception as error:
        for cause in causes(error):
            if isinstance(cause, MemoryError) or OUT_OF_MEMORY.search(str(cause)):
                sender.send(("error", MemoryError()))
                return
        sender.send(("error", error))


def limit_memory(num_bytes: int) -> None:
    """Refuse this process more memory: what needs more fails, and the machine does not swap."""
    # Windows has no such limits.
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_DATA, (num_bytes, num_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
