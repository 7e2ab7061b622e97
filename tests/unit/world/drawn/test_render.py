"""Rendering: reproducible, inside the frame, in motion, with nobody hidden."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.world.drawn import render
from nt2vr.world.drawn.render import LARGEST_UNIT, SIZE, Mover, Renderer, lay_out
from nt2vr.world.drawn.sprites import Sprite, actor_svg, sprite, thing_svg
from nt2vr.world.scenes import Actor, Scene, sample_scenes
from nt2vr.world.vocabulary import ACTIVITIES, PLACES, PROPS

SEEN_PIXELS = 40  # of 112 x 112 that must change when somebody is taken away; the least over many scenes is 49
SEEN_LEVELS = 30  # of 256, by which a pixel must change to count


def scene_of(*actors: Actor, place: str = "park", props: tuple[str, ...] = (), look: int = 1) -> Scene:
    return Scene(place, actors, props, look)


def num_changed(frames: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how many pixels differ plainly, for each frame."""
    levels: NDArray[np.int64] = np.abs(frames.astype(np.int64) - others).max(axis=-1)
    changed: NDArray[np.int64] = (levels > SEEN_LEVELS).sum(axis=(1, 2))
    return changed


@contextmanager
def laid_out_as(movers: list[Mover]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "lay_out", lambda scene: movers)
        yield


@pytest.mark.parametrize("size", [32, 112, 224])
@pytest.mark.parametrize("num_frames", [1, 5])
def test_frames_have_the_requested_size_and_number(size: int, num_frames: int) -> None:
    frames = Renderer(size).frames(scene_of(Actor("man", "run")), num_frames)
    assert frames.shape == (num_frames, size, size, 3)
    assert frames.dtype == np.uint8


def test_cached_sprites_do_not_change_the_frames() -> None:
    """Sprites and backdrops are kept between scenes; drawing over a kept one would show here."""
    scenes = sample_scenes("test", 12, seed=1)
    renderer = Renderer(56)
    first = [renderer.frames(scene, 3) for scene in scenes]
    again = [renderer.frames(scene, 3) for scene in reversed(scenes)][::-1]
    assert all(np.array_equal(frames, others) for frames, others in zip(first, again, strict=True))


def test_sizes_show_the_same_picture() -> None:
    for scene in sample_scenes("test", 5, seed=2):
        small = Renderer(56).frames(scene, 2).astype(float)
        large = Renderer(224).frames(scene, 2).reshape(2, 56, 4, 56, 4, 3).mean(axis=(2, 4))
        assert np.abs(small - large).mean() < 12


def test_few_and_many_frames_cover_the_same_motion() -> None:
    """Frame i of F shows the time (i + .5) / F: the trainer's 8 frames are among the gallery's 24."""
    scene = scene_of(Actor("man", "bike"), Actor("dog", "run"))
    assert np.array_equal(Renderer(56).frames(scene, 24)[1::3], Renderer(56).frames(scene, 8))


@pytest.mark.parametrize("activity", sorted(ACTIVITIES))
def test_motion_is_visible_and_still_actors_stay_still(activity: str) -> None:
    who = {"drive": "car", "fly": "plane", "sleep": "dog", "eat": "dog", "ball": "dog"}.get(activity, "man")
    frames = Renderer(112).frames(scene_of(Actor(who, activity), place="desert"), 8)
    changed = num_changed(frames, np.roll(frames, 1, axis=0))
    if ACTIVITIES[activity].motion == "stay":
        assert changed.max() == 0
    else:
        assert (changed >= 20).sum() >= 4  # in at least half of the steps
        assert len({frame.tobytes() for frame in frames}) >= 4


def test_the_motion_loops() -> None:
    for scene in sample_scenes("test", 60, seed=3):
        for mover in lay_out(scene):
            (x, y, _, _), (x_after, y_after, _, _) = mover.at(0.0), mover.at(0.9999)
            assert abs(x - x_after) + abs(y - y_after) < 1


def test_walkers_face_where_they_go() -> None:
    """OpenMoji's walkers look left: moving right they must be mirrored."""
    for flip in (False, True):
        for motion in ("walk", "roll"):
            mover = Mover("", motion, 1, 100, 100, 50, 0.0, flip)
            for time in np.arange(0.01, 0.98, 0.03):
                (x, _, _, mirrored), (later, _, _, _) = mover.at(time), mover.at(time + 0.005)
                if abs(later - x) > 0.5 and (time % 0.5) < 0.49:
                    assert mirrored == (later > x)


