"""The app's API over gradio_client: its contract, and its messages about bad input."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

from nt2vr.media.video import sample_frames
from tests.conftest import RunningApp
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
    systems: list[str] | None = None,
    k: int = 8,
    image: object = None,
) -> dict[str, Any]:
    return client.predict(query, systems or ["CLIP"], k, image, api_name="/search")  # type: ignore[no-any-return]


def test_the_answer_has_the_promised_form(client: Client) -> None:
    answer = search(client, systems=["clip", "CLIP boolean α 1"], k=5)
    assert answer["query"] == {
        "text": QUERY,
        "wanted": ["a man is singing"],
        "unwanted": ["playing the guitar"],
    }
    assert [system["name"] for system in answer["systems"]] == ["CLIP", "CLIP boolean α 1"]
    for system in answer["systems"]:
        assert [hit["rank"] for hit in system["hits"]] == [1, 2, 3, 4, 5]
        assert len({hit["video_id"] for hit in system["hits"]}) == 5
        scores = [hit["score"] for hit in system["hits"]]
        assert scores == sorted(scores, reverse=True)
        assert {hit["verdict"] for hit in system["hits"]} <= {"right", "violation", "miss"}
        assert all(set(hit) == {"video_id", "rank", "score", "verdict"} for hit in system["hits"])


def test_every_listed_system_answers(client: Client) -> None:
    names = client.predict(api_name="/systems")
    assert {"CLIP", "CLIP boolean", "CLIP anchored", "CLIP spherical", "CLIP drop"} <= set(names)
    answer = search(client, systems=[name for name in names if name.startswith("CLIP")][:8])
    assert all(len(system["hits"]) == 8 for system in answer["systems"])


def test_unknown_words_are_replaced_unless_left_as_typed(
    client: Client, running_app: RunningApp
) -> None:
    """Read over Gradio's API, and left as typed over the plain route, as JSON and as a form alike."""
    url = f"{running_app.url}api/search"
    with unknowing(running_app.data / "models") as name:
        request = {"query": "ocean and no dogs", "systems": [name]}
        replacements = {"ocean": "sea", "dogs": "dog"}
        assert search(client, str(request["query"]), [name])["query"]["read_as"] == replacements
        for answer in (
            httpx.post(url, json=request | {"literal": ["ocean"]}),
            httpx.post(
                url, data=request | {"literal": ["ocean", "lake"]}, files={"literal": (None, "sea")}
            ),
        ):
            assert answer.json()["query"]["read_as"] == {"dogs": "dog"}


@pytest.mark.parametrize(
    "query", ["🐶 🚫🎸", "ein Mann singt nicht", "一个男人在唱歌", "!!!", "not", "a\0b"]
)
def test_odd_queries_still_get_an_answer(client: Client, query: str) -> None:
    assert len(search(client, query, ["CLIP", "CLIP boolean"])["systems"][0]["hits"]) == 8


def test_a_reference_picture_alone_finds_its_own_clip(
    client: Client, running_app: RunningApp, tmp_path: Path
) -> None:
    hit = search(client, "a woman is riding a horse")["systems"][0]["hits"][0]["video_id"]
    clip = tmp_path / "clip.webm"
    clip.write_bytes(httpx.get(f"{running_app.url}clips/{hit}.webm").content)
    Image.fromarray(sample_frames(clip, 1)[0]).save(tmp_path / "frame.png")
    answer = search(client, "", image=handle_file(tmp_path / "frame.png"))
    assert answer["systems"][0]["hits"][0]["video_id"] == hit


def test_clips_are_cacheable_and_served_in_ranges(client: Client, running_app: RunningApp) -> None:
    hit = search(client)["systems"][0]["hits"][0]["video_id"]
    answer = httpx.get(f"{running_app.url}clips/{hit}.webm", headers={"Range": "bytes=0-99"})
    assert (answer.status_code, len(answer.content)) == (206, 100)
    assert answer.headers["content-type"] == "video/webm"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.slow
def test_an_evaluation_adds_the_controls_and_answers_with_the_report(
    client: Client, running_app: RunningApp, reports: Path
) -> None:
    report = client.predict("gallery", ["CLIP boolean"], api_name="/evaluate")
    assert [system["system"] for system in report["systems"]] == [
        "CLIP",
        "CLIP drop",
        "CLIP boolean",
    ]
    clip, drop, boolean = (system["metrics"] for system in report["systems"])
    assert (
        clip["composed/hard_pairs"] < drop["composed/hard_pairs"] < boolean["composed/hard_pairs"]
    )
    assert (
        report["videos"] == 549
        and report["references"]["oracle"]["original/MIR"] > clip["original/MIR"]
    )


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
    (tmp_path / "task.csv").write_text("path,class\na.mp4,dog\n")
    stranger = Client(running_app.url, verbose=False, headers={"X-Forwarded-For": "203.0.113.7"})
    for data in (str(tmp_path / "task.csv"), str(tmp_path), "~"):
        with pytest.raises(AppError, match="owner"):
            stranger.predict(data, ["CLIP"], api_name="/evaluate")


@pytest.mark.slow
def test_strangers_add_no_report_to_a_full_archive(
    client: Client, running_app: RunningApp, reports: Path
) -> None:
    client.predict("gallery", ["CLIP"], api_name="/evaluate")
    (report,) = reports.iterdir()
    for number in range(1, 500):
        (reports / str(number)).mkdir()
        shutil.copy(report / "report.json", reports / str(number))
    stranger = Client(running_app.url, verbose=False, headers={"X-Forwarded-For": "203.0.113.7"})
    with pytest.raises(AppError, match="500"):
        stranger.predict("gallery", ["CLIP"], api_name="/evaluate")
    # Whoever may delete.
    assert client.predict("gallery", ["CLIP"], api_name="/evaluate")["videos"] == 549
