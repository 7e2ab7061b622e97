"""`nt2vr library`, as typed."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny

WriteVideo = Callable[..., Path]
# "My videos", indexed by the one model of the data folder, which is quick.
BY_MINE = ("My videos", "--model", "Mine", "--no-previews")


class LibraryCommand:
    """`nt2vr library` with a data folder."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data = data
        self._capsys = capsys

    def _run(self, arguments: Sequence[str]) -> int:
        return main(["library", *arguments, "--data-dir", str(self._data)])

    def printed(self, *arguments: str) -> str:
        """Run the command, which must succeed; return what it prints."""
        assert self._run(arguments) == 0
        return self._capsys.readouterr().out

    def refused(self, *arguments: str) -> str:
        """Run the command, which must fail; return its error."""
        assert self._run(arguments) == 1
        return self._capsys.readouterr().err


@pytest.fixture
def library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> LibraryCommand:
    """The command where one model is."""
    data = tmp_path / "data"
    write_tiny(data / "models" / "mine", "Mine")
    return LibraryCommand(data, capsys)


@pytest.fixture
def videos(tmp_path: Path, write_video: WriteVideo) -> Path:
    """A folder with a video and a file that is none."""
    write_video("videos/a.avi", [50] * 12)
    folder = tmp_path / "videos"
    (folder / "text.mp4").write_text("no video")
    return folder


def test_a_folder_is_added_and_listed(
    tmp_path: Path, videos: Path, library: LibraryCommand
) -> None:
    write_tiny(tmp_path / "data" / "runs" / "a-run" / "checkpoints" / "epoch_001", "A run", seed=1)
    assert library.printed("list") == "No libraries yet.\n"

    printed = library.printed("add", str(videos), "--name", "My videos")

    assert "2 new (1 skipped): a.avi, text.mp4\n" in printed
    # Not by the run, which nobody has named.
    assert "1 of 1 clips are indexed by Mine.\n1 file is skipped" in printed
    skipped = library.printed("skipped", "My videos")
    assert skipped.startswith("text.mp4\ttext.mp4 is not a readable video")

    assert "My videos" in library.printed("list")

    (info,) = json.loads(library.printed("list", "--json"))
    assert info["name"] == "My videos"
    assert info["num_clips"] == 1
    assert info["num_skipped"] == 1
    assert info["window_s"] == 10.0


def test_a_library_is_checked_updated_and_removed(videos: Path, library: LibraryCommand) -> None:
    library.printed("add", str(videos), "--name", *BY_MINE)

    assert library.printed("check", "my videos") == "Nothing changed.\n"
    (videos / "a.avi").rename(videos / "b.avi")
    assert library.printed("check", "My videos") == "1 renamed: a.avi → b.avi\n"

    # The model here that knows more than drawings does it.
    updated = library.printed("update", "My videos", "--retry")
    assert "1 renamed: a.avi → b.avi\n1 of 1 clips are indexed by Mine." in updated
    assert "drawings" not in updated
    by_clip = library.printed("update", "My videos", "--model", "clip")
    advice = "CLIP knows only drawings. For real videos: nt2vr models add ViT-B-32/openai, then "
    assert by_clip.startswith(advice)

    assert library.printed("remove", "My videos") == "My videos is removed.\n"
    assert library.printed("list") == "No libraries yet.\n"
    # The person's files stay.
    assert (videos / "b.avi").is_file()


def test_a_taken_and_an_unknown_name_are_refused(videos: Path, library: LibraryCommand) -> None:
    library.printed("add", str(videos), "--name", "My videos")
    error = library.refused("add", "x", "--name", "My videos", "--model", "Mine")
    assert "There is a library 'My videos' already" in error
    unknown = library.refused("update", "Other videos", "--model", "Mine")
    assert "no library 'Other videos'" in unknown


def test_a_library_is_told_where_its_files_are_now(
    tmp_path: Path, write_video: WriteVideo, library: LibraryCommand
) -> None:
    write_video("videos/a.avi", [50] * 12)
    write_video("videos/b.avi", [100] * 12)
    write_video("videos/c.avi", [150] * 12)
    library.printed("add", str(tmp_path / "videos"), "--name", *BY_MINE)
    moved = tmp_path / "drive"
    shutil.move(tmp_path / "videos", moved)

    advice = "nt2vr library move 'My videos' FOLDER"
    assert advice in library.printed("list")
    assert advice in library.refused("update", "My videos", "--model", "Mine")
    wrong_folder = str(tmp_path / "data" / "models")
    refusal = library.refused("move", "My videos", wrong_folder)
    assert "None of the 3 files of My videos" in refusal

    (moved / "a.avi").unlink()
    (moved / "b.avi").rename(moved / "e.avi")
    assert library.printed("move", "my videos", str(moved)) == (
        f"My videos is in {moved} now, with 2 of 3 files.\n"
        "1 renamed: b.avi → e.avi\n"
        "Missing:\n  a.avi\n"
        "nt2vr library update 'My videos' reads what is new or changed, and removes what is missing.\n"
    )
    assert library.printed("check", "My videos") == "1 removed: a.avi\n"
    assert "2 of 2 clips are indexed by Mine." in library.printed("update", *BY_MINE)
    assert "library move" not in library.printed("list")


@pytest.mark.parametrize(
    ("flags", "value"),
    [(["--model", "none"], "'none'"), (["--model", "Mine", "--ray", "nowhere"], "'nowhere'")],
)
def test_an_unknown_model_or_cluster_adds_no_library(
    tmp_path: Path, library: LibraryCommand, flags: list[str], value: str
) -> None:
    assert value in library.refused("add", str(tmp_path), "--name", "a", *flags)
    assert "No libraries yet." in library.printed("list")
