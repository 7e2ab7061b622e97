"""Every route and event, asked by a stranger for what no page would: refused quietly, and nothing is left behind."""

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import gradio as gr
import httpx
import pytest
from gradio.routes import App

from tests.conftest import STRANGER, RunningApp
from tests.support.held_app import routes_of
from tests.support.paths import ROOT
from tests.support.raw_client import file_data

# Routes that are mounted beside Gradio's.
OWN_ROUTES = [
    ("GET", "/clips/{x}"),
    ("GET", "/reports/{x}"),
    ("GET", "/media/{x}/{x}/{x}"),
    ("GET", "/media/{x}/{x}/poster.jpg"),
    ("GET", "/media/{x}/{x}/frame-1-of-8.jpg"),
    ("GET", "/media/{x}/{x}/moment"),
    ("GET", "/api/galleries"),
    ("GET", "/api/systems"),
    ("GET", "/api/docs"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/search"),
    ("GET", "/api/{x}"),
    ("POST", "/api/search"),
    ("POST", "/api/galleries"),
    ("POST", "/api/{x}"),
]
# In place of a parameter of a path.
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
JSON_BODIES = (
    {"data": None, "session_hash": "x"},
    {"data": [], "fn_index": 10**9, "session_hash": "x"},
    {"data": [], "fn_index": -1, "session_hash": "x"},
    {"data": [[[["a"]]]], "fn_index": True, "session_hash": {"a": 1}},
    {"data": ["\ud800"], "event_data": "\ud800", "session_hash": "\ud800", "trigger_id": -1},
    {
        "data": [file_data("/etc/passwd")],
        "fn_name": "__init__",
        "component_id": 1,
        "session_hash": "x",
    },
    {"event_id": "x", "session_hash": "x", "fn_index": 0},
    {"query": "a dog", "systems": [None], "image": "data:image/png;base64,AAAA"},
    {"query": "a dog", "gallery": "/etc", "references": [{"clip": "../../etc/passwd"}]},
)
WRONG_JSON = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"{}",
    b"NaN",
    b"\xff\xfe",
    b"\0" * 1000,
    b"[" * 20_000,
    b'{"k": ' + b"9" * 5000 + b"}",
)
# Headers of the parts of forms.
PARTS = (
    b'form-data; name="files"',
    b'form-data; name="files"; filename=""',
    b'form-data; name="files"; filename=".."',
    b'form-data; name="files"; filename="../../../a\0b.png"',
    b'form-data; name="image"; filename="' + b"x" * 5000 + b'"',
    b"form-data",
    b"x" * 20_000,
)


class Body(NamedTuple):
    """What a request sends."""

    content: bytes | None
    content_type: str


class WrongRequest(NamedTuple):
    """A request that no page would send."""

    method: str
    path: str
    body: Body


NO_BODY = Body(None, "")
FORM = "multipart/form-data; boundary=B"
BODIES = [Body(content, "application/json") for content in WRONG_JSON]
for json_body in JSON_BODIES:
    BODIES.append(Body(json.dumps(json_body).encode(), "application/json"))
for part in PARTS:
    form = b"--B\r\nContent-Disposition: " + part + b"\r\n\r\nabc\r\n--B--\r\n"
    BODIES.append(Body(form, FORM))
BODIES.append(Body(b"--B", "multipart/form-data"))
BODIES.append(Body(b"--B", FORM))
BODIES.append(Body(b"\x80", ""))


@pytest.fixture
def visitor(running_app: RunningApp) -> Iterator[httpx.Client]:
    """A stranger's connection to the app, once it has answered everything before."""
    with httpx.Client(base_url=running_app.url, headers=STRANGER, timeout=30) as client:
        while client.get("api/health").status_code != 200:
            time.sleep(0.2)
        yield client


def all_routes() -> list[tuple[str, str]]:
    """Return method and path of each route, those of Gradio and our own."""
    with gr.Blocks() as page:
        pass
    return sorted({*routes_of(App.create_app(page)), *OWN_ROUTES})


def send(client: httpx.Client, request: WrongRequest) -> tuple[int, str]:
    """Send one request; return the status, and the text of the answer unless it is an endless stream."""
    content, content_type = request.body
    headers = {}
    if content_type:
        headers["content-type"] = content_type
    route = request.path.lstrip("/")
    with client.stream(request.method, route, content=content, headers=headers) as answer:
        is_event_stream = "event-stream" in answer.headers.get("content-type", "")
        if is_event_stream or route.startswith("gradio_api/heartbeat"):
            return answer.status_code, ""
        return answer.status_code, answer.read().decode(errors="replace")


def files_in(app: RunningApp) -> set[Path]:
    """List the data folder's files except for uploads; links, as to the shared cache, are not followed."""
    uploads = app.data / "uploads"
    return {path for path in app.data.rglob("*") if not path.is_relative_to(uploads)}


def tells_a_secret(text: str, app: RunningApp) -> bool:
    """Say whether a text has a traceback, the system's users, or a folder of this machine."""
    # Whoever uploads a file is told where it is.
    text = text.replace(f"{app.data}/uploads", "")
    folders = (app.data.parent, ROOT, sys.prefix, Path.home())
    secrets = ["Traceback", "root:x:", *map(str, folders)]
    return any(secret in text for secret in secrets)


def wrong_paths(route: str) -> list[str]:
    """Return a route with odd names for its parameters; the only path of a route without any."""
    if "{" not in route:
        return [route]
    return [re.sub(r"\{[^}]*\}", name, route) for name in NAMES]


def wrong_requests(routes: Sequence[tuple[str, str]]) -> Iterator[WrongRequest]:
    """Yield requests to each route: those that may have a body with odd ones, others also with a query."""
    for method, route in routes:
        paths = wrong_paths(route)
        if method in ("POST", "PUT", "PATCH", "DELETE"):
            for path, body in zip(cycle(paths), BODIES, strict=False):
                yield WrongRequest(method, path, body)
        else:
            for path in [*paths, f"{paths[0]}?{QUERY}"]:
                yield WrongRequest(method, path, NO_BODY)


@pytest.mark.slow
def test_no_route_fails_tells_a_path_or_leaves_a_file(
    running_app: RunningApp, visitor: httpx.Client
) -> None:
    routes = all_routes()
    assert len(routes) > 60
    assert ("POST", "/gradio_api/queue/join") in routes
    files_before = files_in(running_app)

    num_answers = 0
    num_closed_early = 0
    faults = []
    for request in wrong_requests(routes):
        try:
            status, text = send(visitor, request)
        # The app refused and closed before all of it was sent.
        except httpx.ReadError:
            num_closed_early += 1
            continue
        num_answers += 1
        if status >= 500 or tells_a_secret(text, running_app):
            faults.append(f"{str(request)[:250]}: {status} {text[:300]}")

    assert faults == []
    assert num_answers > 900
    assert num_closed_early < 10
    assert files_in(running_app) <= files_before


def test_a_trigger_named_by_a_stranger_changes_nothing_for_others(visitor: httpx.Client) -> None:
    # Gradio takes the named component's parent away, in all sessions' page.
    before = visitor.get("config").json()
    for component in before["components"][::4]:
        body = {"data": [], "trigger_id": component["id"], "session_hash": "x"}
        assert visitor.post("gradio_api/run/systems", json=body).status_code == 200

    after = visitor.get("config").json()
    for part in ("components", "layout", "dependencies"):
        assert after[part] == before[part], part
