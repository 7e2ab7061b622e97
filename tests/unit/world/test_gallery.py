"""The committed gallery matches its manifest, and rebuilding is reproducible."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import gallery as builder
from benchmarks.gallery import CAPTIONS_PER_CLIP, CLIPS_PER_STORY, CLIPS_PER_THING, SIZE, build
from nt2vr.media.gallery import Gallery, load_gallery
from nt2vr.media.picture import read_picture
from nt2vr.media.resize import shrunk
from nt2vr.media.video import sample_frames
from nt2vr.models.framing import frame_positions
from nt2vr.negation.parse.query import Query
from nt2vr.world.captions import captions
from nt2vr.world.claims import visible_in
from nt2vr.world.drawn.motions import STEPS
from nt2vr.world.drawn.render import render
from nt2vr.world.offers import stories
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene
from nt2vr.world.things import things
from nt2vr.world.verdicts import judge_video
from tests.support.paths import ROOT

FOLDER = ROOT / "assets" / "gallery"
MAX_MEAN_BYTES = 20_000


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    return load_gallery(FOLDER / "gallery.jsonl")


@pytest.fixture(scope="module")
def scenes(gallery: Gallery) -> list[Scene]:
    return [Scene.from_dict(video.scene or {}) for video in gallery.videos]


def test_the_manifest_lists_the_files(gallery: Gallery) -> None:
    assert CLIPS_PER_STORY * len(stories()) < len(gallery.videos) < 700
    clips = {video.path for video in gallery.videos}
    assert clips | {path.with_suffix(".webp") for path in clips} == set(
        (FOLDER / "clips").iterdir()
    )
    # A poster is its clip's first frame.
    for path in sorted(clips)[::100]:
        first = sample_frames(path, STEPS)[0]
        picture = shrunk(read_picture(path.with_suffix(".webp")), (112, 112))
        first = shrunk(first, (112, 112))
        assert np.abs(picture.astype(int) - first.astype(int)).mean() < 6


def test_clips_are_small_and_named_by_their_content(gallery: Gallery) -> None:
    """The browser may keep them for ever: another content must have another name."""
    contents = [video.path.read_bytes() for video in gallery.videos]
    assert np.mean([len(content) for content in contents]) <= MAX_MEAN_BYTES
    for video, content in zip(gallery.videos, contents, strict=True):
        assert video.path.stem == video.video_id == hashlib.sha256(content).hexdigest()[:10]


def test_clips_decode_in_full(gallery: Gallery) -> None:
    """One of each story's, and some others; all are decoded where the gallery is embedded for tests of the app."""
    for video in gallery.videos[::CLIPS_PER_STORY]:
        assert sample_frames(video.path, 2).shape == (2, SIZE, SIZE, 3), video.video_id


def test_clips_show_their_scenes(gallery: Gallery, scenes: list[Scene]) -> None:
    """Also that the committed clips are what the renderer draws today: build them again after a change."""
    for i in range(3, len(scenes), 132):
        drawn = render(scenes[i], SIZE, STEPS)[frame_positions(STEPS, 6)]
        decoded = sample_frames(gallery.videos[i].path, 6)
        # VP9 costs 2 to 3 levels.
        assert np.abs(decoded.astype(float) - drawn).mean() < 5, gallery.videos[i].video_id


def test_a_clip_has_the_captions_of_its_scene(gallery: Gallery, scenes: list[Scene]) -> None:
    assert CAPTIONS_PER_CLIP >= 5
    for video, scene in zip(gallery.videos, scenes, strict=True):
        assert video.captions == tuple(captions(scene, CAPTIONS_PER_CLIP))


def test_scenes_are_distinct_test_scenes_that_show_everything(scenes: list[Scene]) -> None:
    assert {scene.split for scene in scenes} == {"test"}
    assert len({scene.content for scene in scenes}) == len(scenes)
    counts: Counter[str] = Counter()
    for scene in scenes:
        counts.update({figure.thing for figure in visible_in(scene)})
    assert {name for name in things() if counts[name] < CLIPS_PER_THING} == set()


def test_half_of_a_storys_clips_show_the_unwanted_part(gallery: Gallery) -> None:
    for number, (wanted, unwanted) in enumerate(stories()):
        query = Query("", (wanted,), (unwanted,))
        first = number * CLIPS_PER_STORY
        videos = gallery.videos[first : first + CLIPS_PER_STORY]
        assert Counter(judge_video(query, video) for video in videos) == {
            "right": 4,
            "violation": 4,
        }, wanted


def test_rebuilding_is_reproducible_and_removes_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes = sample_scenes("test", 2, seed=0)
    monkeypatch.setattr(builder, "choose_scenes", lambda: scenes)
    folder = tmp_path / "gallery"
    first = list(build(folder))
    manifest = (folder / "gallery.jsonl").read_bytes()
    (folder / "clips" / "stale.webm").write_bytes(b"from an older build")
    assert list(build(folder)) == first
    assert (folder / "gallery.jsonl").read_bytes() == manifest
    assert {path.name for path in (folder / "clips").glob("*.webm")} == {
        path.name for path in first
    }
    for path in first:
        assert re.fullmatch(r"[0-9a-f]{10}\.webm", path.name)
    built = load_gallery(folder / "gallery.jsonl")
    assert [Scene.from_dict(video.scene or {}) for video in built.videos] == scenes
