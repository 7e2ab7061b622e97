"""Boxes around what clips show and a query excludes."""

from itertools import chain

import numpy as np
import pytest

from benchmarks.gallery_boxes import boxes
from nt2vr.media.gallery import Video, load_gallery
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.drawn.render import render
from nt2vr.world.evidence import SHIPPED, evidence
from nt2vr.world.scenes import Action, Figure, Scene

DOGLESS = Query("a person without a dog", ("a person",), ("a dog",))


def test_dogs_are_boxed_and_nothing_else() -> None:
    for video in load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos:
        assert video.scene is not None
        figures = video.scene["figures"]
        num_dogs = sum(figure["count"] for figure in figures if figure["thing"] == "dog")
        dogs = evidence(DOGLESS, video)
        assert len(dogs) == num_dogs, video.video_id
        # In percent of the frame, rounded; no box where a dog is out of the frame.
        for box in filter(None, chain.from_iterable(dogs)):
            left, top, width, height = box
            assert 0 <= left < left + width <= 101
            assert 0 <= top < top + height <= 101


@pytest.mark.parametrize(
    "figure", [Figure("dog", "brown"), Figure("man", "red", actions=(Action("dance"),))]
)
def test_a_box_holds_what_is_drawn(figure: Figure) -> None:
    """Wherever a frame differs from the empty place, but for shadows and signs, is inside the box."""
    scene = Scene("park", False, (figure,), seed=3)
    empty = render(Scene("park", False, (), seed=3), 100)[0]
    ((_, _, figure_boxes),) = boxes(scene)
    for box, frame in zip(figure_boxes.astype(int), render(scene, 100), strict=True):
        left, top, width, height = box
        rows, columns = np.nonzero(np.abs(frame.astype(int) - empty).sum(axis=2) > 150)
        inside = (
            (rows >= top - 2)
            & (rows <= top + height + 2)
            & (columns >= left - 2)
            & (columns <= left + width + 2)
        )
        assert inside.mean() > 0.9
        assert width * height < 4 * len(rows)


def has_two_figures(video: Video) -> bool:
    return video.scene is not None and len(video.scene["figures"]) == 2


def test_the_shipped_boxes_are_those_of_today_s_drawings() -> None:
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    video = next(filter(has_two_figures, videos))
    with np.load(SHIPPED) as data:
        shipped = dict(zip(data["keys"].tolist(), data["boxes"], strict=True))
    measured = {}
    for number, name, figure_boxes in boxes(Scene.from_dict(video.scene or {})):
        measured[f"{video.video_id} {number} {name}"] = figure_boxes
    assert list(measured) == [key for key in shipped if video.video_id in key]
    for key, figure_boxes in measured.items():
        np.testing.assert_array_equal(shipped[key], figure_boxes)
