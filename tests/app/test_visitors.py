"""Visitors of a public server against what it has: they change nothing, and stop no job of anybody else."""

import json
import math
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from PIL import Image

from nt2vr.evaluation.jobs import READY_MARK
from tests.app.test_add_model import ADD
from tests.app.test_add_model import values_of as values_of_box
from tests.app.test_permissions import GUARDED, META
from tests.conftest import AGENT_FLAGS, STRANGER, RunningApp, run_app
from tests.support.held_app import BEGUN, CANCELLED, ROUTES
from tests.support.raw_client import Event, RawClient, refusal

# These tests need two apps of their own.
pytestmark = pytest.mark.slow

HELD_APP = ("-m", "tests.support.held_app")
WAIT_S = 60.0
# Events that may change something, and are everyone's: they evaluate, and cancel their own.
CHANGES_FOR_ALL = {
    ("evaluate-start", "click"),
    ("evaluate-cancel", "click"),
    ("evaluate", "click"),
    # It adds the report that comes with the app.
    ("evaluate-opened", "change"),
}
# Routes that take more than a GET: events, uploads of pictures, searches, and what Gradio has.
CHANGING_ROUTES = {
    *("/api/match", "/api/search", "/login", "/login/"),
    *(
        f"/gradio_api/{name}/{{api_name}}{end}"
        for name in ("api", "call", "call/v2", "run")
        for end in ("", "/")
    ),
    *(f"/gradio_api/{name}" for name in ("cancel", "process_recording", "queue/join", "upload")),
    *(f"/gradio_api/{name}{end}" for name in ("component_server", "reset") for end in ("", "/")),
    *(
        f"/gradio_api/{name}{end}"
        for name in ("undo-vibe-edit", "vibe-code", "vibe-edit")
        for end in ("", "/")
    ),
    *("/gradio_api/stream/{event_id}", "/gradio_api/stream/{event_id}/close"),
    *("/gradio_api/vibe-starter-queries", "/gradio_api/vibe-starter-queries/"),
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
EVENT_FIELDS = (
    "name",
    "id",
    "link",
    "like",
    "what",
    "models",
    "run",
    "tag",
    "note",
    "query",
    "wanted",
)


class Place(NamedTuple):
    """A public server with a library, a run and a report of its owner, and jobs of the owner that go on."""

    app: RunningApp
    owner: RawClient
    visitor: RawClient
    library: str
    run: str
    report: str


def files_in(app: RunningApp) -> dict[Path, tuple[int, int]]:
    """Return size and time of each file of the data folder, but of uploads; those of the shared cache are not here."""
    inputs = {}
    for path in app.data.rglob("*"):
        if path.is_file() and not path.is_relative_to(app.data / "uploads"):
            state = path.stat()
            inputs[path] = (state.st_size, state.st_mtime_ns)
    return inputs


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def upload(app: RunningApp, headers: dict[str, str], folder: Path) -> str:
    picture = folder / "one.png"
    Image.new("RGB", (32, 32)).save(picture)
    with picture.open("rb") as file:
        answer = httpx.post(f"{app.url}gradio_api/upload", files={"files": file}, headers=headers)
    (path,) = answer.json()
    return str(path)


def add_library(client: RawClient, app: RunningApp, folder: Path, session: str = "") -> str:
    """Add a library of a picture, whose indexing goes on; return its id."""
    before = {gallery["id"] for gallery in galleries(client)}
    files = [{"path": upload(app, dict(client.headers), folder), "meta": META}]
    message = client.send(
        ("library-add", "click"),
        ["uploads", f"library {len(before)}", files, "", "test", 10, "CLIP"],
        session=session or None,
    )
    assert refusal(message) == ""
    (library,) = {gallery["id"] for gallery in galleries(client)} - before
    return str(library)


def galleries(client: RawClient) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = httpx.get(
        f"{client.url}api/galleries", headers=client.headers
    ).json()
    return answer


def defaults_of(client: RawClient, event: Event) -> list[Any]:
    """Return the values that an event's inputs have on the page."""
    components = {
        component["id"]: component["props"].get("value")
        for component in client.config["components"]
    }
    return [components[number] for number in client.events[event]["inputs"]]


def start_training(client: RawClient, session: str = "") -> str:
    """Start a training by the form's values; return the run's id."""
    preset = client.send(("train-presets", "pick"), data={"id": "CLIP-neg"})
    _cards, _menu, *values = preset["output"]["data"]
    message = client.send(("train-start", "click"), values, session=session or None)
    assert refusal(message) == ""
    return str(message["output"]["data"][0])


@pytest.fixture(scope="module")
def place(gallery_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("visited")
    with run_app(folder, gallery_data / "cache", flags=AGENT_FLAGS, program=HELD_APP) as app:
        owner = RawClient(app.url, {})
        (app.data / "evaluation" / READY_MARK).unlink()
        owner.send(("evaluate-opened", "change"))
        reports = app.data / "evaluation" / "reports"
        report = wait_for(lambda: [path.name for path in reports.glob("[!.]*")])[0]
        library = add_library(owner, app, folder)
        run = start_training(owner)
        wait_for((app.data / f"{BEGUN}indexing").exists)
        wait_for(lambda: refusal(owner.send(("evaluate-start", "click"))) == "")
        wait_for((app.data / f"{BEGUN}evaluation").exists)
        yield Place(app, owner, RawClient(app.url, STRANGER), library, run, report)


def values_of(place: Place, dependency: dict[str, Any]) -> Iterator[tuple[list[Any], Any]]:
    """Yield inputs and event data for an event: the page's own, ids that the server has, and hostile ones."""
    components = {component["id"]: component for component in place.visitor.config["components"]}
    inputs = [components[number] for number in dependency["inputs"]]
    defaults = [component["props"].get("value") for component in inputs]
    yield defaults, None

    for name in (place.library, place.run, place.report, "CLIP"):
        is_text = [component["type"] in ("textbox", "browserstate") for component in inputs]
        values = [name if text else value for text, value in zip(is_text, defaults, strict=True)]
        data = dict.fromkeys(EVENT_FIELDS, name)
        yield values, {**data, "link": f"report={name}&query=1", "epoch": 1}

    for number in range(ROUNDS):
        hostile = []
        for place_of_input, component in enumerate(inputs):
            kinds = HOSTILE.get(component["type"], ANY_TYPE)
            hostile.append(kinds[(2 * number + place_of_input) % len(kinds)])
        yield hostile, ANY_TYPE[number]


def test_no_event_of_a_visitor_changes_anything(place: Place) -> None:
    """Every event gets hostile values."""
    before = files_in(place.app)
    faults = []
    for dependency in place.visitor.dependencies:
        name = dependency["api_name"]
        session = f"visitor-{dependency['id']}"
        calls = list(values_of(place, dependency))
        event_ids = [
            place.visitor.join(dependency, values, data, session) for values, data in calls
        ]
        messages = place.visitor.ends(session, event_ids)
        for message, (values, data) in zip(messages, calls, strict=True):
            if "log has the details" in refusal(message):
                faults.append(f"{name} {str(values)[:200]} {data}: failed")

        now = files_in(place.app)
        paths = now.keys() | before.keys()
        changed = [str(path) for path in paths if now.get(path) != before.get(path)]
        if changed:
            faults.append(f"{name}: {changed}")
        before = now
    assert faults == []


def test_no_tool_of_agents_changes_anything(place: Place) -> None:
    pytest.importorskip("mcp", reason="needs the MCP package, nt2vr[mcp]")
    before = files_in(place.app)

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {**STRANGER, "Accept": "application/json, text/event-stream"}
        answer = httpx.post(
            f"{place.app.url}gradio_api/mcp/", json=body, headers=headers, timeout=WAIT_S
        )
        lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        content: dict[str, Any] = json.loads(
            lines[-1].removeprefix("data: ") if lines else answer.text
        )
        return content

    tools = ask("tools/list", {})["result"]["tools"]
    assert len(tools) >= 4
    for tool in tools:
        names = tool["inputSchema"].get("properties", {})
        for value in ("a dog", place.library, place.report, *ANY_TYPE):
            ask("tools/call", {"name": tool["name"], "arguments": dict.fromkeys(names, value)})
    assert files_in(place.app) == before


def test_every_event_that_may_change_something_is_known(place: Place) -> None:
    names = set(place.visitor.events)
    assert names >= CHANGES_FOR_ALL
    assert CHANGES_FOR_ALL.isdisjoint(set(GUARDED) - {("evaluate-start", "click")})


def test_every_route_that_may_change_something_is_known(place: Place) -> None:
    routes = json.loads((place.app.data.parent / ROUTES).read_text())
    changing = {path for method, path in routes if method not in ("GET", "HEAD", "OPTIONS")}
    assert changing == CHANGING_ROUTES
    assert len(routes) > 100


def test_no_get_of_a_visitor_changes_anything(place: Place) -> None:
    before = files_in(place.app)
    routes = json.loads((place.app.data.parent / ROUTES).read_text())
    with httpx.Client(base_url=place.app.url, headers=STRANGER, timeout=WAIT_S) as client:
        for method, path in routes:
            if method not in ("GET", "HEAD"):
                continue
            for name in (place.library, place.report, "x"):
                parts = [
                    name if part.startswith("{") else part for part in path.strip("/").split("/")
                ]
                with client.stream(method, "/".join(parts)):
                    pass
    assert files_in(place.app) == before


@pytest.fixture(scope="module")
def shared(gallery_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A server on which everyone may train, import and download."""
    folder = tmp_path_factory.mktemp("shared")
    everyone: dict[str, Any] = dict.fromkeys(
        ("NT2VR_ALLOW_TRAIN", "NT2VR_ALLOW_IMPORT", "NT2VR_ALLOW_DOWNLOAD"), "everyone"
    )
    with run_app(folder, gallery_data / "cache", program=HELD_APP, **everyone) as app:
        yield app


def start_evaluation(client: RawClient, app: RunningApp, folder: Path, session: str) -> list[Any]:
    wait_for(lambda: refusal(client.send(("evaluate-start", "click"), session=session)) == "")
    return [""]


def start_pictures_plus_texts(
    client: RawClient, app: RunningApp, folder: Path, session: str
) -> list[Any]:
    values = defaults_of(client, ("evaluate-start", "click"))
    values[0] = "covr:world"
    wait_for(
        lambda: refusal(client.send(("evaluate-start", "click"), values, session=session)) == ""
    )
    return [""]


def start_indexing(client: RawClient, app: RunningApp, folder: Path, session: str) -> list[Any]:
    return [add_library(client, app, folder, session)]


def start_download(client: RawClient, app: RunningApp, folder: Path, session: str) -> list[Any]:
    client.join(client.events["model-add", "click"], None, session=session)
    return []


def start_run(client: RawClient, app: RunningApp, folder: Path, session: str) -> list[Any]:
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
    values = start(starter, shared, tmp_path, session)
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


def test_its_page_or_the_owner_stops_a_training(
    shared: RunningApp,
) -> None:
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
    (tmp_path / "there.pt").touch()
    visitor = RawClient(shared.url, STRANGER)
    paths = [
        tmp_path / "there.pt",
        tmp_path / "none.pt",
        Path("docs"),
        Path("ViT-B-32/a/../../docs"),
    ]
    for path in paths:
        refused = visitor.error(ADD, values_of_box(visitor, str(path)))
        assert refused.startswith("Only the owner may name files")
