"""The app, whose jobs go on until they are cancelled, which leaves a file; it lists its routes, too.

Run as `python -m tests.support.held_app --data-dir DATA [further options of nt2vr serve]`.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gradio as gr

from nt2vr.cli import main
from nt2vr.progress import Progress, silent

# What `run_app` starts in place of app.py.
PROGRAM = ("-m", "tests.support.held_app")
# A file beside the data folder: [method, path] of each route.
ROUTES = "routes.json"
# Files in the data folder say which kind of job has begun, and which was cancelled.
BEGUN = "begun-"
CANCELLED = "cancelled-"


class HeldJobs:
    """Work that ends once it is cancelled."""

    def __init__(self, data: Path) -> None:
        self._data = data
        # The id of the run that was started last.
        self._run = ""

    def mark(self, beginning: str, kind: str) -> None:
        (self._data / f"{beginning}{kind}").touch()

    def hold(self, kind: str, progress: Progress) -> Any:
        self.mark(BEGUN, kind)
        try:
            while True:
                progress(1, 2, "going on")
                time.sleep(0.02)
        except InterruptedError:
            self.mark(CANCELLED, kind)
            raise

    def evaluate(self, evaluations: Any, data: Any, systems: Any, progress: Progress) -> Any:
        return self.hold("evaluation", progress)

    def update(self, *args: Any, **options: Any) -> Any:
        (progress,) = (value for value in (*args, *options.values()) if callable(value))
        return self.hold("indexing", progress)

    def add(
        self, models: Any, source: Any, options: Any, progress: Progress = silent, *more: Any
    ) -> Any:
        return self.hold("download", progress)

    def launch(self, run: Any, *args: Any, **options: Any) -> None:
        self._run = run.path.name
        self.mark(BEGUN, "training")

    def under_way(self, runs: Any) -> str:
        return self._run

    def stop(self, runs: Any, run_id: str, at_once: bool = False) -> None:
        self.mark(CANCELLED, "training")


def routes_of(router: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """List the methods and paths of a router, with those of the routers and apps in it."""
    for route in router.routes:
        path = prefix + getattr(route, "path", "")
        inner_router = getattr(route, "original_router", None)
        if inner_router:
            yield from routes_of(inner_router, prefix + route.include_context.prefix)
        elif getattr(route, "routes", None):
            yield from routes_of(route, path)
        else:
            methods = getattr(route, "methods", None)
            if not methods:
                # Mounted files have no methods of their own.
                methods = ("GET",)
            for method in methods:
                yield method, path


def listing_routes(block: Callable[..., None], file: Path) -> Callable[..., None]:
    """Return `block_thread` of a page, which writes the page's routes to a file first."""

    def block_thread(page: gr.Blocks) -> None:
        routes = sorted(set(routes_of(page.app)))
        file.write_text(json.dumps(routes), encoding="utf-8")
        block(page)

    return block_thread


def hold_jobs(data: Path) -> None:
    jobs = HeldJobs(data)
    patched: dict[str, Callable[..., Any]] = {
        "nt2vr.evaluation.jobs.Evaluations.evaluate": jobs.evaluate,
        "nt2vr.evaluation.jobs.Evaluations.evaluate_model": jobs.evaluate,
        "nt2vr.models.catalog.Catalog.add": jobs.add,
        "nt2vr.ui.library.indexing.update_library": jobs.update,
        "trainer.runs.manager._launch": jobs.launch,
        "trainer.runs.manager.RunManager.under_way": jobs.under_way,
        "trainer.runs.manager.RunManager.stop": jobs.stop,
    }
    for name, work in patched.items():
        # A plain function, which gets its object when it is a method.
        patch(name, lambda *args, work=work, **options: work(*args, **options)).start()


if __name__ == "__main__":
    data_folder = Path(sys.argv[sys.argv.index("--data-dir") + 1])
    hold_jobs(data_folder)
    gr.Blocks.block_thread = listing_routes(gr.Blocks.block_thread, data_folder.parent / ROUTES)  # type: ignore[method-assign]
    sys.exit(main(["serve", *sys.argv[1:]]))
