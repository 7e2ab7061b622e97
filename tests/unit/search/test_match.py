"""Which caption fits: scores as a search has them, the truth where it is known, and refusals."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

import nt2vr
from nt2vr.api import GallerySearcher
from nt2vr.errors import ConfigError, MediaError, QueryError
from nt2vr.search.searcher import MAX_LINES
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.web.api_types import MatchAnswer
from nt2vr.ui.web.http_routes import build_routes
from nt2vr.ui.web.requests import Requests
from tests.support.running import in_thread

SYSTEMS = ["CLIP", "CLIP boolean α 0.5", "CLIP rectified", "CLIP drop"]


@pytest.fixture(scope="module")
def searcher(gallery_data: Path) -> Iterator[GallerySearcher]:
    with nt2vr.open_searcher(gallery_data) as searcher:
        yield searcher


def test_lines_are_scored_as_searches_score_the_clip(searcher: GallerySearcher) -> None:
    clip = searcher.video_ids[7]
    lines = ["a dog and not a cat", "a man is singing", "not a dog"]
    answer = searcher.match(clip, lines, SYSTEMS)
    expected = searcher.scores(lines, SYSTEMS)
    for system in answer.systems:
        wanted = expected[system.system.name][:, 7]
        assert [np.nan if score is None else score for score in system.scores] == pytest.approx(
            wanted, abs=1e-4, nan_ok=True
        )
        assert system.best == int(np.nanargmax(wanted))
    # Nothing is left of "not a dog" to search for.
    assert answer.systems[-1].scores[2] is None


def test_clips_have_a_true_line_and_pictures_have_none(
    searcher: GallerySearcher, tmp_path: Path
) -> None:
    clip = searcher.video_ids[0]
    caption = searcher.video(clip).captions[0]
    answer = searcher.match(clip, [caption, "an elephant without a dog"], "CLIP")
    assert answer.verdicts == ("right", "miss")
    assert answer.as_dict()["lines"][0] == {"text": caption, "verdict": "right"}
    Image.new("RGB", (32, 32), "green").save(tmp_path / "green.png")
    by_file = searcher.match(tmp_path / "green.png", ["a dog", "a cat"], "CLIP")
    by_array = searcher.match(
        np.full((32, 32, 3), (0, 128, 0), np.uint8), ["a dog", "a cat"], "CLIP"
    )
    assert by_file == by_array
    assert by_file.verdicts == (None, None)


def test_what_cannot_be_matched_is_refused_in_one_sentence(searcher: GallerySearcher) -> None:
    clip = searcher.video_ids[0]
    for count in (0, 1, MAX_LINES + 1):
        with pytest.raises(ConfigError, match=f"2 to 8 .*{count}"):
            searcher.match(clip, ["a dog"] * count, "CLIP")
    with pytest.raises(QueryError, match=r"^Line 2: "):
        searcher.match(clip, ["a dog", "  "], "CLIP")
    with pytest.raises(QueryError, match=r"^Line 1: "):
        searcher.match(clip, ["dog " * 10_000, "a cat"], "CLIP")
    with pytest.raises(ConfigError, match="no such clip"):
        searcher.match("no such clip", ["a dog", "a cat"], "CLIP")
    with pytest.raises(MediaError):
        searcher.match(__file__, ["a dog", "a cat"], "CLIP")
    with pytest.raises(ConfigError, match="lines"):
        searcher.match(clip, "a dog", "CLIP")


@pytest.fixture(scope="module")
def ask(gallery_data: Path) -> Iterator[Callable[[Any], httpx.Response]]:
    services = Services(Settings(data_dir=gallery_data))
    nobody: Any = None
    api = build_routes(Requests(services.galleries, services.decoder, services.evaluations, nobody))

    async def send(body: Any) -> httpx.Response:
        transport = httpx.ASGITransport(api)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            arguments: dict[str, Any] = {"json": body} if isinstance(body, dict) else body()
            return await client.post("/match", **arguments)

    yield lambda body: in_thread(send(body))
    services.close()


def test_the_route_answers_what_python_does_as_it_is_described(
    ask: Callable[[Any], httpx.Response], searcher: GallerySearcher, tmp_path: Path
) -> None:
    clip = searcher.video_ids[3]
    lines = ["a dog and not a cat", "not a dog"]
    answer = ask({"clip": clip, "lines": lines, "systems": SYSTEMS, "alpha": 0.3})
    assert answer.status_code == 200
    assert answer.json() == searcher.match(clip, lines, SYSTEMS, alpha=0.3).as_dict()
    MatchAnswer.model_validate(answer.json(), strict=True)

    Image.new("RGB", (32, 32), "green").save(tmp_path / "green.png")
    content = (tmp_path / "green.png").read_bytes()
    expected = searcher.match(tmp_path / "green.png", lines, "CLIP").as_dict()
    url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    assert ask({"image": url, "lines": lines, "systems": ["CLIP"]}).json() == expected
    form = {
        "data": {"lines": lines, "systems": ["CLIP"]},
        "files": {"image": ("green.png", content)},
    }
    assert ask(lambda: form).json() == expected


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "one of them"),
        ({"clip": "a", "image": "b"}, "one of them"),
        ({"clip": "a", "lines": ["x"] * 1_000}, "lines: List should have at most 100 items"),
        ({"image": "/etc/passwd", "lines": ["x", "y"]}, "data URL"),
        ({"clip": "a", "lines": [1, 2]}, "lines.0: Input should be a valid string"),
        ({"clip": "a", "query": "x"}, "query: Extra inputs"),
        ({"clip": "a", "lines": ["x", "y"], "gallery": "none"}, "There is no library"),
    ],
)
def test_the_route_refuses_in_one_sentence(
    ask: Callable[[Any], httpx.Response], body: dict[str, Any], sentence: str
) -> None:
    answer = ask(body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert sentence in answer.json()["error"]
    assert len(answer.json()["error"]) < 200
