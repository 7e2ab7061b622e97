"""The app's API over gradio_client: its contract, and its messages about bad input."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

from nt2vr.media.video import sample_frames
from tests.conftest import STRANGER, RunningApp
from tests.support.app_calls import post_api
from tests.support.raw_client import RawClient
from tests.support.tiny_models import unknowing

QUERY = "a man is singing and not playing the guitar"


@pytest.fixture(scope="module")
def client(running_app: RunningApp) -> Client:
    return Client(running_app.url, verbose=False)


@pytest.fixture
def reports(running_app: RunningApp) -> Iterator[Path]:
    """The app's report folder, left without reports."""
    folder = running_app.data / "evaluation" / "reports"
    yield folder
    for report in folder.iterdir():
        shutil.rmtree(report)


def search(
    client: Client,
    query: str = QUERY,
    systems: Sequence[str] = ("CLIP",),
    k: int = 8,
    image: object = None,
) -> dict[str, Any]:
    """Search by Gradio's API."""
    answer = client.predict(query, list(systems), k, image, api_name="/search")
    return dict(answer)


def first_hit(answer: dict[str, Any]) -> str:
    """Return the video that the first system ranks first."""
    return str(answer["systems"][0]["hits"][0]["video_id"])


def check_hits(hits: list[dict[str, Any]]) -> None:
    """Check five hits: their fields, and that they are in order."""
    for hit in hits:
        assert hit.keys() == {"video_id", "rank", "score", "verdict"}
        assert hit["verdict"] in ("right", "violation", "miss")
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    assert len({hit["video_id"] for hit in hits}) == 5
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_the_answer_has_the_promised_form(client: Client) -> None:
    answer = search(client, systems=["clip", "CLIP boolean α 1"], k=5)

    assert answer["query"] == {
        "text": QUERY,
        "wanted": ["a man is singing"],
        "unwanted": ["playing the guitar"],
    }
    clip, boolean = answer["systems"]
    assert clip["name"] == "CLIP"
    assert boolean["name"] == "CLIP boolean α 1"
    check_hits(clip["hits"])
    check_hits(boolean["hits"])


def test_every_listed_system_answers(client: Client) -> None:
    names = client.predict(api_name="/systems")
    assert {"CLIP", "CLIP boolean", "CLIP anchored", "CLIP spherical", "CLIP drop"} <= set(names)
    systems = [name for name in names if name.startswith("CLIP")]

    answer = search(client, systems=systems[:8])

    assert [len(system["hits"]) for system in answer["systems"]] == [8] * 8


def test_unknown_words_are_replaced_unless_left_as_typed(
    client: Client, running_app: RunningApp
) -> None:
    query = "ocean and no dogs"
    with unknowing(running_app.data / "models") as name:
        by_gradio = search(client, query, [name])

        # The plain route takes words to leave as typed, as JSON and as a form.
        request = {"query": query, "systems": [name], "literal": ["ocean"]}
        by_json = post_api(running_app, "search", request).json()
        form = {"query": query, "systems": [name], "literal": ["ocean", "lake"]}
        files = {"literal": (None, "sea")}
        by_form = httpx.post(f"{running_app.url}api/search", data=form, files=files).json()

    assert by_gradio["query"]["read_as"] == {"ocean": "sea", "dogs": "dog"}
    assert by_json["query"]["read_as"] == {"dogs": "dog"}
    assert by_form["query"]["read_as"] == {"dogs": "dog"}


@pytest.mark.parametrize(
    "query", ["🐶 🚫🎸", "ein Mann singt nicht", "一个男人在唱歌", "!!!", "not", "a\0b"]
)
def test_odd_queries_still_get_an_answer(client: Client, query: str) -> None:
    answer = search(client, query, ["CLIP", "CLIP boolean"])
    assert len(answer["systems"][0]["hits"]) == 8


def test_a_reference_picture_alone_finds_its_own_clip(
    client: Client, running_app: RunningApp, tmp_path: Path
) -> None:
    video_id = first_hit(search(client, "a woman is riding a horse"))
    clip = tmp_path / "clip.webm"
    clip.write_bytes(httpx.get(f"{running_app.url}clips/{video_id}.webm").content)
    frame = tmp_path / "frame.png"
    Image.fromarray(sample_frames(clip, 1)[0]).save(frame)

    answer = search(client, "", image=handle_file(frame))

    assert first_hit(answer) == video_id


def test_agents_are_offered_the_search(stranger: RawClient) -> None:
    pytest.importorskip("mcp", reason="needs the MCP package, nt2vr[mcp]")
    tools = stranger.call_as_agent("tools/list", {})["tools"]
    assert "search" in [tool["name"] for tool in tools]


def test_clips_are_cacheable_and_served_in_ranges(client: Client, running_app: RunningApp) -> None:
    video_id = first_hit(search(client))
    url = f"{running_app.url}clips/{video_id}.webm"

    answer = httpx.get(url, headers={"Range": "bytes=0-99"})

    assert answer.status_code == 206
    assert len(answer.content) == 100
    assert answer.headers["content-type"] == "video/webm"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.slow
def test_an_evaluation_adds_the_controls_and_answers_with_the_report(
    client: Client, running_app: RunningApp, reports: Path
) -> None:
    report = client.predict("gallery", ["CLIP boolean"], api_name="/evaluate")

    metrics = {system["system"]: system["metrics"] for system in report["systems"]}
    assert list(metrics) == ["CLIP", "CLIP drop", "CLIP boolean"]
    hard_pairs = [values["composed/hard_pairs"] for values in metrics.values()]
    assert hard_pairs == sorted(hard_pairs)
    assert len(set(hard_pairs)) == 3
    oracle = report["references"]["oracle"]
    assert oracle["original/MIR"] > metrics["CLIP"]["original/MIR"]
    assert report["videos"] == 549


@pytest.mark.parametrize(
    ("data", "systems", "sentence"),
    [
        ("", ["CLIP"], "data"),
        ("gallery", [], "system"),
        ("gallery", ["GPT"], "'GPT'"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_in_a_sentence(
    client: Client, data: str, systems: list[str], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        client.predict(data, systems, api_name="/evaluate")


def test_strangers_evaluate_built_in_data_only(running_app: RunningApp, tmp_path: Path) -> None:
    task = tmp_path / "task.csv"
    task.write_text("path,class\na.mp4,dog\n")
    visitor = Client(running_app.url, verbose=False, headers=STRANGER)
    for data in (str(task), str(tmp_path), "~"):
        with pytest.raises(AppError, match="owner"):
            visitor.predict(data, ["CLIP"], api_name="/evaluate")


@pytest.mark.slow
def test_strangers_add_no_report_to_a_full_archive(
    client: Client, running_app: RunningApp, reports: Path
) -> None:
    client.predict("gallery", ["CLIP"], api_name="/evaluate")
    (report,) = reports.iterdir()
    for number in range(1, 500):
        folder = reports / str(number)
        folder.mkdir()
        shutil.copy(report / "report.json", folder)

    visitor = Client(running_app.url, verbose=False, headers=STRANGER)
    with pytest.raises(AppError, match="500"):
        visitor.predict("gallery", ["CLIP"], api_name="/evaluate")
    # The owner may delete reports, and so may add one.
    by_owner = client.predict("gallery", ["CLIP"], api_name="/evaluate")
    assert by_owner["videos"] == 549
