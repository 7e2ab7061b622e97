"""Cached frames of the built-in world, and batches drawn from them."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
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

NUM_CLIPS = 12
CONFIG = TrainConfig(num_clips=NUM_CLIPS, batch_size=4, flip=False, frames_per_step=1)
# Captions per clip, 48 in all; an epoch of ALL_CAPTIONS takes each once.
NUM_CAPTIONS = [20, 1, 5, 5, 10, 7]
ALL_CAPTIONS = CONFIG.replace(num_clips=6, num_captions=48, data="x")


class Numbered(CaptionSentences):
    """Captions that name their clip and differ between draws."""

    def __init__(self, count: int) -> None:
        super().__init__([()] * count)

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return f"clip {row} {rng.random()}"


def pixels_of(batch: Batch) -> NDArray[np.uint8]:
    assert batch.frames is not None
    return batch.frames


def pictured_clips(batches: Iterable[Batch]) -> list[int]:
    """Return the clips that the first frames show."""
    clips = np.concatenate([pixels_of(batch)[:, 0, 0, 1, 0] for batch in batches])
    return [int(clip) for clip in clips]


def captions_of(batches: Iterable[Batch]) -> list[str]:
    return list(chain.from_iterable(batch.captions for batch in batches))


def by_batch(batches: Iterable[Batch]) -> list[list[str]]:
    """Return the captions of each batch."""
    return [list(batch.captions) for batch in batches]


def captioned_clips(batches: Iterable[Batch]) -> list[int]:
    return [int(caption.split()[1]) for caption in captions_of(batches)]


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
        again = world_clips("train", 2, 1, Framing(32), 0, tmp_path)
        np.testing.assert_array_equal(again.frames, first.frames)
    # Each differs from the first in one number.
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
    batches = list(epoch_batches(numbered(NUM_CLIPS), CONFIG, epoch=1))
    assert sorted(pictured_clips(batches)) == list(range(NUM_CLIPS))
    assert captioned_clips(batches) == pictured_clips(batches)
    assert {pixels_of(batch).shape for batch in batches} == {(4, 1, 2, 2, 3)}


def test_accumulated_batches_keep_the_draws_and_all_clips() -> None:
    two_passes = CONFIG.replace(passes=2, accumulate=2)
    assert CONFIG.steps_per_epoch == 3
    assert two_passes.steps_per_epoch == 3
    one_pass = list(epoch_batches(numbered(NUM_CLIPS), CONFIG, 1))
    batches = list(epoch_batches(numbered(NUM_CLIPS), two_passes, 1))
    assert len(batches) == 6
    first = batches[:3]
    second = batches[3:]
    assert by_batch(first) == by_batch(one_pass)
    assert set(captions_of(first)).isdisjoint(captions_of(second))
    assert captioned_clips(first) != captioned_clips(second)
    for batches_of_pass in (first, second):
        assert sorted(captioned_clips(batches_of_pass)) == list(range(NUM_CLIPS))

    resumed = epoch_batches(numbered(NUM_CLIPS), two_passes, 1, start=4)
    assert by_batch(resumed) == by_batch(batches[4:])


def numbered_captions() -> list[list[str]]:
    """Return several captions per clip, which name their clip and their number."""
    captions = []
    for row, count in enumerate(NUM_CAPTIONS):
        captions.append([f"clip {row} {number}" for number in range(count)])
    return captions


def with_several_captions() -> Clips:
    return replace(numbered(6), sentences=CaptionSentences(numbered_captions()))


@pytest.mark.parametrize("epoch", [1, 2])
def test_an_epoch_can_take_every_caption_once(epoch: int) -> None:
    batches = list(epoch_batches(with_several_captions(), ALL_CAPTIONS, epoch))
    assert ALL_CAPTIONS.steps_per_epoch == len(batches) == 12
    assert sorted(captions_of(batches)) == sorted(chain.from_iterable(numbered_captions()))
    assert captioned_clips(batches) == pictured_clips(batches)


def test_epochs_of_every_caption_differ_and_can_be_resumed() -> None:
    clips = with_several_captions()
    first = list(epoch_batches(clips, ALL_CAPTIONS, 1))
    assert captions_of(epoch_batches(clips, ALL_CAPTIONS, 2)) != captions_of(first)
    resumed = epoch_batches(clips, ALL_CAPTIONS, 1, start=5)
    assert by_batch(resumed) == by_batch(first[5:])


def test_two_passes_take_every_caption_twice() -> None:
    batches = epoch_batches(with_several_captions(), ALL_CAPTIONS.replace(passes=2), 1)
    counts = Counter(captions_of(batches))
    assert len(counts) == 48
    assert set(counts.values()) == {2}


def test_a_step_s_frames_differ_and_half_are_mirrored() -> None:
    config = TrainConfig(num_clips=200, batch_size=200, frames_per_step=2, seed=1)
    (batch,) = epoch_batches(numbered(200), config, epoch=1)
    pixels = pixels_of(batch)  # (200, 2, 2, 2, 3)
    # The left column, which is black, is on the right.
    is_mirrored = pixels[:, :, 0, 0, 2] == 255
    assert (is_mirrored[:, 0] == is_mirrored[:, 1]).all()
    # Four deviations around half of 200.
    assert 70 < is_mirrored[:, 0].sum() < 130
    frame_numbers = pixels.max(axis=(2, 3))[:, :, 1]
    assert (frame_numbers[:, 0] != frame_numbers[:, 1]).all()
    assert set(frame_numbers.ravel().tolist()) == {0, 1, 2}


def test_a_mirrored_frame_swaps_left_and_right_and_nothing_else() -> None:
    """All pixels differ, so that a swap of rows, colours, frames or clips would be noticed."""
    config = TrainConfig(num_clips=20, batch_size=20, num_frames=2, frames_per_step=2, seed=1)
    pixels = np.random.default_rng(0).integers(0, 256, (20, 2, 4, 4, 3), np.uint8)
    (batch,) = epoch_batches(Clips(pixels, Numbered(20)), config, epoch=1)
    assert batch.rows is not None
    num_mirrored = 0
    for row, frames in zip(batch.rows.tolist(), pixels_of(batch), strict=True):
        # A step takes the two frames in any order.
        orders = [pixels[row], pixels[row, ::-1]]
        is_same = any(np.array_equal(frames, clip_frames) for clip_frames in orders)
        unmirrored = frames[:, :, ::-1]
        is_mirrored = any(np.array_equal(unmirrored, clip_frames) for clip_frames in orders)
        assert is_same != is_mirrored
        num_mirrored += is_mirrored
    assert 0 < num_mirrored < 20


def test_batches_depend_on_seed_and_epoch_alone() -> None:
    clips = numbered(NUM_CLIPS)
    config = TrainConfig(num_clips=NUM_CLIPS, batch_size=4)
    first = list(epoch_batches(clips, config, 1))
    resumed = list(epoch_batches(clips, config, 1, start=1))
    assert len(resumed) == 2
    for batch, same in zip(first[1:], resumed, strict=True):
        np.testing.assert_array_equal(same.frames, batch.frames)
        assert same.captions == batch.captions

    second = list(epoch_batches(clips, config, 2))
    assert set(captions_of(first)).isdisjoint(captions_of(second))
    orders = [captioned_clips(first), captioned_clips(second)]
    assert orders[0] != orders[1]
    assert list(range(NUM_CLIPS)) not in orders
