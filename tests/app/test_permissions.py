"""Strangers against the running app, over raw HTTP: every event that the page has, and paths of the server."""

import hashlib
import json
import re
import threading
from base64 import b64encode
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from itsdangerous import TimestampSigner
from PIL import Image

from tests.app.conftest import token_of
from tests.conftest import STRANGER, RunningApp, run_app
from tests.support.hub_server import HubServer, serve_hub
from tests.support.raw_client import Event, RawClient, refusal

# Events that would train if the owner sent them.
TRAINING: tuple[Event, ...] = (
    ("train-start", "click"),
    ("train-choice-stop", "click"),
    ("train-choice-afterwards", "click"),
    ("watch", "start"),
)
META = {"_type": "gradio.FileData"}
# Event -> what it needs permission for, and a value for its first input.
GUARDED: dict[Event, tuple[str, Any]] = {
    ("model-add", "click"): ("import models and videos", "/etc/hostname"),
    ("model-source", "submit"): ("download models", "ViT-B-32 / none"),
    ("offer", "click"): ("download models", None),
    ("model-cancel", "click"): ("download models", None),
    ("model-upload", "upload"): ("import models and videos", None),
    ("search-index", "start"): ("import models and videos", None),
    ("search-index", "get"): ("import models and videos", None),
    ("open-drawings", "get"): ("import models and videos", "none"),
    ("form-drawings", "get"): ("name files of this machine", "folder"),
    ("library-add", "click"): ("name files of this machine", "folder"),
    ("library-update", "click"): ("import models and videos", "none"),
    ("library-cancel", "click"): ("import models and videos", "none"),
    ("library-more", "upload"): ("import models and videos", "none"),
    ("library-rename", "click"): ("import models and videos", "none"),
    ("library-move", "click"): ("name files of this machine", "none"),
    ("library-new-path", "submit"): ("name files of this machine", "none"),
    ("library-retry", "click"): ("import models and videos", "none"),
    ("library-remove-now", "click"): ("delete runs, reports and libraries", "none"),
    ("evaluate-start", "click"): ("name files of this machine", "/etc"),
    ("evaluate-delete-now", "click"): ("delete runs, reports and libraries", "none"),
    ("evaluate-save-name", "click"): ("write notes on reports", "none"),
    ("evaluate-name", "submit"): ("write notes on reports", "none"),
    ("review", "note"): ("write notes on reports", None),
    ("train-start", "click"): ("train models", None),
    ("train-choice-stop", "click"): ("train models", None),
    ("train-choice-afterwards", "click"): ("train models", None),
    ("train-runs", "withdraw"): ("train models", None),
    ("train-stop", "click"): ("train models", "none"),
    ("train-resume", "click"): ("train models", "none"),
    ("train-resume-lower", "click"): ("train models", "none"),
    ("train-delete-now", "click"): ("delete runs, reports and libraries", "none"),
    ("teach", "click"): ("train models", None),
    ("teach-choice-stop", "click"): ("train models", None),
    ("teach-choice-afterwards", "click"): ("train models", None),
    ("library-teach", "click"): ("train models", None),
    ("library-teach-choice-stop", "click"): ("train models", None),
    ("library-teach-choice-afterwards", "click"): ("train models", None),
    ("watch", "start"): ("train models", None),
    ("watch", "instead"): ("train models", None),
    ("watch", "afterwards"): ("train models", None),
    ("watch", "withdraw"): ("train models", None),
    ("watch", "stop"): ("train models", None),
    ("train-empty-trash", "click"): ("delete runs, reports and libraries", "none"),
}
OPEN_TARGETS = (
    *(
        "request",
        "systems",
        "columns",
        "detail",
        "understood",
        "watch",
        "reference",
        "gallery",
        "closing",
        "recommended",
    ),
    *("model-source", "library-first-model", "library-model", "open-drawings"),
    *("library-new", "library-list", "library-remove", "library-keep", "library-posters"),
    *("library-opened", "evaluate-opened", "train-opened", "more-models-opened", "more-models"),
    *(
        "evaluate-cancel",
        "evaluate-new",
        "evaluate-reports",
        "evaluate-delete",
        "evaluate-keep",
        "evaluate-queries",
    ),
    *("evaluate-report", "evaluate-measure", "review"),
    *(
        "train-preset",
        "train-presets",
        "train-new",
        "train-run",
        "train-runs",
        "train-delete",
        "train-keep",
        "train-beside",
        "train-base",
    ),
)
# Those without a component of their own: load, tick, success, and the public API.
OPEN_HANDLERS = (
    *(
        "on_visit",
        "on_search",
        "on_open",
        "on_opened",
        "on_poll",
        "on_indexing",
        "on_tick",
        "lambda",
    ),
    *("on_address", "on_offer", "on_model", "on_select", "_show", "send_part"),
    *("search", "system_names", "systems", "evaluate"),
)


@pytest.fixture(scope="module")
def stranger(running_app: RunningApp) -> RawClient:
    return RawClient(running_app.url, STRANGER)


