"""Posters and previews of libraries over raw HTTP: clips of a library and nothing else, cached for good."""

import http.client
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import av
import gradio
import httpx
import pytest

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.media.video import probe
from nt2vr.ui.library.media import content_key
from tests.conftest import STRANGER, RunningApp

ASSETS = Path(gradio.__file__).parent / "media_assets"


@pytest.fixture(scope="module")
def library(running_app: RunningApp, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A library of a picture and a video of three windows; its posters and previews are there, its index is not."""
    folder = tmp_path_factory.mktemp("videos")
    shutil.copy(ASSETS / "images" / "lion.jpg", folder)
    shutil.copy(ASSETS / "videos" / "world.mp4", folder)
    libraries = Libraries(running_app.data / "libraries")
    info = libraries.add("Media", "folder", folder)
    with Decoder(num_workers=1) as decoder, Cache.of(running_app.data) as cache:
        update_library(libraries, info.id, None, decoder, cache)
    yield info.id
    libraries.remove(info.id)


def status_of(app: RunningApp, path: str) -> int:
    """Ask for a path as it is; other clients tidy it up first."""
    with closing(
        http.client.HTTPConnection(httpx.URL(app.url).netloc.decode(), timeout=20)
    ) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def test_browsers_cache_every_clips_poster_and_preview(
    running_app: RunningApp, library: str
) -> None:
    videos = Libraries(running_app.data / "libraries").gallery(library).videos
    assert [video.long_video for video in videos].count("world.mp4") == 3
    for video in videos:
        place = f"{running_app.url}media/{library}/{content_key(video)}"
        poster, preview = (httpx.get(f"{place}/{kind}") for kind in ("poster.jpg", "preview.webm"))
        assert poster.headers["content-type"] == "image/jpeg" and poster.content.startswith(
            b"\xff\xd8"
        )
        assert preview.headers["content-type"] == "video/webm" and preview.content.startswith(
            b"\x1aE\xdf\xa3"
        )
        assert all("immutable" in answer.headers["cache-control"] for answer in (poster, preview))
    part = httpx.get(f"{place}/preview.webm", headers={"Range": "bytes=0-99"})
    assert (part.status_code, len(part.content)) == (206, 100)


def test_programs_learn_that_a_library_is_not_indexed(
    running_app: RunningApp, library: str
) -> None:
    galleries = httpx.get(f"{running_app.url}api/galleries").json()
    assert [gallery["name"] for gallery in galleries] == ["built-in", "Media"]
    assert galleries[1] == {"name": "Media", "id": library, "num_clips": 4}
    for name, sentence in (
        (library, "Media is not indexed by CLIP-neg yet"),
        ("none", "There is no library"),
    ):
        answer = httpx.post(
            f"{running_app.url}api/search", json={"query": "a lion", "gallery": name}, timeout=60
        )
        assert answer.status_code == 400 and sentence in answer.json()["error"]


def test_a_missing_preview_is_made_when_it_is_asked_for(
    running_app: RunningApp, library: str
) -> None:
    video = Libraries(running_app.data / "libraries").gallery(library).videos[0]
    previews = running_app.data / "libraries" / library / "previews"
    shutil.rmtree(previews)
    answer = httpx.get(
        f"{running_app.url}media/{library}/{content_key(video)}/poster.jpg", timeout=30
    )
    assert answer.status_code == 200 and previews.is_dir()


def test_frames_of_clips_longer_than_their_preview_are_pictures(
    running_app: RunningApp, library: str
) -> None:
    videos = Libraries(running_app.data / "libraries").gallery(library).videos
    (last,) = (video for video in videos if video.start == 20)
    for number in (0, 7):
        frame = httpx.get(
            f"{running_app.url}media/{library}/{content_key(last)}/frame-{number}-of-8.jpg",
            timeout=30,
        )
        assert (
            frame.content.startswith(b"\xff\xd8") and "immutable" in frame.headers["cache-control"]
        )


def test_only_the_owner_saves_a_moment(
    running_app: RunningApp, library: str, tmp_path: Path
) -> None:
    videos = Libraries(running_app.data / "libraries").gallery(library).videos
    (last,) = (video for video in videos if video.start == 20)
    link = f"{running_app.url}media/{library}/{content_key(last)}/moment"
    assert httpx.get(link, headers=STRANGER, timeout=30).status_code == 403
    saved = httpx.get(link, timeout=30)
    assert saved.headers["content-disposition"].endswith("world%200.20.mp4")
    (tmp_path / "moment.mp4").write_bytes(saved.content)
    assert 10 <= probe(tmp_path / "moment.mp4").seconds < 20
    with av.open(str(tmp_path / "moment.mp4")) as moment:
        assert [stream.codec_context.name for stream in moment.streams] == ["h264", "aac"]
    assert not list((running_app.data / "libraries" / library / "previews").glob(".*.mp4"))


def test_nothing_but_posters_and_previews_can_be_asked_for(
    running_app: RunningApp, library: str
) -> None:
    video = Libraries(running_app.data / "libraries").gallery(library).videos[0]
    key = content_key(video)
    up = (
        "..",
        "%2e%2e",
        "..%2f..",
        "%2e%2e%2f%2e%2e",
        "..%5c..",
        "....",
        "%00",
        "\u00e9".encode().hex(),
        "%ff",
    )
    paths = [
        f"/media/{library}/{key}/library.json",
        f"/media/{library}/{key}/poster.jpg/../../library.json",
        f"/media/{library}/{key}/",
        *(
            f"/media/{library}/{key}/frame-{clip}.jpg"
            for clip in ("9-of-9", "0-of-0", "1-of-999", "-1-of-4")
        ),
        f"/media/{library}/library.json",
        f"/media/{library}/{video.content}/poster.jpg",
        "/media/built-in/x/poster.jpg",
        "/media//x/poster.jpg",
        f"/media/{'x' * 5000}/{key}/poster.jpg",
        f"/media/none/{key}/poster.jpg",
        *(f"/media/{step}/{key}/poster.jpg" for step in up),
        *(f"/media/{library}/{step}/poster.jpg" for step in up),
        *(f"/media/{library}/{key}/{step}" for step in up),
        *(f"/media/{step}/{step}/{step}/etc/passwd" for step in up),
        f"/media/{library}/..%2f..%2f..%2fowner-token/poster.jpg",
    ]
    answers = {path: status_of(running_app, path) for path in paths}
    assert {path: status for path, status in answers.items() if status not in (400, 404)} == {}
    assert status_of(running_app, f"/media/{library}/{key}/poster.jpg") == 200
