"""Scripts and notebooks without a `__main__` guard."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.paths import ROOT

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


def test_a_script_without_a_main_guard_decodes_and_runs_once(write_video: Callable[..., Path], tmp_path: Path) -> None:
    video, script = write_video("grey.avi", [0, 100, 200]), tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(ROOT), str(video)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["the script runs", "(2, 32, 32, 3)"], done.stderr
