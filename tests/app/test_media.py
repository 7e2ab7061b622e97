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
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.media.video import probe
from nt2vr.ui.library.media import content_key
from tests.conftest import STRANGER, RunningApp

ASSETS = Path(gradio.__file__).parent / "media_assets"
JPEG_MAGIC = b"\xff\xd8"
WEBM_MAGIC = b"\x1aE\xdf\xa3"
# Parts of a path that must not lead out of a folder.
STEPS_UP = (
    "..",
    "%2e%2e",
    "..%2f..",
    "%2e%2e%2f%2e%2e",
    "..%5c..",
    "....",
    "%00",
    "c3a9",
    "%ff",
)


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
    host = httpx.URL(app.url).netloc.decode()
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def clips_of(app: RunningApp, library: str) -> list[Video]:
    return list(Libraries(app.data / "libraries").gallery(library).videos)


def last_clip(app: RunningApp, library: str) -> Video:
    """Return the last window of the video."""
    (clip,) = [clip for clip in clips_of(app, library) if clip.start == 20]
    return clip


def media_url(app: RunningApp, library: str, clip: Video, file: str) -> str:
    return f"{app.url}media/{library}/{content_key(clip)}/{file}"


def test_browsers_cache_every_clips_poster_and_preview(
    running_app: RunningApp, library: str
) -> None:
    clips = clips_of(running_app, library)
    assert [clip.long_video for clip in clips].count("world.mp4") == 3
    for clip in clips:
        poster = httpx.get(media_url(running_app, library, clip, "poster.jpg"))
        assert poster.headers["content-type"] == "image/jpeg"
        assert poster.content.startswith(JPEG_MAGIC)
        assert "immutable" in poster.headers["cache-control"]

        preview = httpx.get(media_url(running_app, library, clip, "preview.webm"))
        assert preview.headers["content-type"] == "video/webm"
        assert preview.content.startswith(WEBM_MAGIC)
        assert "immutable" in preview.headers["cache-control"]


def test_previews_are_served_in_ranges(running_app: RunningApp, library: str) -> None:
    url = media_url(running_app, library, last_clip(running_app, library), "preview.webm")
    part = httpx.get(url, headers={"Range": "bytes=0-99"})
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
        request = {"query": "a lion", "gallery": name}
        answer = httpx.post(f"{running_app.url}api/search", json=request, timeout=60)
        assert answer.status_code == 400
        assert sentence in answer.json()["error"]


def test_a_missing_preview_is_made_when_it_is_asked_for(
    running_app: RunningApp, library: str
) -> None:
    clip = clips_of(running_app, library)[0]
    previews = running_app.data / "libraries" / library / "previews"
    shutil.rmtree(previews)

    answer = httpx.get(media_url(running_app, library, clip, "poster.jpg"), timeout=30)

    assert answer.status_code == 200
    assert previews.is_dir()


@pytest.mark.parametrize("number", [0, 7])
def test_frames_of_clips_longer_than_their_preview_are_pictures(
    running_app: RunningApp, library: str, number: int
) -> None:
    clip = last_clip(running_app, library)
    url = media_url(running_app, library, clip, f"frame-{number}-of-8.jpg")
    frame = httpx.get(url, timeout=30)
    assert frame.content.startswith(JPEG_MAGIC)
    assert "immutable" in frame.headers["cache-control"]


def test_only_the_owner_saves_a_moment(
    running_app: RunningApp, library: str, tmp_path: Path
) -> None:
    url = media_url(running_app, library, last_clip(running_app, library), "moment")
    assert httpx.get(url, headers=STRANGER, timeout=30).status_code == 403

    saved = httpx.get(url, timeout=30)
    assert saved.headers["content-disposition"].endswith("world%200.20.mp4")
    file = tmp_path / "moment.mp4"
    file.write_bytes(saved.content)
    assert 10 <= probe(file).seconds < 20
    with av.open(str(file)) as moment:
        assert [stream.codec_context.name for stream in moment.streams] == ["h264", "aac"]
    assert not list((running_app.data / "libraries" / library / "previews").glob(".*.mp4"))


def test_nothing_but_posters_and_previews_can_be_asked_for(
    running_app: RunningApp, library: str
) -> None:
    clip = clips_of(running_app, library)[0]
    key = content_key(clip)
    paths = [
        f"/media/{library}/{key}/library.json",
        f"/media/{library}/{key}/poster.jpg/../../library.json",
        f"/media/{library}/{key}/",
        f"/media/{library}/{key}/frame-9-of-9.jpg",
        f"/media/{library}/{key}/frame-0-of-0.jpg",
        f"/media/{library}/{key}/frame-1-of-999.jpg",
        f"/media/{library}/{key}/frame--1-of-4.jpg",
        f"/media/{library}/library.json",
        f"/media/{library}/{clip.content}/poster.jpg",
        "/media/built-in/x/poster.jpg",
        "/media//x/poster.jpg",
        f"/media/{'x' * 5000}/{key}/poster.jpg",
        f"/media/none/{key}/poster.jpg",
        f"/media/{library}/..%2f..%2f..%2fowner-token/poster.jpg",
    ]
    for step in STEPS_UP:
        paths.append(f"/media/{step}/{key}/poster.jpg")
        paths.append(f"/media/{library}/{step}/poster.jpg")
        paths.append(f"/media/{library}/{key}/{step}")
        paths.append(f"/media/{step}/{step}/{step}/etc/passwd")

    for path in paths:
        assert status_of(running_app, path) in (400, 404), path
    assert status_of(running_app, f"/media/{library}/{key}/poster.jpg") == 200