def test_actors_stay_inside_the_frame() -> None:
    shares = []
    for scene in sample_scenes("validation", 24, seed=4):
        for mover in lay_out(scene):
            for time in (np.arange(4) + 0.5) / 4:
                x, y, angle, flip = mover.at(float(time))
                look = sprite(mover.svg, round(mover.unit * 16) / 16, LARGEST_UNIT, angle, flip)
                alpha = 255 - look.transparency[..., 0].astype(float)
                top, left = round(y) + look.dy, round(x) + look.dx
                inside = alpha[max(0, -top) : max(0, SIZE - top), max(0, -left) : max(0, SIZE - left)]
                shares.append(inside.sum() / alpha.sum())
    assert min(shares) > 0.7
    assert np.mean(shares) > 0.98


def test_all_actors_and_props_are_visible_in_every_frame() -> None:
    """Taking one away, all else left where it is, changes the picture plainly: nothing hides behind anything."""
    renderer = Renderer(112)
    for scene in sample_scenes("validation", 40, seed=5):
        movers, whole = lay_out(scene), renderer.frames(scene, 2)
        assert len(movers) == len(scene.actors) + len(scene.props)
        for i in range(len(movers)):
            with laid_out_as(movers[:i] + movers[i + 1 :]):
                assert num_changed(renderer.frames(scene, 2), whole).min() >= SEEN_PIXELS, scene


@pytest.mark.parametrize("wearing", ["tophat", "crown", "cap", "sunglasses"])
@pytest.mark.parametrize("activity", ["guitar", "bike", "cartwheel"])
def test_accessories_are_visible(wearing: str, activity: str) -> None:
    """On a bust, on a figure, and upside down."""
    for subject in ("man", "woman", "boy", "girl"):
        bare, dressed = (
            Renderer(112).frames(scene_of(Actor(subject, activity, what), place="gym"), 1) for what in (None, wearing)
        )
        assert num_changed(bare, dressed)[0] >= 15


def test_the_four_people_look_different() -> None:
    """WORLD.md: look-alike men and women were the prototype's weakness."""
    names = ("man", "woman", "boy", "girl")
    for activity in ("guitar", "run"):
        clips = [Renderer(112).frames(scene_of(Actor(name, activity)), 1) for name in names]
        for i, clip in enumerate(clips):
            assert all(num_changed(clip, other)[0] >= 150 for other in clips[:i])


@pytest.mark.parametrize("place", sorted(PLACES))
def test_places_look_different(place: str) -> None:
    clips = {name: Renderer(112).frames(scene_of(Actor("man", "run"), place=name), 1) for name in PLACES}
    other = min(num_changed(clips[place], clips[name])[0] for name in PLACES if name != place)
    assert other > 0.2 * 112**2


def test_props_are_in_the_sky_or_on_the_ground() -> None:
    for name, thing in PROPS.items():
        (mover,) = (
            mover for mover in lay_out(scene_of(Actor("man", "read"), props=(name,))) if mover.svg == thing_svg(name)
        )
        assert (mover.y < 0.4 * SIZE) == thing.sky
        assert (mover.y > 0.8 * SIZE) == (not thing.sky)


def test_a_mirrored_sprite_keeps_its_position() -> None:
    for actor in (Actor("man", "guitar"), Actor("dog", "run"), Actor("car", "drive")):
        one, other = (sprite(actor_svg(actor, ""), 1.0, LARGEST_UNIT, 0, flip) for flip in (False, True))
        assert np.array_equal(one.rgb, other.rgb[:, ::-1])
        assert (other.dx, other.dy) == (-(one.dx + one.rgb.shape[1]), one.dy)


def test_sprites_outside_the_frame_are_clipped_not_wrapped() -> None:
    """Against a slow twin: a canvas with so much room around it that nothing is outside, cut afterwards."""
    look, size, room = sprite(actor_svg(Actor("dog", "run"), ""), 0.5, LARGEST_UNIT), 60, 200
    for x in (-150, -20, 0, 30, 59, 75, 150):
        for y in (-150, -3, 0, 30, 59, 75, 150):
            canvas, large = (
                np.full((size, size, 3), 90, np.uint16),
                np.full((size + 2 * room,) * 2 + (3,), 90, np.uint16),
            )
            render._paste(canvas, look, x, y)
            render._paste(large, look, x + room, y + room)
            assert np.array_equal(canvas, large[room:-room, room:-room])


def test_pasting_is_alpha_over() -> None:
    look = Sprite(np.array([[[128, 0, 64]]], np.uint16), np.full((1, 1, 1), 255 - 128, np.uint16), 0, 0)
    canvas: NDArray[np.uint16] = np.full((2, 2, 3), 100, np.uint16)
    render._paste(canvas, look, 1, 0)
    assert canvas[0, 1].tolist() == [128 + 49, 49, 64 + 49]  # 100 * 127 // 255 = 49 shows through
    assert canvas[0, 0].tolist() == canvas[1, 1].tolist() == [100, 100, 100]
