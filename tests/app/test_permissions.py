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
OPEN_TARGETS = """
    request systems columns detail understood watch reference gallery closing recommended
    model-source library-first-model library-model open-drawings
    library-new library-list library-remove library-keep library-posters
    library-opened evaluate-opened train-opened more-models-opened more-models
    evaluate-cancel evaluate-new evaluate-reports evaluate-delete evaluate-keep evaluate-queries
    evaluate-report evaluate-measure review
    train-preset train-presets train-new train-run train-runs train-delete train-keep
    train-beside train-base
""".split()
# Those without a component of their own: load, tick, success, and the public API.
OPEN_HANDLERS = """
    on_visit on_search on_open on_opened on_poll on_indexing on_tick lambda
    on_address on_offer on_model on_select _show send_part
    search system_names systems evaluate
""".split()


@pytest.fixture(scope="module")
def stranger(running_app: RunningApp) -> RawClient:
    return RawClient(running_app.url, STRANGER)


@pytest.fixture(scope="module")
def owner(running_app: RunningApp) -> RawClient:
    authorization = f"Bearer {token_of(running_app)}"
    return RawClient(running_app.url, {**STRANGER, "Authorization": authorization})


def values_for(client: RawClient, event: Event) -> list[Any]:
    """Return the page's values of an event, but the first as GUARDED gives it."""
    _permission, first = GUARDED[event]
    values = client.values(client.events[event])
    if values and first is not None:
        values[0] = first
    return values


def refusals_of(client: RawClient, events: Iterable[Event]) -> dict[Event, str]:
    """Send guarded events, all before the first answer is read; return what they are refused with."""
    event_ids = {}
    for event in events:
        session = ":".join(event)
        values = values_for(client, event)
        event_ids[event] = client.join(client.events[event], values, session=session)

    refusals = {}
    for event, event_id in event_ids.items():
        (message,) = client.ends(":".join(event), [event_id])
        refusals[event] = refusal(message)
    return refusals


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
    values = values_for(stranger, event)
    values[0] = "covr:/etc"

    error = stranger.error(event, values)

    assert error.startswith("Only the owner may name files of this machine here")


def test_every_event_is_known_to_be_guarded_or_open(stranger: RawClient) -> None:
    unknown = []
    for event in stranger.events:
        target, _event_name = event
        # Gradio numbers handlers of the same name.
        handler = re.sub(r"_\d+$", "", target)
        is_open = target in OPEN_TARGETS or handler in OPEN_HANDLERS
        if event not in GUARDED and not is_open:
            unknown.append(event)

    assert unknown == []
    assert set(GUARDED) <= set(stranger.events)


def test_a_picture_is_opened_only_if_it_was_uploaded(
    running_app: RunningApp, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (32, 32)).save(secret)
    text = tmp_path / "text.png"
    text.write_text("no picture")
    paths = [str(secret), str(text), str(tmp_path / "none.png"), "/dev/zero", str(tmp_path)]
    wrong_names = ["", "\0", "x" * 5000, "~", "http://127.0.0.1/x.png"]

    answers = set()
    for path in paths + wrong_names:
        answer = call_search(running_app, {"path": path})
        answers.add(re.sub(r'"duration".*', "", answer))

    # The answer tells neither whether a file exists nor what it is.
    (answer,) = answers
    assert "There is no such picture among the uploaded files" in answer

    for path in paths:
        # Gradio checks the path itself.
        answer = call_search(running_app, {"path": path, "meta": META})
        assert f"The request was refused: Cannot move {path}"[:100] in answer


def test_no_address_is_fetched_for_anyone(running_app: RunningApp) -> None:
    requested_paths = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested_paths.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        own_address = f"http://127.0.0.1:{site.server_port}/x.png"
        for address in (own_address, "http://example.com/x.png"):
            picture = {"path": address, "url": address, "meta": META}
            assert "addresses are not opened here" in call_search(running_app, picture)
            for route in ("file=", "file/", "proxy="):
                response = httpx.get(f"{running_app.url}gradio_api/{route}{address}")
                assert response.status_code == 403
                assert response.text == "Addresses are not opened here."
        site.shutdown()

    assert requested_paths == []


