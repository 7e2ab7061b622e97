"""Moving a library: what is recognised, read and refused, and what a move that breaks off leaves."""

import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from nt2vr.errors import AccessError, ConfigError, GalleryError, Nt2vrError
from nt2vr.library import move as move_module
from nt2vr.library.changes import Changes
from nt2vr.library.inventory import Inventory
from nt2vr.library.libraries import Libraries
from nt2vr.library.move import Moved, move_library
from nt2vr.library.source import LibraryInfo
from nt2vr.library.update import Updated, update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.progress import Progress, silent
from tests.support.brightness_encoder import BrightnessEncoder
from tests.support.video_files import write_grey_video

BRIGHTNESS = {"a.png": 50, "b.png": 100, "sub/c.png": 150, "sub/d.png": 200}
NAMES = tuple(BRIGHTNESS)


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder(num_workers=1, timeout_s=20) as decoder:
        yield decoder


@dataclass
class Place:
    """A library of pictures that has been indexed, and what updates and moves it."""

    folder: Path
    libraries: Libraries
    decoder: Decoder
    cache: Cache
    encoder: Any
    # The names of the files that were read.
    read: list[str]

    def add(self, kind: str = "folder", path: str | Path = "", **options: Any) -> None:
        self.libraries.add("videos", kind, path or self.folder, **options)  # type: ignore[arg-type]
        self.update()

    def update(self, previews: bool = False) -> Updated:
        self.encoder.num_clips = 0
        return update_library(
            self.libraries,
            "videos",
            self.encoder,
            self.decoder,
            self.cache,
            silent,
            previews=previews,
        )

    def assert_up_to_date(self, previews: bool = False) -> None:
        """Check that an update of the four pictures changes nothing and encodes none of them."""
        assert self.update(previews) == Updated(Changes(), 4, 4, 0)
        assert self.encoder.num_clips == 0

    def move(self, folder: str | Path, progress: Progress = silent, **options: Any) -> Moved:
        self.read.clear()
        return move_library(self.libraries, "videos", folder, self.cache, progress, **options)

    @property
    def files(self) -> dict[str, str]:
        """The paths of the clips' files by clip."""
        videos = self.libraries.gallery("videos").videos
        return {video.video_id: str(video.path) for video in videos}

    @property
    def library(self) -> LibraryInfo:
        return self.libraries.find("videos")

    @property
    def path(self) -> Path:
        return self.library.source.path

    @property
    def stamp(self) -> object:
        """What open searchers and pages look at to see that the library has changed."""
        return self.libraries.stamp(self.library.id)


@pytest.fixture
def empty(tmp_path: Path, decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A folder of pictures that is no library yet."""
    for name, brightness in BRIGHTNESS.items():
        write_picture(tmp_path / "old" / name, brightness)
    read: list[str] = []
    content_hash = Cache.content_hash

    def content_hash_and_note(cache: Cache, path: Path) -> str:
        read.append(path.name)
        return content_hash(cache, path)

    with Cache.of(tmp_path / "data") as cache:
        libraries = Libraries(tmp_path / "data" / "libraries")
        monkeypatch.setattr(Cache, "content_hash", content_hash_and_note)
        yield Place(tmp_path / "old", libraries, decoder, cache, BrightnessEncoder(), read)


@pytest.fixture
def place(empty: Place) -> Place:
    empty.add()
    return empty


def write_picture(path: Path, brightness: int) -> None:
    """Write a picture; those of any brightness have the same size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (20, 20), brightness).save(path.with_suffix(".bmp"))
    path.with_suffix(".bmp").rename(path)


def test_a_moved_folder_is_neither_read_nor_indexed_again(place: Place, tmp_path: Path) -> None:
    place.update(previews=True)
    before = place.library
    stamp = place.stamp
    new = tmp_path / "drive" / "Videos"
    shutil.move(place.folder, new)
    assert place.move(new) == Moved(4)
    assert place.read == []
    after = place.library
    assert (after.id, after.name) == (before.id, "videos")
    assert (after.source.path, after.source.within) == (new, new)
    assert after.available
    assert (after.num_files, after.num_clips) == (4, 4)
    assert place.files == {name: str(new / name) for name in NAMES}
    assert place.stamp != stamp
    assert not place.libraries.check("videos")
    previews = place.libraries.previews("videos", place.decoder)
    for video in place.libraries.gallery("videos").videos:
        assert previews.has(video)
    place.assert_up_to_date(previews=True)


