"""Build the built-in gallery, small VP9 WebM clips with a manifest: `python -m benchmarks.gallery [FOLDER]`.

The clips are test clips of every thing and every story. Half of a story's clips show both its wanted
and its unwanted part, and the other half only the wanted part, which makes exclusion visible. The
Search tab offers the stories as examples.
"""

import hashlib
import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import filterfalse, islice
from pathlib import Path
from random import Random

from PIL import Image

from benchmarks.harness import arguments
from nt2vr.media.preview import write_webm
from nt2vr.world.captions import captions
from nt2vr.world.claims import Claim, names_in
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import render
from nt2vr.world.offers import stories
from nt2vr.world.reader import read_asked
from nt2vr.world.sampling import showing, staged
from nt2vr.world.scenes import Scene
from nt2vr.world.things import things

FOLDER = Path("assets/gallery")
# Pixels.
SIZE = 224
# Pixels; 2 KB.
POSTER = 168
# All that is drawn: a clip has STEPS different frames.
FPS = 4
OPTIONS = {"crf": "36", "b": "0", "deadline": "good", "cpu-used": "3"}
CLIPS_PER_STORY = 8
# At least.
CLIPS_PER_THING = 2
# Drawn for each clip.
CANDIDATES = 3
CAPTIONS_PER_CLIP = 6
SEED = 2022


class _GalleryScenes:
    """Scenes chosen for the gallery."""

    def __init__(self) -> None:
        # By content.
        self.scenes: dict[str, Scene] = {}
        # Of the clips that show each thing.
        self.counts: Counter[str] = Counter()

    def add(self, stream: Iterator[Scene], count: int) -> None:
        """Add some new scenes, each the one of CANDIDATES that shows most of what is rare."""
        for _ in range(count):
            new = (scene for scene in stream if scene.content not in self.scenes)
            best = max(islice(new, CANDIDATES), key=self._num_rare)
            self.scenes[best.content] = best
            self.counts.update(names_in(best))

    def _num_rare(self, scene: Scene) -> int:
        return sum(self.counts[name] < CLIPS_PER_THING for name in names_in(scene))


def choose_scenes() -> list[Scene]:
    """Choose distinct test scenes of each story and of each thing.

    Half of a story's scenes show the unwanted part.
    """
    chosen = _GalleryScenes()
    for wanted, unwanted in stories():
        wanted_claim = read_asked(wanted)
        unwanted_claim = read_asked(unwanted)
        if wanted_claim is None or unwanted_claim is None:
            raise ValueError(f"The story {wanted!r}, {unwanted!r} cannot be read.")
        both = stream_staged([wanted_claim, unwanted_claim], f"{SEED} {unwanted}")
        chosen.add(both, CLIPS_PER_STORY // 2)
        only_wanted = filterfalse(
            unwanted_claim.holds, stream_staged([wanted_claim], f"{SEED} {wanted}")
        )
        chosen.add(only_wanted, CLIPS_PER_STORY // 2)

    for name in things():
        with_thing = stream_staged([showing(name)], f"{SEED} {name}")
        chosen.add(with_thing, CLIPS_PER_THING - chosen.counts[name])
    return list(chosen.scenes.values())


def stream_staged(claims: Sequence[Claim], seed: object) -> Iterator[Scene]:
    """Yield test scenes for which all claims hold, endlessly."""
    rng = Random(f"{seed}-test")
    while True:
        scene = staged(claims, rng)
        if scene and scene.split == "test":
            yield scene


def build(folder: Path) -> Iterator[Path]:
    """Write clips and manifest, and yield each clip.

    Content-based names make the clips cacheable by browsers.
    """
    clips = folder / "clips"
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir(parents=True)
    lines = []
    for scene in choose_scenes():
        path = _write_clip(scene, clips)
        clip = {
            "video_id": path.stem,
            "path": f"clips/{path.name}",
            "captions": captions(scene, CAPTIONS_PER_CLIP),
            "scene": scene.to_dict(),
        }
        lines.append(json.dumps(clip) + "\n")
        yield path
    (folder / "gallery.jsonl").write_text("".join(lines), encoding="utf-8")


def _write_clip(scene: Scene, folder: Path) -> Path:
    """Write a clip, and its poster, which the page shows until the clip plays."""
    frames = render(scene, SIZE, STEPS)
    draft = folder / "draft.webm"
    write_webm(frames, path=draft, fps=FPS, options=OPTIONS)
    video_id = hashlib.sha256(draft.read_bytes()).hexdigest()[:10]
    path = draft.rename(folder / f"{video_id}.webm")

    poster = Image.fromarray(frames[0]).resize((POSTER, POSTER), Image.Resampling.LANCZOS)
    poster.save(path.with_suffix(".webp"), quality=40, method=6)
    return path


def main() -> None:
    parser = arguments("gallery", __doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sizes = [path.stat().st_size for path in build(parser.parse_args().folder)]
    logging.info("%d clips, %.1f KB each on average", len(sizes), sum(sizes) / len(sizes) / 1000)


if __name__ == "__main__":
    main()
