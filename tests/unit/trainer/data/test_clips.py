"""Cached frames of the built-in world, and batches drawn from them."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.models.framing import Framing
from nt2vr.world.drawn import clips as clips_module
from trainer.config import TrainConfig
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clip_loader import world_clips
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences


class Numbered(CaptionSentences):
    """Captions that name their clip and differ between draws."""

    def __init__(self, count: int) -> None:
        super().__init__([()] * count)

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return f"clip {row} {rng.random()}"


def pixels_of(batch: Batch) -> NDArray[np.uint8]:
    assert batch.frames is not None
    return batch.frames


def numbered(count: int, num_frames: int = 3) -> Clips:
    """Clips whose pixels encode their clip and frame numbers; the left column is black."""
    rows = np.arange(count, dtype=np.uint8)
    frames = np.arange(num_frames, dtype=np.uint8)
    pixels = np.zeros((count, num_frames, 2, 2, 3), np.uint8)
    pixels[..., 1, 0] = rows[:, None, None]
    pixels[..., 1, 1] = frames[None, :, None]
    pixels[..., 1, 2] = 255
    return Clips(pixels, Numbered(count))


def test_clips_are_rendered_again_only_if_they_look_different(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world_clips("train", 2, 1, Framing(32), 0, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(clips_module, "draw_clips", lambda *_, **__: pytest.fail("rendered again"))
        np.testing.assert_array_equal(
            world_clips("train", 2, 1, Framing(32), 0, tmp_path).frames, first.frames
        )
    for count, num_frames, size, seed in [
        (3, 1, 32, 0),
        (2, 2, 32, 0),
        (2, 1, 48, 0),
        (2, 1, 32, 1),
    ]:
        clips = world_clips("train", count, num_frames, Framing(size), seed, tmp_path)
        assert clips.frames.shape == (count, num_frames, size, size, 3)
    assert len(list(tmp_path.iterdir())) == 5
    # As if the drawing had changed.
    monkeypatch.setattr(clips_module, "LOOK", clips_module.LOOK + 1)
    world_clips("train", 2, 1, Framing(32), 0, tmp_path)
    assert len(list(tmp_path.iterdir())) == 6


def test_an_epoch_shows_every_clip_once_with_its_own_caption() -> None:
    config = TrainConfig(num_clips=12, batch_size=4, flip=False, frames_per_step=1)
    batches = list(epoch_batches(numbered(12), config, epoch=1))
    pictured = [int(frame[0, 1, 0]) for batch in batches for frame in pixels_of(batch)[:, 0]]
    captioned = [int(caption.split()[1]) for batch in batches for caption in batch.captions]
    assert pictured == captioned
    assert sorted(pictured) == list(range(12))
    assert {pixels_of(batch).shape for batch in batches} == {(4, 1, 2, 2, 3)}


def test_accumulated_batches_keep_the_draws_and_all_clips() -> None:
    once = TrainConfig(num_clips=12, batch_size=4)
    more = once.replace(passes=2, accumulate=2)
    assert (once.steps_per_epoch, more.steps_per_epoch) == (3, 3)
    first = list(epoch_batches(numbered(12), once, 1))
    both = list(epoch_batches(numbered(12), more, 1))
    assert len(both) == 6
    assert [batch.captions for batch in both[:3]] == [batch.captions for batch in first]
    drawn = [
        [caption.split()[1] for batch in half for caption in batch.captions]
        for half in (both[:3], both[3:])
    ]
    assert drawn[0] != drawn[1] and sorted(drawn[0]) == sorted(drawn[1]) == sorted(
        str(row) for row in range(12)
    )
    assert not {c for batch in both[:3] for c in batch.captions} & {
        c for batch in both[3:] for c in batch.captions
    }
    assert [b.captions for b in epoch_batches(numbered(12), more, 1, start=4)] == [
        b.captions for b in both[4:]
    ]


def several(counts: list[int]) -> Clips:
    """Clips with as many captions as the counts say, which name their clip and number."""
    captions = [[f"{row} {number}" for number in range(count)] for row, count in enumerate(counts)]
    return replace(numbered(len(counts)), sentences=CaptionSentences(captions))


def test_an_epoch_can_take_every_caption_once() -> None:
    counts = [20, 1, 5, 5, 10, 7]
    config = TrainConfig(
        num_clips=6, num_captions=48, data="x", batch_size=4, flip=False, frames_per_step=1
    )
    epochs = [list(epoch_batches(several(counts), config, epoch)) for epoch in (1, 2)]
    for batches in epochs:
        captions = [caption.split() for batch in batches for caption in batch.captions]
        assert sorted((int(row), int(number)) for row, number in captions) == [
            (row, number) for row, count in enumerate(counts) for number in range(count)
        ]
        pictured = [int(frame[0, 1, 0]) for batch in batches for frame in pixels_of(batch)[:, 0]]
        assert pictured == [int(row) for row, _ in captions]
    one, two = ([batch.captions for batch in batches] for batches in epochs)
    assert one != two and config.steps_per_epoch == len(one) == 12
    assert [b.captions for b in epoch_batches(several(counts), config, 1, start=5)] == one[5:]
    more = [
        c for b in epoch_batches(several(counts), config.replace(passes=2), 1) for c in b.captions
    ]
    assert len(more) == 96 and len(set(more)) == 48


def test_a_step_s_frames_differ_and_half_are_mirrored() -> None:
    config = TrainConfig(num_clips=200, batch_size=200, frames_per_step=2, seed=1)
    (batch,) = epoch_batches(numbered(200), config, epoch=1)
    frames = pixels_of(batch)
    mirrored = frames[:, :, 0, 0, 2] == 255
    assert (mirrored[:, 0] == mirrored[:, 1]).all()
    assert 70 < mirrored[:, 0].sum() < 130
    frame = frames.max(axis=(2, 3))[:, :, 1]
    assert (frame[:, 0] != frame[:, 1]).all()
    assert set(frame.ravel().tolist()) == {0, 1, 2}


def test_a_mirrored_frame_swaps_left_and_right_and_nothing_else() -> None:
    """All pixels differ, so that a swap of rows, colours, frames or clips would be noticed."""
    config = TrainConfig(num_clips=20, batch_size=20, num_frames=2, frames_per_step=2, seed=1)
    pixels = np.random.default_rng(0).integers(0, 256, (20, 2, 4, 4, 3), np.uint8)
    (batch,) = epoch_batches(Clips(pixels, Numbered(20)), config, epoch=1)
    assert batch.rows is not None
    mirrored = 0
    for row, frames in zip(batch.rows.tolist(), pixels_of(batch), strict=True):
        as_they_are = [pixels[row][order] for order in ([0, 1], [1, 0])]
        mirrored += any(
            np.array_equal(frames, clip_frames[:, :, ::-1]) for clip_frames in as_they_are
        )
        assert any(
            np.array_equal(frames, clip_frames)
            for one in as_they_are
            for clip_frames in (one, one[:, :, ::-1])
        )
    assert 0 < mirrored < 20


def test_batches_depend_on_seed_and_epoch_alone() -> None:
    clips = numbered(12)
    config = TrainConfig(num_clips=12, batch_size=4)
    first = list(epoch_batches(clips, config, 1))
    rest = list(epoch_batches(clips, config, 1, start=1))
    assert len(rest) == 2
    for earlier, resumed in zip(first[1:], rest, strict=True):
        np.testing.assert_array_equal(earlier.frames, resumed.frames)
        assert earlier.captions == resumed.captions
    second = list(epoch_batches(clips, config, 2))
    texts = {caption for batch in first for caption in batch.captions}
    assert texts.isdisjoint(caption for batch in second for caption in batch.captions)
    orders = [
        [int(row) for batch in batches for row in np.asarray(batch.rows)]
        for batches in (first, second)
    ]
    assert orders[0] != orders[1] and list(range(12)) not in orders
