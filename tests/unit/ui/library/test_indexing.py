"""Updates behind the page: in order, one at a time, cancelled, and what they say."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.library.changes import Changes
from nt2vr.library.move import Moved
from nt2vr.library.update import Updated
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.library import indexing as indexing_module
from nt2vr.ui.library.indexing import Indexing

LIMIT_S = 30.0


class Updates:
    """Stands in for `update_library`: each waits until it may end."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go = Event()
        self.running = Event()
        self.error: Exception | None = None

    def __call__(
        self, libraries: Any, library_id: str, *_: Any, progress: Any, **__: Any
    ) -> Updated:
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
    monkeypatch.setattr(indexing_module, "update_library", updates)
    return updates


def load(model: str) -> Any:
    if model == "CLIP-neg":
        raise CheckpointError("The checkpoint is damaged.")
    return model


@pytest.fixture
def forgotten() -> SimpleQueue[str]:
    """Ids of the libraries that searches open anew."""
    return SimpleQueue()


@pytest.fixture
def indexing(
    tmp_path: Path, forgotten: SimpleQueue[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Indexing]:
    (tmp_path / "videos").mkdir()
    # An empty folder is refused.
    (tmp_path / "videos" / "a.mp4").touch()
    with closing(Services(Settings.read(tmp_path / "data", "cpu"))) as services:
        for name in ("one", "two"):
            services.libraries.add(name, "folder", tmp_path / "videos")
        monkeypatch.setattr(services.galleries.live, "encoder", load)
        monkeypatch.setattr(services.galleries, "forget", forgotten.put)
        yield Indexing(services)


def test_updates_run_one_at_a_time_in_order(indexing: Indexing, updates: Updates) -> None:
    first = indexing.start("one", "CLIP")
    assert updates.running.wait(LIMIT_S)
    second = indexing.start("two", "CLIP")
    # It waits already.
    assert indexing.start("two", "CLIP") is second
    by_name = {job.subject: job for job in indexing.by_library.values()}
    job = by_name["one"]
    assert (job.state, by_name["two"].state) == ("running", "waiting")
    assert job.doing == "reading files"
    assert job.current == "a.mp4"
    assert job.done == 1
    assert job.total == 4
    updates.go.set()
    assert first.result(LIMIT_S).result == Updated(Changes(), 3, 3, 0)
    ended = second.result(LIMIT_S)
    assert ended.subject == "two"
    assert ended.state == "finished"
    assert ended.is_under_way is False
    assert indexing.by_library[ended.key] == ended
    assert len(indexing.by_library) == 2


def test_running_and_waiting_updates_are_cancelled(indexing: Indexing, updates: Updates) -> None:
    first = indexing.start("one", "CLIP")
    assert updates.running.wait(LIMIT_S)
    second = indexing.start("two", "CLIP")
    indexing.cancel(2)
    assert second.result(LIMIT_S).state == "stopped"
    indexing.cancel(1)
    assert first.result(LIMIT_S).state == "stopped"
    assert len(updates.begun) == 1
    indexing.cancel(1)
    indexing.cancel(99)
    updates.go.set()
    assert indexing.start("two", "CLIP").result(LIMIT_S).state == "finished"


def test_a_library_is_not_moved_during_its_update(
    indexing: Indexing, updates: Updates, forgotten: SimpleQueue[str], tmp_path: Path
) -> None:
    (tmp_path / "videos").rename(tmp_path / "moved")
    update = indexing.start("one", "CLIP")
    assert updates.running.wait(LIMIT_S)
    with pytest.raises(ConfigError, match=r"^one "):
        indexing.move("one", str(tmp_path / "moved"), [tmp_path])
    with pytest.raises(ConfigError, match=str(tmp_path / "videos")):
        indexing.move("two", str(tmp_path / "videos"), [tmp_path])
    updates.go.set()
    forgotten.get(timeout=LIMIT_S)
    job = indexing.move("one", str(tmp_path / "moved"), [tmp_path]).result(LIMIT_S)
    assert job.result == Moved(0, new=("a.mp4",))
    assert job.models == ()
    assert forgotten.get(timeout=LIMIT_S) == job.key == update.result(LIMIT_S).key


@pytest.mark.parametrize(
    ("error", "model", "problem"),
    [
        (ConfigError("No room."), "CLIP", "No room."),
        (ValueError("internal"), "CLIP", "Something went wrong; see the log for details."),
        (None, "CLIP-neg", "The checkpoint is damaged."),
    ],
)
def test_an_error_ends_the_update_and_not_the_queue(
    indexing: Indexing,
    updates: Updates,
    forgotten: SimpleQueue[str],
    error: Exception | None,
    model: str,
    problem: str,
) -> None:
    updates.error = error
    updates.go.set()
    job = indexing.start("one", model).result(LIMIT_S)
    assert (job.state, job.error) == ("failed", problem)
    # Searches see what it did before the error.
    assert forgotten.get(timeout=LIMIT_S) == job.key
    updates.error = None
    assert indexing.start("one", "CLIP").result(LIMIT_S).state == "finished"
