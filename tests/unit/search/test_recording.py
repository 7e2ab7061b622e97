"""The recorded training: what is shipped, and what is refused."""

from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.media.gallery import load_gallery
from nt2vr.search.recording import Recording
from tests.paths import ROOT

FOUND = [[("a", 0.5)], [("b", 0.5)]]
RECORDING = Recording("CLIP", "stage", "2026-11-25", [0, 20], [20.0, 50.0], {"a dog, no cat": FOUND})


def test_it_reads_what_it_wrote(tmp_path: Path) -> None:
    RECORDING.write(tmp_path / "recording.json")
    read = Recording.read(tmp_path / "recording.json")
    assert read.clips == {"a", "b"} and read.seconds == [0, 20] and list(read.queries) == ["a dog, no cat"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"base": 1}', "{", '{"queries": []}'])
def test_a_damaged_one_is_refused_in_a_sentence_and_not_offered(text: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"cannot be read|lacks epochs"):
        Recording.read(path)
    assert Recording.of_gallery(path, []) is None


def test_one_that_lacks_epochs_or_is_of_another_gallery_is_not_offered(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    RECORDING.write(path)
    assert Recording.of_gallery(path, ["a", "b", "c"]) is not None
    assert Recording.of_gallery(path, ["a", "c"]) is None
    Recording("CLIP", "stage", "", [0], [20.0, 50.0], {"a dog": FOUND}).write(path)
    assert Recording.of_gallery(path, ["a", "b"]) is None
    assert Recording.of_gallery(tmp_path / "none.json", []) is None


def test_the_shipped_one_is_of_the_shipped_gallery_small_and_shows_what_it_is_for() -> None:
    path = ROOT / "assets" / "recording.json"
    gallery = load_gallery(ROOT / "assets" / "gallery" / "gallery.jsonl")
    recording = Recording.of_gallery(path, [video.video_id for video in gallery.videos])
    assert recording is not None and path.stat().st_size < 40_000
    assert recording.hard_pairs[-1] > recording.hard_pairs[0] + 30
