"""Odd links and lines: each is skipped with a reason or one sentence, and stops nothing else."""

import logging
import os
from pathlib import Path
from typing import Literal

import av
import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import DatasetError, LineFormatter, MediaError, printable
from nt2vr.library.folder_files import SUFFIXES, UNREAD
from nt2vr.library.libraries import Libraries
from nt2vr.library.listing import is_available, list_files
from nt2vr.library.source import Source
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.media.video import probe
from tests.support.colour_model import ColourModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "videos"
    place.mkdir()
    Image.new("RGB", (8, 8)).save(place / "a.png")
    return place


def reasons(folder: Path) -> dict[str, str]:
    return {file.id: file.reason for file in list_files(Source("x", "x", "folder", folder))}


def test_a_link_that_cannot_be_followed_is_skipped_alone(folder: Path) -> None:
    (folder / "self.mp4").symlink_to("self.mp4")
    (folder / "long.mp4").symlink_to("x" * 300)
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    reason_of = reasons(folder)
    assert reason_of.pop("a.png") == ""
    assert reason_of.keys() == {"self.mp4", "long.mp4", "one", "two"}
    for reason in reason_of.values():
        assert reason.startswith("It is a link that cannot be followed (")


def test_system_folders_and_unread_formats_are_only_counted(folder: Path) -> None:
    ignored = "@eaDir/a.png videos/@eaDir/b.png $RECYCLE.BIN/c.mp4 .Trash-1000/f.mp4 .cache/g.mp4"
    unread = "d.nef videos/e.NEF notes.txt"
    for name in [*ignored.split(), *unread.split()]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    reason_of = reasons(folder)
    assert reason_of.keys() == {"a.png", "@eaDir", "$RECYCLE.BIN", ".Trash-1000", "*.nef"}
    assert "2 files left out" in reason_of["@eaDir"]
    assert "1 file left out" in reason_of["$RECYCLE.BIN"]
    assert reason_of["*.nef"].startswith("2 files in a format that is not read")


def test_notes_on_files_left_out_are_not_changes(folder: Path, tmp_path: Path) -> None:
    (folder / "b.nef").touch()
    libraries = Libraries(tmp_path / "libraries")
    library = libraries.add("mine", "folder", folder).id
    with Cache(tmp_path / "cache") as cache, Decoder(1) as decoder:
        assert update_library(
            libraries, library, None, decoder, cache, previews=False
        ).changes.new == ("a.png",)
        assert [entry.id for entry in libraries.skipped(library)] == ["*.nef"]
        (folder / "b.nef").unlink()
        assert not libraries.check(library)
        assert not update_library(libraries, library, None, decoder, cache, previews=False).changes
        assert libraries.skipped(library) == []


def test_names_of_files_cannot_control_the_terminal() -> None:
    assert printable("a\nb\x1b[2Jc\u202ed 🧑‍🚀é") == "a\\nb\\x1b[2Jc\\u202ed 🧑‍🚀é"
    assert str(MediaError("a\nb.mp4 is empty.")) == "a\\nb.mp4 is empty."
    record = logging.LogRecord(
        "a", logging.WARNING, "", 0, "Skipped %s", ("a\nb\x1b[2J.mp4",), None
    )
    assert (
        LineFormatter("%(levelname)s %(message)s").format(record)
        == "WARNING Skipped a\\nb\\x1b[2J.mp4"
    )


