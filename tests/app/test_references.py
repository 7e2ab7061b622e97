"""References over raw HTTP: what is asked of the routes and of the page's events is an answer or one sentence."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from tests.conftest import STRANGER, RunningApp
from tests.support.paths import ROOT
from tests.support.raw_client import RawClient, assert_one_sentence, refusal

CLIPS = sorted(path.stem for path in (ROOT / "assets" / "gallery" / "clips").glob("*.webm"))[:4]


def png(width: int, height: int) -> str:
    content = io.BytesIO()
    Image.fromarray(np.zeros((height, width), np.uint8)).save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def ask(app: RunningApp, references: Any, **fields: Any) -> httpx.Response:
    request = {"query": "", "systems": ["CLIP", "CLIP parts"], "references": references, **fields}
    # httpx itself refuses to send NaN.
    body = json.dumps(request)
    headers = {"content-type": "application/json"}
    return httpx.post(f"{app.url}api/search", content=body, headers=headers, timeout=60)


def test_clips_and_pictures_are_references_and_are_not_returned(
    running_app: RunningApp,
) -> None:
    references = [
        {"clip": CLIPS[0]},
        {"clip": CLIPS[1], "wanted": False, "weight": 0.8},
        {"image": png(40, 30)},
    ]

    answer = ask(running_app, references, query="without the dog").json()

    # Beside a reference, the sentence is read as it stands.
    assert answer["query"]["unwanted"] == ["the dog"]
    for system in answer["systems"]:
        assert len(system["hits"]) == 8
        assert not {hit["video_id"] for hit in system["hits"]} & set(CLIPS[:2])


def test_an_image_is_the_same_as_a_reference(running_app: RunningApp) -> None:
    one = ask(running_app, [{"image": png(40, 30), "weight": 0.3}], query="a dog")
    image = ask(running_app, [], query="a dog", image=png(40, 30), image_weight=0.3)
    assert one.json()["systems"] == image.json()["systems"]


@pytest.mark.parametrize(
    "references",
    [
        "a",
        [1],
        [None],
        [{}],
        [{"clip": 7}],
        [{"clip": "no-such-clip"}],
        [{"clip": "../../etc/passwd"}],
        [{"clip": CLIPS[0], "image": png(4, 4)}],
        [{"clip": CLIPS[0], "path": "/etc/passwd"}],
        [{"clip": CLIPS[0], "weight": True}],
        [{"clip": CLIPS[0], "weight": float("nan")}],
        [{"clip": CLIPS[0], "weight": float("inf")}],
        [{"clip": CLIPS[0], "weight": -1}],
        [{"clip": CLIPS[0], "weight": 1e300}],
        [{"clip": CLIPS[0], "weight": "1"}],
        [{"image": "data:image/png;base64,AAAA"}],
        [{"image": "http://127.0.0.1/x.png"}],
        [{"image": png(10_000, 6_000)}],
        [{"clip": CLIPS[0]}] * 5,
        [{"clip": CLIPS[0]}] * 1000,
    ],
    ids=lambda references: json.dumps(references)[:40],
)
def test_anything_else_is_refused_in_a_sentence(running_app: RunningApp, references: Any) -> None:
    answer = ask(running_app, references)

    assert answer.status_code == 400
    assert_one_sentence(answer.json()["error"])


@pytest.fixture
def client(running_app: RunningApp) -> RawClient:
    return RawClient(running_app.url, STRANGER)


@pytest.fixture
def uploaded_text(client: RawClient, tmp_path: Path) -> str:
    """The path on the server of an uploaded file that is named like a video and is none."""
    file = tmp_path / "text.mp4"
    file.write_text("no video")
    return client.upload(file)


def test_a_page_searches_with_no_wrong_reference(client: RawClient, uploaded_text: str) -> None:
    chip = {"clip": CLIPS[0], "weight": 0.5, "wanted": True}
    for chips, sentence in (
        ([chip] * 1000, "can have 4 references, not 1,000"),
        ([{**chip, "weight": float("nan")}], "refused"),
        ([{**chip, "weight": 1e300}], "refused"),
        ([{**chip, "gallery": "no-such-library"}], "There is no library"),
        ([{**chip, "gallery": "../.."}], "There is no library"),
        ([{**chip, "clip": "x" * 100_000}], "Unknown clip"),
        ([{"path": "/etc/passwd"}], "no such picture or video among the uploaded files"),
        ([{"path": "\0"}], "no such picture or video among the uploaded files"),
        ([{"path": uploaded_text}], "text.mp4 is not a readable video"),
    ):
        link = {"q": "a dog", "systems": "CLIP"}
        request = json.dumps({"number": 1, "link": link, "references": chips})
        assert sentence in client.error(("request", "change"), [request, None]), chips


@pytest.mark.parametrize(
    "paths", ["", "/etc/passwd", "\0", "{text}", "\n" * 1000, "{text}\n/etc/passwd"]
)
def test_a_page_adds_no_wrong_file(client: RawClient, uploaded_text: str, paths: str) -> None:
    data = {"paths": paths.replace("{text}", uploaded_text)}

    message = client.send(("reference", "added"), data=data)

    # The reason stands above the results, which stay.
    assert message["success"]
    assert_one_sentence(refusal(message))


@pytest.mark.parametrize(
    "data", [{"id": "x"}, {"id": 1, "wanted": 1}, {"id": CLIPS[0], "wanted": "yes"}]
)
def test_a_page_likes_no_wrong_clip(client: RawClient, data: dict[str, Any]) -> None:
    assert_one_sentence(client.error(("detail", "like"), data=data))
