"""Visitors of a public server against what it has: they change nothing."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from nt2vr.evaluation.jobs import READY_MARK
from tests.conftest import AGENT_FLAGS, STRANGER, RunningApp, run_app
from tests.support.app_calls import (
    TIMEOUT_S,
    add_library,
    send_until_accepted,
    start_training,
    wait_until,
)
from tests.support.held_app import BEGUN, PROGRAM, ROUTES
from tests.support.raw_client import RawClient, file_data, refusal

# These tests need an app of their own.
pytestmark = pytest.mark.slow

# Routes that take more than a GET: events, uploads of pictures, searches, and what Gradio has.
CHANGING_ROUTES = {
    "/api/match",
    "/api/search",
    "/login",
    "/gradio_api/api/{api_name}",
    "/gradio_api/call/{api_name}",
    "/gradio_api/call/v2/{api_name}",
    "/gradio_api/run/{api_name}",
    "/gradio_api/cancel",
    "/gradio_api/process_recording",
    "/gradio_api/queue/join",
    "/gradio_api/upload",
    "/gradio_api/component_server",
    "/gradio_api/reset",
    "/gradio_api/undo-vibe-edit",
    "/gradio_api/vibe-code",
    "/gradio_api/vibe-edit",
    "/gradio_api/vibe-starter-queries",
    "/gradio_api/stream/{event_id}",
    "/gradio_api/stream/{event_id}/close",
}
ANY_TYPE: list[Any] = [
    None,
    "",
    "\0",
    "../../etc/passwd",
    -1,
    True,
    [],
    {},
    [[["a"]]],
    {"path": "/etc/passwd"},
]
PASSWORDS = file_data("/etc/passwd")
# Values by type of component.
HOSTILE: dict[str, list[Any]] = {
    "textbox": [*ANY_TYPE, "a" * 100_000, ["a"], {"a": 1}],
    "number": [*ANY_TYPE, math.nan, math.inf, 1e308, "1"],
    "dropdown": [*ANY_TYPE, ["CLIP"] * 200, "/etc", [None]],
    "radio": [*ANY_TYPE, "uploads", "folder"],
    "checkbox": [*ANY_TYPE, "yes", 2],
    "file": [*ANY_TYPE, [PASSWORDS], "/etc/passwd"],
    "uploadbutton": [*ANY_TYPE, PASSWORDS],
    "image": [*ANY_TYPE, PASSWORDS, {"url": "file:///etc/passwd"}],
    "html": [*ANY_TYPE, {"id": "x", "first": [], "second": {}, "losses": 1}],
    "json": [*ANY_TYPE, ["CLIP"] * 200, {"a": [1]}],
}
# Calls of each event with hostile values.
ROUNDS = 5
EVENT_FIELDS = "name id link like what models run tag note query wanted".split()


@dataclass(frozen=True)
class VisitedServer:
    """A public server with a library, a run and a report of its owner, and jobs of the owner that go on."""

    app: RunningApp
    visitor: RawClient
    library: str
    run: str
    report: str

    def routes(self) -> list[tuple[str, str]]:
        """Return method and path of each route."""
        file = self.app.data.parent / ROUTES
        routes: list[tuple[str, str]] = json.loads(file.read_text())
        return routes


def files_in(app: RunningApp) -> dict[Path, tuple[int, int]]:
    """Return size and time of each file of the data folder, except for uploads and the shared cache."""
    files = {}
    for path in app.data.rglob("*"):
        if path.is_file() and not path.is_relative_to(app.data / "uploads"):
            state = path.stat()
            files[path] = (state.st_size, state.st_mtime_ns)
    return files


def first_report(client: RawClient, app: RunningApp) -> str:
    """Let the app evaluate, as it does when its tab is opened for the first time; return the report's id."""
    (app.data / "evaluation" / READY_MARK).unlink()
    client.send(("evaluate-opened", "change"))
    reports = app.data / "evaluation" / "reports"
    wait_until(lambda: any(reports.glob("[!.]*")))
    return next(reports.glob("[!.]*")).name


@pytest.fixture(scope="module")
def visited(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VisitedServer]:
    folder = tmp_path_factory.mktemp("visited")
    with run_app(folder, gallery_data / "cache", flags=AGENT_FLAGS, program=PROGRAM) as app:
        owner = RawClient(app.url, {})
        report = first_report(owner, app)
        library = add_library(owner, folder)
        run = start_training(owner)
        wait_until((app.data / f"{BEGUN}indexing").exists)
        send_until_accepted(owner, ("evaluate-start", "click"))
        wait_until((app.data / f"{BEGUN}evaluation").exists)
        visitor = RawClient(app.url, STRANGER)
        yield VisitedServer(app, visitor, library, run, report)


