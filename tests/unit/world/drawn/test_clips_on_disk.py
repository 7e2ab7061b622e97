"""Clips are drawn once, and embedded once per visual tower."""

import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.media.limits import LIMITS, Limit
from nt2vr.models.framing import Framing
from nt2vr.progress import silent, stoppable
from nt2vr.world.drawn import clips as clips_module
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.drawn.render import render
from nt2vr.world.sampling import sample_scenes
from tests.support.mean_pooling import Brightness, pool_by_mean

SCENES = sample_scenes("validation", 3, seed=0)


STOPPED = stoppable(silent, lambda: True)


def clips(folder: Path, num_frames: int = 2, size: int = 32) -> ClipFile:
    return ClipFile.of("validation", SCENES, num_frames, Framing(size), folder)


def test_frames_are_drawn_once(tmp_path: Path) -> None:
    frames = clips(tmp_path).frames()
    np.testing.assert_array_equal(frames, [render(scene, 32, 2) for scene in SCENES])
    assert [path.name for path in tmp_path.iterdir()] == [clips(tmp_path).path.name]
    # There is nothing left to be stopped.
    clips(tmp_path).frames(STOPPED)


def test_the_file_name_depends_on_everything_that_affects_the_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        clips(tmp_path).path.name,
        clips(tmp_path, num_frames=3).path.name,
        clips(tmp_path, size=33).path.name,
        ClipFile.of("validation", SCENES[:2], 2, Framing(32), tmp_path).path.name,
    }
    monkeypatch.setattr(clips_module, "LOOK", clips_module.LOOK + 1)
    assert len(names | {clips(tmp_path).path.name}) == 5


def test_embeddings_are_mean_pooled_and_computed_once_per_visual_tower(tmp_path: Path) -> None:
    encoder: Any = Brightness()
    embeddings = clips(tmp_path).embeddings(encoder)
    means = clips(tmp_path).frames().mean(axis=(1, 2, 3, 4))
    slow = np.stack([means, np.full(3, 100.0)], axis=1)
    np.testing.assert_allclose(
        embeddings, slow / np.linalg.norm(slow, axis=1, keepdims=True), rtol=1e-5
    )
    second_encoder: Any = Brightness()
    np.testing.assert_array_equal(clips(tmp_path).embeddings(second_encoder), embeddings)
    other_encoder: Any = Brightness("b")
    clips(tmp_path).embeddings(other_encoder)
    assert (encoder.encoded, second_encoder.encoded, other_encoder.encoded) == (6, 0, 6)


def test_embeddings_under_the_names_of_0_2_0_are_found(tmp_path: Path) -> None:
    encoder = Brightness()
    encoder.card = encoder.card.replace(visual_fingerprint="c0ffee", visual_settings="5e77")
    file = clips(tmp_path)
    stored = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    key = blake2b(f"{file.path.stem} c0ffee 5e77 mean".encode(), digest_size=12).hexdigest()
    np.save(tmp_path / f"embeddings-{key}.npy", stored)

    one: Any = encoder
    np.testing.assert_array_equal(file.embeddings(one), stored)
    assert encoder.encoded == 0


def test_all_poolings_pool_frames_that_were_encoded_once(tmp_path: Path) -> None:
    first = Brightness()
    second = Brightness()
    mean = Brightness()
    first.card, second.card = (
        first.card.replace(head={"fingerprint": name}) for name in ("one", "two")
    )
    one: Any = first
    two: Any = second
    plain: Any = mean
    frames = clips(tmp_path).frame_embeddings(one)
    assert frames.shape == (3, 2, 2)
    np.testing.assert_array_equal(clips(tmp_path).embeddings(one), pool_by_mean(frames))
    np.testing.assert_array_equal(clips(tmp_path).embeddings(two), pool_by_mean(frames))
    np.testing.assert_array_equal(clips(tmp_path).embeddings(plain), pool_by_mean(frames))
    assert (first.encoded, second.encoded, mean.encoded) == (6, 0, 0)
    # Frames are not kept.
    assert not clips(tmp_path).path.exists()


def test_stopping_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(InterruptedError):
        clips(tmp_path).frames(STOPPED)
    assert list(tmp_path.iterdir()) == []
    clips(tmp_path).frames()
    encoder: Any = Brightness()
    with pytest.raises(InterruptedError):
        clips(tmp_path).embeddings(encoder, STOPPED)
    assert list(tmp_path.glob("*.npy")) == [clips(tmp_path).path]
    second_encoder: Any = Brightness()
    clips(tmp_path).embeddings(second_encoder)
    # Nothing was stored before.
    assert second_encoder.encoded == 6


@pytest.mark.parametrize("kept", [0, 10, 2000])
def test_damaged_files_are_made_again(tmp_path: Path, kept: int) -> None:
    encoder: Any = Brightness()
    embeddings = clips(tmp_path).embeddings(encoder)
    frames = np.array(clips(tmp_path).frames())
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:kept] if kept < path.stat().st_size else b"x" * kept)
    np.testing.assert_array_equal(clips(tmp_path).embeddings(encoder), embeddings)
    np.testing.assert_array_equal(clips(tmp_path).frames(), frames)


def test_clips_drawn_long_ago_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 3 * 2 * 32 * 32 * 3
    monkeypatch.setitem(LIMITS, "drawn clips", Limit(num_bytes=2.5 * size))
    for number in range(3):
        clips(tmp_path, size=32 - number).frames()
        os.utime(clips(tmp_path, size=32 - number).path, (number, number))
        # They are used again.
        clips(tmp_path).frames()
    assert set(tmp_path.iterdir()) == {clips(tmp_path).path, clips(tmp_path, size=30).path}
