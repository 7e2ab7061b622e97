"""Odd links and lines: each is skipped with a reason or one sentence, and stops nothing else."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from nt2vr.datasets.load import load_dataset
from nt2vr.errors import ConfigError, DatasetError, GalleryError
from nt2vr.files import expanded
from nt2vr.library.info import Source
from nt2vr.library.sources import is_available, list_files
from nt2vr.media.gallery import load_gallery
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
