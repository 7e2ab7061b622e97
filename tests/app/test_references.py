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
from tests.support.raw_client import RawClient, refusal

CLIPS = sorted(path.stem for path in (ROOT / "assets" / "gallery" / "clips").glob("*.webm"))[:4]


def png(width: int, height: int) -> str:
    content = io.BytesIO()
    Image.fromarray(np.zeros((height, width), np.uint8)).save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def ask(app: RunningApp, references: Any, **fields: Any) -> httpx.Response:
    body = json.dumps(
        {"query": "", "systems": ["CLIP", "CLIP parts"], "references": references, **fields}
    )
    # httpx itself refuses to send NaN.
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
    # It is read as it is next to a reference.
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
        *(
            "a",
            [1],
            [None],
            [{}],
            [{"clip": 7}],
            [{"clip": "no-such-clip"}],
            [{"clip": "../../etc/passwd"}],
        ),
        *(
            [{"clip": CLIPS[0], **more}]
            for more in ({"image": png(4, 4)}, {"path": "/etc/passwd"}, {"weight": True})
        ),
        *(
            [{"clip": CLIPS[0], "weight": weight}]
            for weight in (float("nan"), float("inf"), -1, 1e300, "1")
        ),
        *(
            [{"image": image}]
            for image in (
                "data:image/png;base64,AAAA",
                "http://127.0.0.1/x.png",
                png(10_000, 6_000),
            )
        ),
        *([{"clip": CLIPS[0]}] * count for count in (5, 1000)),
    ],
    ids=lambda sent: json.dumps(sent)[:40],
)
def test_anything_else_is_refused_in_a_sentence(running_app: RunningApp, references: Any) -> None:
    answer = ask(running_app, references)
    error = answer.json()["error"]
    assert (
        answer.status_code == 400
        and "\n" not in error
        and len(error) < 300
        and "went wrong" not in error
    )


def test_the_pages_events_refuse_them_too(running_app: RunningApp, tmp_path: Path) -> None:
    client = RawClient(running_app.url, STRANGER)
    (tmp_path / "text.mp4").write_text("no video")
    with (tmp_path / "text.mp4").open("rb") as file:
        (text,) = httpx.post(f"{running_app.url}gradio_api/upload", files={"files": file}).json()
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
        ([{"path": text}], "text.mp4 is not a readable video"),
    ):
        sent = json.dumps(
            {"number": 1, "link": {"q": "a dog", "systems": "CLIP"}, "references": chips}
        )
        assert sentence in client.error(("request", "change"), [sent, None]), chips
    for paths in ("", "/etc/passwd", "\0", text, "\n" * 1000, f"{text}\n/etc/passwd"):
        message = client.send(("reference", "added"), data={"paths": paths})
        error = refusal(message)
        # The reason stands above the results, which stay.
        assert message["success"]
        assert error and "\n" not in error and len(error) < 300 and "went wrong" not in error
    for data in ({"id": "x"}, {"id": 1, "wanted": 1}, {"id": CLIPS[0], "wanted": "yes"}):
        error = client.error(("detail", "like"), data=data)
        assert error and "\n" not in error and len(error) < 300 and "went wrong" not in error
