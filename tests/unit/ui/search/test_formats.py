"""How the page writes names."""

import pytest

from nt2vr.ui.search.formats import run_title, short_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CLIP-neg boolean", "CLIP-neg boolean"),
        ("bnl-20261122-212355", "bnl (22 Nov 21:23)"),
        ("clip-bnl-20260301-000000 drop", "CLIP-bnl (1 Mar 00:00) drop"),
        ("clip-learns-not-20261122-212355", "CLIP, learning “not” (22 Nov 21:23)"),
        (
            "clip-neg-learns-not-20261122-212355 · best",
            "CLIP-neg, learning “not” (22 Nov 21:23) · best",
        ),
        ("learns-not-stage-20261122-212355", "CLIP, learning “not” (22 Nov 21:23)"),
        ("mine-20261322-212355", "mine-20261322-212355"),
    ],
)
def test_a_run_has_a_readable_name(name: str, expected: str) -> None:
    assert short_name(name) == expected


def test_a_name_reads_like_that_of_its_folder() -> None:
    assert run_title("CLIP learns not") == run_title("clip-learns-not") == "CLIP, learning “not”"
    assert run_title("Learns not (stage)") == "CLIP, learning “not”"
    assert run_title("Learns not (stage) 2") == "CLIP, learning “not” 2"
    assert run_title("Sunday dogs") == "Sunday dogs"
