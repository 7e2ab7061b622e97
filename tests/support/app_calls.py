"""What several tests ask of a running app, as programs and as the page do it."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from nt2vr.ui.web.permissions import TOKEN_FILE
from tests.conftest import RunningApp
from tests.support.raw_client import Event, RawClient, file_data, refusal

ADD_MODEL: Event = ("model-add", "click")
# Of one request; the first search loads the models.
TIMEOUT_S = 60.0


def everyone_may(*permissions: str) -> dict[str, Any]:
    """Return the environment of an app on which everyone has permissions, as "train" or "import"."""
    return {f"NT2VR_ALLOW_{permission.upper()}": "everyone" for permission in permissions}


def token_of(app: RunningApp) -> str:
    """Return the owner's token."""
    return (app.data / TOKEN_FILE).read_text()


def post_api(app: RunningApp, route: str, request: Mapping[str, Any]) -> httpx.Response:
    """Send JSON to a route of the plain API: "search" or "match"."""
    return httpx.post(f"{app.url}api/{route}", json=request, timeout=TIMEOUT_S)


def model_values(client: RawClient, source: str, name: str = "") -> list[Any]:
    """Return the values of ADD_MODEL, with a source and a name typed into the box for a model."""
    _source, _name, *page_values = client.values(client.events[ADD_MODEL])
    return [source, name, *page_values]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something is so; fail after a minute."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def send_until_accepted(
    client: RawClient,
    event: Event,
    values: Sequence[Any] | None = None,
    session: str | None = None,
) -> None:
    """Send an event again and again until it is not refused, as it is while another job ends."""
    wait_until(lambda: refusal(client.send(event, values, session=session)) == "")


def add_library(client: RawClient, folder: Path, session: str | None = None) -> str:
    """Add a library of one picture, which is indexed in the background; return its id."""
    picture = folder / "one.png"
    Image.new("RGB", (32, 32)).save(picture)
    files = [file_data(client.upload(picture))]
    ids_before = _gallery_ids(client)
    name = f"library {len(ids_before)}"
    values = ["uploads", name, files, "", "test", 10, "CLIP"]

    message = client.send(("library-add", "click"), values, session=session)

    assert refusal(message) == ""
    (library_id,) = _gallery_ids(client) - ids_before
    return library_id


def _gallery_ids(client: RawClient) -> set[str]:
    galleries = client.client.get("api/galleries").json()
    return {gallery["id"] for gallery in galleries}


def start_training(client: RawClient, session: str | None = None) -> str:
    """Start a training by the form's values; return the run's id."""
    preset = client.send(("train-presets", "pick"), data={"id": "CLIP-neg"})
    _cards, _menu, *values = preset["output"]["data"]

    message = client.send(("train-start", "click"), values, session=session)

    assert refusal(message) == ""
    return str(message["output"]["data"][0])
