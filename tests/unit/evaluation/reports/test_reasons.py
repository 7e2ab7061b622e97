"""Why clips are relevant to a composed query, by hand."""

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.reports.reasons import Removed, content_of, reasons_of
from nt2vr.evaluation.reports.report import Report, Result

CAPTIONS = {
    "v0": ["someone on a stage", "a man plays the guitar"],
    "v1": ["a man plays a guitar, and sings", "a singer with a guitar plays"],
    "v2": ["a guitarist is playing", "a man plays guitar and is singing"],
    "v3": ["a man sings"],
    "v4": ["he is playing guitar for a dancer"],
}


def report_with(*queries: JudgedQuery, data: str = "toy") -> Report:
    ids = tuple(CAPTIONS)
    captions = [
        JudgedQuery("original", text, row_array([ids.index(video)]))
        for video, texts in CAPTIONS.items()
        for text in texts
    ]
    asked = (*queries, *captions)
    none = np.full(len(asked), np.nan, np.float32)
    benchmark = Benchmark("hand", ids, asked, lambda *_: np.ones((5, 1), np.float32), {"data": data})
    return Report.of(benchmark, [Result("A", {}, Measured(np.ones(len(asked), np.int32), none, none, none))])


TEXT, WANTED = "a man plays the guitar and doesn't sing", "a man plays the guitar"
COMPOSED = JudgedQuery("composed", TEXT, row_array([0, 4]), wanted=WANTED, unwanted=("sing",))


def test_relevant_clips_have_the_wanted_words_and_removed_ones_also_an_unwanted_one() -> None:
    reasons = reasons_of(report_with(COMPOSED), 0)
    assert reasons is not None
    assert list(reasons.relevant.items()) == [
        ("v0", "a man plays the guitar"),
        ("v4", "he is playing guitar for a dancer"),
    ]
    first = reasons.removed[0]
    assert (first.videos, first.video_id) == (1, "v1")
    assert {each.word for each in reasons.removed} == {"singer", "sings", "singing"}
    assert Removed("singing", 1, "v2", "a man plays guitar and is singing") in reasons.removed


def test_other_queries_and_reports_of_drawings_have_no_reasons() -> None:
    assert reasons_of(report_with(COMPOSED), 1) is None  # a caption
    assert reasons_of(report_with(COMPOSED, data="built-in world"), 0) is None
    negated = JudgedQuery("negated", "a man does not sing", row_array([3]), wanted="a man", unwanted=("sing",))
    assert reasons_of(report_with(negated), 0) is None


def test_people_and_helping_verbs_name_nothing() -> None:
    assert content_of("a man is playing the old guitar") == {"play", "old", "guitar"}
