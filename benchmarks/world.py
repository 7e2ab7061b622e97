"""The built-in world's renderer: speed on one thread, and contact sheets to look at.

`python -m benchmarks.world [--scenes 1000]` prints clips per second of CPU time; `--sheets FOLDER` writes PNG files
instead: twelve clips, strips of eight frames, every deed, place and thing.
"""

import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import backdrop, render
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import COLOURS, ENTER, LEAVE, deeds, places, things

Tile = tuple[str, NDArray[np.uint8]]
SHOWN = 3  # step of a clip that stands for it


def example_of(verb: str, rng: random.Random) -> Scene:
    """Return a scene in which somebody does something."""
    kind = deeds()[verb]
    here = [place for place in places().values() if not kind.where or kind.where & place.tags]
    place = rng.choice([place for place in here if not {"sea", "deep", "space"} & place.tags] or here)

    def colour(name: str) -> str:
        return rng.choice(COLOURS) if things()[name].tint else ""

    plain = sorted(kind.who & {"man", "woman", "boy", "girl"}) or sorted(kind.who)
    who = rng.choice(plain)
    others: list[Figure] = []
    thing: int | str | None = None
    if kind.objects:
        thing = rng.choice(sorted(kind.objects - {who}))
    if kind.targets:
        others, thing = [Figure(str(thing), colour(str(thing)))], 1
    tint = colour(thing) if isinstance(thing, str) else ""
    done = () if verb in (ENTER, LEAVE) else (Deed(verb, thing, colour=tint),)
    times = 0.5 if verb == ENTER else 0.0, 0.5 if verb == LEAVE else 1.0
    figure = Figure(who, colour(who), deeds=done, enters=times[0], leaves=times[1])
    return Scene(place.name, False, (figure, *others), rng.getrandbits(32))


def _sheet(path: Path, tiles: Iterable[Tile], columns: int) -> None:
    cells = []
    for text, picture in tiles:
        cell = cv2.copyMakeBorder(picture, 2, 14, 2, 2, cv2.BORDER_CONSTANT, value=(255, 255, 255))
        at = (4, len(cell) - 4)
        cells.append(cv2.putText(cell, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.32, (0, 0, 0), 1, cv2.LINE_AA))
    cells += [np.full_like(cells[0], 255)] * (-len(cells) % columns)
    rows = [np.hstack(cells[start : start + columns]) for start in range(0, len(cells), columns)]
    cv2.imwrite(str(path), np.vstack(rows)[..., ::-1])


def _clip(scene: Scene) -> Tile:
    return ", ".join(figure.thing for figure in scene.figures), render(scene)[SHOWN]


def _strip(scene: Scene, size: int, frames: int) -> NDArray[np.uint8]:
    return np.hstack(list(render(scene, size, frames)))


def write_sheets(folder: Path, seed: int) -> None:
    """Write all contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    _sheet(folder / "clips.png", map(_clip, sample_scenes("train", 12, seed)), 4)
    strips = sample_scenes("train", 8, seed + 1)
    _sheet(folder / "strips.png", ((scene.place, _strip(scene, 112, STEPS)) for scene in strips), 1)
    _sheet(folder / "deeds.png", ((verb, _strip(example_of(verb, rng), 112, 2)) for verb in deeds()), 8)
    sights = [(name, night) for name in places() for night in (False, True)]
    _sheet(folder / "places.png", ((name, backdrop(name, night, 0, 112)) for name, night in sights), 14)
    grass = ((name, render(Scene("field", False, (Figure(name),), 1), 112, 1)[0]) for name in things())
    _sheet(folder / "things.png", grass, 20)


def clips_per_second(scenes: Sequence[Scene], size: int, frames: int) -> float:
    """Return clips per second of this thread's CPU time."""
    start_s = time.thread_time()
    for scene in scenes:
        render(scene, size, frames)
    return len(scenes) / (time.thread_time() - start_s)


def main() -> None:
    """Print speeds, or write sheets."""
    parser = arguments("world", __doc__)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--sheets", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.sheets:
        write_sheets(given.sheets, given.seed)
        return
    cv2.setNumThreads(1)
    scenes = sample_scenes("train", 2 * given.scenes, given.seed)
    write_head("clips at", f"first {given.scenes:,}, clips/s of CPU", f"next {given.scenes:,}", "the same again")
    for size, frames in ((112, 2), (112, 8), (224, 8)):
        parts = scenes[: given.scenes], scenes[given.scenes :], scenes[given.scenes :]
        write_row(f"{size} px, {frames} frames", *(f"{clips_per_second(part, size, frames):.0f}" for part in parts))


if __name__ == "__main__":
    main()