@pytest.fixture(scope="module")
def owner(running_app: RunningApp) -> RawClient:
    return RawClient(
        running_app.url, {**STRANGER, "Authorization": f"Bearer {token_of(running_app)}"}
    )


def values_for(client: RawClient, event: Event) -> list[Any]:
    first = GUARDED[event][1]
    defaults = {c["id"]: c["props"].get("value") for c in client.config["components"]}
    values = [defaults[number] for number in client.events[event]["inputs"]]
    return [first, *values[1:]] if first is not None and values else values


def refusals_of(client: RawClient, events: Iterable[Event]) -> dict[Event, str]:
    """Send guarded events, all before the first answer is read; return what they are refused with."""
    sent = {}
    for event in events:
        session = f"guarded-{':'.join(event)}"
        event_id = client.join(client.events[event], values_for(client, event), session=session)
        sent[event] = (session, [event_id])
    return {event: refusal(client.ends(*session)[0]) for event, session in sent.items()}


@pytest.fixture(scope="module")
def refused(stranger: RawClient) -> dict[Event, str]:
    return refusals_of(stranger, GUARDED)


@pytest.fixture(scope="module")
def allowed(owner: RawClient) -> dict[Event, str]:
    return refusals_of(owner, set(GUARDED) - set(TRAINING))


@pytest.mark.parametrize("event", GUARDED, ids=":".join)
def test_a_stranger_is_refused_with_a_reason(
    refused: dict[Event, str], allowed: dict[Event, str], event: Event
) -> None:
    reason = f"Only the owner may {GUARDED[event][0]} here"
    assert refused[event].startswith(reason)
    if event not in TRAINING:
        assert reason not in allowed[event]


def test_a_stranger_names_no_folder_of_pictures_plus_texts(stranger: RawClient) -> None:
    event = ("evaluate-start", "click")
    values = ["covr:/etc", *values_for(stranger, event)[1:]]
    assert stranger.error(event, values).startswith(
        "Only the owner may name files of this machine here"
    )


def test_every_event_is_known_to_be_guarded_or_open(stranger: RawClient) -> None:
    names = {target: re.sub(r"_\d+$", "", target[0]) for target in stranger.events}
    unknown = [
        target
        for target, name in names.items()
        if target not in GUARDED and target[0] not in OPEN_TARGETS and name not in OPEN_HANDLERS
    ]
    assert unknown == []
    assert set(GUARDED) <= set(stranger.events)


def test_a_picture_is_opened_only_if_it_was_uploaded(
    running_app: RunningApp, tmp_path: Path
) -> None:
    Image.new("RGB", (32, 32)).save(tmp_path / "secret.png")
    (tmp_path / "text.png").write_text("no picture")
    sentences = set()
    for path in (
        tmp_path / "secret.png",
        tmp_path / "text.png",
        tmp_path / "none.png",
        Path("/dev/zero"),
        tmp_path,
    ):
        sentences.add(call_search(running_app, {"path": str(path)}))
        # Gradio checks the path itself.
        refusals = call_search(running_app, {"path": str(path), "meta": META})
        assert f"The request was refused: Cannot move {path}"[:100] in refusals
    for name in ("", "\0", "x" * 5000, "~", "http://127.0.0.1/x.png"):
        sentences.add(call_search(running_app, {"path": name}))
    (sentence,) = {re.sub(r'"duration".*', "", text) for text in sentences}
    assert "There is no such picture among the uploaded files" in sentence


def test_no_address_is_fetched_for_anyone(running_app: RunningApp) -> None:
    hosts = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hosts.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        addresses = f"http://127.0.0.1:{site.server_port}/x.png", "http://example.com/x.png"
        for address in addresses:
            refusals = call_search(running_app, {"path": address, "url": address, "meta": META})
            assert "addresses are not opened here" in refusals
            for route in ("file=", "file/", "proxy="):
                response = httpx.get(f"{running_app.url}gradio_api/{route}{address}")
                assert (response.status_code, response.text) == (
                    403,
                    "Addresses are not opened here.",
                )
        site.shutdown()
    assert hosts == []


def test_an_uploaded_picture_is_opened_but_nothing_beside_it(
    running_app: RunningApp, tmp_path: Path
) -> None:
    Image.new("RGB", (32, 32)).save(tmp_path / "mine.png")
    with (tmp_path / "mine.png").open("rb") as file:
        answer = httpx.post(f"{running_app.url}gradio_api/upload", files={"files": file})
    (path,) = answer.json()
    assert '"systems"' in call_search(running_app, {"path": path, "meta": META})
    assert running_app.data in Path(path).parents
    (Path(path).parent / "link.png").symlink_to(tmp_path / "mine.png")
    for refused_path in (
        f"{path}/../link.png",
        str(Path(path).parent / "link.png"),
        f"{path}/../../../../etc/hostname",
    ):
        refusals = call_search(running_app, {"path": refused_path, "meta": META})
        assert (
            "The request was refused: Cannot move" in refusals
            or "There is no such picture" in refusals
        )


