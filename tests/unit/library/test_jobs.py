"""Updates behind the page: in order, one at a time, cancelled, and what they say."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.library import jobs as jobs_module
from nt2vr.library.info import Changes
from nt2vr.library.jobs import IndexJobs
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder

LIMIT_S = 30.0


class Updates:
    """Stands in for `update_library`: each waits until it may end."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go, self.running = Event(), Event()
        self.error: Exception | None = None

    def __call__(self, libraries: Any, library_id: str, encoder: Any, *args: Any, **_: Any) -> Updated:
        progress = args[2]
        self.begun.append(library_id)
        self.running.set()
        progress(1, 4, "reading files: a.mp4")
        while not self.go.wait(0.01):
            progress(1, 4, "reading files: a.mp4")
        if self.error:
            raise self.error
        return Updated(Changes(), 3, 3, 0)


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> Updates:
    updates = Updates()
    monkeypatch.setattr(jobs_module, "update_library", updates)
    return updates


def load(model: str) -> Any:
    if model == "broken":
        raise CheckpointError("The checkpoint is damaged.")
    return model


@pytest.fixture
def jobs(tmp_path: Path, decoder: Decoder) -> Iterator[IndexJobs]:
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "a.mp4").touch()  # an empty folder is refused
    libraries = Libraries(tmp_path / "libraries")
    for name in ("one", "two"):
        libraries.add(name, "folder", tmp_path / "films")
    with Cache(tmp_path / "cache") as cache:
        yield IndexJobs(libraries, load, decoder, cache)


def test_updates_run_one_at_a_time_in_order(jobs: IndexJobs, updates: Updates) -> None:
    first = jobs.start("one", "m")
    assert updates.running.wait(LIMIT_S)
    second, again = jobs.start("two", "m"), jobs.start("two", "m")
    assert second is again  # waiting already
    by_name = {job.subject: job for job in jobs.by_library.values()}
    job = by_name["one"]
    assert (job.state, by_name["two"].state) == ("running", "waiting")
    assert (job.doing, job.current, job.done, job.total) == ("reading files", "a.mp4", 1, 4)
    updates.go.set()
    assert first.result(LIMIT_S).result == Updated(Changes(), 3, 3, 0)
    ended = second.result(LIMIT_S)
    assert (ended.subject, ended.state, ended.is_under_way) == ("two", "finished", False)
    assert jobs.by_library[ended.key] == ended and len(jobs.by_library) == 2


def test_a_running_update_is_cancelled_and_a_waiting_one_never_begins(jobs: IndexJobs, updates: Updates) -> None:
    first = jobs.start("one", "m")
    assert updates.running.wait(LIMIT_S)
    second = jobs.start("two", "m")
    jobs.cancel(2)
    assert second.result(LIMIT_S).state == "stopped"
    jobs.cancel(1)
    assert first.result(LIMIT_S).state == "stopped" and len(updates.begun) == 1
    jobs.cancel(1)
    jobs.cancel(99)
    updates.go.set()
    assert jobs.start("two", "m").result(LIMIT_S).state == "finished"


@pytest.mark.parametrize(
    ("error", "model", "said"),
    [
        (ConfigError("No room."), "m", "No room."),
        (ValueError("internal"), "m", "Something went wrong; see the log for details."),
        (None, "broken", "The checkpoint is damaged."),
    ],
)
def test_an_error_ends_the_update_and_not_the_queue(
    jobs: IndexJobs, updates: Updates, error: Exception | None, model: str, said: str
) -> None:
    updates.error = error
    updates.go.set()
    job = jobs.start("one", model).result(LIMIT_S)
    assert (job.state, job.error) == ("failed", said)
    updates.error = None
    assert jobs.start("one", "m").result(LIMIT_S).state == "finished"


def test_an_unknown_library_is_refused(jobs: IndexJobs) -> None:
    with pytest.raises(ConfigError, match="no library 'three'"):
        jobs.start("three", "m")
