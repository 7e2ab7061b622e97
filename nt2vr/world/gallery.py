"""Builds the built-in gallery: 400 test clips (small VP9 WebM) with a manifest.

    python -m nt2vr.world.gallery [FOLDER]

Each story has a wanted and an unwanted part; half of its clips show both, the other half only the wanted one, which
makes exclusion visible. The Search tab offers the stories as examples.
"""

import argparse
import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nt2vr.media.preview import write_webm
from nt2vr.world.captions import captions
from nt2vr.world.drawn.render import SIZE, Renderer
from nt2vr.world.scenes import Scene, stream_scenes
from nt2vr.world.stories import STORIES
from nt2vr.world.truth import read_claim

FOLDER = Path("assets/gallery")
FPS, SECONDS = 12, 2
OPTIONS = {"crf": "36", "b": "0", "deadline": "good", "cpu-used": "3"}
CLIPS_PER_STORY = 10
CAPTIONS_PER_CLIP = 6
POOL = 120_000  # test scenes to search; the rarest story needs about this many
SEED = 2022


def choose_scenes() -> list[Scene]:
    """Choose distinct test scenes for every story, half with the unwanted part and half without."""
    stories = [(read_claim(wanted), read_claim(unwanted)) for wanted, unwanted in STORIES]
    found: list[tuple[list[Scene], list[Scene]]] = [([], []) for _ in stories]
    half = CLIPS_PER_STORY // 2
    for scene in islice(stream_scenes("test", SEED), POOL):
        for (wanted, unwanted), kinds in zip(stories, found, strict=True):
            if wanted is not None and unwanted is not None and wanted.holds(scene):
                kind = kinds[not unwanted.holds(scene)]
                if len(kind) < half:
                    kind.append(scene)
                    break
    scenes = [scene for kinds in found for kind in kinds for scene in kind]
    if len(scenes) != len(STORIES) * CLIPS_PER_STORY:
        raise ValueError(f"Only {len(scenes)} clips for {len(STORIES)} stories: raise POOL.")
    return scenes


def build(folder: Path) -> Iterator[Path]:
    """Write clips and manifest, and yield each clip; content-based names make them cacheable by browsers."""
    clips, renderer = folder / "clips", Renderer(SIZE)
    shutil.rmtree(clips, ignore_errors=True)
    clips.mkdir(parents=True)
    lines = []
    for scene in choose_scenes():
        draft = clips / "draft.webm"
        write_webm(renderer.frames(scene, FPS * SECONDS), draft, FPS, OPTIONS)
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
    parser = argparse.ArgumentParser(description="Build the built-in gallery.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    sizes = [path.stat().st_size for path in build(parser.parse_args().folder)]
    logging.info("%d clips, %.1f KB each on average", len(sizes), sum(sizes) / len(sizes) / 1000)


if __name__ == "__main__":
    main()
