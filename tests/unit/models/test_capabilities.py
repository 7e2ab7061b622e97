"""What a model can do, as its card says before it is loaded."""

from typing import Any

import pytest

from nt2vr.models.capabilities import Capabilities, VideoInputName
from nt2vr.models.card import Card


@pytest.mark.parametrize(
    ("on_card", "expected"),
    [
        ({}, Capabilities()),
        ({"pooling": "query_scored"}, Capabilities(weighs_frames=True)),
        ({"words": {"fingerprint": "a"}}, Capabilities(has_text_tower=False)),
        (
            {"clip": {"loader": "transformers"}},
            Capabilities(
                scores_frames=False, reads_seconds=True, is_slow=True, has_text_tower=False
            ),
        ),
        (
            {"words": {"fingerprint": "a"}, "features": "resnext"},
            Capabilities(
                scores_frames=False,
                video_input=VideoInputName("features", "resnext"),
                has_text_tower=False,
            ),
        ),
        (
            {"queries": 3},
            Capabilities(scores_frames=False, given_queries_only=True, has_text_tower=False),
        ),
    ],
)
def test_a_card_says_what_its_model_can_do(on_card: dict[str, Any], expected: Capabilities) -> None:
    assert Card("any", **on_card).capabilities == expected


@pytest.mark.parametrize(
    ("on_card", "sees"), [({}, True), ({"features": "resnext"}, False), ({"queries": 3}, False)]
)
def test_only_a_model_of_frames_sees_files(on_card: dict[str, Any], sees: bool) -> None:
    assert Card("any", **on_card).capabilities.sees_files is sees
