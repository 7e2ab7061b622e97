"""Reports of composed retrieval: stored, listed, and shown."""

from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.covr.jobs import CovrEvaluations
from nt2vr.evaluation.covr.protocol import CovrBenchmark, CovrQuery, EmbeddedMedia
from nt2vr.evaluation.covr.report import CovrArchive, CovrReport, CovrRow
from nt2vr.evaluation.covr.sources import CovrData
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.ui.evaluate.covr_view import covr_view, kinds_of, rows_view
from tests.tiny import write_tiny

METRICS = {"R@1": 50.0, "R@5": 60.0, "R@10": 70.0, "R@50": 80.0}
ROWS = [
    CovrRow("add prop", "add a cake", {}, {"picture": 9, "parts": 4, "fusion": 2}),
    CovrRow("remove actor", "no dog", {}, {"picture": 1, "parts": 10, "fusion": 1}),
    CovrRow("remove prop", "no cake", {}, {"picture": 1, "parts": 1, "fusion": 3}),
]


def table(recall: float, violations: float) -> dict[str, dict[str, float]]:
    removal = {**METRICS, "R@1": recall, "violations@5": violations}
    names = ("remove actor", "add prop", "remove prop", "all kinds", "seen wordings")
    return {name: METRICS if name == "add prop" else removal for name in names}


REPORT = CovrReport(
    "world",
    "CLIP",
    {"data": "built-in world"},
    {
        "picture": table(100, 99),
        "parts": table(20, 40),
        "sum": table(10, 0),
        "slerp": table(5, 50),
        "fusion": table(60, 10),
    },
    ROWS,
    30,
    "2026-11-22T10:00:00+00:00",
)


def test_a_report_is_read_as_it_was_stored_and_only_by_a_listed_id(tmp_path: Path) -> None:
    archive = CovrArchive(tmp_path / "composed")
    assert archive.ids() == []
    report_id = archive.add(REPORT)
    assert archive.ids() == [report_id] == [archive.add(REPORT)]
    assert archive.load(report_id) == REPORT
    for name in ("", "..", "../composed/" + report_id, "x" * 10_000, "\0"):
        with pytest.raises(ConfigError, match="There is no report"):
            archive.load(name)
    (archive.folder / f"{report_id}.json").write_text("[]")
    with pytest.raises(ConfigError, match="cannot be read"):
        archive.load(report_id)
    assert archive.newest(8) == {}
    with pytest.raises(ConfigError, match="no report"):
        archive.delete("../composed/" + report_id)
    archive.delete(report_id)
    assert archive.ids() == []


def test_violations_stand_next_to_recall_of_the_same_queries_whatever_the_measure() -> None:
    for measure in ("R@1", "R@50"):
        view = covr_view(REPORT, measure)
        place = view["heads"].index("violations@5")
        assert view["heads"][place - 1] == "R@1"
        cells = {
            line["name"]: [cell["text"] for cell in line["cells"][place - 1 : place + 1]] for line in view["lines"]
        }
        assert cells["fusion"] == ["60.0", "10.0"] and cells["picture alone"] == ["100.0", "99.0"]
        best = {
            line["name"]: [cell["best"] for cell in line["cells"][place - 1 : place + 1]] for line in view["lines"]
        }
        assert (
            best["fusion"] == [True, False] and best["sum"] == [False, True] and best["picture alone"] == [False] * 2
        )
    assert sum(group["span"] for group in view["groups"]) == len(view["heads"]) == len(view["lines"][0]["cells"])
    assert view["heads"][-3:] == ["add prop", "remove actor", "remove prop"]  # as the world defines them


def test_queries_are_listed_by_what_the_second_system_gains() -> None:
    listed = rows_view(REPORT, "id", "parts", "fusion", "all kinds", 99)
    assert [(row["text"], row["move"]) for row in listed["rows"]] == [
        ("no dog", "▲9"),
        ("add a cake", "▲2"),
        ("no cake", "▼2"),
    ]
    assert [row["place"] for row in rows_view(REPORT, "id", "parts", "fusion", "remove prop", 0)["rows"]] == [2]
    assert kinds_of(REPORT) == ["all kinds", "add prop", "remove actor", "remove prop"]


@pytest.mark.parametrize("data", [{"split": "train"}, {"split": "../x"}, {"per_kind": -1}, {"per_kind": 101}])
def test_other_data_of_the_built_in_world_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        CovrData(**data)


def test_an_evaluation_behind_the_page_ends_with_a_report_or_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path / "model", "tiny")
    encoder = read_checkpoint(tmp_path / "model", "cpu")
    going, go_on = Event(), Event()

    def embed(*_: object) -> EmbeddedMedia:
        going.set()
        go_on.wait(20)
        unit = np.eye(encoder.embed_dim, dtype=np.float32)
        return EmbeddedMedia(unit[:1], unit[:3])

    query = CovrQuery("remove actor", "without the dog", 0, (1,), (2,))
    benchmark = CovrBenchmark("one", (query,), embed, {}, [{"path": "a.mp4"}])
    monkeypatch.setattr("nt2vr.evaluation.covr.jobs.load_covr_benchmark", lambda *_: benchmark)
    with Decoder(num_workers=1) as decoder, Cache(tmp_path / "cache") as cache:
        jobs = CovrEvaluations(lambda name: encoder, tmp_path, decoder, cache)
        ended = jobs.start(CovrData(per_kind=1), "tiny")
        going.wait(20)
        with pytest.raises(ConfigError, match="Another evaluation"):
            jobs.start(CovrData(), "tiny")
        go_on.set()
        job = ended.result(60)
        assert job == jobs.job and (job.subject, job.models, job.state) == ("world, test", ("tiny",), "finished"), job
        report = jobs.archive.load(job.result or "")
        assert (len(report.rows), report.rows[0].reference, report.clips) == (1, {"path": "a.mp4"}, 3)
        monkeypatch.undo()
        job = jobs.start(CovrData(str(tmp_path / "nothing")), "tiny").result(60)
        assert (job.state, "\n" in job.error) == ("failed", False) and job.error
