"""The app as on a Space of the Hugging Face Hub, where people sign in."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from itsdangerous import TimestampSigner

from tests.conftest import RunningApp, run_app
from tests.support.hub_server import HubServer, serve_hub
from tests.support.raw_client import RawClient

# These tests need an app of their own.
pytestmark = pytest.mark.slow

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
    """Return the cookie that Gradio sets once somebody has signed in with Hugging Face."""
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


def test_on_a_space_only_its_owner_signs_in_as_owner(space: RunningApp) -> None:
    event = ("train-empty-trash", "click")
    owner = RawClient(space.url, session_of("ada", "a-secret"))
    assert owner.error(event, ["none"]) == ""

    for headers in ({}, session_of("bob", "a-secret"), session_of("ada", "forged")):
        visitor = RawClient(space.url, headers)
        assert "sign in with Hugging Face" in visitor.error(event, ["none"])


def test_a_space_has_a_button_to_sign_in(space: RunningApp) -> None:
    assert RawClient(space.url, {}).component("login")


def is_clip_offered(space: RunningApp, user: str) -> bool:
    """Say whether somebody who has signed in is offered a real CLIP."""
    client = RawClient(space.url, session_of(user, "a-secret"))
    answer = client.send(("on_offer", "load"))
    return bool(answer["output"]["data"][0]["visible"])


def test_a_space_offers_its_owner_a_real_clip(space: RunningApp, hub: HubServer) -> None:
    hub.requests.clear()
    assert not is_clip_offered(space, "bob")
    assert hub.requests == []

    assert is_clip_offered(space, "ada")
    assert len(hub.requests) == 1
    button = RawClient(space.url, {}).component("offer")
    assert button
    assert button["props"]["value"] == "Add a real CLIP: ViT-B-32/openai, 577 MB"

    hub.status = 404
    assert not is_clip_offered(space, "ada")


def test_a_space_answers_to_its_own_name(space: RunningApp) -> None:
    url = f"{space.url}config"
    by_own_name = httpx.get(url, headers={"Host": "ada-nt2vr.hf.space"})
    by_other_name = httpx.get(url, headers={"Host": "eve-nt2vr.hf.space"})
    assert by_own_name.status_code == 200
    assert by_other_name.status_code == 421


def test_a_login_that_failed_is_one_line_of_the_log(space: RunningApp) -> None:
    lines_before = space.log.read_text().splitlines()

    assert httpx.get(f"{space.url}login/callback?error=x").status_code == 400

    lines = space.log.read_text().splitlines()
    assert len(lines) <= len(lines_before) + 1
