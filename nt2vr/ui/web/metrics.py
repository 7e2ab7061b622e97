"""`GET /metrics`: figures for Prometheus, for the owner. It needs the extra `nt2vr[metrics]`, or nothing is timed."""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.library.galleries import Galleries
from nt2vr.ui.web.permissions import Permissions

# first parts of paths; anything else is "page"
AREAS = ("api", "gradio_api", "clips", "media", "reports", "assets", "docs")
REFUSED = "Only the owner may read the figures here. Send the token from the app's data folder as a bearer token."
NEEDED = "The figures need a package. Install it: pip install 'nt2vr[metrics]'."
LATENCIES_S = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)


class Metrics:
    """The figures of one app, in a registry of their own; `waiting` returns how many events wait in Gradio's queue."""

    def __init__(
        self, galleries: Galleries, permissions: Permissions, waiting: Callable[[], int]
    ) -> None:
        self._permissions = permissions
        try:
            self._package: Any = import_module("prometheus_client")
        except ImportError:
            self._package = None
            return

        def total(measure: Callable[[Any], int]) -> int:
            views = {
                id(view): view for model in galleries.live.loaded for view in model.views.values()
            }
            return sum(measure(view.embeddings) for view in views.values())

        self.registry = self._package.CollectorRegistry()
        for name, meaning, value in (
            ("models_loaded", "models in memory", lambda: len(galleries.live.loaded)),
            ("index_clips", "clips that can be searched now", lambda: total(len)),
            ("index_bytes", "size of their embeddings", lambda: total(lambda rows: rows.nbytes)),
            ("queue", "events that wait to be answered", waiting),
        ):
            self._package.Gauge(f"nt2vr_{name}", meaning, registry=self.registry).set_function(
                value
            )
        about = ("nt2vr_request_seconds", "requests", ["area", "status"])
        self.seconds = self._package.Histogram(*about, buckets=LATENCIES_S, registry=self.registry)

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

        async def timed(scope: Scope, receive: Receive, send: Send) -> None:
            began, status = time.perf_counter(), "500"

            async def noting(message: Message) -> None:
                nonlocal status
                status = str(message.get("status", status))
                await send(message)

            try:
                await app(scope, receive, noting)
            finally:
                if scope["type"] == "http":
                    area = scope["path"].removeprefix("/").partition("/")[0]
                    self.seconds.labels(area if area in AREAS else "page", status).observe(
                        time.perf_counter() - began
                    )

        return timed if self._package else app
