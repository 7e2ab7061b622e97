"""Time from `python app.py` to the first answered query: `python -m benchmarks.startup [--repeat 5] [--port N]`.

For comparison, the time to import torch, open_clip and gradio is measured in the same minute. A cold start has an
empty data folder (--data-dir), like the very first start; a warm start reuses the caches of the previous one.
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np
from gradio_client import Client

ROOT = Path(__file__).parent.parent
IMPORTS = "import torch, open_clip, gradio"
QUERY = "a man is singing and not playing the guitar"
SYSTEMS = ["CLIP", "CLIP boolean", "CLIP drop"]
K = 8
PATIENCE_S = 120


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def imports_s() -> float:
    """Return how long a new Python process takes for the imports alone."""
    start_s = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, check=True)
    return time.perf_counter() - start_s


@contextmanager
def app(port: int, data_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the app from the command line, and stop it at the end."""
    command = [sys.executable, "app.py", "--port", str(port), "--data-dir", str(data_dir)]
    with (data_dir / "app.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)


def wait_for_page(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the page is served.

    Raises:
        RuntimeError: if the app exits or does not respond within PATIENCE_S.
    """
    deadline_s = time.perf_counter() + PATIENCE_S
    while process.poll() is None and time.perf_counter() < deadline_s:
        try:
            with urlopen(url, timeout=PATIENCE_S):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"The app is not up at {url} (exit code {process.poll()}).")


def start_s(port: int, data_dir: Path) -> tuple[float, float]:
    """Return the seconds until the page is served, and until the first query is answered."""
    url = f"http://127.0.0.1:{port}/"
    begin_s = time.perf_counter()
    with app(port, data_dir) as process:
        wait_for_page(url, process)
        page_s = time.perf_counter() - begin_s
        client = Client(url, verbose=False)
        answer = client.predict(QUERY, SYSTEMS, K, None, api_name="/search")
        answered_s = time.perf_counter() - begin_s
        hits = [len(system["hits"]) for system in answer["systems"]]
        if hits != [K] * len(SYSTEMS):
            raise RuntimeError(f"The first answer is incomplete: {hits} hits.")
        client.close()
    return page_s, answered_s


def main() -> None:
    """Measure in turn, to spread other load on the machine evenly, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--port", type=int, help="default: a free one each time")
    flags = parser.parse_args()
    rows: list[tuple[float, ...]] = []
    for _ in range(flags.repeat):
        with TemporaryDirectory() as folder:
            cold, warm = (start_s(flags.port or free_port(), Path(folder)) for _ in ("cold", "warm"))
        rows.append((imports_s(), *warm, *cold))
    imports, warm_page, warm_answer, cold_page, cold_answer = np.median(rows, axis=0)
    sys.stdout.write(
        f"| from `python app.py`, median of {flags.repeat} | page is up, s "
        "| first query answered, s | compared with the imports |\n|:--|--:|--:|--:|\n"
        f"| importing torch, open_clip and gradio alone | | {imports:.1f} | |\n"
        f"| warm cache | {warm_page:.1f} | {warm_answer:.1f} | {warm_answer / imports:.2f} times |\n"
        f"| very first start | {cold_page:.1f} | {cold_answer:.1f} | {cold_answer - imports:+.1f} s |\n"
    )


if __name__ == "__main__":
    main()
