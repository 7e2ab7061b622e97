"""`GET /metrics`: figures for Prometheus, for the owner.

It needs the extra `nt2vr[metrics]`, without which nothing is timed.
"""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.library.galleries import Galleries
from nt2vr.ui.web.permissions import Permissions

# First parts of paths; anything else is "page".
AREAS = ("api", "gradio_api", "clips", "media", "reports", "assets", "docs")
REFUSED = (
    "Only the owner may read the figures here. Send the token from the app's data folder as a "
    "bearer token."
)
NEEDED = "The figures need a package. Install it: pip install 'nt2vr[metrics]'."
LATENCIES_S = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)


class Metrics:
    """The figures of one app, in a registry of their own."""

    def __init__(
        self, galleries: Galleries, permissions: Permissions, waiting: Callable[[], int]
    ) -> None:
        """Prepare the figures; `waiting` returns how many events wait in Gradio's queue."""
        self._permissions = permissions
        self._galleries = galleries
        try:
            self._package: Any = import_module("prometheus_client")
        except ImportError:
            self._package = None
            return

        self.registry = self._package.CollectorRegistry()
        self._add_gauge("models_loaded", "models in memory", lambda: len(galleries.live.loaded))
        self._add_gauge("index_clips", "clips that can be searched now", lambda: self._total(len))
        self._add_gauge(
            "index_bytes", "size of their embeddings", lambda: self._total(lambda rows: rows.nbytes)
        )
        self._add_gauge("queue", "events that wait to be answered", waiting)
        self.seconds = self._package.Histogram(
            "nt2vr_request_seconds",
            "requests",
            ["area", "status"],
            buckets=LATENCIES_S,
            registry=self.registry,
        )

    def _add_gauge(self, name: str, meaning: str, value: Callable[[], int]) -> None:
        gauge = self._package.Gauge(f"nt2vr_{name}", meaning, registry=self.registry)
        gauge.set_function(value)

    def _total(self, measure: Callable[[Any], int]) -> int:
        """Sum up a measure of the embeddings of all opened galleries, each once."""
        opened = {}
        for model in self._galleries.live.loaded:
            for gallery in model.galleries.values():
                opened[id(gallery)] = gallery
        return sum(measure(gallery.embeddings) for gallery in opened.values())

    def answer(self, request: Request) -> Response:
        """Answer the owner; on this machine alone, everyone is."""
        if not self._permissions.may("metrics", request):
            return PlainTextResponse(REFUSED, 403)
        if self._package is None:
            return PlainTextResponse(NEEDED, 501)
        return Response(
            self._package.generate_latest(self.registry),
            media_type=self._package.CONTENT_TYPE_LATEST,
        )

    def measured(self, app: ASGIApp) -> ASGIApp:
        """Return an app whose requests are timed until the end of the answer."""
        if not self._package:
            return app

        async def timed(scope: Scope, receive: Receive, send: Send) -> None:
            started = time.perf_counter()
            status = "500"

            async def send_and_note_status(message: Message) -> None:
                nonlocal status
                status = str(message.get("status", status))
                await send(message)

            try:
                await app(scope, receive, send_and_note_status)
            finally:
                if scope["type"] == "http":
                    elapsed_s = time.perf_counter() - started
                    self.seconds.labels(_area_of(scope["path"]), status).observe(elapsed_s)

        return timed


def _area_of(path: str) -> str:
    first = path.removeprefix("/").partition("/")[0]
    return first if first in AREAS else "page"
