"""Stores of frames: bounded, but found again; shared by processes; a full disk costs only time."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.media import frames as frames_module
from nt2vr.media.frames import Frames
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.limits import LIMITS
from nt2vr.media.store import Cache
from nt2vr.search.embed_clips import embed_gallery
from tests.support.counting_decoder import CountingDecoder
from tests.support.disks import mounted
from tests.support.mean_pooling import Brightness

WriteVideo = Callable[..., Path]
SetLimit = Callable[[float], None]
SHAPE = (2, 8, 8, 3)
CLIP_BYTES = 2 * 8 * 8 * 3


def clip(number: int) -> NDArray[np.uint8]:
    return np.full(SHAPE, number, np.uint8)


def fill(folder: Path, *numbers: int, **options: Any) -> None:
    with Frames(folder, SHAPE, **options) as store:
        for number in numbers:
            store.add(str(number), clip(number))


def stored(folder: Path, count: int = 100) -> list[int]:
    """Return which clips are stored, checking their frames."""
    store = Frames(folder, SHAPE)
    numbers = []
    for number in range(count):
        frames = store.get(str(number))
        if frames is not None:
            assert (frames == number).all()
            numbers.append(number)
    return numbers


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> SetLimit:
    """Limit all stores together to a number of bytes."""
    return lambda num_bytes: monkeypatch.setitem(
        LIMITS, "frames", replace(LIMITS["frames"], num_bytes=num_bytes)
    )


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_module, "BATCH_BYTES", 4 * CLIP_BYTES)


@pytest.fixture(scope="module")
def decoder() -> Iterator[CountingDecoder]:
    decoder = CountingDecoder(1)
    with decoder:
        yield decoder


@pytest.fixture
def gallery(write_video: WriteVideo) -> Gallery:
    return Gallery(
        "greys", tuple(Video(f"v{i}", write_video(f"{i}.avi", [12 * i] * 3)) for i in range(20))
    )


def decoded_by(decoder: CountingDecoder, gallery: Gallery, tower: str, cache: Cache) -> int:
    """Embed a gallery under a visual tower, and count the files decoded for it."""
    before = decoder.num_decoded
    encoder = Brightness(tower)
    assert len(embed_gallery(gallery, encoder, decoder, cache).gallery.videos) == 20
    return decoder.num_decoded - before


def test_only_clips_that_do_not_fit_are_decoded_again(
    gallery: Gallery, decoder: CountingDecoder, tmp_path: Path, limit: SetLimit
) -> None:
    """Evicting the oldest would decode all of them for every visual tower."""
    limit(12 * 2 * 16 * 16 * 3 + 1000)
    with Cache(tmp_path / "cache") as cache:
        assert [decoded_by(decoder, gallery, tower, cache) for tower in "abc"] == [20, 8, 8]


def test_a_second_model_of_a_library_decodes_nothing_again(
    gallery: Gallery, decoder: CountingDecoder, tmp_path: Path
) -> None:
    library = replace(gallery, key="library-1")
    with Cache(tmp_path / "cache") as cache:
        assert [decoded_by(decoder, library, tower, cache) for tower in "ab"] == [20, 0]
        assert decoded_by(decoder, gallery, "c", cache) == 0


def test_all_stores_share_a_limit_that_required_frames_ignore(
    tmp_path: Path, small_batches: None, limit: SetLimit
) -> None:
    # This leaves room for the ids.
    limit(10 * CLIP_BYTES + 380)
    fill(tmp_path / "a", *range(6))
    fill(tmp_path / "b", *range(9))
    assert (stored(tmp_path / "a"), stored(tmp_path / "b")) == (list(range(6)), list(range(4)))
    fill(tmp_path / "b", 50)
    assert stored(tmp_path / "b") == list(range(4))
    fill(tmp_path / "b", *range(9), required=True)
    assert (stored(tmp_path / "a"), stored(tmp_path / "b")) == (list(range(6)), list(range(9)))


def test_stores_unopened_for_a_month_make_room_one_by_one(tmp_path: Path, limit: SetLimit) -> None:
    for name, days in [("oldest", 50), ("old", 40), ("recent", 20)]:
        fill(tmp_path / name, 1)
        opened = time.time() - days * 24 * 3600
        os.utime(tmp_path / name, (opened, opened))
    limit(sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) + 100)
    mapped = Frames(tmp_path / "b", SHAPE)
    fill(tmp_path / "new", 1)
    sizes = {
        name: len(list((tmp_path / name).glob("rows-*")))
        for name in ("oldest", "old", "recent", "new")
    }
    assert sizes == {"oldest": 0, "old": 1, "recent": 1, "new": 1}
    assert len(mapped) == 0


@pytest.mark.parametrize("options", ["size=40k", "size=1m,ro"], ids=["full", "read-only"])
def test_a_full_or_read_only_disk_stops_only_required_frames(
    tmp_path: Path,
    options: str,
    caplog: pytest.LogCaptureFixture,
    small_batches: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As it was before others wrote.
    monkeypatch.setattr(frames_module, "free_bytes", lambda _: 10**9)
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, options):
        fill(disk / "a", *range(99))
        numbers = stored(disk / "a")
        assert numbers == list(range(len(numbers)))
        assert len(numbers) < 99
        with pytest.raises(OSError, match=r"No space left|Read-only"):
            fill(disk / "a", *range(99), required=True)
        assert stored(disk / "a")[: len(numbers)] == numbers
    (warning,) = (record.message for record in caplog.records if record.levelno >= logging.WARNING)
    assert "Frames cannot be stored" in warning
    assert "\n" not in warning
