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
# Three clips of two frames.
NUM_FRAMES = 6
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
    expected = np.stack([means, np.full(3, 100.0)], axis=1)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(embeddings, expected, rtol=1e-5)
    assert encoder.encoded == NUM_FRAMES

    same_tower: Any = Brightness()
    np.testing.assert_array_equal(clips(tmp_path).embeddings(same_tower), embeddings)
    assert same_tower.encoded == 0

    another_tower: Any = Brightness("b")
    clips(tmp_path).embeddings(another_tower)
    assert another_tower.encoded == NUM_FRAMES


def test_embeddings_under_the_names_of_0_2_0_are_found(tmp_path: Path) -> None:
    encoder: Any = Brightness()
    encoder.card = encoder.card.replace(visual_fingerprint="c0ffee", visual_settings="5e77")
    file = clips(tmp_path)
    stored = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    key = blake2b(f"{file.path.stem} c0ffee 5e77 mean".encode(), digest_size=12).hexdigest()
    np.save(tmp_path / f"embeddings-{key}.npy", stored)

    np.testing.assert_array_equal(file.embeddings(encoder), stored)
    assert encoder.encoded == 0


def test_all_poolings_pool_frames_that_were_encoded_once(tmp_path: Path) -> None:
    first: Any = Brightness()
    first.card = first.card.replace(head={"fingerprint": "one"})
    second: Any = Brightness()
    second.card = second.card.replace(head={"fingerprint": "two"})
    mean: Any = Brightness()
    frames = clips(tmp_path).frame_embeddings(first)
    assert frames.shape == (3, 2, 2)
    for encoder in (first, second, mean):
        np.testing.assert_array_equal(clips(tmp_path).embeddings(encoder), pool_by_mean(frames))
    assert first.encoded == NUM_FRAMES
    assert second.encoded == 0
    assert mean.encoded == 0
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
    assert second_encoder.encoded == NUM_FRAMES


@pytest.mark.parametrize("num_bytes", [0, 10, 2000])
def test_damaged_files_are_made_again(tmp_path: Path, num_bytes: int) -> None:
    encoder: Any = Brightness()
    embeddings = clips(tmp_path).embeddings(encoder)
    frames = np.array(clips(tmp_path).frames())
    for path in tmp_path.iterdir():
        # Larger files are cut off, and smaller ones become longer.
        content = path.read_bytes()[:num_bytes]
        path.write_bytes(content if len(content) == num_bytes else b"x" * num_bytes)
    np.testing.assert_array_equal(clips(tmp_path).embeddings(encoder), embeddings)
    np.testing.assert_array_equal(clips(tmp_path).frames(), frames)


def test_clips_drawn_long_ago_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (clips(tmp_path, size=size) for size in (32, 31, 30))
    num_bytes = NUM_FRAMES * 32 * 32 * 3
    monkeypatch.setitem(LIMITS, "drawn clips", Limit(num_bytes=2.5 * num_bytes))
    for time, file in enumerate((first, second, third)):
        file.frames()
        os.utime(file.path, (time, time))
        # The first are used again.
        first.frames()
    assert set(tmp_path.iterdir()) == {first.path, third.path}
