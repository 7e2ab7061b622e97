"""Progress in words."""

import pytest

from nt2vr.progress import duration_text, percent_text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 s"), (0.2, "1 s"), (89, "89 s"), (90, "2 min"), (300, "5 min"), (9000, "2.5 h")]
)
def test_a_duration_is_said_as_exactly_as_it_is_known(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("done", "total", "text"), [(0, 0, "0"), (1, 3, "33.3"), (5, 4, "100.0")])
def test_a_bar_is_never_wider_than_its_room(done: int, total: int, text: str) -> None:
    assert percent_text(done, total) == text
