"""The recorded training: what is shipped, and what is refused."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from nt2vr.media.gallery import load_gallery
from nt2vr.search.epochs import Recording
from tests.support.paths import ROOT

# The hits after each of two epochs.
HITS = [[("a", 0.5)], [("b", 0.5)]]
RECORDING = Recording("CLIP", "stage", "2026-11-25", [0, 20], [20.0, 50.0], {"a dog, no cat": HITS})


def read(path: Path, data: Any, *clips: str) -> Recording | None:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return Recording.of_gallery(path, clips)


def test_a_recording_is_read_only_for_its_own_gallery(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read_back = read(tmp_path / "recording.json", asdict(RECORDING), "a", "b", "c")
    assert read_back is not None
    assert json.dumps(asdict(read_back)) == json.dumps(asdict(RECORDING))
    assert Recording.of_gallery(tmp_path / "none.json", []) is None
    assert read(tmp_path / "recording.json", asdict(RECORDING), "a") is None
    assert "another gallery" in caplog.text


def test_the_shipped_recording_is_small_and_fits_the_gallery() -> None:
    path = ROOT / "assets" / "recording.json"
    gallery = load_gallery(ROOT / "assets" / "gallery" / "gallery.jsonl")
    recording = Recording.of_gallery(path, [video.video_id for video in gallery.videos])
    assert recording is not None
    assert path.stat().st_size < 40_000
    assert recording.hard_pairs[-1] > recording.hard_pairs[0] + 30
