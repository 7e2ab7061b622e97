"""Starting a training from the Search page and following it; the trainer and the catalog are fakes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from nt2vr.errors import AccessError, ConfigError, RunError
from nt2vr.models.catalog import CatalogEntry
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.epochs import Recording
from nt2vr.search.strategies import System
from nt2vr.ui.search import watch as watch_module
from nt2vr.ui.search.learning_columns import LearningColumns
from nt2vr.ui.search.watch import POLLS_AFTER_END, Watch, WatchedRun
from nt2vr.ui.web.permissions import Permissions
from tests.support.watch_updates import WatchUpdates, built, named

# A request by nobody in particular.
NOBODY: Any = None
# A request of the page that started the run.
MINE = gr.Request(session_hash="mine")
UNDER_WAY: dict[str, Any] = {
    "state": "running",
    "state_text": "training",
    "error": "",
    "under_way": True,
}
TEXT = "a dog, no cat"


@dataclass
class Trained:
    """A trainer with one run."""

    training: dict[str, Any] = field(default_factory=lambda: UNDER_WAY)
    started: list[tuple[Path, str]] = field(default_factory=list)
    session: str = "mine"
    waiting: None = None

    def start(self, config: tuple[Path, str], session: str = "") -> str:
        self.started.append(config)
        self.session = session
        return "run"

    def under_way(self) -> str:
        return "run" if self.training["under_way"] else ""

    def get(self, run: str) -> SimpleNamespace:
        assert run == "run"
        status = SimpleNamespace(state=self.training["state"])
        is_under_way = self.training["under_way"]
        return SimpleNamespace(
            run_id=run,
            session=self.session,
            training=self.training,
            status=status,
            is_under_way=is_under_way,
        )

    def stop(self, run: str) -> None:
        raise RunError(f"{run} is not training.")


@pytest.fixture(autouse=True)
def views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the stand-in's runs taken for views of runs, and configs for what they are made of."""
    monkeypatch.setattr(watch_module, "run_view", lambda run, redact=str: run.training)
    monkeypatch.setattr(watch_module, "short_run", lambda models, name: (models.folder(name), name))


@dataclass
class Page:
    """A page that watches a run, with the epoch that is served."""

    trained: Trained = field(default_factory=Trained)
    entries: dict[str, CatalogEntry] = field(
        default_factory=lambda: {"CLIP": CatalogEntry((Path("clip"),))}
    )
    served: int | None = None
    rule: str = "everyone"
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        models = SimpleNamespace(
            entries=lambda: self.entries, folder=lambda model: self.entries[model].folders[0]
        )
        live = SimpleNamespace(epoch=lambda model: self.served)
        searcher = SimpleNamespace(
            models=models, live=live, system_names=lambda also: [*self.entries, *also]
        )
        galleries: Any = SimpleNamespace(built_in=searcher)
        runs: Any = self.trained
        self.watch = built(Watch(galleries, Permissions("t" * 20, {"train": self.rule}), runs))

    def has_checkpoint(self) -> None:
        self.entries["run"] = CatalogEntry((Path("epoch_001"),), "run")


def answer(epoch: int | None) -> Answer:
    return Answer(Query(TEXT, ("a dog",), ("cat",)), (Ranking(System("run"), (), epoch=epoch),))


def tick(
    page: Page,
    watched: WatchedRun,
    joins: str = "",
    systems: Sequence[str] = (),
    answer_so_far: Answer | None = None,
    text: str = TEXT,
) -> WatchUpdates:
    updates = page.watch.on_tick(text, list(systems), answer_so_far, watched, joins, "", NOBODY)
    return named(page.watch, updates)


def test_a_click_trains_and_the_column_joins_later() -> None:
    page = Page()
    chosen = ["CLIP drop", "CLIP"]
    started = named(page.watch, page.watch.on_start(chosen, MINE))
    panel = started.panel
    assert page.trained.started == [(Path("clip"), "CLIP")]
    assert panel["state_text"] == "training"
    assert panel["is_joining"]
    assert panel["may_stop"]
    assert tick(page, started.watched, started.joining_run, chosen)[3:] == (gr.skip(),) * 4
    page.has_checkpoint()
    # a tick under way has overwritten what was remembered
    ticked = tick(page, WatchedRun(), started.joining_run, chosen)
    assert ticked.systems.value == ["CLIP drop", "run", "CLIP"]
    assert isinstance(ticked.ask, str)
    assert ticked.joining_run == ""
    # Whoever removes the column does not get it back.
    assert tick(page, ticked.watched, ticked.joining_run, chosen).systems == gr.skip()


