"""Speed of the world's renderer on one thread: `python -m benchmarks.world [--scenes 2000]`."""

import time
from collections.abc import Sequence

import cv2

from benchmarks.harness import arguments, write_head, write_row
from nt2vr.world.drawn.render import Renderer
from nt2vr.world.scenes import Scene, sample_scenes

SIZES = (112, 224)
NUM_FRAMES = 8


def clips_per_second(renderer: Renderer, scenes: Sequence[Scene]) -> tuple[float, float]:
    """Return clips per second of wall-clock time and of this thread's CPU time, which other load does not affect."""
    start_s, own_start_s = time.perf_counter(), time.thread_time()
    for scene in scenes:
        renderer.frames(scene, NUM_FRAMES)
    return len(scenes) / (time.perf_counter() - start_s), len(scenes) / (time.thread_time() - own_start_s)


def main() -> None:
    """Print one table row per size: for the first scenes, with an empty sprite cache, and for as many more."""
    parser = arguments("world", __doc__)
    parser.add_argument("--scenes", type=int, default=2000)
    count = parser.parse_args().scenes
    cv2.setNumThreads(1)
    scenes = sample_scenes("train", 2 * count, seed=2022)
    first, second = f"first {count:,}, clips/s", f"next {count:,}, clips/s"
    write_head(f"clips of {NUM_FRAMES} frames at", first, "clips/s of CPU", second, "clips/s of CPU")
    for size in SIZES:
        renderer = Renderer(size)
        speeds = [*clips_per_second(renderer, scenes[:count]), *clips_per_second(renderer, scenes[count:])]
        write_row(f"{size} px", *(f"{speed:.0f}" for speed in speeds))


if __name__ == "__main__":
    main()
