"""Adding, naming, removing libraries; roots, and uploads."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from nt2vr.errors import AccessError, ConfigError, GalleryError
from nt2vr.library.libraries import Libraries
from tests.support.paths import ROOT


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "a.mp4").write_bytes(b"video")
    return Libraries(tmp_path / "data" / "libraries")


def test_libraries_are_found_by_name_and_id_after_a_restart(
    libraries: Libraries, tmp_path: Path
) -> None:
    assert libraries.infos() == []
    info = libraries.add("Videos", "folder", tmp_path / "videos")
    assert info.name == "Videos"
    assert info.source.window_s == 10.0
    assert info.available is True
    assert info.num_clips == 0
    reopened = Libraries(tmp_path / "data" / "libraries")
    assert reopened.find("videos") == reopened.find(info.id) == reopened.infos()[0] == info
    with pytest.raises(ConfigError, match=r"'other'.*Videos"):
        reopened.find("other")


def test_a_renamed_library_keeps_its_id_and_names_are_unique(
    libraries: Libraries, tmp_path: Path
) -> None:
    first = libraries.add("Videos", "folder", tmp_path / "videos")
    second = libraries.add("Other", "folder", tmp_path / "videos")
    libraries.rename(second.id, " More ")
    libraries.rename(first.id, "VIDEOS")
    assert (libraries.find(second.id).name, libraries.find(first.id).name) == ("More", "VIDEOS")
    for name in ("videos", "", "x" * 81, "a\nb", "built-in", first.id):
        with pytest.raises(ConfigError):
            libraries.rename(second.id, name)
    assert [info.name for info in libraries.infos()] == ["More", "VIDEOS"]


def test_removing_deletes_the_index_but_not_the_videos(
    libraries: Libraries, tmp_path: Path
) -> None:
    info = libraries.add("Videos", "folder", tmp_path / "videos")
    embeddings = tmp_path / "data" / "embeddings" / info.source.key / "tower"
    embeddings.mkdir(parents=True)
    libraries.remove("Videos")
    assert libraries.infos() == []
    assert not embeddings.exists()
    assert not list((tmp_path / "data" / "libraries").iterdir())
    assert (tmp_path / "videos" / "a.mp4").read_bytes() == b"video"


def test_changes_on_a_full_disk_are_refused_and_lose_nothing(
    libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = libraries.add("videos", "uploads")
    (tmp_path / "a.mp4").write_bytes(b"x")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for owner, name in ((shutil, "copyfile"), (os, "replace"), (Path, "rename"), (Path, "mkdir")):
        monkeypatch.setattr(owner, name, full)
    for change in (
        lambda: libraries.upload(library.id, [("a.mp4", tmp_path / "a.mp4")]),
        lambda: libraries.rename(library.id, "movies"),
        lambda: libraries.remove(library.id),
        lambda: libraries.add("others", "uploads"),
    ):
        with pytest.raises(GalleryError, match="No space left"):
            change()
    assert [info.name for info in libraries.infos()] == ["videos"]


def test_a_library_under_update_is_neither_removed_nor_updated_twice(
    libraries: Libraries, tmp_path: Path
) -> None:
    info = libraries.add("Videos", "folder", tmp_path / "videos")
    steps: list[str] = []

    def stop(done: int, total: int, doing: str) -> None:
        steps.append(doing)
        raise InterruptedError

    with libraries.updating(info.id):
        waiting = Libraries(libraries.folder).updating(info.id, stop)
        with pytest.raises(InterruptedError), waiting:
            pass
        with pytest.raises(ConfigError, match="Videos"):
            libraries.remove(info.id)
    assert steps == ["waiting for another update of this library"]
    libraries.remove(info.id)


@pytest.mark.parametrize(
    ("kind", "path", "window_s", "value"),
    [
        ("folder", "", None, None),
        ("folder", "gone", None, "gone"),
        ("folder", "videos/a.mp4", None, "videos/a.mp4"),
        ("folder", "videos\0", None, "videos"),
        ("folder", "x" * 5000, None, "xxx"),
        ("manifest", "videos/a.mp4", None, "a.mp4"),
        ("dataset", "vhs:videos", None, "'vhs'"),
        ("cloud", "videos", None, "'cloud'"),
        ("folder", "videos", 0.1, "0.1 s"),
        ("folder", "videos", float("nan"), "nan s"),
    ],
)
def test_what_cannot_be_a_library_is_refused_and_leaves_nothing(
    libraries: Libraries,
    tmp_path: Path,
    kind: str,
    path: str,
    window_s: float | None,
    value: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=value):
        libraries.add("Videos", kind, path, window_s=window_s)  # type: ignore[arg-type]
    assert libraries.infos() == []


def test_only_paths_within_the_roots_are_taken(libraries: Libraries, tmp_path: Path) -> None:
    (tmp_path / "videos" / "out").symlink_to(tmp_path)
    (tmp_path / "in").symlink_to(tmp_path / "videos")
    roots = [tmp_path / "videos"]
    assert (
        libraries.add("a", "folder", tmp_path / "in", roots=roots).source.path
        == (tmp_path / "videos").resolve()
    )
    for path in (
        tmp_path,
        tmp_path / "videos" / "out",
        tmp_path / "videos" / "..",
        ROOT,
        "/etc",
        "~",
    ):
        with pytest.raises(AccessError, match="videos"):
            libraries.add("b", "folder", path, roots=roots)
    with pytest.raises(AccessError, match="videos"):
        libraries.add("b", "folder", tmp_path / "videos", roots=[])


NAMES = [
    "../../etc/passwd",
    "a/b\\c.mp4",
    "x" * 300 + ".mp4",
    "nul\0l.mp4",
    ".hidden",
    "",
    "..",
    "猫" * 200 + ".webm",
    "\ud800.mp4",
    "a.mp4",
]


def test_uploads_get_safe_and_unique_names(libraries: Libraries, tmp_path: Path) -> None:
    info = libraries.add("Mine", "uploads")
    video = tmp_path / "videos" / "a.mp4"
    libraries.upload(info.id, [(name, video) for name in [*NAMES, "a.mp4"]])
    names = os.listdir(info.source.path)
    assert len(names) == len(NAMES) + 1
    assert {"passwd", "c.mp4", "a.mp4", "a (2).mp4"} <= set(names)
    for name in names:
        assert len(name.encode()) <= 210
        assert not name.startswith(".")
    assert not (tmp_path / "etc").exists()
    libraries.remove(info.id)
    assert video.exists()


def test_damaged_settings_hide_a_library_and_stop_no_other(
    libraries: Libraries, tmp_path: Path
) -> None:
    info = libraries.add("Videos", "folder", tmp_path / "videos")
    second = libraries.add("Other", "folder", tmp_path / "videos")
    for text in ("", "[]", "{}", '{"schema": 99}', '{"id": 3}'):
        (libraries.folder / second.id / "library.json").write_text(text)
        assert libraries.infos() == [info]
