"""Every route and event, asked by a stranger for what no page would: refused quietly, and nothing is left behind."""

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio.routes import App

from tests.conftest import STRANGER, RunningApp
from tests.support.paths import ROOT

# Routes that are mounted beside Gradio's.
OWN_ROUTES = [
    *(
        ("GET", path)
        for path in (
            "/clips/{x}",
            "/reports/{x}",
            "/media/{x}/{x}/{x}",
            "/media/{x}/{x}/poster.jpg",
        )
    ),
    *(("GET", path) for path in ("/media/{x}/{x}/frame-1-of-8.jpg", "/media/{x}/{x}/moment")),
    *(
        ("GET", f"/api/{name}")
        for name in ("galleries", "systems", "docs", "openapi.json", "search", "{x}")
    ),
    *(("POST", f"/api/{name}") for name in ("search", "galleries", "{x}")),
]
NAMES = (
    "nope",
    "search",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    "%00",
    "%ff%fe",
    "a" * 300,
    "-1",
    "1e999",
)
QUERY = "session_hash=x&upload_id=x&deep_link=..%2f..%2fx&page=2&component_id=-1&fn_index=a&event_id=%00&ext=x"
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
JSON_BODIES = [
    *(b"", b"{", b"null", b"[]", b"{}", b"NaN", b"\xff\xfe"),
    *(b"\0" * 1000, b"[" * 20_000, b'{"k": ' + b"9" * 5000 + b"}"),
    *(
        json.dumps(body).encode()
        for body in (
            {"data": None, "session_hash": "x"},
            {"data": [], "fn_index": 10**9, "session_hash": "x"},
            {"data": [], "fn_index": -1, "session_hash": "x"},
            {"data": [[[["a"]]]], "fn_index": True, "session_hash": {"a": 1}},
            {
                "data": ["\ud800"],
                "event_data": "\ud800",
                "session_hash": "\ud800",
                "trigger_id": -1,
            },
            {"data": [FILE], "fn_name": "__init__", "component_id": 1, "session_hash": "x"},
            {"event_id": "x", "session_hash": "x", "fn_index": 0},
            {"query": "a dog", "systems": [None], "image": "data:image/png;base64,AAAA"},
            {"query": "a dog", "gallery": "/etc", "references": [{"clip": "../../etc/passwd"}]},
        )
    ),
]
# Parts of forms.
PARTS = [
    b'form-data; name="files"',
    b'form-data; name="files"; filename=""',
    b'form-data; name="files"; filename=".."',
    b'form-data; name="files"; filename="../../../a\0b.png"',
    b'form-data; name="image"; filename="' + b"x" * 5000 + b'"',
    b"form-data",
    b"x" * 20_000,
]
BODIES = [("application/json", body) for body in JSON_BODIES]
BODIES += [
    (
        "multipart/form-data; boundary=B",
        b"--B\r\nContent-Disposition: " + part + b"\r\n\r\nabc\r\n--B--\r\n",
    )
    for part in PARTS
]
BODIES += [
    ("multipart/form-data", b"--B"),
    ("multipart/form-data; boundary=B", b"--B"),
    ("", b"\x80"),
]


@pytest.fixture
def stranger(running_app: RunningApp) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running_app.url, headers=STRANGER, timeout=30) as client:
        while client.get("api/health").status_code != 200:
            time.sleep(0.2)
        yield client


def routes_of(router: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """List the methods and paths of a router, with those of the routers in it."""
    for route in router.routes:
        if inner := getattr(route, "original_router", None):
            yield from routes_of(inner, prefix + route.include_context.prefix)
        elif path := getattr(route, "path", None):
            yield from ((method, prefix + path) for method in getattr(route, "methods", None) or ())


def all_routes() -> list[tuple[str, str]]:
    with gr.Blocks() as page:
        pass
    return sorted({*routes_of(App.create_app(page)), *OWN_ROUTES})


def asked(
    client: httpx.Client, method: str, path: str, kind: str = "", body: bytes | None = None
) -> tuple[int, str]:
    """Send one request; return the status and the start of the answer, of a stream nothing."""
    headers = {"content-type": kind} if kind else {}
    with client.stream(method, path.lstrip("/"), content=body, headers=headers) as answer:
        if "event-stream" in answer.headers.get("content-type", "") or path.startswith(
            "/gradio_api/heartbeat"
        ):
            return answer.status_code, ""
        return answer.status_code, answer.read().decode(errors="replace")


def files_in(app: RunningApp) -> set[Path]:
    """List the files of the data folder, but uploads; links, as to the shared cache, are not followed."""
    return {path for path in app.data.rglob("*") if not path.is_relative_to(app.data / "uploads")}


def leaks(text: str, app: RunningApp) -> list[str]:
    """List the folders of the machine that a text names; that of uploads is told to whoever uploads."""
    text = text.replace(f"{app.data}/uploads", "")
    return [
        folder
        for folder in (str(app.data.parent), str(ROOT), sys.prefix, str(Path.home()))
        if folder in text
    ]


def requests(routes: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str, bytes | None]]:
    for method, path in routes:
        names = NAMES if "{" in path else NAMES[:1]
        filled = [re.sub(r"\{[^}]*\}", lambda _, name=name: name, path) for name in names]  # type: ignore[misc]
        if method in ("POST", "PUT", "PATCH", "DELETE"):
            yield from (
                (method, filled[number % len(names)], *body) for number, body in enumerate(BODIES)
            )
        else:
            yield from ((method, place, "", None) for place in filled)
            yield method, f"{filled[0]}?{QUERY}", "", None


@pytest.mark.slow
def test_no_route_fails_tells_a_path_or_leaves_a_file(
    running_app: RunningApp, stranger: httpx.Client
) -> None:
    routes = all_routes()
    assert len(routes) > 60 and ("POST", "/gradio_api/queue/join") in routes
    before = files_in(running_app)
    count = 0
    resets = 0
    faults = []
    for method, path, kind, body in requests(routes):
        try:
            status, text = asked(stranger, method, path, kind, body)
        # The app refused and closed before all of it was sent.
        except httpx.ReadError:
            resets += 1
            continue
        if status >= 500 or leaks(text, running_app) or "Traceback" in text or "root:x:" in text:
            faults.append(
                f"{method} {path[:99]} {kind} {(body or b'')[:80]!r}: {status} {text[:300]}"
            )
        count += 1
    assert faults == [] and count > 900 and resets < 10
    assert files_in(running_app) <= before


def test_a_trigger_named_by_a_stranger_changes_nothing_for_others(
    running_app: RunningApp, stranger: httpx.Client
) -> None:
    # Gradio takes the named component's parent away, in all sessions' page.
    before = stranger.get("config").json()
    for component in before["components"][::4]:
        body = {"data": [], "trigger_id": component["id"], "session_hash": "x"}
        assert stranger.post("gradio_api/run/systems", json=body).status_code == 200
    after = stranger.get("config").json()
    assert [
        name for name in ("components", "layout", "dependencies") if after[name] != before[name]
    ] == []
