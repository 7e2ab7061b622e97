"""Builds the built-in gallery, small VP9 WebM clips with a manifest: python -m nt2vr.world.gallery [FOLDER].

They are test clips of every thing and every story: half of a story's show both its wanted and its
unwanted part, the other half only the wanted one, which makes exclusion visible. The Search tab
offers the stories as examples.
"""

import argparse
import hashlib
import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import filterfalse, islice
from pathlib import Path

from PIL import Image

from nt2vr.media.preview import write_webm
from nt2vr.world.captions import captions
from nt2vr.world.claims import shown_in
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import render
from nt2vr.world.offers import stories
from nt2vr.world.reader import read_asked
from nt2vr.world.sampling import showing, stream_staged
from nt2vr.world.scenes import Scene
from nt2vr.world.things import things

FOLDER = Path("assets/gallery")
SIZE = 224  # pixels
POSTER = 168  # pixels; 2 KB
FPS = 4  # all that is drawn: a clip has STEPS different frames
OPTIONS = {"crf": "36", "b": "0", "deadline": "good", "cpu-used": "3"}
CLIPS_PER_STORY = 8
CLIPS_PER_THING = 2  # at least
CANDIDATES = 3  # drawn for each clip
CAPTIONS_PER_CLIP = 6
SEED = 2022


def choose_scenes() -> list[Scene]:
    """Choose distinct test scenes: of each story, half with the unwanted part and half without, then of each thing."""
    chosen, shown = dict[str, Scene](), Counter[str]()

    def add(found: Iterator[Scene], count: int) -> None:
        """Add some new scenes, each the one of CANDIDATES that shows most of what is rare so far."""
        for _ in range(count):
            new = islice((scene for scene in found if scene.content not in chosen), CANDIDATES)
            best = max(
                new,
                key=lambda scene: sum(shown[name] < CLIPS_PER_THING for name in shown_in(scene)),
            )
            chosen[best.content] = best
            shown.update(shown_in(best))

    for wanted, unwanted in stories():
        asked, denied = read_asked(wanted), read_asked(unwanted)
        if asked is None or denied is None:
            raise ValueError(f"The story {wanted!r}, {unwanted!r} cannot be read.")
        add(stream_staged([asked, denied], "test", f"{SEED} {unwanted}"), CLIPS_PER_STORY // 2)
        add(
            filterfalse(denied.holds, stream_staged([asked], "test", f"{SEED} {wanted}")),
            CLIPS_PER_STORY // 2,
        )
    for name in things():
        add(stream_staged([showing(name)], "test", f"{SEED} {name}"), CLIPS_PER_THING - shown[name])
    return [*chosen.values()]


def build(folder: Path) -> Iterator[Path]:
    """Write clips and manifest, and yield each clip; content-based names make them cacheable by browsers."""
    clips, lines = folder / "clips", []
    draft = clips / "draft.webm"
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir(parents=True)
    for scene in choose_scenes():
        frames = render(scene, SIZE, STEPS)
        write_webm(frames, draft, FPS, OPTIONS)
        video_id = hashlib.sha256(draft.read_bytes()).hexdigest()[:10]
        path = draft.rename(clips / f"{video_id}.webm")
        # the page shows the first frame until the clip plays
        first = Image.fromarray(frames[0]).resize((POSTER, POSTER), Image.Resampling.LANCZOS)
        first.save(path.with_suffix(".webp"), quality=40, method=6)
        clip = {
            "video_id": video_id,
            "path": f"clips/{path.name}",
            "captions": captions(scene, CAPTIONS_PER_CLIP),
        }
        lines.append(json.dumps({**clip, "scene": scene.to_dict()}) + "\n")
        yield path
    (folder / "gallery.jsonl").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the built-in gallery.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sizes = [path.stat().st_size for path in build(parser.parse_args().folder)]
    logging.info("%d clips, %.1f KB each on average", len(sizes), sum(sizes) / len(sizes) / 1000)


if __name__ == "__main__":
    main()