def test_renamed_copies_with_new_times_are_recognised(place: Place, tmp_path: Path) -> None:
    new = tmp_path / "new"
    write_picture(new / "a.png", BRIGHTNESS["a.png"])
    write_picture(new / "x/renamed.png", BRIGHTNESS["b.png"])
    write_picture(new / "sub/d.png", brightness=7)
    write_picture(new / "e.png", brightness=201)
    moved = place.move(new)
    assert moved == Moved(
        num_files=4,
        renamed={"b.png": "x/renamed.png"},
        changed=("sub/d.png",),
        missing=("sub/c.png",),
        new=("e.png",),
        left_behind=place.folder,
    )
    assert moved.num_recognised == 2
    # Until the next update.
    assert set(place.files) == {"a.png", "x/renamed.png", "sub/c.png", "sub/d.png"}
    expected = Changes(new=("e.png",), changed=("sub/d.png",), removed=("sub/c.png",))
    assert place.libraries.check("videos") == expected
    assert place.update().changes == expected
    # These are the new one and the changed one.
    assert place.encoder.num_clips == 2
    assert set(place.files) == {"a.png", "x/renamed.png", "sub/d.png", "e.png"}


def test_files_missing_after_a_move_keep_their_embeddings(place: Place, tmp_path: Path) -> None:
    new = tmp_path / "new"
    shutil.copytree(place.folder, new, ignore=shutil.ignore_patterns("sub"))
    assert place.move(new).missing == ("sub/c.png", "sub/d.png")
    shutil.copytree(place.folder / "sub", new / "sub")
    place.assert_up_to_date()


def test_files_are_renamed_in_a_folder_above_or_below(place: Place, tmp_path: Path) -> None:
    assert place.move(tmp_path).renamed == {name: f"old/{name}" for name in NAMES}
    with pytest.raises(ConfigError, match=r"4 .*videos"):
        place.move(tmp_path / "data")
    below = place.move(tmp_path / "old" / "sub")
    assert below.missing == ("old/a.png", "old/b.png")
    assert below.renamed == {"old/sub/c.png": "c.png", "old/sub/d.png": "d.png"}
    assert below.left_behind == tmp_path


def test_exchanged_names_and_other_letter_cases_are_renames(place: Place, tmp_path: Path) -> None:
    new = tmp_path / "new"
    shutil.copytree(place.folder, new)
    (new / "a.png").rename(new / "swap")
    (new / "b.png").rename(new / "a.png")
    (new / "swap").rename(new / "b.png")
    (new / "sub").rename(new / "Sub")
    for name in ("a.png", "b.png"):
        os.utime(new / name, (1, 1))
    renamed = {
        "a.png": "b.png",
        "b.png": "a.png",
        "sub/c.png": "Sub/c.png",
        "sub/d.png": "Sub/d.png",
    }
    assert place.move(new) == Moved(4, renamed, left_behind=place.folder)
    place.assert_up_to_date()


def test_a_name_in_another_unicode_form_is_a_renamed_file(empty: Place, tmp_path: Path) -> None:
    composed = "caf\u00e9.png"
    decomposed = "cafe\u0301.png"
    (empty.folder / "a.png").rename(empty.folder / composed)
    empty.add()
    new = tmp_path / "new"
    shutil.copytree(empty.folder, new)
    (new / composed).rename(new / decomposed)
    assert empty.move(new).renamed == {composed: decomposed}


def test_a_removed_original_gives_its_clip_to_its_copy(empty: Place, tmp_path: Path) -> None:
    shutil.copy(empty.folder / "a.png", empty.folder / "z.png")
    empty.add()
    new = tmp_path / "new"
    shutil.copytree(empty.folder, new)
    assert empty.move(new) == Moved(5, left_behind=empty.folder)
    assert empty.library.num_copies == 1
    third = tmp_path / "again"
    shutil.copytree(new, third)
    (third / "z.png").unlink()
    (third / "a.png").rename(third / "y.png")
    assert empty.move(third) == Moved(5, {"a.png": "y.png"}, missing=("z.png",), left_behind=new)
    empty.update()
    assert set(empty.files) == {"y.png", "b.png", "sub/c.png", "sub/d.png"}
    assert empty.encoder.num_clips == 0


