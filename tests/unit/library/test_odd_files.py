"""Odd links and lines: each is skipped with a reason or one sentence, and stops nothing else."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from nt2vr.datasets.load import load_dataset
from nt2vr.errors import ConfigError, DatasetError, GalleryError, MediaError, printable
from nt2vr.files import expanded
from nt2vr.library.info import Source
from nt2vr.library.libraries import Libraries
from nt2vr.library.sources import is_available, list_files
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.media.store import Cache
from nt2vr.settings import Settings

GOOD = '{"video_id": "a", "path": "a.png", "captions": ["a dog"]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "videos"
    place.mkdir()
    Image.new("RGB", (8, 8)).save(place / "a.png")
    return place


@pytest.fixture
def unreadable(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "closed"
    place.mkdir()
    place.chmod(0)
    yield place
    place.chmod(0o700)


def reasons(folder: Path) -> dict[str, str]:
    return {file.id: file.reason for file in list_files(Source("x", "x", "folder", folder))}


def test_a_link_that_cannot_be_followed_is_skipped_alone(folder: Path) -> None:
    (folder / "self.mp4").symlink_to("self.mp4")
    (folder / "long.mp4").symlink_to("x" * 300)
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    found = reasons(folder)
    assert found.pop("a.png") == ""
    assert found.keys() == {"self.mp4", "long.mp4", "one", "two"}
    assert all(reason.startswith("It is a link that cannot be followed (") for reason in found.values())


def test_a_broken_link_is_called_that(folder: Path) -> None:
    (folder / "b.mp4").symlink_to("gone.mp4")
    (folder / "c.mp4").symlink_to("/gone/c.mp4")
    found = reasons(folder)
    assert found["b.mp4"] == found["c.mp4"] == "It is a broken link: the file that it names is not there."


def test_folders_of_a_nas_and_unread_formats_are_counted_and_not_indexed(folder: Path) -> None:
    for name in ("@eaDir/a.png", "films/@eaDir/b.png", "$RECYCLE.BIN/c.mp4", "d.nef", "films/e.NEF", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    found = reasons(folder)
    assert found.keys() == {"a.png", "@eaDir", "$RECYCLE.BIN", "*.nef"}
    assert "2 files left out" in found["@eaDir"] and "1 file left out" in found["$RECYCLE.BIN"]
    assert found["*.nef"].startswith("2 files in a format that is not read")


def test_notes_on_what_is_left_out_are_no_changes_and_follow_the_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "b.nef").touch()
    libraries = Libraries(tmp_path / "libraries")
    library = libraries.add("mine", "folder", folder).id
    with Cache(tmp_path / "cache") as cache, Decoder(1) as decoder:
        assert update_library(libraries, library, None, decoder, cache, previews=False).changes.new == ("a.png",)
        assert [each.id for each in libraries.skipped(library)] == ["*.nef"]
        (folder / "b.nef").unlink()
        assert not libraries.check(library)
        assert not update_library(libraries, library, None, decoder, cache, previews=False).changes
        assert libraries.skipped(library) == []


def test_names_of_files_cannot_move_the_cursor_or_turn_a_line_round() -> None:
    assert printable("a\nb\x1b[2Jc\u202ed 🧑‍🚀é") == "a\\nb\\x1b[2Jc\\u202ed 🧑‍🚀é"
    assert str(MediaError("a\nb.mp4 is empty.")) == "a\\nb.mp4 is empty."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_link_into_a_folder_that_may_not_be_read_is_skipped_alone(folder: Path, unreadable: Path) -> None:
    (folder / "b.mp4").symlink_to(unreadable / "b.mp4")
    assert reasons(folder) == {"a.png": "", "b.mp4": "It is a link that cannot be followed (Permission denied)."}


def test_a_source_that_is_a_loop_of_links_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert not is_available(Source("x", "x", "folder", tmp_path / "loop"))


LINES = {
    "nested": '{"video_id": "b", "path": "a.png", "scene": ' + '{"a": ' * 50_000,
    "digits": '{"video_id": "b", "path": "a.png", "scene": {"a": ' + "9" * 5_000 + "}}",
    "half a character": '{"video_id": "b", "path": "a.png", "captions": ["\\ud83d"]}',
    "a loop": '{"video_id": "b", "path": "loop.png"}',
}


@pytest.mark.parametrize("what", LINES)
def test_an_odd_line_is_named_in_one_sentence(folder: Path, what: str) -> None:
    (folder / "loop.png").symlink_to("loop.png")
    path = folder / "gallery.jsonl"
    path.write_text(f"{GOOD}\n{LINES[what]}\n")
    with pytest.raises(GalleryError, match=r"gallery\.jsonl, line 2[ :][^\n]{10,300}$"):
        load_gallery(path)
    with pytest.raises((GalleryError, DatasetError), match=r"^[^\n]{10,600}$"):
        load_dataset(path)


def test_a_character_in_two_halves_is_a_character(folder: Path) -> None:
    line = json.dumps({"video_id": "a", "path": "a.png", "captions": ["🎸"]})
    assert "\\ud83c" in line
    (folder / "gallery.jsonl").write_text(line)
    assert load_gallery(folder / "gallery.jsonl").videos[0].captions == ("🎸",)


def test_a_loop_beside_a_dataset_is_left_out(folder: Path) -> None:
    (folder / "loop.png").symlink_to("loop.png")
    (folder / "captions.csv").write_text("video_id,caption\na,a dog\nloop,a cat\n")
    dataset = load_dataset(folder)
    assert [video.video_id for video in dataset.videos] == ["a"]
    assert "(loop)" in dataset.remarks[0]


def test_the_home_of_nobody_is_one_sentence(tmp_path: Path) -> None:
    name = "~nobody-of-this-name/x"
    for act in (expanded, load_dataset, Settings.read):
        with pytest.raises(ConfigError, match=f"^'{name}' is in the home folder of nobody known here"):
            act(name)
    assert expanded("~/x") == Path.home() / "x"
