"""The app as on a server: on all IPv6 addresses, at a sub-path behind a proxy, and everyone may train."""

import httpx
import pytest

from nt2vr.ui.train.losses_table import losses_view
from nt2vr.ui.train.presets import presets
from tests.conftest import RunningApp
from tests.support.paths import ROOT
from tests.support.raw_client import RawClient

# These tests need an app of their own.
pytestmark = pytest.mark.slow


def test_page_and_clips_work_below_a_proxy_s_prefix(
    server: RunningApp,
) -> None:
    clip = next((ROOT / "assets" / "gallery" / "clips").glob("*.webm"))
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert client.get("").status_code == 200
        assert client.get("config").json()["title"] == "nT2VR"
        assert client.get(f"clips/{clip.name}").content == clip.read_bytes()
        assert client.get("docs", follow_redirects=True).url.path == "/nt2vr/docs/"


def test_monitors_may_ask_with_head(server: RunningApp) -> None:
    clip = next((ROOT / "assets" / "gallery" / "clips").glob("*.webm"))
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for path in (
            "",
            "api/health",
            "api/systems",
            "api/galleries",
            "docs/",
            "metrics",
            f"clips/{clip.name}",
        ):
            by_get = client.get(path)
            by_head = client.head(path)
            assert by_head.status_code == by_get.status_code, path
            assert by_head.headers["content-type"] == by_get.headers["content-type"], path
            assert not by_head.content, path


def test_whoever_asks_is_a_stranger(server: RunningApp) -> None:
    refusal = RawClient(server.url, {}).error(("train-empty-trash", "click"), ["none"])
    assert refusal.startswith("Only the owner may delete runs, reports and libraries here")


def test_strangers_train_on_no_path_of_the_server(
    server: RunningApp,
) -> None:
    client = RawClient(server.url, {})
    event = ("train-start", "click")
    by_id = {c["id"]: c["props"] for c in client.config["components"]}
    inputs = [by_id[number] for number in client.events[event]["inputs"]]
    chosen = next(iter(presets().values()))
    # The page has the losses once its tab was opened.
    losses = {"value": losses_view(chosen["losses"])}
    inputs = [
        {**props, **(losses if props.get("elem_id") == "train-losses" else {})} for props in inputs
    ]
    refusal = (
        ("train-data", "/etc"),
        ("train-base", "/root/models/mine"),
        ("train-verb_changes", "/etc/passwd"),
    )
    for field, path in refusal:
        values = [path if props.get("elem_id") == field else props.get("value") for props in inputs]
        assert client.error(event, values).startswith(
            "Only the owner may name files of this machine"
        )
    values = [
        0 if props.get("elem_id") == "train-epochs" else props.get("value") for props in inputs
    ]
    # The form is checked first, then what it may do.
    assert "epochs" in client.error(event, values)


def test_agents_are_answered_only_where_that_is_switched_on(server: RunningApp) -> None:
    answer = httpx.post(
        f"{server.url}gradio_api/mcp/", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}
    )
    assert answer.status_code in (404, 405)


def test_the_closing_slide_has_a_code_of_the_address(
    server: RunningApp, running_app: RunningApp
) -> None:
    opened = {"address": "http://127.0.0.1:7860/nt2vr/"}
    (slide,) = RawClient(server.url, {}).send(("closing", "show"), [{}], opened)["output"]["data"]
    assert slide["address"] == "https://videos.example/nt2vr/"
    assert slide["code"].startswith("data:image/svg+xml") and len(slide["rows"]) == 4
    (local,) = RawClient(running_app.url, {}).send(("closing", "show"), [{}], opened)["output"][
        "data"
    ]
    assert "code" not in local and local["rows"] == slide["rows"]
