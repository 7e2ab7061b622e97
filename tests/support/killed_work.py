"""Work that is killed in a child process; imported there, so it needs little."""

import os
import signal
import time
from pathlib import Path
from typing import Any


def import_half(origin: Any, hidden: Path, *_: Any) -> None:
    """Begin to write an imported model, and die."""
    (hidden / "model").mkdir(parents=True)
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_on(*_: Any) -> None:
    """Take longer than any test."""
    time.sleep(100)
