"""Boxes around what clips show and a query excludes."""

import numpy as np
import pytest

from benchmarks.gallery_boxes import boxes
from nt2vr.media.gallery import load_gallery
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.drawn.render import render
from nt2vr.world.evidence import SHIPPED, evidence
from nt2vr.world.scenes import Action, Figure, Scene

DOGLESS = Query("a person without a dog", ("a person",), ("a dog",))


def test_dogs_are_boxed_and_nothing_else() -> None:
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    dogs = {
        v.video_id: [f["count"] for f in v.scene["figures"] if f["thing"] == "dog"]
        for v in videos
        if v.scene
    }
    for video in videos:
        evidence_boxes = evidence(DOGLESS, video)
        assert len(evidence_boxes) == sum(dogs[video.video_id]), video.video_id
        for left, top, width, height in (
            box for frame_boxes in evidence_boxes for box in frame_boxes if box
        ):
            assert 0 <= left < left + width <= 101
            assert 0 <= top < top + height <= 101


@pytest.mark.parametrize(
    "figure", [Figure("dog", "brown"), Figure("man", "red", actions=(Action("dance"),))]
)
def test_a_box_holds_what_is_drawn(figure: Figure) -> None:
    """Wherever a frame differs from the empty place, but for shadows and signs, is inside the box."""
    ((_, _, figure_boxes),) = boxes(scene := Scene("park", False, (figure,), seed=3))
    for (left, top, width, height), frame in zip(
        figure_boxes.astype(int), render(scene, 100), strict=True
    ):
        empty = render(Scene("park", False, (), seed=3), 100)[0]
        rows, columns = np.nonzero(np.abs(frame.astype(int) - empty).sum(axis=2) > 150)
        inside = (
            (rows >= top - 2)
            & (rows <= top + height + 2)
            & (columns >= left - 2)
            & (columns <= left + width + 2)
        )
        assert inside.mean() > 0.9
        assert width * height < 4 * len(rows)


def test_the_shipped_boxes_are_those_of_today_s_drawings() -> None:
    video = next(
        v
        for v in load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
        if v.scene and len(v.scene["figures"]) == 2
    )
    with np.load(SHIPPED) as data:
        shipped = [
            (k, t)
            for k, t in zip(data["keys"].tolist(), data["boxes"], strict=True)
            if video.video_id in k
        ]
    measured = boxes(Scene.from_dict(video.scene or {}))
    for (key, table), (number, name, measured_boxes) in zip(shipped, measured, strict=True):
        assert key == f"{video.video_id} {number} {name}"
        np.testing.assert_array_equal(table, measured_boxes)