def test_skipped_windows_stay_skipped_under_a_new_name(empty: Place, tmp_path: Path) -> None:
    write_grey_video(empty.folder / "long.mp4", [20 * i for i in range(10)], rate=1)
    empty.add(window_s=2.0)
    inventory = empty.libraries.inventory(empty.library.source)
    inventory.skip_clips([("long.mp4@4-6", "long.mp4", "It is damaged.")])
    new = tmp_path / "new"
    shutil.copytree(empty.folder, new)
    (new / "long.mp4").rename(new / "video.mp4")
    empty.move(new)
    assert {"video.mp4@2-4", "video.mp4@6-8"} < set(empty.files)
    assert "video.mp4@4-6" not in empty.files
    (skipped,) = empty.libraries.skipped("videos")
    assert (skipped.id, skipped.reason) == ("video.mp4@4-6", "It is damaged.")


@pytest.mark.parametrize(
    ("names", "force", "numbers"), [((), True, " 4 "), (NAMES[:1], False, " 1 .* 4 ")]
)
def test_a_folder_without_the_files_is_refused_before_anything_changes(
    place: Place, tmp_path: Path, names: tuple[str, ...], force: bool, numbers: str
) -> None:
    new = tmp_path / "new"
    write_picture(new / "other.png", 3)
    for name in names:
        shutil.copy2(place.folder / name, new / name)
    files = place.files
    stamp = place.stamp
    with pytest.raises(ConfigError, match=numbers) as refused:
        place.move(new, force=force)
    assert str(new) in str(refused.value)
    assert place.files == files
    assert place.stamp == stamp
    if names:
        assert place.move(new, force=True).num_recognised == 1


def test_what_cannot_be_the_new_folder_is_refused(place: Place, tmp_path: Path) -> None:
    empty_folder = tmp_path / "nothing"
    empty_folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(place.folder)
    file = place.folder / "a.png"
    for path in ("", " ", "x\0", tmp_path / "gone", empty_folder, file, link):
        with pytest.raises(ConfigError):
            place.move(path)
    with pytest.raises(AccessError):
        place.move(tmp_path, roots=[place.folder])
    assert place.path == place.folder


def test_a_link_stands_for_the_folder_that_it_leads_to(place: Place, tmp_path: Path) -> None:
    shutil.move(place.folder, tmp_path / "new")
    # A drive that got another mount point looks like this.
    place.folder.symlink_to(tmp_path / "new")
    assert not place.library.available
    assert place.move(place.folder) == Moved(4)
    assert place.path == tmp_path / "new"
    assert place.library.available


def test_uploads_are_refused_and_follow_the_data_folder_by_themselves(
    empty: Place, tmp_path: Path
) -> None:
    empty.add("uploads", uploads=[("a.png", empty.folder / "a.png")])
    with pytest.raises(ConfigError, match=r"^videos "):
        empty.move(tmp_path / "old")
    shutil.copytree(tmp_path / "data", tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "data" / "libraries")
    empty.libraries = Libraries(tmp_path / "elsewhere" / "libraries")
    upload = empty.path / "a.png"
    assert upload.is_file()
    assert empty.files == {"a.png": str(upload)}
    assert not empty.libraries.check("videos")


def write_manifest(folder: Path) -> Path:
    manifest = folder / "videos.jsonl"
    rows = []
    for name in NAMES:
        row = {"video_id": Path(name).stem, "path": name, "captions": [f"it is {name}"]}
        rows.append(json.dumps(row))
    manifest.write_text("\n".join(rows))
    return manifest


