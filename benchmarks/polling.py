"""CPU cost of open Train tabs during a run: `python -m benchmarks.polling [--tabs 5] [--seconds 30]`.

Pages in headless Chromium watch a training of the built-in model; only the app's own CPU time is counted.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gradio_client import Client
from playwright.sync_api import sync_playwright

from benchmarks.harness import arguments, running_app, write_head, write_row
from trainer.config import TrainConfig
from trainer.runs.manager import RunManager

CONFIG = TrainConfig(
    name="Watched", num_clips=300, passes=20, num_frames=1, validation_clips=8, batch_size=2, epochs=1, log_every=20
)
POLL = "/gradio_api/run/predict"  # endpoint of events outside the queue
FLAGS = ["--no-sandbox", "--disable-gpu"]
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Return the CPU time used by a process, over all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S  # utime, stime


def share(pid: int, seconds: float, wait_ms: Callable[[float], None]) -> float:
    """Return the share of one core used by a process for some time."""
    before, start_s = cpu_s(pid), time.perf_counter()
    wait_ms(1000 * seconds)
    return (cpu_s(pid) - before) / (time.perf_counter() - start_s)


def main() -> None:
    """Start app and training, open the tabs, and print the table."""
    parser = arguments("polling", __doc__)
    parser.add_argument("--tabs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30.0)
    flags = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    manager = RunManager(folder / "runs")
    with running_app(folder) as app, sync_playwright() as playwright:
        client = Client(app.url, verbose=False)
        client.predict("a dog, no cat", ["CLIP"], 8, None, api_name="/search")  # warm
        client.close()
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        run_id = manager.start(CONFIG)
        while manager.get(run_id).status.state == "preparing":
            time.sleep(0.1)
        alone = share(app.process.pid, flags.seconds / 2, lambda ms: time.sleep(ms / 1000))
        polls: list[str] = []
        pages = [browser.new_context().new_page() for _ in range(flags.tabs)]
        for page in pages:
            page.on("response", lambda response: polls.append(response.url) if POLL in response.url else None)
            page.goto(app.url)
            page.get_by_role("tab", name="Train").click()
            page.locator(".nt-line").first.wait_for()
        pages[0].wait_for_timeout(5_000)
        polls.clear()
        watched = share(app.process.pid, flags.seconds, pages[0].wait_for_timeout)
        rate = len(polls) / flags.seconds
        manager.stop(run_id, at_once=True)
        browser.close()
    shutil.rmtree(folder)
    write_head("the app during a run", "responses per second", "share of one core")
    write_row("no page open", 0, f"{alone:.1%}")
    write_row(f"{flags.tabs} Train tabs open", f"{rate:.1f}", f"{watched:.1%}")


if __name__ == "__main__":
    main()
