"""Time from `python app.py` to the first answered query, and memory of six models: `python -m benchmarks.startup`.

For comparison, the time to import torch, open_clip and gradio is measured in the same minute. A
first start fills the caches of the data folder. Six models are loaded in a separate process
(Linux).
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from gradio_client import Client

from benchmarks.harness import arguments, running_app, timed, write_head, write_row
from nt2vr.settings import PACKAGE

IMPORTS = "import torch, open_clip, gradio"
SIX = """
import time
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.settings import ASSETS

def memory_mb():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) / 1e3

folders = sorted((ASSETS / "models").iterdir())
read_checkpoint(folders[0]).encode_text(["a dog"])  # imports the libraries
before, start_s = memory_mb(), time.perf_counter()
models = [read_checkpoint(folder, verify=True) for folder in folders]
print(time.perf_counter() - start_s, memory_mb() - before)
"""
QUERY = "a man is singing and not playing the guitar"
SYSTEMS = ["CLIP", "CLIP boolean", "CLIP drop"]
K = 8


def imports_s() -> float:
    """Return how long a new Python process takes for the imports alone."""
    command = [sys.executable, "-c", IMPORTS]
    seconds, _ = timed(lambda: subprocess.run(command, cwd=PACKAGE.parent, check=True))
    return seconds


def six_models() -> list[float]:
    """Return the seconds that loading all built-in models takes, and the MB of memory that they need then."""
    command = [sys.executable, "-c", SIX]
    answer = subprocess.run(
        command, cwd=PACKAGE.parent, check=True, capture_output=True, text=True
    ).stdout
    return [float(number) for number in answer.split()]


def start_s(data_dir: Path) -> tuple[float, float]:
    """Return the seconds until the page is served, and until the first query is answered."""
    begin_s = time.perf_counter()
    with running_app(data_dir) as app:
        page_s = time.perf_counter() - begin_s
        client = Client(app.url, verbose=False)
        answer = client.predict(QUERY, SYSTEMS, K, None, api_name="/search")
        answered_s = time.perf_counter() - begin_s
        hits = [len(system["hits"]) for system in answer["systems"]]
        if hits != [K] * len(SYSTEMS):
            raise RuntimeError(f"The first answer is incomplete: {hits} hits.")
        client.close()
    return page_s, answered_s


def main() -> None:
    """Measure in turn, to spread other load on the machine evenly, and print the medians."""
    parser = arguments("startup", __doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    with TemporaryDirectory() as folder:
        start_s(Path(folder))
        rows = []
        for _ in range(repeat):
            rows.append((imports_s(), *start_s(Path(folder)), *six_models()))
    imported_s, page_s, answered_s, loaded_s, memory_mb = np.median(rows, axis=0)
    name = f"from `python app.py`, median of {repeat}"
    factor = f"{answered_s / imported_s:.2f} times"
    write_head(name, "page is up, s", "first query answered, s", "compared with the imports")
    write_row("importing torch, open_clip and gradio alone", "", f"{imported_s:.1f}", "")
    write_row("warm cache", f"{page_s:.1f}", f"{answered_s:.1f}", factor)
    write_head("the six built-in models in one process", "loaded in s", "memory MB")
    write_row("", f"{loaded_s:.2f}", f"{memory_mb:.0f}")


if __name__ == "__main__":
    main()
