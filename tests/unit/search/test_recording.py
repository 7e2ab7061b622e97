"""The recorded training: what is shipped, and what is refused."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from nt2vr.media.gallery import load_gallery
from nt2vr.search.epochs import Recording
from tests.paths import ROOT

FOUND = [[("a", 0.5)], [("b", 0.5)]]
RECORDING = Recording("CLIP", "stage", "2026-11-25", [0, 20], [20.0, 50.0], {"a dog, no cat": FOUND})


def read(path: Path, data: Any, *clips: str) -> Recording | None:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return Recording.of_gallery(path, clips)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read(tmp_path / "recording.json", asdict(RECORDING), "a", "b", "c")
    assert found is not None and found.clips == {"a", "b"}
    assert (found.seconds, list(found.queries)) == ([0, 20], ["a dog, no cat"])
    assert Recording.of_gallery(tmp_path / "none.json", []) is None


@pytest.mark.parametrize(
    "data",
    [
        *("", "[]", "{}", '{"base": 1}', "{", '{"queries": []}'),
        *({**asdict(RECORDING), "queries": {"a dog": wrong}} for wrong in ([[["a"]], []], [["ab"], [1]], [5, 6], 5)),
        *({**asdict(RECORDING), "queries": wrong} for wrong in (dict[str, Any](), list[Any]())),
        {**asdict(RECORDING), "queries": {"a dog": [[[["a"], 0.5]], []]}},
        {**asdict(RECORDING), "seconds": [0]},
        {**asdict(RECORDING), "queries": {"a dog": [[["of another gallery", 0.5]], []]}},
    ],
)
def test_one_that_is_damaged_lacks_epochs_or_is_of_another_gallery_is_left_out_in_a_sentence(
    data: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read(tmp_path / "recording.json", data, "a", "b") is None
    assert re.fullmatch(r"The recording \S+ is left out \([^\n]+\)\. Make it again: .*\.", caplog.messages[0])


def test_the_shipped_one_is_of_the_shipped_gallery_small_and_shows_what_it_is_for() -> None:
    path = ROOT / "assets" / "recording.json"
    gallery = load_gallery(ROOT / "assets" / "gallery" / "gallery.jsonl")
    recording = Recording.of_gallery(path, [video.video_id for video in gallery.videos])
    assert recording is not None and path.stat().st_size < 40_000
    assert recording.hard_pairs[-1] > recording.hard_pairs[0] + 30
