"""Children: of scripts and notebooks without a `__main__` guard, and of processes that are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.child_processes import children_of, wait_until_ended
from tests.support.paths import ROOT

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from nt2vr.media.decode import Decoder
from nt2vr.models.framing import Framing

print("the script runs")
with Decoder() as decoder:
    print(decoder.frames(Path(sys.argv[2]), 2, Framing(32)).result().shape)
"""


@pytest.mark.slow
def test_a_script_without_a_main_guard_decodes_and_runs_once(
    write_video: Callable[..., Path], tmp_path: Path
) -> None:
    video = write_video("grey.avi", [0, 100, 200])
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(ROOT), str(video)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["the script runs", "(2, 32, 32, 3)"], done.stderr


# Each starts children that would go on for a minute or longer, and prints that they are there.
TRIAL = """
import threading, time
from nt2vr.models.spawn import run_limited
from nt2vr.progress import silent
from tests.support.killed_work import sleep_on

limits = {"memory_bytes": 1 << 32, "timeout_s": 100, "progress": silent}
threading.Thread(target=lambda: run_limited(sleep_on, **limits), daemon=True).start()
time.sleep(1)
print("there", flush=True)
time.sleep(60)
"""
RENDERING = """
import time
from concurrent.futures import ProcessPoolExecutor
from nt2vr.models.spawn import WithoutMain

pool = ProcessPoolExecutor(2, WithoutMain())
first = [pool.submit(time.sleep, 0.1) for _ in range(2)]
[future.result() for future in first]
pool.submit(time.sleep, 60)
print("there", flush=True)
time.sleep(60)
"""
TRAINING = """
import os, sys, time
from pathlib import Path
from nt2vr.presets import PRESETS
from trainer.config import load_config, save_config
from trainer.runs.manager import start_process
from trainer.runs.run_folder import RunFolder

folder = RunFolder(Path(sys.argv[1]) / "run")
folder.path.mkdir()
save_config(load_config(PRESETS / "clip-neg.json"), folder.config)
process = start_process(folder, dict(os.environ), outlives=sys.argv[2] == "outlives")
print("there", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("script", "outlives"),
    [(TRIAL, False), (RENDERING, False), (TRAINING, False), (TRAINING, True)],
    ids=["the trial of a model", "rendering", "a training of a command", "a training of the page"],
)
def test_children_of_a_killed_process_end_but_not_trainings(
    tmp_path: Path, script: str, outlives: bool
) -> None:
    command = [sys.executable, "-c", script, str(tmp_path), "outlives" if outlives else "ends"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "there\n"
        children = children_of(parent.pid)
        assert children
        parent.kill()
    running = wait_until_ended(children, timeout_s=5 if outlives else 30)
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert bool(running) == outlives
