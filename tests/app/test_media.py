"""Posters and previews of libraries over raw HTTP: clips of a library and nothing else, cached for good."""

import http.client
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import av
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
from tests.support.app_calls import post_api
from tests.support.paths import GRADIO_MEDIA

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


@dataclass(frozen=True)
class MediaLibrary:
    """A library of the running app."""

    app: RunningApp
    library_id: str

    def clips(self) -> list[Video]:
        libraries = Libraries(self.app.data / "libraries")
        return list(libraries.gallery(self.library_id).videos)

    def last_clip(self) -> Video:
        """Return the last window of the video."""
        (clip,) = [clip for clip in self.clips() if clip.start == 20]
        return clip

    def url(self, clip: Video, file: str) -> str:
        """Return the address of a clip's poster, preview, frame or moment."""
        return f"{self.app.url}media/{self.library_id}/{content_key(clip)}/{file}"

    @property
    def previews(self) -> Path:
        """The folder of its posters and previews."""
        return self.app.data / "libraries" / self.library_id / "previews"


@pytest.fixture(scope="module")
def library(
    running_app: RunningApp, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MediaLibrary]:
    """A library of a picture and a video of three windows; its posters and previews are there, its index is not."""
    folder = tmp_path_factory.mktemp("videos")
    shutil.copy(GRADIO_MEDIA / "images" / "lion.jpg", folder)
    shutil.copy(GRADIO_MEDIA / "videos" / "world.mp4", folder)
    libraries = Libraries(running_app.data / "libraries")
    info = libraries.add("Media", "folder", folder)
    with Decoder(num_workers=1) as decoder, Cache.of(running_app.data) as cache:
        update_library(libraries, info.id, None, decoder, cache)
    yield MediaLibrary(running_app, info.id)
    libraries.remove(info.id)


def status_of(app: RunningApp, path: str) -> int:
    """Return the status of the answer to a path as it is; other clients tidy it up first."""
    host = httpx.URL(app.url).netloc.decode()
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def test_browsers_cache_every_clips_poster_and_preview(library: MediaLibrary) -> None:
    clips = library.clips()
    assert [clip.long_video for clip in clips].count("world.mp4") == 3

    for clip in clips:
        poster = httpx.get(library.url(clip, "poster.jpg"))
        assert poster.headers["content-type"] == "image/jpeg"
        assert poster.content.startswith(JPEG_MAGIC)
        assert "immutable" in poster.headers["cache-control"]

        preview = httpx.get(library.url(clip, "preview.webm"))
        assert preview.headers["content-type"] == "video/webm"
        assert preview.content.startswith(WEBM_MAGIC)
        assert "immutable" in preview.headers["cache-control"]


def test_previews_are_served_in_ranges(library: MediaLibrary) -> None:
    url = library.url(library.last_clip(), "preview.webm")

    answer = httpx.get(url, headers={"Range": "bytes=0-99"})

    assert answer.status_code == 206
    assert len(answer.content) == 100


def test_programs_are_offered_a_library(library: MediaLibrary) -> None:
    galleries = httpx.get(f"{library.app.url}api/galleries").json()
    assert [gallery["name"] for gallery in galleries] == ["built-in", "Media"]
    assert galleries[1] == {"name": "Media", "id": library.library_id, "num_clips": 4}


def test_a_library_without_an_index_is_not_searched(library: MediaLibrary) -> None:
    request = {"query": "a lion", "gallery": library.library_id}
    answer = post_api(library.app, "search", request)
    assert answer.status_code == 400
    assert "Media is not indexed by CLIP-neg yet" in answer.json()["error"]


def test_an_unknown_library_is_not_searched(running_app: RunningApp) -> None:
    answer = post_api(running_app, "search", {"query": "a lion", "gallery": "none"})
    assert answer.status_code == 400
    assert "There is no library" in answer.json()["error"]


def test_a_missing_preview_is_made_when_it_is_asked_for(library: MediaLibrary) -> None:
    clip = library.clips()[0]
    shutil.rmtree(library.previews)

    answer = httpx.get(library.url(clip, "poster.jpg"), timeout=30)

    assert answer.status_code == 200
    assert library.previews.is_dir()


@pytest.mark.parametrize("number", [0, 7])
def test_frames_of_clips_longer_than_their_preview_are_pictures(
    library: MediaLibrary, number: int
) -> None:
    url = library.url(library.last_clip(), f"frame-{number}-of-8.jpg")
    frame = httpx.get(url, timeout=30)
    assert frame.content.startswith(JPEG_MAGIC)
    assert "immutable" in frame.headers["cache-control"]


def test_only_the_owner_saves_a_moment(library: MediaLibrary, tmp_path: Path) -> None:
    url = library.url(library.last_clip(), "moment")
    assert httpx.get(url, headers=STRANGER, timeout=30).status_code == 403

    answer = httpx.get(url, timeout=30)
    assert answer.headers["content-disposition"].endswith("world%200.20.mp4")
    file = tmp_path / "moment.mp4"
    file.write_bytes(answer.content)
    assert 10 <= probe(file).seconds < 20
    with av.open(str(file)) as moment:
        assert [stream.codec_context.name for stream in moment.streams] == ["h264", "aac"]

    # The app leaves no copy of it.
    assert list(library.previews.glob(".*.mp4")) == []


def wrong_paths(library_id: str, clip: Video) -> list[str]:
    """Return paths below /media that are neither a poster nor a preview nor a frame of a clip."""
    key = content_key(clip)
    paths = [
        f"/media/{library_id}/{key}/library.json",
        f"/media/{library_id}/{key}/poster.jpg/../../library.json",
        f"/media/{library_id}/{key}/",
        f"/media/{library_id}/{key}/frame-9-of-9.jpg",
        f"/media/{library_id}/{key}/frame-0-of-0.jpg",
        f"/media/{library_id}/{key}/frame-1-of-999.jpg",
        f"/media/{library_id}/{key}/frame--1-of-4.jpg",
        f"/media/{library_id}/library.json",
        f"/media/{library_id}/{clip.content}/poster.jpg",
        "/media/built-in/x/poster.jpg",
        "/media//x/poster.jpg",
        f"/media/{'x' * 5000}/{key}/poster.jpg",
        f"/media/none/{key}/poster.jpg",
        f"/media/{library_id}/..%2f..%2f..%2fowner-token/poster.jpg",
    ]
    for step in STEPS_UP:
        paths.append(f"/media/{step}/{key}/poster.jpg")
        paths.append(f"/media/{library_id}/{step}/poster.jpg")
        paths.append(f"/media/{library_id}/{key}/{step}")
        paths.append(f"/media/{step}/{step}/{step}/etc/passwd")
    return paths


def test_nothing_but_posters_and_previews_can_be_asked_for(library: MediaLibrary) -> None:
    clip = library.clips()[0]
    for path in wrong_paths(library.library_id, clip):
        assert status_of(library.app, path) in (400, 404), path

    poster = f"/media/{library.library_id}/{content_key(clip)}/poster.jpg"
    assert status_of(library.app, poster) == 200
