"""Updating a library: what is read, embedded, previewed, noticed and kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import GalleryError, MediaError, Nt2vrError
from nt2vr.library.changes import Changes
from nt2vr.library.libraries import Libraries
from nt2vr.library.source import LibraryInfo
from nt2vr.library.update import Updated, update_library
from nt2vr.media.clip_frames import decode_files
from nt2vr.media.decode import Decoder, Decoding
from nt2vr.media.store import Cache
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, silent, stoppable
from tests.support.brightness_encoder import BrightnessEncoder
from tests.support.disks import mounted, read_only
from tests.support.paths import ROOT
from tests.support.video_files import write_grey_video

WriteVideo = Callable[..., Path]


class CountingDecoder(Decoder):
    """Counts what is asked of the children."""

    def __init__(self) -> None:
        super().__init__(num_workers=1, timeout_s=20)
        self.jobs: list[str] = []

    def _start(self, path: Path, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        name = args[1].partition(":")[2] if function.__name__ == "_call" else function.__name__
        self.jobs.append(f"{name} {path.name}")
        return super()._start(path, function, *args, **options)


@pytest.fixture(scope="module")
def decoder() -> Iterator[CountingDecoder]:
    decoder = CountingDecoder()
    with decoder:
        yield decoder


@dataclass
class Room:
    """A folder of videos, the libraries of a data folder, and what updates them."""

    videos: Path
    libraries: Libraries
    decoder: CountingDecoder
    cache: Cache
    encoder: Any

    def add(self, **options: Any) -> str:
        return self.libraries.add("videos", "folder", self.videos, **options).id

    def update(self, progress: Progress = silent, previews: bool = False) -> Updated:
        self.decoder.jobs.clear()
        self.encoder.num_clips = 0
        return update_library(
            self.libraries, "videos", self.encoder, self.decoder, self.cache, progress, previews
        )

    @property
    def library(self) -> LibraryInfo:
        return self.libraries.find("videos")

    @property
    def ids(self) -> list[str]:
        return [video.video_id for video in self.libraries.gallery("videos").videos]

    @property
    def skipped(self) -> dict[str, str]:
        return {entry.id: entry.reason for entry in self.libraries.skipped("videos")}


@pytest.fixture
def bare(tmp_path: Path, decoder: CountingDecoder, write_video: WriteVideo) -> Iterator[Room]:
    for number, name in enumerate(("a.avi", "b.avi", "sub/c.avi"), start=1):
        write_video(f"videos/{name}", [50 * number] * 12)
    with Cache.of(tmp_path / "data") as cache:
        yield Room(
            tmp_path / "videos",
            Libraries(tmp_path / "data" / "libraries"),
            decoder,
            cache,
            BrightnessEncoder(),
        )


@pytest.fixture
def room(bare: Room) -> Room:
    """A room with a library of its videos."""
    bare.add()
    return bare


def test_files_are_found_read_and_embedded_once(room: Room) -> None:
    assert room.update() == Updated(Changes(new=("a.avi", "b.avi", "sub/c.avi")), 3, 3, 0)
    assert room.ids == ["a.avi", "b.avi", "sub/c.avi"]
    info = room.library
    assert info.num_files == 3
    assert info.num_clips == 3
    assert info.num_skipped == 0
    assert info.has_captions is False
    assert info.seconds == pytest.approx(3.0, abs=0.1)
    database = room.libraries.folder / info.id / "files.db"
    before = database.stat().st_mtime_ns
    assert room.update() == Updated(Changes(), 3, 3, 0)
    assert room.decoder.jobs == []
    assert room.encoder.num_clips == 0
    assert not room.libraries.check("videos")
    # The page reopens a library whose list has changed.
    assert database.stat().st_mtime_ns == before


def test_a_file_replaced_by_a_link_is_skipped(room: Room, write_video: WriteVideo) -> None:
    room.update()
    first, *_ = room.libraries.gallery("videos").videos
    write_video("outside.avi", [250] * 12)
    first.path.unlink()
    first.path.symlink_to(room.videos.parent / "outside.avi")
    previews = room.libraries.previews("videos", room.decoder)
    for make in (previews.poster, previews.preview):
        with pytest.raises(MediaError, match=r"^a\.avi "):
            make(first)
    failed: dict[str, str] = {}
    assert list(decode_files([first], 2, Framing(8), room.decoder, failed)) == []
    assert failed.keys() == {"a.avi"}
    assert "leads out" in failed["a.avi"]


def test_only_what_is_new_or_changed_is_read_again(room: Room, write_video: WriteVideo) -> None:
    room.update()
    write_video("videos/d.avi", [220] * 12)
    write_video("videos/a.avi", [10] * 24)
    (room.videos / "b.avi").unlink()
    expected = Changes(new=("d.avi",), changed=("a.avi",), removed=("b.avi",))
    assert room.libraries.check("videos") == expected
    assert room.update() == Updated(expected, 3, 3, 0)
    assert set(room.decoder.jobs) == {
        "probe a.avi",
        "probe d.avi",
        "sample_windows a.avi",
        "sample_windows d.avi",
    }
    assert room.ids == ["a.avi", "d.avi", "sub/c.avi"]


def test_a_renamed_file_is_not_embedded_again(room: Room) -> None:
    room.update(previews=True)
    (room.videos / "a.avi").rename(room.videos / "sub" / "new.avi")
    assert room.libraries.check("videos") == Changes(renamed={"a.avi": "sub/new.avi"})
    # Its content is what counts.
    os.utime(room.videos / "sub" / "new.avi", (1, 1))
    assert room.update(previews=True).changes == Changes(renamed={"a.avi": "sub/new.avi"})
    assert room.decoder.jobs == ["probe new.avi"]
    assert room.encoder.num_clips == 0
    assert room.ids == ["b.avi", "sub/c.avi", "sub/new.avi"]


def test_a_copy_is_left_out_until_the_original_is_gone(room: Room) -> None:
    shutil.copy(room.videos / "a.avi", room.videos / "z.avi")
    updated = room.update()
    assert (updated.num_clips, updated.changes.copies) == (3, ("z.avi",))
    assert updated.changes.by_kind == {"new (1 copy)": ("a.avi", "b.avi", "z.avi", "sub/c.avi")}
    assert room.skipped == {"z.avi": "It is a copy of a.avi."}
    library = room.library
    assert library.num_files == 3
    assert library.num_copies == 1
    assert library.num_skipped == 0
    (room.videos / "a.avi").unlink()
    room.update()
    assert "z.avi" in room.ids
    assert room.skipped == {}
    assert room.encoder.num_clips == 0


def test_a_bad_file_is_skipped_until_a_retry_is_requested(
    room: Room, write_video: WriteVideo
) -> None:
    (room.videos / "text.mp4").write_text("not a video")
    (room.videos / "empty.mp4").touch()
    (room.videos / "notes.txt").write_text("no video, and not named as one")
    os.mkfifo(room.videos / "pipe.mp4")
    assert room.update().num_skipped == 3
    assert list(room.skipped) == ["empty.mp4", "pipe.mp4", "text.mp4"]
    assert "text.mp4 is not a readable video" in room.skipped["text.mp4"]
    assert "pipe" in room.skipped["pipe.mp4"]
    assert "0 bytes" in room.skipped["empty.mp4"]
    room.update()
    assert room.decoder.jobs == []
    room.libraries.retry("videos")
    room.update()
    assert room.decoder.jobs == ["probe empty.mp4", "probe text.mp4"]
    good = write_video("other.avi", [90] * 12).read_bytes()
    (room.videos / "text.mp4").write_bytes(good)
    assert room.update().changes == Changes(changed=("text.mp4",))
    assert "text.mp4" in room.ids
    assert list(room.skipped) == ["empty.mp4", "pipe.mp4"]


def test_links_out_are_skipped_and_links_within_are_copies(room: Room, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    shutil.copy(room.videos / "a.avi", tmp_path / "secret" / "s.avi")
    (room.videos / "link.avi").symlink_to(tmp_path / "secret" / "s.avi")
    (room.videos / "folder").symlink_to(tmp_path / "secret")
    (room.videos / "loop").symlink_to(room.videos)
    (room.videos / "gone.avi").symlink_to(room.videos / "nowhere.avi")
    (room.videos / "y.avi").symlink_to("a.avi")
    room.update()
    assert room.ids == ["a.avi", "b.avi", "sub/c.avi"]
    skipped = room.skipped
    leading_out = {name for name, reason in skipped.items() if "leads out" in reason}
    assert leading_out == {"link.avi", "folder"}
    assert "broken link" in skipped["gone.avi"]
    assert "copy of a.avi" in skipped["y.avi"]
    assert "loop" not in skipped


def test_an_unmounted_drive_keeps_everything(room: Room, tmp_path: Path) -> None:
    room.update(previews=True)
    room.videos.rename(tmp_path / "away")
    for is_mounted in (False, True):
        if is_mounted:
            # The mount point is an empty folder.
            room.videos.mkdir()
        with pytest.raises(GalleryError, match=str(room.videos)):
            room.update()
        with pytest.raises(GalleryError, match=str(room.videos)):
            room.libraries.check("videos")
        assert not room.library.available
        assert len(room.ids) == 3
    room.videos.rmdir()
    (tmp_path / "away").rename(room.videos)
    assert room.update(previews=True) == Updated(Changes(), 3, 3, 0)
    assert room.decoder.jobs == []


def test_a_closed_folder_is_not_taken_for_empty(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.update()
    scandir = os.scandir

    def scandir_without_rights(path: Any) -> Any:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scandir_without_rights)
    assert room.update().changes.removed == ()
    assert "sub/c.avi" in room.ids
    assert "Permission denied" in room.skipped["sub"]
    monkeypatch.undo()
    room.update()
    assert room.skipped == {}


def test_long_videos_become_windows_and_pictures_are_clips(bare: Room) -> None:
    bare.add(window_s=2.0)
    write_grey_video(bare.videos / "long.mp4", [20 * i for i in range(10)], rate=1)
    Image.new("RGB", (40, 20), (90, 90, 90)).save(bare.videos / "p.jpg")
    updated = bare.update(previews=True)
    assert (updated.num_clips, updated.num_embedded) == (9, 9)
    videos = {video.video_id: video for video in bare.libraries.gallery("videos").videos}
    window = videos["long.mp4@4-6"]
    assert (window.start, window.end) == (4.0, 6.0)
    assert window.long_video == window.path.name == "long.mp4"
    assert [video.long_video for video in videos.values()].count("long.mp4") == 5
    assert videos["a.avi"].long_video == ""
    picture = videos["p.jpg"]
    assert (picture.start, picture.end) == (0.0, None)
    # Opened once for all its windows.
    assert bare.decoder.jobs.count("sample_windows long.mp4") == 1
    with Image.open(bare.libraries.previews("videos", bare.decoder).poster(window)) as poster:
        # The frame is the middle one, at 5 s.
        assert np.asarray(poster).mean() == pytest.approx(100, abs=6)


def test_a_window_that_cannot_be_decoded_is_skipped_alone(
    bare: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.add(window_s=2.0)
    write_grey_video(bare.videos / "long.mp4", [20 * i for i in range(10)], rate=1)
    decode = bare.decoder.windows

    def decode_all_but_the_second(path: Path, spans: Any, *args: Any) -> Any:
        decoding = decode(path, spans, *args)
        if path.name != "long.mp4":
            return decoding
        windows = decoding.result()
        windows[1] = "long.mp4 is damaged there."
        ready: Any = Future()
        ready.set_result(windows)
        return Decoding(path, ready)

    monkeypatch.setattr(bare.decoder, "windows", decode_all_but_the_second)
    updated = bare.update(previews=True)
    assert updated.num_clips == 7
    assert updated.num_embedded == 7
    assert updated.num_skipped == 1
    assert updated.changes.skipped == ("long.mp4",)
    assert bare.skipped == {"long.mp4@2-4": "long.mp4 is damaged there."}
    monkeypatch.undo()
    bare.libraries.retry("videos")
    assert bare.update(previews=True).num_clips == 8
    assert bare.skipped == {}


def test_moved_manifests_and_datasets_keep_ids_captions_and_copies(bare: Room) -> None:
    shutil.copy(bare.videos / "a.avi", bare.videos / "b.avi")
    lines: list[dict[str, Any]] = [
        {"video_id": "a", "path": "a.avi", "captions": ["video a"]},
        {"video_id": "b", "path": "b.avi", "captions": ["video b"]},
        {"video_id": "gone", "path": "gone.avi"},
    ]
    manifest = bare.videos / "videos.jsonl"
    manifest.write_text("\n".join(map(json.dumps, lines)))
    info = bare.libraries.add("videos", "manifest", manifest)
    assert info.source.window_s == 0
    bare.update()
    assert bare.ids == ["a", "b"]
    assert list(bare.skipped) == ["gone"]
    # The contents are equal.
    assert bare.encoder.num_clips == 1
    assert bare.library.has_captions
    lines[0]["captions"] = ["another"]
    manifest.write_text("\n".join(map(json.dumps, lines[:2])))
    bare.update()
    assert bare.libraries.gallery("videos").videos[0].captions == ("another",)
    assert bare.decoder.jobs == []
    data = bare.libraries.add("data", "dataset", bare.videos)
    update_library(bare.libraries, data.id, None, bare.decoder, bare.cache, previews=False)
    videos = bare.libraries.gallery("data").videos
    assert {video.video_id: video.captions for video in videos} == {
        "a": ("another",),
        "b": ("video b",),
    }


def test_posters_and_previews_come_and_go_with_their_files(room: Room) -> None:
    room.update(previews=True)
    previews = room.libraries.previews("videos", room.decoder)
    videos = room.libraries.gallery("videos").videos
    for video in videos:
        assert previews.has(video)
    assert sum("_preview" in job for job in room.decoder.jobs) == 3
    (room.videos / "a.avi").unlink()
    room.update(previews=True)
    assert room.decoder.jobs == []
    assert [previews.has(video) for video in videos] == [False, True, True]


def test_a_stopped_update_keeps_what_it_did(room: Room) -> None:
    checks = count(1)
    with pytest.raises(InterruptedError):
        room.update(stoppable(silent, lambda: next(checks) > 4))
    files = room.libraries.inventory(room.library.source).files()
    assert {file.state for file in files.values()} <= {"ready", "new"}
    assert room.skipped == {}
    assert room.update().num_embedded == 3


def test_a_damaged_list_of_files_is_made_again(room: Room) -> None:
    info = room.library
    room.update()
    database = room.libraries.folder / info.id / "files.db"
    database.write_bytes(b"x" * 8192)
    with pytest.raises(GalleryError):
        room.libraries.gallery("videos")
    assert room.update().num_embedded == 3
    assert room.encoder.num_clips == 0


def test_a_read_only_data_folder_stays_searchable(room: Room, tmp_path: Path) -> None:
    room.update()
    with read_only(tmp_path / "data"):
        with pytest.raises(GalleryError, match=r"^videos "):
            room.update()
        assert room.library.num_clips == 3


def test_a_full_disk_costs_no_finished_work(bare: Room, tmp_path: Path) -> None:
    with mounted(tmp_path / "data", "size=2m"), Cache.of(tmp_path / "data") as cache:
        bare.cache = cache
        bare.add()
        bare.update()
        filler = tmp_path / "data" / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        write_grey_video(bare.videos / "d.mp4", [200] * 10)
        with pytest.raises(Nt2vrError, match=r"disk is full"):
            bare.update(previews=True)
        assert len(bare.ids) >= 3
        assert "d.mp4" not in bare.skipped
        filler.unlink()
        bare.update(previews=True)
        assert len(bare.ids) == 4
        assert bare.encoder.num_clips <= 1


CHILD = """
import sys
from pathlib import Path
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.store import Cache
from nt2vr.media.decode import Decoder
from tests.support.brightness_encoder import BrightnessEncoder

if __name__ == "__main__":
    data = Path(sys.argv[1])
    with Decoder(1) as decoder, Cache.of(data) as cache:
        def progress(done, total, doing):
            print(done, total, doing, flush=True)
        update_library(Libraries(data / "libraries"), "videos", BrightnessEncoder(), decoder, cache, progress)
"""


@pytest.mark.slow
def test_a_killed_update_goes_on_where_it_was(room: Room, tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        assert any("making previews" in line for line in child.stdout)
        child.send_signal(signal.SIGKILL)
    assert room.update() == Updated(Changes(), 3, 3, 0)
    assert room.decoder.jobs == []
    assert room.encoder.num_clips == 0