def call_search(app: RunningApp, picture: dict[str, Any]) -> str:
    """Call /search of Gradio's API with a picture that was not uploaded first; return the answer's text."""
    data = ["a dog", ["CLIP"], 1, picture, 0.5, 0.5]
    response = httpx.post(f"{app.url}gradio_api/call/search", json={"data": data})
    if response.status_code != 200:
        return response.text
    return httpx.get(
        f"{app.url}gradio_api/call/search/{response.json()['event_id']}", timeout=60
    ).text


def test_pages_of_other_sites_and_other_names_get_nothing(running_app: RunningApp) -> None:
    evil = httpx.post(
        f"{running_app.url}api/search",
        json={"query": "a dog"},
        headers={"Origin": "http://evil.example"},
    )
    assert evil.status_code == 403
    assert httpx.get(running_app.url, headers={"Host": "evil.example"}).status_code == 421


def test_the_owner_s_link_opens_the_page_as_the_owner(running_app: RunningApp) -> None:
    with httpx.Client(
        headers={**STRANGER, "accept": "text/html"}, follow_redirects=True
    ) as browser:
        assert "token" not in str(
            browser.get(f"{running_app.url}?token={token_of(running_app)}").url
        )
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    signed_in = RawClient(running_app.url, {**STRANGER, "Cookie": cookies})
    assert "Only the owner" not in signed_in.error(("train-empty-trash", "click"), ["none"])


SPACE = {
    "SYSTEM": "spaces",
    "SPACE_ID": "ada/nt2vr",
    "SPACE_AUTHOR_NAME": "ada",
    "SPACE_HOST": "ada-nt2vr.hf.space",
    "OAUTH_CLIENT_ID": "the-space",
    "OAUTH_CLIENT_SECRET": "a-secret",
    "OAUTH_SCOPES": "openid profile",
    "OPENID_PROVIDER_URL": "https://huggingface.co",
}


@pytest.fixture(scope="module")
def hub() -> Iterator[HubServer]:
    """A Hub that has the weights of the model that Spaces offer, or says so."""
    with serve_hub() as server:
        server.put(
            "timm/vit_base_patch32_clip_224.openai", {"open_clip_model.safetensors": b"no weights"}
        )
        yield server


@pytest.fixture(scope="module")
def space(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory, hub: HubServer
) -> Iterator[RunningApp]:
    """The app as on a Space with login; nothing is asked of the Hub before somebody signs in."""
    with run_app(
        tmp_path_factory.mktemp("space"),
        gallery_data / "cache",
        0,
        **SPACE,
        HF_ENDPOINT=hub.endpoint,
    ) as app:
        yield app


def session_of(user: str, secret: str) -> dict[str, str]:
    """The cookie that Gradio sets once somebody has signed in with Hugging Face."""
    info = {
        "userinfo": {"preferred_username": user},
        "access_token": "x",
        "scope": "openid",
        "expires_at": 4e9,
    }
    key = hashlib.sha256(f"{secret}-v4".encode()).hexdigest()
    signed = (
        TimestampSigner(key).sign(b64encode(json.dumps({"oauth_info": info}).encode())).decode()
    )
    return {"Cookie": f"session={signed}"}


@pytest.mark.slow
def test_on_a_space_only_its_owner_signs_in_as_owner(space: RunningApp) -> None:
    event = ("train-empty-trash", "click")
    assert RawClient(space.url, session_of("ada", "a-secret")).error(event, ["none"]) == ""
    for headers in ({}, session_of("bob", "a-secret"), session_of("ada", "forged")):
        assert "sign in with Hugging Face" in RawClient(space.url, headers).error(event, ["none"])
    page = {c["props"].get("elem_id") for c in RawClient(space.url, {}).config["components"]}
    assert "login" in page


@pytest.mark.slow
def test_a_space_offers_its_owner_a_real_clip(space: RunningApp, hub: HubServer) -> None:
    event = ("on_offer", "load")

    def offered(user: str) -> bool:
        answer = RawClient(space.url, session_of(user, "a-secret")).send(event)
        return bool(answer["output"]["data"][0]["visible"])

    hub.requests.clear()
    assert not offered("bob") and hub.requests == []
    assert offered("ada") and len(hub.requests) == 1
    button = next(
        c
        for c in RawClient(space.url, {}).config["components"]
        if c["props"].get("elem_id") == "offer"
    )
    assert button["props"]["value"] == "Add a real CLIP: ViT-B-32/openai, 577 MB"
    hub.status = 404
    assert not offered("ada")


@pytest.mark.slow
def test_a_space_answers_to_its_own_name(space: RunningApp) -> None:
    for host, status in (("ada-nt2vr.hf.space", 200), ("eve-nt2vr.hf.space", 421)):
        assert httpx.get(f"{space.url}config", headers={"Host": host}).status_code == status


@pytest.mark.slow
def test_a_login_that_failed_is_one_line_of_the_log(space: RunningApp) -> None:
    lines = len(space.log.read_text().splitlines())
    assert httpx.get(f"{space.url}login/callback?error=x").status_code == 400
    assert len(space.log.read_text().splitlines()) <= lines + 1
