"""Figures for Prometheus: who may read them, what they count, and what is said without the package."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from nt2vr.ui.web.metrics import NEEDED, REFUSED, Metrics
from nt2vr.ui.web.permissions import Permissions

TOKEN = {"authorization": "Bearer secret-token"}


def client() -> TestClient:
    gallery = SimpleNamespace(embeddings=np.zeros((5, 4), np.float32))
    # Two models share it.
    model = SimpleNamespace(galleries={"": gallery})
    galleries: Any = SimpleNamespace(live=SimpleNamespace(loaded=[model, model]))
    metrics = Metrics(galleries, Permissions("secret-token"), lambda: 3)

    def fail(_: Request) -> PlainTextResponse:
        raise RuntimeError

    routes = [
        Route("/api/health", lambda _: PlainTextResponse("yes")),
        Route("/api/broken", fail),
        Route("/metrics", metrics.answer),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(metrics.measured)])
    return TestClient(app, raise_server_exceptions=False)


def test_the_owner_reads_what_was_counted() -> None:
    pytest.importorskip(
        "prometheus_client", reason="prometheus_client is not installed: pip install '.[metrics]'"
    )
    browser = client()
    for path in ("/api/health", "/api/health", "/api/nothing", "/api/broken"):
        browser.get(path)
    for path in ("/<b>/1", "/2/3", "/"):
        browser.get(path)
    answer = browser.get("/metrics", headers=TOKEN)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    lines = dict(
        line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
    )
    counts = {
        name[len("nt2vr_request_seconds_count") :]: value
        for name, value in lines.items()
        if "_count{" in name
    }
    assert counts == {
        '{area="api",status="200"}': "2.0",
        '{area="api",status="404"}': "1.0",
        '{area="api",status="500"}': "1.0",
        '{area="page",status="404"}': "3.0",
    }
    gauges = ("models_loaded", "index_clips", "index_bytes", "queue")
    assert [lines[f"nt2vr_{name}"] for name in gauges] == ["2.0", "5.0", "80.0", "3.0"]


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer other"}, {"x-forwarded-for": "127.0.0.1"}]
)
def test_nobody_else_does(headers: dict[str, str]) -> None:
    answer = client().get("/metrics", headers=headers)
    assert (answer.status_code, answer.text) == (403, REFUSED)


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    answer = client().get("/metrics", headers=TOKEN)
    assert (answer.status_code, answer.text) == (501, NEEDED)
    assert client().get("/api/health").text == "yes"
