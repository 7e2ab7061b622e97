"""Drawing of the built-in world: what must be seen is seen, and single frames do not tell motions apart."""

import re
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.world.drawn import render as backdrops
from nt2vr.world.drawn.actors import paint
from nt2vr.world.drawn.animal_bodies import body_of
from nt2vr.world.drawn.canvas import Canvas, drawing, ink
from nt2vr.world.drawn.dolls import grip_of, poses
from nt2vr.world.drawn.layout import lay_out, most_hidden
from nt2vr.world.drawn.motions import MOTIONS, spots
from nt2vr.world.drawn.render import render
from nt2vr.world.drawn.sizes import picture
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import actions, places, read_toml, things

# Layouts are for this size.
PX = 224
KEY = (255, 0, 255)
UNMOVED = frozenset({"none", "shake", "approach", "wave", "face", "juggle"})
HANDLESS = frozenset({"none", "under", "face", "worn"})
ON_THE_SPOT = frozenset({"sit", "stand", "lie", "walk", "run", "jump", "fly", "swim", ""})


def scene_of(verb: str, thing: str | None = None) -> Scene:
    times = {"enter": (0.5, 1.0), "leave": (0.0, 0.5)}.get(verb)
    enters, leaves = times or (0.0, 1.0)
    done = () if times else (Action(verb, thing),)
    return Scene(
        "field", False, (Figure("man", "red", actions=done, enters=enters, leaves=leaves),), 5
    )


def multiset(scene: Scene) -> Counter[bytes]:
    return Counter(frame.tobytes() for frame in render(scene, 32))


def seen(scene: Scene, step: int) -> list[tuple[float, float, bool]]:
    """Return of everybody the share that others leave visible, the larger side in frames, and whether it acts."""
    masks: list[NDArray[np.bool_]] = []
    regions: list[NDArray[np.bool_]] = []
    everybody = lay_out(scene)
    for figure in everybody:
        canvas = Canvas(np.full((PX, PX, 3), KEY, np.uint8), False)
        canvas.shadow = lambda *_: None  # type: ignore[method-assign]
        face = paint(canvas, figure.individual, figure.stand, step)
        mask = (canvas.pixels != np.array(KEY, np.uint8)).any(axis=-1)
        region = mask
        if face:
            (x, y), radius = face
            rows, columns = np.ogrid[:PX, :PX]
            region = (abs(rows - y) <= radius) & (abs(columns - x) <= radius)
        masks.append(mask)
        regions.append(region)
    shares = []
    for index, (figure, mask, region) in enumerate(zip(everybody, masks, regions, strict=True)):
        hidden = region & np.any([np.zeros_like(mask), *masks[index + 1 :]], axis=0)
        extent = max(
            np.ptp(np.flatnonzero(mask.any(axis=axis))) if mask.any() else 0 for axis in (0, 1)
        )
        shares.append(
            (
                1 - hidden.sum() / max(1, region.sum()),
                extent / PX,
                figure.individual.figure.is_actor,
            )
        )
    return shares


@pytest.mark.slow
def test_nearly_all_layouts_hide_at_most_a_fifth() -> None:
    hidden = [most_hidden(lay_out(scene)) for scene in sample_scenes("train", 100, 12)]
    assert np.mean(np.array(hidden) > 0.2) <= 0.04


@pytest.mark.slow
def test_faces_and_things_are_in_sight_and_somebody_is_large() -> None:
    # With 200, chance alone decides.
    scenes = sample_scenes("train", 800, 11)
    shares = []
    largest = []
    for scene in scenes:
        figures = seen(scene, 3)
        shares += [share for share, _, _ in figures]
        largest.append(max(extent for _, extent, _ in figures))
    assert np.mean(np.array(shares) < 0.8) <= 0.02
    assert np.mean(np.array(largest) < 1 / 3) <= 0.03


def test_fewer_frames_are_some_of_the_same_clip() -> None:
    scene = sample_scenes("train", 1, 4)[0]
    assert np.array_equal(render(scene, 48, 4), render(scene, 48, 8)[1::2])
    assert np.array_equal(render(scene, 48, 2), render(scene, 48, 8)[[2, 6]])


@pytest.mark.parametrize("count", range(1, 9))
def test_motions_that_share_a_track_show_the_same_spots(count: int) -> None:
    tracks: dict[str, list[list[str]]] = {}
    for motion, (track, _) in MOTIONS.items():
        tracks.setdefault(track, []).append(sorted(map(repr, spots(motion, count))))
    assert all(path == shared[0] for shared in tracks.values() for path in shared)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scene_of("throw", "soccer ball"), scene_of("catch", "soccer ball")),
        (scene_of("throw", "soccer ball"), scene_of("bounce", "soccer ball")),
        (scene_of("roll", "soccer ball"), scene_of("kick", "soccer ball")),
        (scene_of("enter"), scene_of("leave")),
    ],
    ids=["throw or catch", "throw or bounce", "roll or kick", "come or go"],
)
def test_only_the_order_of_frames_tells_a_motion(one: Scene, other: Scene) -> None:
    assert multiset(one) == multiset(other)
    assert not np.array_equal(render(one, 32), render(other, 32))


@pytest.mark.slow
def test_every_thing_and_sign_has_a_picture() -> None:
    signs = {action.sign for action in actions().values() if action.sign}
    for thing in things().values():
        assert ink(picture(thing))[2] > 10
    for sign in signs:
        assert ink(drawing(sign))[2] > 10


def test_every_action_is_known_to_the_drawing() -> None:
    for action in actions().values():
        assert action.motion in MOTIONS or action.motion in UNMOVED, action.verb
        assert action.hand in HANDLESS or grip_of(action.hand, "hands"), action.verb
        assert (
            action.posture in ON_THE_SPOT
            or action.hand == "under"
            or action.verb == "bathe"
            or poses(action.posture)
        )
    for name in ("lion", "panda"):
        assert body_of(name)
    assert body_of("dog") is None


def test_backdrops_show_what_their_places_show_and_no_other_thing() -> None:
    drawn = read_toml("backdrops")
    assert drawn.keys() - {"shapes"} == places().keys()
    names = {thing.picture: name for name, thing in things().items()}
    for name, place in places().items():
        shapes = drawn[name]["far"] + drawn[name].get("near", "")
        classes = re.findall(r'class="([a-z ]+)"', shapes) + ["window"] * shapes.count(
            'href="#window"'
        )
        classes += [names[code] for code, *_ in drawn[name]["pieces"] if code in names]
        assert Counter(classes) == Counter(dict(place.shows)), name


def test_night_is_darker_and_variants_are_mirrored() -> None:
    day, night = (backdrops.backdrop("park", dark, 0, 32).astype(int) for dark in (False, True))
    assert night.mean() < 0.6 * day.mean()
    assert not np.array_equal(backdrops.backdrop("park", False, 1, 32), day)
