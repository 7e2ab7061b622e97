"""The app as on a server: on all IPv6 addresses, at a sub-path behind a proxy, and everyone may train."""

from typing import Any

import httpx
import pytest

from nt2vr.ui.train.losses_table import losses_view
from nt2vr.ui.train.presets import presets
from tests.conftest import RunningApp
from tests.support.paths import ROOT
from tests.support.raw_client import RawClient

# These tests need an app of their own.
pytestmark = pytest.mark.slow

TRAIN = ("train-start", "click")
CLIP = next((ROOT / "assets" / "gallery" / "clips").glob("*.webm"))


def test_page_and_clips_work_below_a_proxy_s_prefix(server: RunningApp) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert client.get("").status_code == 200
        assert client.get("config").json()["title"] == "nT2VR"
        assert client.get(f"clips/{CLIP.name}").content == CLIP.read_bytes()
        assert client.get("docs", follow_redirects=True).url.path == "/nt2vr/docs/"


def test_monitors_may_ask_with_head(server: RunningApp) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        clip = f"clips/{CLIP.name}"
        for path in (
            "",
            "api/health",
            "api/systems",
            "api/galleries",
            "docs/",
            "metrics",
            clip,
        ):
            by_get = client.get(path)
            by_head = client.head(path)
            assert by_head.status_code == by_get.status_code, path
            assert by_head.headers["content-type"] == by_get.headers["content-type"], path
            assert not by_head.content, path


def test_whoever_asks_is_a_stranger(server: RunningApp) -> None:
    refusal = RawClient(server.url, {}).error(("train-empty-trash", "click"), ["none"])
    assert refusal.startswith("Only the owner may delete runs, reports and libraries here")


def form_values(client: RawClient, field: str, value: object) -> list[Any]:
    """Return the training form's values of the first preset, with another in one field."""
    preset = next(iter(presets().values()))
    # The page has the losses once its tab was opened.
    changed = {"train-losses": losses_view(preset["losses"]), field: value}
    dependency = client.events[TRAIN]
    values = client.values(dependency)
    for position, number in enumerate(dependency["inputs"]):
        elem_id = client.elem_id(number)
        if elem_id in changed:
            values[position] = changed[elem_id]
    return values


def test_strangers_train_on_no_path_of_the_server(server: RunningApp) -> None:
    client = RawClient(server.url, {})
    for field, path in (
        ("train-data", "/etc"),
        ("train-base", "/root/models/mine"),
        ("train-verb_changes", "/etc/passwd"),
    ):
        error = client.error(TRAIN, form_values(client, field, path))
        assert error.startswith("Only the owner may name files of this machine")


def test_a_form_is_checked_before_what_it_may_do(server: RunningApp) -> None:
    client = RawClient(server.url, {})
    assert "epochs" in client.error(TRAIN, form_values(client, "train-epochs", 0))


def test_agents_are_answered_only_where_that_is_switched_on(server: RunningApp) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = httpx.post(f"{server.url}gradio_api/mcp/", json=ping)
    assert answer.status_code in (404, 405)


def closing_slide(app: RunningApp) -> dict[str, Any]:
    """Return the closing slide as a page at this machine's address gets it."""
    opened = {"address": "http://127.0.0.1:7860/nt2vr/"}
    message = RawClient(app.url, {}).send(("closing", "show"), [{}], opened)
    (slide,) = message["output"]["data"]
    return dict(slide)


def test_the_closing_slide_has_a_code_of_the_address(
    server: RunningApp, running_app: RunningApp
) -> None:
    on_server = closing_slide(server)
    assert on_server["address"] == "https://videos.example/nt2vr/"
    assert on_server["code"].startswith("data:image/svg+xml")
    assert len(on_server["rows"]) == 4

    on_this_machine = closing_slide(running_app)
    assert "code" not in on_this_machine
    assert on_this_machine["rows"] == on_server["rows"]
