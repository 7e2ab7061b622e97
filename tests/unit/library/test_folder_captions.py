"""A folder with a captions file: its captions go to the files that they name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache


@pytest.fixture
def folder(tmp_path: Path, write_video: Callable[..., Path]) -> Path:
    """A folder of three videos, one of them further below."""
    for number, name in enumerate(("a.avi", "b.avi", "below/c.avi"), start=1):
        write_video(f"videos/{name}", [50 * number] * 12)
    return tmp_path / "videos"


@pytest.fixture
def captions_of(
    tmp_path: Path, folder: Path, decoder: Decoder
) -> Callable[[], dict[str, tuple[str, ...]]]:
    """Update a library of the folder, and return the captions of its clips."""
    libraries = Libraries(tmp_path / "libraries")

    def update() -> dict[str, tuple[str, ...]]:
        names = [info.name for info in libraries.infos()]
        if not names:
            libraries.add("videos", "folder", folder)
        with Cache(tmp_path / "cache") as cache:
            update_library(libraries, "videos", None, decoder, cache)
        return {video.video_id: video.captions for video in libraries.gallery("videos").videos}

    return update


def test_files_get_the_captions_of_a_file_beside_them(
    folder: Path, captions_of: Callable[[], dict[str, tuple[str, ...]]]
) -> None:
    # Libraries of 0.2.0 are like this.
    assert captions_of() == {"a.avi": (), "b.avi": (), "below/c.avi": ()}

    rows = "file,caption\na.avi,a man sings\na.avi,not a dog\nbelow/c.avi,a cat\n"
    (folder / "captions.csv").write_text(rows)
    assert captions_of() == {
        "a.avi": ("a man sings", "not a dog"),
        "b.avi": (),
        "below/c.avi": ("a cat",),
    }

    (folder / "captions.csv").unlink()
    assert captions_of() == {"a.avi": (), "b.avi": (), "below/c.avi": ()}


def test_several_captions_files_are_joined(
    folder: Path, captions_of: Callable[[], dict[str, tuple[str, ...]]]
) -> None:
    (folder / "train.csv").write_text("file,caption\na.avi,a man\n")
    (folder / "more.jsonl").write_text('{"video_id": "a", "captions": ["a man", "a singer"]}\n')
    assert captions_of()["a.avi"] == ("a man", "a singer")


def test_a_link_out_of_the_folder_gives_no_captions(
    tmp_path: Path, folder: Path, captions_of: Callable[[], dict[str, tuple[str, ...]]]
) -> None:
    (tmp_path / "private.csv").write_text("file,caption\na.avi,a secret\n")
    (folder / "captions.csv").symlink_to(tmp_path / "private.csv")
    assert captions_of()["a.avi"] == ()


@pytest.mark.parametrize(
    ("name", "content", "is_reported"),
    [
        ("captions.csv", "file,caption\nelsewhere.avi,a man\n", True),
        ("captions.csv", "size,date\n1,2\n", True),
        ("Captions.json", "{", True),
        ("budget.csv", "size,date\n1,2\n", False),
        ("settings.json", "{", False),
    ],
)
def test_only_tables_meant_to_have_captions_are_reported(
    tmp_path: Path,
    folder: Path,
    captions_of: Callable[[], dict[str, tuple[str, ...]]],
    name: str,
    content: str,
    is_reported: bool,
) -> None:
    (folder / name).write_text(content)
    assert set(captions_of().values()) == {()}
    skipped = Libraries(tmp_path / "libraries").skipped("videos")
    assert [entry.id for entry in skipped] == [name] * is_reported


def test_windows_do_not_have_the_captions_of_their_video(
    tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder
) -> None:
    write_video("videos/long.avi", [100] * 60)
    (tmp_path / "videos" / "captions.csv").write_text("file,caption\nlong.avi,a man sings\n")
    libraries = Libraries(tmp_path / "libraries")
    libraries.add("windows", "folder", tmp_path / "videos", window_s=1.0)
    libraries.add("whole", "folder", tmp_path / "videos", window_s=0.0)
    captions = {}
    for name in ("windows", "whole"):
        with Cache(tmp_path / "cache") as cache:
            update_library(libraries, name, None, decoder, cache)
        captions[name] = [video.captions for video in libraries.gallery(name).videos]
    assert len(captions["windows"]) > 1
    assert set(captions["windows"]) == {()}
    assert captions["whole"] == [("a man sings",)]


@pytest.mark.parametrize(
    ("kind", "path", "advice"),
    [
        ("folder", "captions.csv", "--kind manifest"),
        ("folder", "a.avi", "--kind"),
        ("manifest", ".", "--kind folder"),
    ],
)
def test_a_refusal_names_the_kind_that_fits(
    tmp_path: Path, folder: Path, kind: str, path: str, advice: str
) -> None:
    (folder / "captions.csv").write_text("file,caption\na.avi,a man\n")
    with pytest.raises(ConfigError, match=advice):
        Libraries(tmp_path / "libraries").add("videos", kind, folder / path)  # type: ignore[arg-type]
