"""Background evaluations, one at a time, with a real model of random weights."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation import jobs
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.sources import Data
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.papers.covr.data import CovrData
from tests.support.tiny_models import write_tiny

WAIT_S = 60
SMALL = Data("world", clips=20)


@pytest.fixture
def evaluations(tmp_path: Path, decoder: Decoder) -> Iterator[Evaluations]:
    write_tiny(tmp_path / "models" / "tiny")
    with Cache(tmp_path / "cache") as cache:
        yield Evaluations(Catalog([tmp_path / "models"]), decoder, cache, tmp_path / "evaluation")


def test_a_repeated_evaluation_gives_the_same_report(
    evaluations: Evaluations,
) -> None:
    job = evaluations.start(SMALL, ["TINY boolean"]).result(WAIT_S)
    assert (job.state, job.models) == ("finished", ("tiny", "tiny drop", "tiny boolean"))
    assert list(evaluations.archive.load(job.result or "").metrics) == list(job.models)
    assert evaluations.job == job
    assert job.total == 0
    assert not job.is_under_way
    second_report = evaluations.start(SMALL, ["tiny boolean"]).result(WAIT_S)
    assert (second_report.number, second_report.result) == (2, job.result)
    assert len(evaluations.archive.entries()) == 1


@pytest.fixture
def slow_data(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Have reading the data take until it is stopped; the event says that it has begun."""
    begun = threading.Event()

    def load(data: Any, progress: Callable[..., None], **more: Any) -> Any:
        progress(3, 8, "clips")
        begun.set()
        while True:
            threading.Event().wait(0.01)
            progress(3, 8, "clips")

    monkeypatch.setattr(jobs, "load_benchmark", load)
    return begun


def test_only_one_evaluation_runs_and_it_can_be_cancelled(
    evaluations: Evaluations, slow_data: threading.Event
) -> None:
    ended = evaluations.start(SMALL, ["tiny"])
    assert slow_data.wait(WAIT_S)
    job = evaluations.job
    assert job is not None
    assert job.state == "running"
    assert job.doing == "clips"
    assert job.done == 3
    assert job.total == 8
    with pytest.raises(ConfigError):
        evaluations.start(SMALL, ["tiny"])
    evaluations.cancel(job.number)
    assert (ended.result(WAIT_S).state, evaluations.archive.entries()) == ("stopped", [])
    # There is nothing to cancel any more.
    evaluations.cancel(job.number)
    assert evaluations.job is not None
    assert evaluations.job.state == "stopped"


@pytest.mark.parametrize(
    ("systems", "sentence"),
    [
        ([], "system"),
        (["huge"], "huge"),
        (
            [f"tiny boolean α 0.{n}" for n in range(1, 34)],
            "33 .*32",
        ),
    ],
    ids=["none", "an unknown one", "too many"],
)
def test_systems_are_checked_before_starting(
    evaluations: Evaluations, systems: list[str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        evaluations.start(SMALL, systems)
    assert evaluations.job is None


def test_pictures_plus_texts_share_the_job_and_the_archive(
    evaluations: Evaluations, slow_data: threading.Event, tmp_path: Path
) -> None:
    ended = evaluations.start(SMALL, ["tiny"])
    with pytest.raises(ConfigError):
        evaluations.start(CovrData(), ["tiny"])
    evaluations.cancel(1)
    ended.result(WAIT_S)
    with pytest.raises(ConfigError, match="huge"):
        evaluations.start(CovrData(), ["huge"])
    job = evaluations.start(CovrData(str(tmp_path / "nothing")), ["tiny"]).result(WAIT_S)
    assert (job.state, job.subject) == (
        "failed",
        f"{tmp_path / 'nothing'}, test, picture plus text",
    )
    assert job.error
    assert "\n" not in job.error
    assert evaluations.job == job
