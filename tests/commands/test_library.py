"""`nt2vr library`, as typed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny

WriteVideo = Callable[..., Path]


def test_a_folder_is_added_checked_updated_and_removed(
    tmp_path: Path, write_video: WriteVideo, capsys: pytest.CaptureFixture[str]
) -> None:
    write_video("videos/a.avi", [50] * 12)
    (tmp_path / "videos" / "text.mp4").write_text("no video")
    write_tiny(tmp_path / "data" / "models" / "mine", "Mine")
    write_tiny(tmp_path / "data" / "runs" / "a-run" / "checkpoints" / "epoch_001", "A run", seed=1)
    flags = ["--data-dir", str(tmp_path / "data")]

    def say(*arguments: str, status: int = 0) -> str:
        assert main(["library", *arguments, *flags]) == status
        out, err = capsys.readouterr()
        return err if status else out

    assert say("list") == "No libraries yet.\n"
    # Not by the run, which nobody has named.
    output = say("add", str(tmp_path / "videos"), "--name", "My videos")
    assert (
        "2 new (1 skipped): a.avi, text.mp4\n1 of 1 clips are indexed by Mine.\n1 file is skipped"
        in output
    )
    assert say("check", "my videos") == "Nothing changed.\n"
    shutil.move(tmp_path / "videos" / "a.avi", tmp_path / "videos" / "b.avi")
    assert say("check", "My videos") == "1 renamed: a.avi → b.avi\n"
    # The model here that knows more than drawings does it.
    output = say("update", "My videos", "--retry")
    assert (
        "1 renamed: a.avi → b.avi\n1 of 1 clips are indexed by Mine." in output
        and "drawings" not in output
    )
    output = say("update", "My videos", "--model", "clip")
    assert output.startswith(
        "CLIP knows only drawings. For real videos: nt2vr models add ViT-B-32/openai, then "
    )
    assert say("skipped", "My videos").startswith("text.mp4\ttext.mp4 is not a readable video")
    (info,) = json.loads(say("list", "--json"))
    assert (info["name"], info["num_clips"], info["num_skipped"], info["window_s"]) == (
        "My videos",
        1,
        1,
        10.0,
    )
    assert "My videos" in say("list")
    assert "There is a library 'My videos' already" in say(
        "add", "x", "--name", "My videos", "--model", "Mine", status=1
    )
    assert say("remove", "My videos") == "My videos is removed.\n"
    assert (tmp_path / "videos" / "b.avi").is_file()
    assert "no library 'My videos'" in say("update", "My videos", "--model", "Mine", status=1)


def test_a_library_is_told_where_its_files_are_now(
    tmp_path: Path, write_video: WriteVideo, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, name in enumerate(("a.avi", "b.avi", "c.avi"), start=1):
        write_video(f"videos/{name}", [50 * number] * 12)
    write_tiny(tmp_path / "data" / "models" / "mine", "Mine")
    flags = ["--data-dir", str(tmp_path / "data")]

    def run(*arguments: str, status: int = 0) -> str:
        assert main(["library", *arguments, *flags]) == status
        out, err = capsys.readouterr()
        return err if status else out

    run("add", str(tmp_path / "videos"), "--name", "My videos", "--model", "Mine", "--no-previews")
    new = tmp_path / "drive"
    nothing = tmp_path / "data" / "models"
    shutil.move(tmp_path / "videos", new)
    assert "nt2vr library move 'My videos' FOLDER" in run("list")
    assert "nt2vr library move 'My videos' FOLDER" in run(
        "update", "My videos", "--model", "Mine", status=1
    )
    assert "None of the 3 files of My videos" in run("move", "My videos", str(nothing), status=1)
    (new / "a.avi").unlink()
    (new / "b.avi").rename(new / "e.avi")
    assert run("move", "my videos", str(new)) == (
        f"My videos is in {new} now, with 2 of 3 files.\n"
        "1 renamed: b.avi → e.avi\n"
        "Missing:\n  a.avi\n"
        "nt2vr library update 'My videos' reads what is new or changed, and removes what is missing.\n"
    )
    assert run("check", "My videos") == "1 removed: a.avi\n"
    assert "2 of 2 clips are indexed by Mine." in run(
        "update", "My videos", "--model", "Mine", "--no-previews"
    )
    assert "library move" not in run("list")


@pytest.mark.parametrize(
    ("flags", "value"),
    [(["--model", "none"], "'none'"), (["--model", "Mine", "--ray", "nowhere"], "'nowhere'")],
)
def test_an_unknown_model_or_cluster_adds_no_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], value: str
) -> None:
    write_tiny(tmp_path / "models" / "mine", "Mine")
    data = ["--data-dir", str(tmp_path)]
    assert main(["library", "add", str(tmp_path), "--name", "a", *flags, *data]) == 1
    assert value in capsys.readouterr().err
    assert main(["library", "list", *data]) == 0
    assert "No libraries yet." in capsys.readouterr().out