def test_a_loop_of_links_is_not_available(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert not is_available(Source("x", "x", "folder", tmp_path / "loop"))


def test_a_manifest_may_lack_captions_and_files(
    folder: Path,
) -> None:
    lines = [
        '\ufeff{"video_id": "first", "path": "A.PNG", "captions": "one"}',
        '{"file_name": ".\\\\a.png", "text": "two"}',
        '{"video_id": "gone", "path": "gone.mp4"}',
    ]
    manifest = folder / "videos.jsonl"
    manifest.write_text("\n".join(lines), encoding="utf-8")
    files = {
        file.id: file for file in list_files(Source("x", "x", "manifest", manifest, within=folder))
    }
    assert {name: (Path(file.path).name, file.captions) for name, file in files.items()} == {
        "first": ("a.png", '["one"]'),
        "a.png": ("a.png", '["two"]'),
        "gone": ("gone.mp4", "[]"),
    }
    assert files["first"].reason == ""
    assert files["gone"].reason.startswith("It cannot be opened")
    manifest.write_text('{"path": "../a.png", "text": "one"}')
    with pytest.raises(
        DatasetError,
        match=r"videos\.jsonl.*line 1.*'\.\./a\.png'",
    ):
        list(list_files(Source("x", "x", "manifest", manifest)))


# Cameras without a battery, archives and NAS systems date files so. File systems clamp what they
# cannot store.
SECONDS = {
    "1601": -11_644_473_600,
    "1960": -315_619_200,
    "1970": 0,
    "2263": 9_246_182_400,
    "2400": 13_569_465_600,
}


@pytest.mark.parametrize("seconds", SECONDS.values(), ids=SECONDS)
@pytest.mark.parametrize("kind", ["folder", "manifest"])
def test_changes_of_a_file_of_any_date_are_noticed(
    folder: Path, tmp_path: Path, kind: Literal["folder", "manifest"], seconds: int
) -> None:
    picture = folder / "a.png"
    os.utime(picture, (seconds, seconds))
    (folder / "videos.csv").write_text("file_name,text\na.png,one\n")
    libraries = Libraries(tmp_path / "libraries")
    library = libraries.add("mine", kind, folder if kind == "folder" else folder / "videos.csv").id
    with Cache(tmp_path / "cache") as cache, Decoder(1) as decoder:
        assert libraries.check(library).new == ("a.png",)
        assert (
            update_library(
                libraries, library, ColourModel(), decoder, cache, previews=False
            ).num_embedded
            == 1
        )
        assert not libraries.check(library)
        assert not update_library(
            libraries, library, ColourModel(), decoder, cache, previews=False
        ).changes
        os.utime(picture, (1_700_000_000, 1_700_000_000))
        assert libraries.check(library).changed == ("a.png",)
        assert update_library(
            libraries, library, None, decoder, cache, previews=False
        ).changes.changed == ("a.png",)


@pytest.mark.parametrize(
    ("suffix", "container"),
    [
        (".3g2", "3g2"),
        (".3gpp", "3gp"),
        (".asf", "asf"),
        (".divx", "avi"),
        (".f4v", "f4v"),
        (".m2t", "mpegts"),
        (".mk3d", "matroska"),
        (".mpe", "mpeg"),
        (".qt", "mov"),
    ],
)
def test_videos_are_found_under_every_suffix_of_their_format(
    folder: Path, suffix: str, container: str
) -> None:
    path = folder / f"b{suffix.upper()}"
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream("libx264" if suffix in (".f4v", ".m2t") else "mpeg4", rate=25)
        stream.width = 64
        stream.height = 48
        for _ in range(25):
            frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), format="rgb24")
            output.mux(stream.encode(frame))
        output.mux(stream.encode())

    assert reasons(folder) == {"a.png": "", path.name: ""}
    assert probe(path).num_frames == 25


def test_stereo_photos_are_found_and_unread_formats_named(folder: Path) -> None:
    picture = Image.open(folder / "a.png").convert("RGB")
    picture.save(folder / "b.mpo", save_all=True, append_images=[picture])
    for name in ("camera.h264", "tape.dv", "raw.y4m"):
        (folder / name).touch()

    reason_of = reasons(folder)
    assert reason_of["b.mpo"] == ""
    assert probe(folder / "b.mpo").kind == "picture"
    assert {"*.h264", "*.dv", "*.y4m"} <= reason_of.keys()
    assert UNREAD.isdisjoint(SUFFIXES)
