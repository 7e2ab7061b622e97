"""References over raw HTTP: what is asked of the routes and of the page's events is an answer or one sentence."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.conftest import RunningApp
from tests.support.paths import ROOT
from tests.support.raw_client import RawClient, assert_one_sentence, refusal

CLIPS = sorted(path.stem for path in (ROOT / "assets" / "gallery" / "clips").glob("*.webm"))[:4]


def png(width: int, height: int) -> str:
    """Return a black picture as a data URL."""
    content = io.BytesIO()
    Image.new("L", (width, height)).save(content, "PNG")
    encoded = base64.b64encode(content.getvalue()).decode()
    return f"data:image/png;base64,{encoded}"


def ask(app: RunningApp, references: Any, **fields: Any) -> httpx.Response:
    """Search by two systems with references, and further fields of the request."""
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
        video_ids = [hit["video_id"] for hit in system["hits"]]
        assert CLIPS[0] not in video_ids
        assert CLIPS[1] not in video_ids


def test_an_image_is_the_same_as_a_reference(running_app: RunningApp) -> None:
    references = [{"image": png(40, 30), "weight": 0.3}]
    by_reference = ask(running_app, references, query="a dog").json()
    by_image = ask(running_app, [], query="a dog", image=png(40, 30), image_weight=0.3).json()
    assert by_reference["systems"] == by_image["systems"]


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
def uploaded_text(stranger: RawClient, tmp_path: Path) -> str:
    """The path on the server of an uploaded file that is named like a video and is none."""
    file = tmp_path / "text.mp4"
    file.write_text("no video")
    return stranger.upload(file)


def error_of_search(client: RawClient, chips: list[dict[str, Any]]) -> str:
    """Search as the page does, with references that it shows as chips; return what is refused."""
    link = {"q": "a dog", "systems": "CLIP"}
    request = json.dumps({"number": 1, "link": link, "references": chips})
    return client.error(("request", "change"), [request, None])


CHIP = {"clip": CLIPS[0], "weight": 0.5, "wanted": True}


@pytest.mark.parametrize(
    ("chips", "sentence"),
    [
        ([CHIP] * 1000, "can have 4 references, not 1,000"),
        ([{**CHIP, "weight": float("nan")}], "refused"),
        ([{**CHIP, "weight": 1e300}], "refused"),
        ([{**CHIP, "gallery": "no-such-library"}], "There is no library"),
        ([{**CHIP, "gallery": "../.."}], "There is no library"),
        ([{**CHIP, "clip": "x" * 100_000}], "Unknown clip"),
        ([{"path": "/etc/passwd"}], "no such picture or video among the uploaded files"),
        ([{"path": "\0"}], "no such picture or video among the uploaded files"),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_page_searches_with_no_wrong_reference(
    stranger: RawClient, chips: list[dict[str, Any]], sentence: str
) -> None:
    assert sentence in error_of_search(stranger, chips)


def test_a_page_searches_with_no_unreadable_file(stranger: RawClient, uploaded_text: str) -> None:
    error = error_of_search(stranger, [{"path": uploaded_text}])
    assert "text.mp4 is not a readable video" in error


@pytest.mark.parametrize(
    "paths", ["", "/etc/passwd", "\0", "{text}", "\n" * 1000, "{text}\n/etc/passwd"]
)
def test_a_page_adds_no_wrong_file(stranger: RawClient, uploaded_text: str, paths: str) -> None:
    data = {"paths": paths.replace("{text}", uploaded_text)}

    message = stranger.send(("reference", "added"), data=data)

    # The reason stands above the results, which stay.
    assert message["success"]
    assert_one_sentence(refusal(message))


@pytest.mark.parametrize(
    "data", [{"id": "x"}, {"id": 1, "wanted": 1}, {"id": CLIPS[0], "wanted": "yes"}]
)
def test_a_page_likes_no_wrong_clip(stranger: RawClient, data: dict[str, Any]) -> None:
    assert_one_sentence(stranger.error(("detail", "like"), data=data))
