"""`nt2vr library`, as typed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny

WriteVideo = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs `nt2vr library` where one model is; returns what it prints, its error where it has to fail."""
    data = tmp_path / "data"
    write_tiny(data / "models" / "mine", "Mine")

    def run(*arguments: str, status: int = 0) -> str:
        assert main(["library", *arguments, "--data-dir", str(data)]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    return run


def test_a_folder_is_added_checked_updated_and_removed(
    tmp_path: Path, write_video: WriteVideo, library: Callable[..., str]
) -> None:
    videos = tmp_path / "videos"
    write_video("videos/a.avi", [50] * 12)
    (videos / "text.mp4").write_text("no video")
    write_tiny(tmp_path / "data" / "runs" / "a-run" / "checkpoints" / "epoch_001", "A run", seed=1)
    assert library("list") == "No libraries yet.\n"

    added = library("add", str(videos), "--name", "My videos")
    assert "2 new (1 skipped): a.avi, text.mp4\n" in added
    # Not by the run, which nobody has named.
    assert "1 of 1 clips are indexed by Mine.\n1 file is skipped" in added
    assert "My videos" in library("list")
    assert library("skipped", "My videos").startswith("text.mp4\ttext.mp4 is not a readable video")
    (info,) = json.loads(library("list", "--json"))
    assert info["name"] == "My videos"
    assert (info["num_clips"], info["num_skipped"], info["window_s"]) == (1, 1, 10.0)

    assert library("check", "my videos") == "Nothing changed.\n"
    (videos / "a.avi").rename(videos / "b.avi")
    assert library("check", "My videos") == "1 renamed: a.avi → b.avi\n"

    # The model here that knows more than drawings does it.
    updated = library("update", "My videos", "--retry")
    assert "1 renamed: a.avi → b.avi\n1 of 1 clips are indexed by Mine." in updated
    assert "drawings" not in updated
    by_clip = library("update", "My videos", "--model", "clip")
    advice = "CLIP knows only drawings. For real videos: nt2vr models add ViT-B-32/openai, then "
    assert by_clip.startswith(advice)

    assert library("remove", "My videos") == "My videos is removed.\n"
    assert library("list") == "No libraries yet.\n"
    assert (videos / "b.avi").is_file()


def test_a_taken_and_an_unknown_name_are_refused(
    tmp_path: Path, write_video: WriteVideo, library: Callable[..., str]
) -> None:
    write_video("videos/a.avi", [50] * 12)
    library("add", str(tmp_path / "videos"), "--name", "My videos")
    second = library("add", "x", "--name", "My videos", "--model", "Mine", status=1)
    assert "There is a library 'My videos' already" in second
    unknown = library("update", "Other videos", "--model", "Mine", status=1)
    assert "no library 'Other videos'" in unknown


def test_a_library_is_told_where_its_files_are_now(
    tmp_path: Path, write_video: WriteVideo, library: Callable[..., str]
) -> None:
    for number, name in enumerate(("a.avi", "b.avi", "c.avi"), start=1):
        write_video(f"videos/{name}", [50 * number] * 12)
    by_mine = ("--model", "Mine", "--no-previews")
    library("add", str(tmp_path / "videos"), "--name", "My videos", *by_mine)
    moved = tmp_path / "drive"
    shutil.move(tmp_path / "videos", moved)

    advice = "nt2vr library move 'My videos' FOLDER"
    assert advice in library("list")
    assert advice in library("update", "My videos", "--model", "Mine", status=1)
    wrong_folder = str(tmp_path / "data" / "models")
    refusal = library("move", "My videos", wrong_folder, status=1)
    assert "None of the 3 files of My videos" in refusal

    (moved / "a.avi").unlink()
    (moved / "b.avi").rename(moved / "e.avi")
    assert library("move", "my videos", str(moved)) == (
        f"My videos is in {moved} now, with 2 of 3 files.\n"
        "1 renamed: b.avi → e.avi\n"
        "Missing:\n  a.avi\n"
        "nt2vr library update 'My videos' reads what is new or changed, and removes what is missing.\n"
    )
    assert library("check", "My videos") == "1 removed: a.avi\n"
    assert "2 of 2 clips are indexed by Mine." in library("update", "My videos", *by_mine)
    assert "library move" not in library("list")


@pytest.mark.parametrize(
    ("flags", "value"),
    [(["--model", "none"], "'none'"), (["--model", "Mine", "--ray", "nowhere"], "'nowhere'")],
)
def test_an_unknown_model_or_cluster_adds_no_library(
    tmp_path: Path, library: Callable[..., str], flags: list[str], value: str
) -> None:
    assert value in library("add", str(tmp_path), "--name", "a", *flags, status=1)
    assert "No libraries yet." in library("list")
