"""The queries that README and the page start with, asked of the shipped models: each shows what they are there for."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from nt2vr.ui.search.examples import EXAMPLES, PICTURE_EXAMPLES
from tests.conftest import RunningApp
from tests.support.app_calls import post_api
from tests.support.paths import ROOT

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
(INTRODUCTION,) = re.findall("Type “(.+?)” and see", README)
(FIRST_QUERY,) = re.findall("Type `(.+?)` and press Enter", README)
K = 8


def verdicts(
    app: RunningApp, query: str, systems: Sequence[str] = ("CLIP", "CLIP-neg"), **fields: Any
) -> list[list[str]]:
    """Return, for each system, the verdicts on its first eight clips."""
    request = {"query": query, "systems": systems, "k": K, **fields}
    answer = post_api(app, "search", request).json()
    verdicts = []
    for system in answer["systems"]:
        verdicts.append([hit["verdict"] for hit in system["hits"]])
    return verdicts


@pytest.mark.parametrize("query", dict.fromkeys((INTRODUCTION, FIRST_QUERY, *EXAMPLES)))
def test_clip_returns_what_was_excluded_and_clip_neg_does_not(
    running_app: RunningApp, query: str
) -> None:
    clip, clip_neg = verdicts(running_app, query)
    assert clip.count("violation") >= 2
    assert clip_neg.count("violation") == 0
    assert clip_neg.count("right") >= K / 2
    assert clip_neg.count("right") > clip.count("right")


def test_readmes_first_query_has_the_violations_that_readme_counts(running_app: RunningApp) -> None:
    claim = (
        "Each of CLIP's first eight clips shows a dog, boxed in red, and none of CLIP-neg's does"
    )
    assert claim in README
    clip, clip_neg = verdicts(running_app, FIRST_QUERY)
    assert clip.count("violation") == 8
    assert clip_neg.count("violation") == 0


@pytest.mark.parametrize(("clip", "text"), PICTURE_EXAMPLES)
def test_beside_a_picture_the_fusion_is_right_more_often(
    running_app: RunningApp, clip: str, text: str
) -> None:
    systems = ["CLIP", "CLIP fusion"]
    mean, fusion = verdicts(running_app, text, systems, references=[{"clip": clip}])
    assert fusion.count("right") > mean.count("right")
    assert fusion.count("violation") <= 1
    assert fusion.count("violation") <= mean.count("violation")