def test_a_run_without_checkpoint_has_no_column_whatever_is_chosen() -> None:
    page = Page()
    # A chosen system was deleted meanwhile.
    started = named(page.watch, page.watch.on_start(["CLIP", "deleted"], MINE))
    assert started.panel["is_joining"]


def test_a_run_named_like_a_model_joins() -> None:
    page = Page()
    page.entries["run"] = CatalogEntry((Path("model"),))
    assert tick(page, WatchedRun("run"), "run", ["CLIP"]).systems == gr.skip()
    page.entries["run (run)"] = CatalogEntry((Path("epoch_001"),), "run")
    assert tick(page, WatchedRun("run"), "run", ["CLIP"]).systems.value == ["CLIP", "run (run)"]


def test_a_newer_epoch_is_searched_once_and_not_while_typing() -> None:
    page = Page(served=2)
    page.has_checkpoint()
    ticked = tick(page, WatchedRun("run"), answer_so_far=answer(1), text="a dog, no ca")
    assert ticked.ask == gr.skip()
    ticked = tick(page, ticked.watched, answer_so_far=answer(1))
    assert isinstance(ticked.ask, str)
    ticked = tick(page, ticked.watched, answer_so_far=answer(1))
    # That search failed, or is under way.
    assert ticked.ask == gr.skip()
    assert tick(page, ticked.watched, answer_so_far=answer(2)).ask == gr.skip()


def test_the_page_stops_asking_and_tells_only_of_failures() -> None:
    page = Page()
    panel, timer, watched, *_ = tick(page, WatchedRun())
    assert panel["state_text"] == "training"
    assert timer.active
    page.trained.training = {
        "state": "failed",
        "state_text": "failed",
        "error": "The disk is full.",
        "under_way": False,
    }
    panel, timer, watched, *_ = tick(page, watched)
    assert panel["error"] == "The disk is full."
    assert not panel["may_stop"]
    assert timer.active
    for _ in range(POLLS_AFTER_END):
        panel, timer, watched, *_ = tick(page, watched)
    assert panel == gr.skip()
    assert not timer.active
    page.trained.training = {
        "state": "finished",
        "state_text": "finished",
        "error": "",
        "under_way": False,
    }
    assert tick(page, watched).panel == {}


def test_a_second_visitor_may_watch_but_not_stop() -> None:
    page = Page(rule="nobody")
    visited = page.watch.on_visit(["CLIP"], NOBODY)
    panel, timer, watched, *_ = named(page.watch, visited)
    assert timer.active
    assert panel["can_join"]
    assert not panel["may_stop"]
    page.has_checkpoint()
    joined = named(page.watch, page.watch.on_join(["CLIP"], watched, NOBODY))
    ticked = tick(page, joined.watched, joined.joining_run, ["CLIP"])
    assert joined.panel["is_joining"]
    assert ticked.systems.value == ["CLIP", "run"]
    for act in (page.watch.on_start, lambda *_: page.watch.on_stop(["CLIP"], watched, NOBODY)):
        with pytest.raises(AccessError):
            act(["CLIP"], NOBODY)
    assert page.trained.started == []


@pytest.mark.parametrize(
    ("systems", "refusal"),
    [([], "system"), (["file"], "file"), (["gone"], "gone")],
)
def test_what_cannot_be_trained_is_refused_in_a_sentence(systems: list[str], refusal: str) -> None:
    page = Page()
    page.entries["file"] = CatalogEntry((Path("file"),), "embeddings")
    with pytest.raises(ConfigError, match=refusal):
        page.watch.on_start(systems, NOBODY)
    with pytest.raises(RunError):
        page.watch.on_stop([], WatchedRun("run"), MINE)
    with pytest.raises(AccessError):
        page.watch.on_stop([], WatchedRun("run"), NOBODY)


def test_a_recorded_run_opens_with_a_query_it_has() -> None:
    recording = Recording(
        "CLIP", "stage", "", [0], [20], {TEXT: [[("a", 0.5)]], "not dancing": [[("a", 0.5)]]}
    )
    columns = LearningColumns(recording)
    offers = [columns.replay_offer(text, "") for text in (TEXT, "a bird")]
    assert [offer["replayed_query"] for offer in offers] == ["", TEXT]
    queries = [
        columns.replay_link(gr.EventData(None, {"query": text}))["q"]
        for text in ("not dancing", "a bird")
    ]
    assert queries == ["not dancing", TEXT]
    assert columns.has_recording(TEXT, "")
    assert not columns.has_recording("a bird", "")
    assert not columns.has_recording(TEXT, "library")
    with pytest.raises(ConfigError):
        columns.replay_link(gr.EventData(None, {"query": 7}))