def test_an_uploaded_picture_is_opened_but_nothing_beside_it(
    running_app: RunningApp, tmp_path: Path
) -> None:
    picture = tmp_path / "mine.png"
    Image.new("RGB", (32, 32)).save(picture)
    path = RawClient(running_app.url, {}).upload(picture)
    assert '"systems"' in call_search(running_app, {"path": path, "meta": META})

    folder = Path(path).parent
    assert running_app.data in folder.parents
    link = folder / "link.png"
    link.symlink_to(picture)
    for beside in (f"{path}/../link.png", str(link), f"{path}/../../../../etc/hostname"):
        answer = call_search(running_app, {"path": beside, "meta": META})
        assert re.search("refused: Cannot move|There is no such picture", answer)


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
    origin = {"Origin": "http://evil.example"}
    search = f"{running_app.url}api/search"
    from_other_site = httpx.post(search, json={"query": "a dog"}, headers=origin)
    assert from_other_site.status_code == 403

    by_other_name = httpx.get(running_app.url, headers={"Host": "evil.example"})
    assert by_other_name.status_code == 421


def test_the_owner_s_link_opens_the_page_as_the_owner(running_app: RunningApp) -> None:
    link = f"{running_app.url}?token={token_of(running_app)}"
    headers = {**STRANGER, "accept": "text/html"}
    with httpx.Client(headers=headers, follow_redirects=True) as browser:
        page = browser.get(link)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    assert "token" not in str(page.url)
    signed_in = RawClient(running_app.url, {**STRANGER, "Cookie": cookies})
    assert "Only the owner" not in signed_in.error(("train-empty-trash", "click"), ["none"])


SPACE: dict[str, Any] = {
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
        files = {"open_clip_model.safetensors": b"no weights"}
        server.put("timm/vit_base_patch32_clip_224.openai", files)
        yield server


@pytest.fixture(scope="module")
def space(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory, hub: HubServer
) -> Iterator[RunningApp]:
    """The app as on a Space with login; nothing is asked of the Hub before somebody signs in."""
    folder = tmp_path_factory.mktemp("space")
    with run_app(folder, gallery_data / "cache", HF_ENDPOINT=hub.endpoint, **SPACE) as app:
        yield app


def session_of(user: str, secret: str) -> dict[str, str]:
    """The cookie that Gradio sets once somebody has signed in with Hugging Face."""
    info = {
        "userinfo": {"preferred_username": user},
        "access_token": "x",
        "scope": "openid",
        "expires_at": 4e9,
    }
    session = b64encode(json.dumps({"oauth_info": info}).encode())
    key = hashlib.sha256(f"{secret}-v4".encode()).hexdigest()
    signed = TimestampSigner(key).sign(session)
    return {"Cookie": f"session={signed.decode()}"}


@pytest.mark.slow
def test_on_a_space_only_its_owner_signs_in_as_owner(space: RunningApp) -> None:
    event = ("train-empty-trash", "click")
    assert RawClient(space.url, session_of("ada", "a-secret")).error(event, ["none"]) == ""
    for headers in ({}, session_of("bob", "a-secret"), session_of("ada", "forged")):
        assert "sign in with Hugging Face" in RawClient(space.url, headers).error(event, ["none"])
    assert RawClient(space.url, {}).component("login")


@pytest.mark.slow
def test_a_space_offers_its_owner_a_real_clip(space: RunningApp, hub: HubServer) -> None:
    def is_offered_to(user: str) -> bool:
        client = RawClient(space.url, session_of(user, "a-secret"))
        answer = client.send(("on_offer", "load"))
        return bool(answer["output"]["data"][0]["visible"])

    hub.requests.clear()
    assert not is_offered_to("bob")
    assert hub.requests == []
    assert is_offered_to("ada")
    assert len(hub.requests) == 1
    button = RawClient(space.url, {}).component("offer")
    assert button
    assert button["props"]["value"] == "Add a real CLIP: ViT-B-32/openai, 577 MB"

    hub.status = 404
    assert not is_offered_to("ada")


@pytest.mark.slow
def test_a_space_answers_to_its_own_name(space: RunningApp) -> None:
    for host, status in (("ada-nt2vr.hf.space", 200), ("eve-nt2vr.hf.space", 421)):
        assert httpx.get(f"{space.url}config", headers={"Host": host}).status_code == status


@pytest.mark.slow
def test_a_login_that_failed_is_one_line_of_the_log(space: RunningApp) -> None:
    lines = len(space.log.read_text().splitlines())
    assert httpx.get(f"{space.url}login/callback?error=x").status_code == 400
    assert len(space.log.read_text().splitlines()) <= lines + 1
