"""Long videos as windows."""

from itertools import pairwise

import pytest

from nt2vr.library.windows import window_id, windows


@pytest.mark.parametrize(
    ("seconds", "window_s", "expected"),
    [
        (9.0, 10.0, [(0, 9)]),
        (15.0, 10.0, [(0, 15)]),
        (15.1, 10.0, [(0, 10), (10, 15.1)]),
        (24.0, 10.0, [(0, 10), (10, 24)]),
        (25.0, 10.0, [(0, 10), (10, 20), (20, 25)]),
        (30.0, 10.0, [(0, 10), (10, 20), (20, 30)]),
        (7200.0, 0.0, [(0, 7200)]),
        (0.0, 10.0, [(0, 0)]),
    ],
)
def test_a_short_tail_joins_the_window_before_it(
    seconds: float, window_s: float, expected: list[tuple[float, float]]
) -> None:
    assert windows(seconds, 10_000, window_s) == expected


@pytest.mark.parametrize("seconds", [15.3, 31.7, 100.0, 7203.4])
def test_windows_cover_the_video_without_gaps(seconds: float) -> None:
    cut = windows(seconds, 10**6, 10.0)
    assert cut[0][0] == 0
    assert cut[-1][1] == seconds
    for one, following in pairwise(cut):
        assert one[1] == following[0]
    for start, end in cut:
        assert 5.0 <= end - start <= 15.0
    assert len({window_id("a", window) for window in cut}) == len(cut)


def test_a_still_of_ten_hours_has_few_windows() -> None:
    assert len(windows(36_000.0, 2, 10.0)) == 2
    assert len(windows(36_000.0, 900_000, 10.0)) == 3600
    assert len(windows(1e9, 10**9, 10.0)) == 20_000
