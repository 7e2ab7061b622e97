"""Calibration of generated captions, compared with counts made by hand."""

import random
from collections import Counter
from itertools import chain

from nt2vr.papers.vfc.calibration import calibrated, imbalances, round_robin
from tests.support.paper_references import papers_reference

ORIGINALS = [["run"], ["run"], ["eat grass"], ["sing", "dance"], ["dance"], ["cut cake"]]
GENERATED = [
    *(
        ["sleep"],
        ["dance"],
        ["run home"],
        ["eat grass"],
        ["sing"],
        ["dance"],
        ["run"],
        ["run"],
        ["dance"],
    ),
    *(["run", "eat grass"], ["cut cake"], ["sing"], ["run"], ["eat grass"], ["dance"]),
]
OWNERS = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5]
IN_ORDER = range(len(GENERATED))
KEPT = [1, 3, 4, 5, 6, 7, 10]


def test_captions_are_kept_as_often_as_their_phrases() -> None:
    rows = calibrated(ORIGINALS, GENERATED, IN_ORDER)
    assert rows == KEPT == papers_reference("calib_kept")["calib_kept"].tolist()
    assert Counter(key for number in rows for key in GENERATED[number]) == Counter(
        chain(*ORIGINALS)
    )


def test_imbalance_before_and_after_by_hand() -> None:
    before = imbalances(ORIGINALS, GENERATED, 4)
    assert before == {"run": 5, "eat grass": 6, "sing": 5, "dance": 5, "cut cake": 4}
    assert next(iter(before)) == "eat grass"
    captions = [GENERATED[number] for number in calibrated(ORIGINALS, GENERATED, IN_ORDER)]
    assert set(imbalances(ORIGINALS, captions, 4).values()) == {4}


def test_every_video_has_its_turn_before_any_has_another() -> None:
    order = round_robin(OWNERS, seed=3)
    assert sorted(order) == list(range(15))
    assert order == round_robin(OWNERS, seed=3) != round_robin(OWNERS, seed=4)
    assert (
        {OWNERS[number] for number in order[:6]}
        == {OWNERS[number] for number in order[6:12]}
        == set(range(6))
    )
    assert {OWNERS[number] for number in order[12:]} == {0, 1, 2}


def test_no_order_keeps_more_of_a_phrase_than_there_is() -> None:
    rng = random.Random(0)
    for seed in range(20):
        generated = [rng.choices("abcd", k=rng.randint(1, 3)) for _ in OWNERS]
        originals = [rng.choices("abc", k=2) for _ in range(5)]
        seen = Counter(chain(*originals))
        rows = calibrated(originals, generated, round_robin(OWNERS, seed))
        used = Counter(key for number in rows for key in generated[number])
        assert all(used[key] <= seen[key] for key in used)
        # Each other one would be too much.
        for number in set(range(15)) - set(rows):
            assert any(
                (used + Counter(generated[number]))[key] > seen[key] for key in generated[number]
            )
