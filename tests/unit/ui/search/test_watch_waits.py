"""“Watch it learn” while another run is in the way: what is offered, and what comes of it."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from nt2vr.errors import AccessError, ConfigError, RunError
from nt2vr.models.catalog import Catalog
from nt2vr.settings import Settings
from nt2vr.ui.search.watch import WAITING, Watch, WatchedRun
from nt2vr.ui.web.permissions import Permissions
from tests.support.held_runs import HeldRuns
from tests.support.trainings import SMALL
from tests.support.watch_updates import WatchUpdates, built, named
from trainer.runs import manager as manager_module
from trainer.runs import waiting as waiting_module
from trainer.runs.manager import RunManager

MINE = gr.Request(session_hash="mine")
THEIRS = gr.Request(session_hash="theirs")
PATIENCE_S = 60
SYSTEMS = ["CLIP"]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldRuns]:
    monkeypatch.setattr(waiting_module, "POLL_S", 0.01)
    held = HeldRuns(monkeypatch)
    yield held
    held.end()


@pytest.fixture
def watch(tmp_path: Path, held: HeldRuns) -> Iterator[Watch]:
    """The panel of a page on a server where everyone may train, and a run of the page `MINE` is under way."""
    models = Catalog.of(Settings.read(tmp_path))
    searcher = SimpleNamespace(
        models=models, live=None, system_names=lambda also: [*models.names(), *also]
    )
    galleries: Any = SimpleNamespace(built_in=searcher)
    runs = RunManager(tmp_path / "runs", "cpu")
    runs.start(SMALL, "mine")
    yield built(Watch(galleries, Permissions("t" * 20, {"train": "everyone"}), runs))
    if runs.waiting is not None and runs.waiting.is_waiting:
        # Otherwise it would start in the next test.
        runs.take_back_start()


def start(watch: Watch, request: gr.Request = MINE) -> WatchUpdates:
    return named(watch, watch.on_start(SYSTEMS, request))


def tick(
    watch: Watch, joining_run: str = "", blocked_model: str = "", request: gr.Request = MINE
) -> WatchUpdates:
    """Return the updates of a page that has shown nothing yet."""
    updates = watch.on_tick("", SYSTEMS, None, WatchedRun(), joining_run, blocked_model, request)
    return named(watch, updates)


def wait_for_the_start(watch: Watch) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while watch.runs.waiting is not None and watch.runs.waiting.is_waiting:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_the_column_joins_after_the_run_in_the_way(watch: Watch, held: HeldRuns) -> None:
    (first,) = held.started
    blocked = start(watch)
    assert blocked.panel["blocked_model"] == "CLIP"
    assert blocked.panel["may_stop"]
    assert blocked.joining_run == ""
    assert blocked.timer.active
    ticked = tick(watch, blocked_model=blocked.blocked_model)
    assert (ticked.panel, ticked.blocked_model) == (blocked.panel, gr.skip())

    waits = named(watch, watch.on_afterwards(SYSTEMS, blocked.watched, blocked.blocked_model, MINE))
    panel = waits.panel
    assert (waits.joining_run, waits.blocked_model) == (WAITING, "")
    assert "blocked_model" not in panel
    assert panel["waiting"]["text"].startswith("CLIP, learning “not” starts after tiny (")
    assert held.started == [first]
    assert not panel["is_joining"]

    held.end()
    wait_for_the_start(watch)
    panel = tick(watch, waits.joining_run).panel
    assert held.started[1:] == [watch.runs.under_way()] != []
    assert panel["id"] == held.started[1]
    assert panel["is_joining"]
    assert "waiting" not in panel
    assert not tick(watch, waits.joining_run, request=THEIRS).panel["is_joining"]


def test_a_run_in_the_way_is_stopped_first(watch: Watch, held: HeldRuns) -> None:
    blocked = start(watch)
    watch.on_instead(SYSTEMS, blocked.watched, blocked.blocked_model, MINE)
    wait_for_the_start(watch)
    first, second = held.started
    assert watch.runs.get(first).status.state == "stopped"
    assert watch.runs.get(second).session == "mine"


def test_only_its_page_stops_a_run_or_a_start(watch: Watch, held: HeldRuns) -> None:
    blocked = start(watch, THEIRS)
    watched = blocked.watched
    assert blocked.panel["blocked_model"] == "CLIP"
    assert not blocked.panel["may_stop"]
    with pytest.raises(AccessError):
        watch.on_instead(SYSTEMS, watched, blocked.blocked_model, THEIRS)
    assert watch.runs.waiting is None
    assert watch.runs.under_way() == held.started[0]

    watch.on_afterwards(SYSTEMS, watched, blocked.blocked_model, THEIRS)
    assert tick(watch).panel["waiting"]["button"] == ""
    with pytest.raises(AccessError):
        watch.on_withdraw(SYSTEMS, watched, "", MINE)
    with pytest.raises(RunError, match="CLIP learns not"):
        watch.on_start(SYSTEMS, MINE)

    assert tick(watch, request=THEIRS).panel["waiting"]["button"] == "do not start"
    watch.on_withdraw(SYSTEMS, watched, "", THEIRS)
    held.end()
    assert watch.runs.waiting is None
    assert len(held.started) == 1


def test_who_may_not_train_sees_what_waits(watch: Watch) -> None:
    blocked = start(watch)
    watch.on_afterwards(SYSTEMS, blocked.watched, blocked.blocked_model, MINE)
    stranger = built(Watch(watch.galleries, Permissions("t" * 20, {"train": "nobody"}), watch.runs))
    waiting = tick(stranger).panel["waiting"]
    assert waiting["text"].startswith("CLIP, learning “not” starts after")
    assert waiting["button"] == ""
    for act in (stranger.on_instead, stranger.on_afterwards, stranger.on_withdraw):
        with pytest.raises(AccessError):
            act(SYSTEMS, blocked.watched, "CLIP", MINE)


def test_a_refused_later_start_is_shown_until_closed(
    watch: Watch, held: HeldRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = start(watch)
    watch.on_afterwards(SYSTEMS, blocked.watched, blocked.blocked_model, MINE)

    def is_full(*_: object) -> None:
        raise RunError("The disk is full.")

    monkeypatch.setattr(manager_module, "check_free", is_full)
    held.end()
    wait_for_the_start(watch)
    panel = named(watch, watch.on_visit(SYSTEMS, THEIRS)).panel
    assert panel["waiting"]["text"] == "CLIP, learning “not” could not start. The disk is full."
    assert panel["waiting"]["is_refused"]
    assert panel["waiting"]["button"] == "close"
    closed = watch.on_withdraw(SYSTEMS, WatchedRun(view=panel), "", THEIRS)
    assert named(watch, closed).panel == {}
    assert len(held.started) == 1


def test_a_start_that_will_be_refused_does_not_wait(
    watch: Watch, held: HeldRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = start(watch)

    def is_full(*_: object) -> None:
        raise RunError("The disk is full.")

    monkeypatch.setattr(manager_module, "check_free", is_full)
    with pytest.raises(RunError):
        watch.on_instead(SYSTEMS, blocked.watched, blocked.blocked_model, MINE)
    assert watch.runs.waiting is None
    assert watch.runs.under_way() == held.started[0]


def test_an_offer_ends_with_the_run_in_the_way(watch: Watch, held: HeldRuns) -> None:
    blocked = start(watch)
    watched = blocked.watched
    dismissed = named(watch, watch.on_dismiss(SYSTEMS, watched, blocked.blocked_model, MINE))
    assert dismissed.panel["under_way"]
    assert "blocked_model" not in dismissed.panel
    assert dismissed.blocked_model == ""
    held.end()
    ticked = tick(watch, blocked_model=blocked.blocked_model)
    assert ticked.panel == gr.skip()
    assert ticked.blocked_model == ""
    with pytest.raises(ConfigError):
        watch.on_afterwards(SYSTEMS, watched, "", MINE)