@dataclass(frozen=True)
class Call:
    """What one call of an event is sent with."""

    values: list[Any]
    event_data: Any = None


def call_about(name: str, page_values: list[Any], types: list[str]) -> Call:
    """Return a call with a name in each text that the page sends, and in each field of the event."""
    values = list(page_values)
    for position, component_type in enumerate(types):
        if component_type in ("textbox", "browserstate"):
            values[position] = name
    event_data: dict[str, Any] = dict.fromkeys(EVENT_FIELDS, name)
    event_data |= {"link": f"report={name}&query=1", "epoch": 1}
    return Call(values, event_data)


def hostile_call(number: int, types: list[str]) -> Call:
    """Return one of ROUNDS calls with hostile values, others in each round."""
    values = []
    for position, component_type in enumerate(types):
        hostile = HOSTILE.get(component_type, ANY_TYPE)
        values.append(hostile[(2 * number + position) % len(hostile)])
    return Call(values, ANY_TYPE[number])


def calls_of(visited: VisitedServer, dependency: dict[str, Any]) -> list[Call]:
    """Return calls of an event: with the page's own values, ids that the server has, and hostile ones."""
    types = [visited.visitor.components[number]["type"] for number in dependency["inputs"]]
    page_values = visited.visitor.values(dependency)

    calls = [Call(page_values)]
    for name in (visited.library, visited.run, visited.report, "CLIP"):
        calls.append(call_about(name, page_values, types))
    for number in range(ROUNDS):
        calls.append(hostile_call(number, types))
    return calls


def failed_calls(client: RawClient, dependency: dict[str, Any], calls: list[Call]) -> list[str]:
    """Send an event's calls in one session; describe those that failed with a traceback in the log."""
    session = f"visitor-{dependency['id']}"
    event_ids = []
    for call in calls:
        event_ids.append(client.join(dependency, call.values, call.event_data, session))

    failures = []
    for call, message in zip(calls, client.ends(session, event_ids), strict=True):
        if "log has the details" in refusal(message):
            failures.append(f"{dependency['api_name']} {str(call)[:300]}: failed")
    return failures


def test_no_event_of_a_visitor_changes_anything(visited: VisitedServer) -> None:
    faults = []
    before = files_in(visited.app)
    for dependency in visited.visitor.dependencies:
        calls = calls_of(visited, dependency)
        faults += failed_calls(visited.visitor, dependency, calls)

        after = files_in(visited.app)
        changed = before.items() ^ after.items()
        if changed:
            faults.append(f"{dependency['api_name']}: {changed}")
        before = after

    assert faults == []


def test_no_tool_of_agents_changes_anything(visited: VisitedServer) -> None:
    pytest.importorskip("mcp", reason="needs the MCP package, nt2vr[mcp]")
    before = files_in(visited.app)
    agent = visited.visitor
    tools = agent.call_as_agent("tools/list", {})["tools"]
    assert len(tools) >= 4

    for tool in tools:
        parameters = tool["inputSchema"].get("properties", {})
        for value in ("a dog", visited.library, visited.report, *ANY_TYPE):
            call = {"name": tool["name"], "arguments": dict.fromkeys(parameters, value)}
            agent.call_as_agent("tools/call", call)

    assert files_in(visited.app) == before


def test_every_route_that_may_change_something_is_known(visited: VisitedServer) -> None:
    changing = set()
    for method, path in visited.routes():
        if method not in ("GET", "HEAD", "OPTIONS"):
            changing.add(path.rstrip("/"))

    assert changing == CHANGING_ROUTES
    assert len(visited.routes()) > 100


def test_no_get_of_a_visitor_changes_anything(visited: VisitedServer) -> None:
    before = files_in(visited.app)
    with httpx.Client(base_url=visited.app.url, headers=STRANGER, timeout=TIMEOUT_S) as client:
        for method, path in visited.routes():
            if method not in ("GET", "HEAD"):
                continue
            for name in (visited.library, visited.report, "x"):
                named_path = re.sub(r"\{[^}]*\}", name, path)
                with client.stream(method, named_path.strip("/")):
                    pass

    assert files_in(visited.app) == before
