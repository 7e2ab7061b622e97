"""Jobs of a server on which everyone may start them: who may cancel which."""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import STRANGER, RunningApp, run_app
from tests.support.app_calls import (
    ADD_MODEL,
    add_library,
    everyone_may,
    model_values,
    send_until_accepted,
    start_training,
    wait_until,
)
from tests.support.held_app import BEGUN, CANCELLED, PROGRAM
from tests.support.raw_client import Event, RawClient, refusal

# These tests need an app of their own.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared(gallery_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A server on which everyone may train, import and download."""
    folder = tmp_path_factory.mktemp("shared")
    environment = everyone_may("train", "import", "download")
    with run_app(folder, gallery_data / "cache", program=PROGRAM, **environment) as app:
        yield app


@pytest.fixture(scope="module")
def owner(shared: RunningApp) -> RawClient:
    return RawClient(shared.url, {})


@pytest.fixture(scope="module")
def visitor(shared: RunningApp) -> RawClient:
    return RawClient(shared.url, STRANGER)


def start_evaluation(client: RawClient, folder: Path, session: str) -> list[Any]:
    send_until_accepted(client, ("evaluate-start", "click"), session=session)
    return [""]


def start_pictures_plus_texts(client: RawClient, folder: Path, session: str) -> list[Any]:
    event = ("evaluate-start", "click")
    values = client.values(client.events[event])
    values[0] = "covr:world"
    send_until_accepted(client, event, values, session)
    return [""]


def start_indexing(client: RawClient, folder: Path, session: str) -> list[Any]:
    return [add_library(client, folder, session)]


def start_download(client: RawClient, folder: Path, session: str) -> list[Any]:
    client.join(client.events[ADD_MODEL], None, session=session)
    return []


def start_run(client: RawClient, folder: Path, session: str) -> list[Any]:
    return [start_training(client, session)]


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    Attributes:
        name: as the app's marks call it.
        start: starts one in a session, and returns the values of the event that cancels it.
        cancel: that event.
    """

    name: str
    start: Callable[[RawClient, Path, str], list[Any]]
    cancel: Event


JOB_KINDS = {
    "evaluation": JobKind("evaluation", start_evaluation, ("evaluate-cancel", "click")),
    "pictures plus texts": JobKind(
        "evaluation", start_pictures_plus_texts, ("evaluate-cancel", "click")
    ),
    "indexing": JobKind("indexing", start_indexing, ("library-cancel", "click")),
    "download": JobKind("download", start_download, ("model-cancel", "click")),
    "training": JobKind("training", start_run, ("train-stop", "click")),
}


class StartedJob:
    """A job that has begun, and what cancels it."""

    def __init__(self, app: RunningApp, kind: JobKind, starter: RawClient, folder: Path) -> None:
        begun = app.data / f"{BEGUN}{kind.name}"
        begun.unlink(missing_ok=True)
        self._cancelled = app.data / f"{CANCELLED}{kind.name}"
        self._cancelled.unlink(missing_ok=True)
        self.session = uuid.uuid4().hex
        self.cancel = kind.cancel
        self.cancel_values = kind.start(starter, folder, self.session)
        wait_until(begun.exists)

    def check_others_do_not_cancel_it(self, visitor: RawClient) -> None:
        message = visitor.send(self.cancel, self.cancel_values, session="another")
        reason = "Only the page that started it, or the owner, may cancel it"
        assert refusal(message).startswith(reason)
        time.sleep(0.2)
        assert not self._cancelled.exists()

    def wait_until_cancelled(self) -> None:
        wait_until(self._cancelled.exists)


@pytest.fixture(params=JOB_KINDS)
def kind(request: pytest.FixtureRequest) -> JobKind:
    return JOB_KINDS[request.param]


def test_its_page_cancels_a_job(
    shared: RunningApp, visitor: RawClient, kind: JobKind, tmp_path: Path
) -> None:
    job = StartedJob(shared, kind, visitor, tmp_path)
    job.check_others_do_not_cancel_it(visitor)

    # No answer is waited for, as the session's stream may be open for the job itself.
    visitor.join(visitor.events[job.cancel], job.cancel_values, session=job.session)
    job.wait_until_cancelled()


def test_the_owner_cancels_a_job_from_another_page(
    shared: RunningApp, visitor: RawClient, owner: RawClient, kind: JobKind, tmp_path: Path
) -> None:
    job = StartedJob(shared, kind, owner, tmp_path)
    job.check_others_do_not_cancel_it(visitor)

    message = owner.send(job.cancel, job.cancel_values, session="another")
    assert refusal(message) == ""
    job.wait_until_cancelled()


def test_a_visitor_who_watches_stops_no_training(
    shared: RunningApp, visitor: RawClient, owner: RawClient
) -> None:
    stopped = shared.data / f"{CANCELLED}training"
    stopped.unlink(missing_ok=True)
    start_training(owner)
    for dependency in visitor.dependencies:
        if dependency["api_name"].startswith("on_visit"):
            visitor.send_to(dependency, session="watching")

    message = refusal(visitor.send(("watch", "stop"), session="watching"))

    assert message.startswith("Only the page that started it")
    assert not stopped.exists()


def test_visitors_who_may_import_name_no_path(visitor: RawClient, tmp_path: Path) -> None:
    existing = tmp_path / "there.pt"
    existing.touch()
    # The refusal does not tell, either, whether the path exists.
    for path in (str(existing), str(tmp_path / "none.pt"), "docs", "ViT-B-32/a/../../docs"):
        error = visitor.error(ADD_MODEL, model_values(visitor, path))
        assert error.startswith("Only the owner may name files"), path
