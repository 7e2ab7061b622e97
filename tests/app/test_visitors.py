"""Visitors of a public server against what it has: they change nothing, and stop no job of anybody else."""

import json
import math
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from nt2vr.evaluation.jobs import READY_MARK
from tests.app.test_add_model import ADD
from tests.app.test_add_model import values_of as values_of_box
from tests.app.test_permissions import META
from tests.conftest import AGENT_FLAGS, STRANGER, RunningApp, run_app
from tests.support.held_app import BEGUN, CANCELLED, ROUTES
from tests.support.raw_client import Event, RawClient, refusal

# These tests need two apps of their own.
pytestmark = pytest.mark.slow

HELD_APP = ("-m", "tests.support.held_app")
WAIT_S = 60.0
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
# Values by type of component.
HOSTILE: dict[str, list[Any]] = {
    "textbox": [*ANY_TYPE, "a" * 100_000, ["a"], {"a": 1}],
    "number": [*ANY_TYPE, math.nan, math.inf, 1e308, "1"],
    "dropdown": [*ANY_TYPE, ["CLIP"] * 200, "/etc", [None]],
    "radio": [*ANY_TYPE, "uploads", "folder"],
    "checkbox": [*ANY_TYPE, "yes", 2],
    "file": [*ANY_TYPE, [{"path": "/etc/passwd", "meta": META}], "/etc/passwd"],
    "uploadbutton": [*ANY_TYPE, {"path": "/etc/passwd", "meta": META}],
    "image": [*ANY_TYPE, {"path": "/etc/passwd", "meta": META}, {"url": "file:///etc/passwd"}],
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


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def add_library(client: RawClient, folder: Path, session: str | None = None) -> str:
    """Add a library of a picture, whose indexing goes on; return its id."""
    picture = folder / "one.png"
    Image.new("RGB", (32, 32)).save(picture)
    files = [{"path": client.upload(picture), "meta": META}]
    before = gallery_ids(client)
    name = f"library {len(before)}"
    values = ["uploads", name, files, "", "test", 10, "CLIP"]

    message = client.send(("library-add", "click"), values, session=session)

    assert refusal(message) == ""
    (library,) = gallery_ids(client) - before
    return library


def gallery_ids(client: RawClient) -> set[str]:
    galleries = client.client.get("api/galleries").json()
    return {gallery["id"] for gallery in galleries}


def start_training(client: RawClient, session: str | None = None) -> str:
    """Start a training by the form's values; return the run's id."""
    preset = client.send(("train-presets", "pick"), data={"id": "CLIP-neg"})
    _cards, _menu, *values = preset["output"]["data"]
    message = client.send(("train-start", "click"), values, session=session)
    assert refusal(message) == ""
    return str(message["output"]["data"][0])


@pytest.fixture(scope="module")
def visited(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VisitedServer]:
    folder = tmp_path_factory.mktemp("visited")
    with run_app(folder, gallery_data / "cache", flags=AGENT_FLAGS, program=HELD_APP) as app:
        owner = RawClient(app.url, {})
        (app.data / "evaluation" / READY_MARK).unlink()
        owner.send(("evaluate-opened", "change"))
        reports = app.data / "evaluation" / "reports"
        report = wait_for(lambda: [*reports.glob("[!.]*")])[0]
        library = add_library(owner, folder)
        run = start_training(owner)
        wait_for((app.data / f"{BEGUN}indexing").exists)
        wait_for(lambda: owner.error(("evaluate-start", "click")) == "")
        wait_for((app.data / f"{BEGUN}evaluation").exists)
        visitor = RawClient(app.url, STRANGER)
        yield VisitedServer(app, visitor, library, run, report.name)


@dataclass(frozen=True)
class Call:
    """What one call of an event is sent with."""

    values: list[Any]
    event_data: Any = None


def calls_of(visited: VisitedServer, dependency: dict[str, Any]) -> list[Call]:
    """Return calls of an event: with the page's own values, ids that the server has, and hostile ones."""
    types = [visited.visitor.components[number]["type"] for number in dependency["inputs"]]
    page_values = visited.visitor.values(dependency)
    calls = [Call(page_values)]
    for name in (visited.library, visited.run, visited.report, "CLIP"):
        values = list(page_values)
        for position, component_type in enumerate(types):
            if component_type in ("textbox", "browserstate"):
                values[position] = name
        event_data: dict[str, Any] = dict.fromkeys(EVENT_FIELDS, name)
        event_data |= {"link": f"report={name}&query=1", "epoch": 1}
        calls.append(Call(values, event_data))

    for number in range(ROUNDS):
        values = []
        for position, component_type in enumerate(types):
            hostile = HOSTILE.get(component_type, ANY_TYPE)
            values.append(hostile[(2 * number + position) % len(hostile)])
        calls.append(Call(values, ANY_TYPE[number]))
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

    agent = RawClient(visited.app.url, STRANGER)
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
    with httpx.Client(base_url=visited.app.url, headers=STRANGER, timeout=WAIT_S) as client:
        for method, path in visited.routes():
            if method not in ("GET", "HEAD"):
                continue
            for name in (visited.library, visited.report, "x"):
                named_path = re.sub(r"\{[^}]*\}", name, path)
                with client.stream(method, named_path.strip("/")):
                    pass

    assert files_in(visited.app) == before


@pytest.fixture(scope="module")
def shared(gallery_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A server on which everyone may train, import and download."""
    folder = tmp_path_factory.mktemp("shared")
    everyone: dict[str, Any] = dict.fromkeys(
        ("NT2VR_ALLOW_TRAIN", "NT2VR_ALLOW_IMPORT", "NT2VR_ALLOW_DOWNLOAD"), "everyone"
    )
    with run_app(folder, gallery_data / "cache", program=HELD_APP, **everyone) as app:
        yield app


def start_evaluation(client: RawClient, folder: Path, session: str) -> list[Any]:
    event = ("evaluate-start", "click")
    wait_for(lambda: refusal(client.send(event, session=session)) == "")
    return [""]


def start_pictures_plus_texts(client: RawClient, folder: Path, session: str) -> list[Any]:
    event = ("evaluate-start", "click")
    values = client.values(client.events[event])
    values[0] = "covr:world"
    wait_for(lambda: refusal(client.send(event, values, session=session)) == "")
    return [""]


def start_indexing(client: RawClient, folder: Path, session: str) -> list[Any]:
    return [add_library(client, folder, session)]


def start_download(client: RawClient, folder: Path, session: str) -> list[Any]:
    client.join(client.events["model-add", "click"], None, session=session)
    return []


def start_run(client: RawClient, folder: Path, session: str) -> list[Any]:
    return [start_training(client, session)]


@pytest.mark.parametrize(
    ("start", "cancel", "kind"),
    [
        (start_evaluation, ("evaluate-cancel", "click"), "evaluation"),
        (start_pictures_plus_texts, ("evaluate-cancel", "click"), "evaluation"),
        (start_indexing, ("library-cancel", "click"), "indexing"),
        (start_download, ("model-cancel", "click"), "download"),
        (start_run, ("train-stop", "click"), "training"),
    ],
    ids=["evaluation", "pictures plus texts", "indexing", "download", "training"],
)
@pytest.mark.parametrize("who", ["the page", "the owner"])
def test_its_page_or_the_owner_cancels_a_job(
    shared: RunningApp,
    tmp_path: Path,
    start: Callable[..., list[Any]],
    cancel: Event,
    kind: str,
    who: str,
) -> None:
    begun = shared.data / f"{BEGUN}{kind}"
    cancelled = shared.data / f"{CANCELLED}{kind}"
    begun.unlink(missing_ok=True)
    cancelled.unlink(missing_ok=True)
    visitor = RawClient(shared.url, STRANGER)
    owner = RawClient(shared.url, {})
    starter = visitor if who == "the page" else owner
    session = uuid.uuid4().hex
    values = start(starter, tmp_path, session)
    wait_for(begun.exists)

    message = refusal(visitor.send(cancel, values, session="another"))
    assert message.startswith("Only the page that started it, or the owner, may cancel it")
    time.sleep(0.2)
    assert not cancelled.exists()

    if who == "the page":
        # Its stream may be open for the job itself.
        visitor.join(visitor.events[cancel], values, session=session)
    else:
        assert refusal(owner.send(cancel, values, session="another")) == ""
    wait_for(cancelled.exists)


def test_a_visitor_who_watches_stops_no_training(shared: RunningApp) -> None:
    stopped = shared.data / f"{CANCELLED}training"
    stopped.unlink(missing_ok=True)
    visitor = RawClient(shared.url, STRANGER)
    owner = RawClient(shared.url, {})
    start_training(owner)
    for dependency in visitor.dependencies:
        if dependency["api_name"].startswith("on_visit"):
            visitor.send_to(dependency, session="watching")

    message = refusal(visitor.send(("watch", "stop"), session="watching"))
    assert message.startswith("Only the page that started it")
    assert not stopped.exists()


def test_visitors_who_may_import_name_no_path(shared: RunningApp, tmp_path: Path) -> None:
    """Nor do they learn whether it exists."""
    existing = tmp_path / "there.pt"
    existing.touch()
    visitor = RawClient(shared.url, STRANGER)
    for path in (str(existing), str(tmp_path / "none.pt"), "docs", "ViT-B-32/a/../../docs"):
        error = visitor.error(ADD, values_of_box(visitor, path))
        assert error.startswith("Only the owner may name files"), path
