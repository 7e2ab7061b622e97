"""Builds the large world's gallery: test clips of every story and every thing (small VP9 WebM) with a manifest.

    python -m nt2vr.world_large.gallery FOLDER

Each story has a wanted and an unwanted part; half of its clips show both, the other half only the wanted one, which
makes exclusion visible. The Search tab offers the stories as examples. Every thing of the world is in some clips.
"""

import argparse
import hashlib
import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nt2vr.media.preview import write_webm
from nt2vr.world_large.captions import captions
from nt2vr.world_large.claims import seen_in
from nt2vr.world_large.drawn.motions import STEPS
from nt2vr.world_large.drawn.render import render
from nt2vr.world_large.scenes import Scene
from nt2vr.world_large.staging import showing, stream_staged
from nt2vr.world_large.stories import STORIES
from nt2vr.world_large.things import things
from nt2vr.world_large.truth import read_claim

SIZE = 224  # pixels
FPS = 4  # all that is drawn: a clip has STEPS different frames
OPTIONS = {"crf": "36", "b": "0", "deadline": "good", "cpu-used": "3"}
CLIPS_PER_STORY = 8
CLIPS_PER_THING = 2  # at least
CAPTIONS_PER_CLIP = 6
SEED = 2022


def choose_scenes() -> list[Scene]:
    """Choose distinct test scenes: of each story, half with the unwanted part and half without, then of each thing."""
    scenes: dict[str, Scene] = {}
    for wanted, unwanted in STORIES:
        asked, denied = read_claim(wanted), read_claim(unwanted)
        if asked is None or denied is None:
            raise ValueError(f"The story {wanted!r}, {unwanted!r} cannot be read.")
        both = stream_staged([asked, denied], "test", f"{SEED} {unwanted}")
        alone = stream_staged([asked], "test", f"{SEED} {wanted}")
        for found in (both, (scene for scene in alone if not denied.holds(scene))):  # used at once
            new = (scene for scene in found if scene.content not in scenes)
            scenes |= {scene.content: scene for scene in islice(new, CLIPS_PER_STORY // 2)}
    shown = Counter(name for scene in scenes.values() for name in {figure.thing for figure in seen_in(scene)})
    for name in things():
        while shown[name] < CLIPS_PER_THING:
            scene = next(stream_staged([showing(name)], "test", f"{SEED} {name} {len(scenes)}"))
            scenes[scene.content] = scene
            shown.update({figure.thing for figure in seen_in(scene)})
    return [*scenes.values()]


def build(folder: Path) -> Iterator[Path]:
    """Write clips and manifest, and yield each clip; content-based names make them cacheable by browsers."""
    clips = folder / "clips"
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir(parents=True)
    lines = []
    for scene in choose_scenes():
        draft = clips / "draft.webm"
        write_webm(render(scene, SIZE, STEPS), draft, FPS, OPTIONS)
        video_id = hashlib.sha256(draft.read_bytes()).hexdigest()[:10]
        path = draft.rename(clips / f"{video_id}.webm")
        lines.append(
            {
                "video_id": video_id,
                "path": f"clips/{path.name}",
                "captions": captions(scene, CAPTIONS_PER_CLIP),
                "scene": scene.to_dict(),
            }
        )
        yield path
    manifest = folder / "gallery.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Build the gallery from the command line."""
    parser = argparse.ArgumentParser(description="Build the gallery of the large world.")
    parser.add_argument("folder", type=Path)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sizes = [path.stat().st_size for path in build(parser.parse_args().folder)]
    logging.info("%d clips, %.1f KB each on average", len(sizes), sum(sizes) / len(sizes) / 1000)


if __name__ == "__main__":
    main()