@pytest.mark.parametrize("kind", ["manifest", "dataset"])
def test_a_captions_file_moves_with_its_folder(empty: Place, tmp_path: Path, kind: str) -> None:
    manifest = write_manifest(empty.folder)
    empty.add(kind, manifest)
    first = tmp_path / "first"
    second = tmp_path / "second"
    shutil.move(empty.folder, first)
    with pytest.raises(Nt2vrError):
        empty.move(first / "sub")
    assert empty.move(first) == Moved(4)
    assert empty.path == first / "videos.jsonl"

    shutil.move(first, second)
    (second / "videos.jsonl").rename(second / "captions.jsonl")
    assert empty.move(second / "captions.jsonl") == Moved(4)
    assert empty.read == []
    assert empty.files == {Path(name).stem: str(second / name) for name in NAMES}
    assert empty.libraries.gallery("videos").videos[0].captions == ("it is a.png",)
    empty.assert_up_to_date()

    shutil.copytree(second, first)
    (first / "a.png").unlink()
    # Though the file of captions names it.
    assert empty.move(first / "captions.jsonl").missing == ("a",)


def test_a_moved_dataset_keeps_its_kind_and_follows_links(empty: Place, tmp_path: Path) -> None:
    write_manifest(empty.folder).rename(empty.folder / "captions.jsonl")
    shutil.move(empty.folder / "sub", tmp_path / "store")
    (empty.folder / "sub").symlink_to(tmp_path / "store")
    empty.add("dataset", f"folder:{empty.folder}")
    assert empty.library.num_files == 4
    shutil.move(empty.folder, tmp_path / "new")
    assert empty.move(tmp_path / "new") == Moved(4)
    assert empty.read == []
    source = empty.library.source
    assert (source.loader, source.path) == ("folder", tmp_path / "new")


def test_paths_of_0_2_0_move_without_reading(place: Place, tmp_path: Path) -> None:
    database = place.libraries.folder / place.library.id / "files.db"
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE files SET path = ? || '/' || id", (str(place.folder),))
    connection.close()
    assert not place.libraries.check("videos")
    shutil.move(place.folder, tmp_path / "new")
    assert place.move(tmp_path / "new") == Moved(4)
    assert place.read == []
    assert place.files == {name: str(tmp_path / "new" / name) for name in NAMES}


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Inventory, "make_relative"),
        (Libraries, "store_move"),
        (move_module, "_rewrite"),
        (Inventory, "mark_duplicates"),
    ],
)
def test_a_killed_move_leaves_the_old_or_the_new_folder(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    new = tmp_path / "new"
    shutil.copytree(place.folder, new)
    (new / "a.png").rename(new / "e.png")
    os.utime(new / "b.png", (1, 1))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, killed)
        with pytest.raises(KeyboardInterrupt):
            place.move(new)
    assert place.path in (place.folder, new)
    assert len(place.files) == 4
    assert place.update().num_clips == 4
    assert place.encoder.num_clips == 0
    if place.path == place.folder:
        assert place.move(new).renamed == {"a.png": "e.png"}
    assert set(place.files) == {"b.png", "e.png", "sub/c.png", "sub/d.png"}
    place.assert_up_to_date()


def test_a_move_on_a_full_disk_leaves_the_former_folder(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_disk_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    shutil.copytree(place.folder, tmp_path / "new")
    monkeypatch.setattr(os, "replace", raise_disk_full)
    with pytest.raises(GalleryError, match="No space left"):
        place.move(tmp_path / "new")
    assert place.path == place.folder


def test_a_move_waits_for_an_update_and_can_be_stopped(place: Place, tmp_path: Path) -> None:
    new = tmp_path / "new"
    shutil.copytree(place.folder, new, copy_function=shutil.copy)
    steps: list[str] = []

    def stop_at(step: str) -> Callable[[int, int, str], None]:
        def stop(done: int, total: int, doing: str) -> None:
            steps.append(doing)
            if doing.startswith(step):
                raise InterruptedError

        return stop

    with place.libraries.updating("videos"), pytest.raises(InterruptedError):
        place.move(new, stop_at("waiting"))
    for name in NAMES:
        os.utime(new / name, (1, 1))
    with pytest.raises(InterruptedError):
        place.move(new, stop_at("reading files: sub/c.png"))
    assert place.path == place.folder
    assert steps[0] == "waiting for another update of this library"
    assert place.move(new).num_recognised == 4


def test_a_library_that_was_never_indexed_is_moved_too(empty: Place, tmp_path: Path) -> None:
    empty.libraries.add("videos", "folder", empty.folder)
    shutil.move(empty.folder, tmp_path / "new")
    assert empty.move(tmp_path / "new") == Moved(0, new=NAMES)
    assert empty.update().num_clips == 4
