"""Drawing of the built-in world: what must be seen is seen, and single frames do not tell motions apart."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.world.drawn import render as backdrops
from nt2vr.world.drawn.actors import Role, paint
from nt2vr.world.drawn.animal_bodies import body_of
from nt2vr.world.drawn.canvas import Canvas, Point, drawing, ink
from nt2vr.world.drawn.dolls import grip_of, poses
from nt2vr.world.drawn.layout import lay_out, most_hidden
from nt2vr.world.drawn.motions import MOTIONS, spots
from nt2vr.world.drawn.render import render
from nt2vr.world.drawn.sizes import picture
from nt2vr.world.drawn.stands import Placed
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import actions, places, read_toml, things

# Layouts are for this size.
PX = 224
KEY = (255, 0, 255)
# Units of a head's drawing: from its middle to that of the face, and a face's radius.
FACE_ABOVE_MIDDLE = 4
FACE_RADIUS = 12
UNMOVED = frozenset({"none", "shake", "approach", "wave", "face", "juggle"})
HANDLESS = frozenset({"none", "under", "face", "worn"})
ON_THE_SPOT = frozenset({"sit", "stand", "lie", "walk", "run", "jump", "fly", "swim", ""})


def in_a_field(man: Figure) -> Scene:
    return Scene("field", night=False, figures=(man,), seed=5)


def scene_of(verb: str, thing: str) -> Scene:
    return in_a_field(Figure("man", "red", actions=(Action(verb, thing),)))


def multiset(scene: Scene) -> Counter[bytes]:
    return Counter(frame.tobytes() for frame in render(scene, 32))


@dataclass(frozen=True)
class DrawnFigure:
    """Which pixels a figure covers, and which of them must be seen: its face, or all without one; both (H, W)."""

    mask: NDArray[np.bool_]
    region: NDArray[np.bool_]

    @property
    def extent(self) -> float:
        """The larger side, in frames."""
        if not self.mask.any():
            return 0.0
        height, width = (int(np.ptp(indices)) for indices in self.mask.nonzero())
        return max(height, width) / PX


class FaceCanvas(Canvas):
    """An empty canvas without shadows, which notes the middle and the radius of the face."""

    def __init__(self, placed: Placed) -> None:
        super().__init__(np.full((PX, PX, 3), KEY, np.uint8), night=False)
        self.look = placed.individual.look
        self.face: tuple[float, float, float] | None = None

    def shadow(self, x: float, y: float, width: float) -> None:
        pass

    def picture(
        self, svg: str, middle: Point, scale: float, angle: float = 0, flip: bool = False
    ) -> None:
        super().picture(svg, middle, scale, angle, flip)
        # A mood follows the head.
        if self.look and svg.startswith(self.look.head):
            x, y = middle
            turn = np.radians(angle)
            above = FACE_ABOVE_MIDDLE * scale
            self.face = (x + above * np.sin(turn), y - above * np.cos(turn), FACE_RADIUS * scale)


def draw_alone(placed: Placed, step: int) -> DrawnFigure:
    canvas = FaceCanvas(placed)
    paint(canvas, Role(placed), step)
    mask = (canvas.pixels != np.array(KEY, np.uint8)).any(axis=-1)
    if not canvas.face:
        return DrawnFigure(mask, mask)
    x, y, radius = canvas.face
    rows, columns = np.ogrid[:PX, :PX]
    return DrawnFigure(mask, (abs(rows - y) <= radius) & (abs(columns - x) <= radius))


def visible_shares(figures: Sequence[DrawnFigure]) -> list[float]:
    """Return how much of each region the figures in front, which are later, leave visible: the front one first."""
    shares: list[float] = []
    in_front = np.zeros((PX, PX), bool)
    for figure in reversed(figures):
        hidden = figure.region & in_front
        shares.append(1 - float(hidden.sum()) / max(1, int(figure.region.sum())))
        in_front |= figure.mask
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
        figures = [draw_alone(placed, step=3) for placed in lay_out(scene)]
        shares += visible_shares(figures)
        largest.append(max(figure.extent for figure in figures))
    assert np.mean(np.array(shares) < 0.8) <= 0.02
    assert np.mean(np.array(largest) < 1 / 3) <= 0.03


def test_fewer_frames_are_some_of_the_same_clip() -> None:
    scene = sample_scenes("train", 1, 4)[0]
    eight_frames = render(scene, 48, 8)
    assert np.array_equal(render(scene, 48, 4), eight_frames[1::2])
    assert np.array_equal(render(scene, 48, 2), eight_frames[[2, 6]])


@pytest.mark.parametrize("count", range(1, 9))
def test_motions_that_share_a_track_show_the_same_spots(count: int) -> None:
    spots_by_track: dict[str, list[str]] = {}
    for motion, (track, _) in MOTIONS.items():
        motion_spots = sorted(map(repr, spots(motion, count)))
        assert spots_by_track.setdefault(track, motion_spots) == motion_spots, motion


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scene_of("throw", "soccer ball"), scene_of("catch", "soccer ball")),
        (scene_of("throw", "soccer ball"), scene_of("bounce", "soccer ball")),
        (scene_of("roll", "soccer ball"), scene_of("kick", "soccer ball")),
        (
            in_a_field(Figure("man", "red", enters=0.5)),
            in_a_field(Figure("man", "red", leaves=0.5)),
        ),
    ],
    ids=["throw or catch", "throw or bounce", "roll or kick", "come or go"],
)
def test_only_the_order_of_frames_tells_a_motion(first: Scene, second: Scene) -> None:
    assert multiset(first) == multiset(second)
    assert not np.array_equal(render(first, 32), render(second, 32))


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
        counts = Counter(re.findall(r'class="([a-z ]+)"', shapes))
        counts["window"] += shapes.count('href="#window"')
        counts.update(names[code] for code, *_ in drawn[name]["pieces"] if code in names)
        # Counters that differ only by zeros are equal.
        assert counts == Counter(dict(place.shows)), name


def test_night_is_darker_and_variants_are_mirrored() -> None:
    day = backdrops.backdrop("park", False, 0, 32)
    night = backdrops.backdrop("park", True, 0, 32)
    assert night.mean() < 0.6 * day.mean()
    assert not np.array_equal(backdrops.backdrop("park", False, 1, 32), day)
