"""Distractors: chosen as by a plain loop, never a caption's own clip; parts of captions."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from nt2vr.papers.con_clip.distractors import (
    DistractorRequest,
    Miner,
    choose_distractors,
    subject_and_object,
)
from tests.support.paper_references import papers_reference


def test_distractors_are_those_of_a_plain_loop_without_ones_own() -> None:
    generator = torch.Generator().manual_seed(1)
    videos, subjects, objects = (
        normalize(torch.randn(n, 6, generator=generator), dim=-1) for n in (11, 11, 11)
    )
    own_rows = torch.tensor([-1, *range(10)])
    expected = []
    for i in range(11):
        scores = [
            float(videos[x] @ subjects[i]) - float(videos[x] @ objects[i])
            if x != own_rows[i]
            else -9.0
            for x in range(11)
        ]
        expected.append(scores.index(max(scores)))
    places = torch.arange(11)
    assert (
        choose_distractors(videos, subjects, objects, places == own_rows[:, None]).tolist()
        == expected
    )
    best = torch.tensor(expected)
    assert not (
        choose_distractors(videos, subjects, objects, places == best[:, None]) == best
    ).any()


def test_distractors_are_the_published_ones() -> None:
    stored = papers_reference("con_")
    pool, subjects, objects = (
        torch.from_numpy(stored[f"con_{name}"]) for name in ("pool", "subjects", "objects")
    )
    rows = stored["con_distractor_rows"]
    is_own_clip = torch.zeros(len(subjects), len(pool), dtype=torch.bool)
    assert choose_distractors(pool, subjects, objects, is_own_clip).tolist() == rows.tolist()


class Axes:
    """Embeds "x" and "y" along the axes."""

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[text == "x", text == "y"] for text in texts], np.float32)


@pytest.mark.parametrize(("candidates", "mined"), [([0, 1, 2, 3], [1, 2, 0]), ([2, 3], [2, 2, 3])])
def test_the_miner_chooses_among_the_candidates_by_rows_of_clips(
    candidates: list[int], mined: list[int]
) -> None:
    videos = np.array([[0, 1], [1, 0], [0.8, 0.6], [0.6, 0.8]], np.float32)
    miner = Miner(Axes(), videos, "cpu")
    request = DistractorRequest(
        subjects=["x", "x", "y"],
        objects=["y", "y", "x"],
        has_distractor=np.ones(3, np.bool_),
        caption_clips=np.array([0, 1, 2]),
        candidates=np.array(candidates),
    )
    assert miner.mine(request).tolist() == mined


@pytest.mark.parametrize(
    ("caption", "negated", "parts"),
    [
        ("a dog runs on the beach", "a dog does not run on the beach", ("a dog", "run")),
        (
            "on the beach, a guy is flying a kite",
            "on the beach, a guy is not flying a kite",
            ("a man", "flying a kite"),
        ),
        ("a red car with a driver", "a red car without a driver", ("a red car", "a driver")),
        ("it rains", "it does not rain", None),
    ],
)
def test_parts_of_a_negated_caption(
    caption: str, negated: str, parts: tuple[str, str] | None
) -> None:
    assert subject_and_object(caption, negated) == parts
