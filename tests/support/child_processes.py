"""The children of a process, and whether they have ended. Only on Linux."""

import time
from collections.abc import Collection
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """Return the children of all of a process's threads."""
    children: list[str] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children += (task / "children").read_text().split()
    return list(map(int, children))


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    # The state follows the name, which may contain anything; Z has ended.
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until_ended(pids: Collection[int], timeout_s: float) -> list[int]:
    """Wait for processes to end, and return those that are still running after so long."""
    deadline = time.monotonic() + timeout_s
    while True:
        running = [pid for pid in pids if is_running(pid)]
        if not running or time.monotonic() > deadline:
            return running
        time.sleep(0.05)
