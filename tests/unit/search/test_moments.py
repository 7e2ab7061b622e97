"""Windows of long videos as hits: which are merged, and what the APIs say of them."""

import json
from itertools import product
from pathlib import Path

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit, Moment, hits_of, merge_windows
from nt2vr.search.strategies import System


def window(long_video: str, number: int, end: bool = True) -> Video:
    """The window of 10 s with this number."""
    start = 10.0 * number
    return Video(
        f"{long_video}@{number}",
        Path(long_video),
        start=start,
        end=start + 10 if end else None,
        long_video=long_video,
    )


def ids(hits: list[list[tuple[Video, float]]]) -> list[list[str]]:
    """Return the windows of each hit."""
    hit_ids = []
    for hit in hits:
        hit_ids.append([video.video_id for video, _score in hit])
    return hit_ids


def ranked(*videos: Video) -> list[tuple[Video, float]]:
    return [(video, 1 - rank / 10) for rank, video in enumerate(videos)]


@pytest.mark.parametrize(
    ("names", "k", "expected"),
    [
        # The best of them comes first.
        ("a3 b4 a2 a7", 4, ["a@3 a@2", "b@4", "a@7"]),
        # Joined by the one between, which makes room for another.
        ("a1 a3 a2 b0 c0", 2, ["a@1 a@2 a@3", "b@0"]),
    ],
)
def test_adjacent_windows_of_one_video_are_one_hit(names: str, k: int, expected: list[str]) -> None:
    windows = [window(name[0], int(name[1])) for name in names.split()]
    hits = merge_windows(ranked(*windows), k)
    assert [" ".join(hit) for hit in ids(hits)] == expected


def test_windows_that_overlap_or_almost_touch_are_adjacent() -> None:
    def second_from(start: float) -> Video:
        return Video(f"{start}", Path("a"), start=start, end=start + 1, long_video="a")

    first = window("a", 0)
    overlapping = second_from(5.0)
    close = second_from(10.04)
    apart = second_from(12.0)
    assert len(merge_windows(ranked(first, overlapping, close), 9)) == 1
    assert len(merge_windows(ranked(first, apart), 9)) == 2


@pytest.mark.parametrize("k", [1, 2, 5])
def test_hits_are_limited_and_sorted_by_score(k: int) -> None:
    windows = [window(video, number) for number, video in product((0, 5, 10), "ab")]
    clips = ranked(*windows)
    assert ids(merge_windows(clips, k)) == [[video.video_id] for video, _ in clips[:k]]


def test_moments_are_in_the_order_of_time_with_their_scores() -> None:
    groups = merge_windows(ranked(window("a", 3), window("a", 2)), 1)
    first, second = hits_of(
        [*groups, [(Video("v", Path("v")), 0.5)]],
        lambda video: "miss" if video.long_video else None,
    )
    moments = (Moment("a@2", 20.0, 30.0, 0.9), Moment("a@3", 30.0, 40.0, 1.0))
    assert first == Hit("a@3", 1, 1.0, "miss", "a", moments)
    assert second == Hit("v", 2, 0.5, None)


def test_other_windows_do_not_change_a_hit_s_verdict() -> None:
    moments = (Moment("a@2", 20.0, 30.0, 0.9), Moment("a@3", 30.0, 40.0, 1.0))
    hit = Hit("a@3", 1, 1.0, "violation", "a", moments)
    answer = Answer(Query("a"), (Ranking(System("CLIP"), (hit,)),))
    assert answer.verdict("a@2") == "violation"
    assert answer.verdict("a@3") == "violation"
    assert answer.verdict("b") is None


def test_the_api_gives_moments_of_long_videos_alone() -> None:
    moments = (Moment("a@2", 20.0, 30.0, 0.9), Moment("a@3", 30.0, None, 1.0))
    fields = Hit("a@3", 1, 1.0, None, "a", moments).as_dict()
    assert fields["long_video"] == "a"
    assert fields["start"] == 30.0
    assert fields["end"] is None
    # The name in version 0.2.0.
    assert fields["film"] == "a"
    assert [moment["start"] for moment in fields["moments"]] == [20.0, 30.0]
    assert json.loads(json.dumps(fields)) == fields
    assert Hit("v", 1, 1.0, "right").as_dict() == {
        "video_id": "v",
        "rank": 1,
        "score": 1.0,
        "verdict": "right",
    }
