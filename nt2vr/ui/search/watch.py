"""Training on the Search tab: the panel of the run under way."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError, DeviceInUseError, quoted
from nt2vr.library.galleries import Galleries
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog
from nt2vr.presets import PRESETS
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import RunEpochs
from nt2vr.search.strategies import System
from nt2vr.ui.later_starts import LaterStarts
from nt2vr.ui.search.formats import short_name, system_choices
from nt2vr.ui.search.run_columns import with_epoch
from nt2vr.ui.search.state import MAX_COLUMNS, QUIET
from nt2vr.ui.theme import template
from nt2vr.ui.train.view import run_view
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import Updates, event_text, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.config import TrainConfig, load_config
from trainer.runs.manager import Run, RunManager
from trainer.teaching import teaching

PRESET = PRESETS / "stage.json"
# Characters of the base's name that are part of a run's name.
MAX_BASE = 40
POLL_S = 1.0
# Polls after the end of a run, until its last checkpoint is served.
POLLS_AFTER_END = 10

# In place of the id of a run that has not started.
WAITING = "(waiting)"


def short_run(models: Catalog, name: str) -> TrainConfig:
    """Return the config of a run from a model: by sentences, or by clips too if it knows only drawings."""
    if not models.knows_only_drawings(name):
        return teaching(models, name)
    base = models.folder(name)
    # A card that cannot be read is reported before the run starts.
    read_card(base)
    run_name = f"{name[:MAX_BASE].strip()} learns not"
    return load_config(PRESET, {"base": str(base.resolve()), "name": run_name})


@dataclass(frozen=True)
class WatchedRun:
    """What a page remembers of the run that it watches.

    Attributes:
        run: its id; "" for none.
        searched: the epochs last searched for, by model.
        polls: number of polls left once it has ended.
        view: the panel.
    """

    run: str = ""
    searched: Mapping[str, int] = field(default_factory=dict)
    polls: int = 0
    view: View = field(default_factory=dict)


@dataclass
class Watch:
    """Panel of the run that is training, from whose events the columns of runs follow.

    Attributes:
        panel: of the run that is training; its event `replay` asks for the recorded one.
        notes: on the runs in the list of systems.
        timer: ticks while a run is under way.
        watched: a WatchedRun. A slow tick may overwrite a newer one.
        joining_run: id of the run whose column is to join the others with its first checkpoint, or
            WAITING.
        blocked_model: name of the model that is to be trained, but that a run is in the way of; ""
            for none.
        systems: those that are searched, one per column.
        ask: a change of it starts a search.
    """

    galleries: Galleries
    permissions: Permissions
    runs: RunManager

    def build(self, systems: gr.Dropdown, ask: gr.Textbox) -> None:
        """Lay out the panel, empty until a run is under way."""
        self.systems = systems
        self.ask = ask
        self.panel = template("watch", {})
        self.notes = template("run-notes", {"runs": []})
        self.timer = gr.Timer(POLL_S, active=False)
        self.watched = gr.State(WatchedRun())
        self.joining_run = gr.State("")
        self.blocked_model = gr.State("")

    def wire(self, visits: Sequence[Any], query: Any, columns: Any, answer: Any) -> None:
        """Wire the columns of runs, the panel and the timer.

        Args:
            visits: events on which the panel looks for a run.
            query: the box of the sentence.
            columns: the columns of the answer.
            answer: the Answer on display.
        """
        panel = self.panel
        systems = self.systems
        moved = columns.epoch(self.on_epoch, systems, systems, **QUIET)
        moved.success(None, outputs=self.ask, js="nt2vr.ask")
        watched = [systems, self.watched]
        blocked = [*watched, self.blocked_model]
        outputs = [panel, self.timer, self.watched, self.joining_run, self.blocked_model]
        for event in visits:
            event(self.on_visit, systems, outputs, **QUIET)
        for event, handler, inputs in (
            (panel.start, self.on_start, [systems]),
            (panel.instead, self.on_instead, blocked),
            (panel.afterwards, self.on_afterwards, blocked),
            (panel.dismiss, self.on_dismiss, blocked),
            (panel.withdraw, self.on_withdraw, blocked),
            (panel.stop, self.on_stop, watched),
            (panel.join, self.on_join, watched),
        ):
            event(handler, inputs, outputs, **QUIET)
        self.timer.tick(
            self.on_tick,
            [query, systems, answer, self.watched, self.joining_run, self.blocked_model],
            [*outputs, systems, self.ask],
            queue=False,
            trigger_mode="once",
            **QUIET,
        )

    def timer_updates(self) -> Updates:
        """Return the update that starts the timer, if a run is under way or is to start."""
        if self.runs.under_way() or self._is_waiting:
            return {self.timer: gr.Timer(active=True)}
        return {}

    def on_visit(self, systems: list[str], request: gr.Request) -> Updates:
        """Show the run that is under way, if any, and the start that waits, whoever asked for them."""
        run = self.runs.under_way()
        if not run and not self._later.view(request):
            return {}
        return self._show(WatchedRun(run), "", systems, request)

    def on_start(self, systems: list[str], request: gr.Request) -> Updates:
        """Train from the model of the first column, or offer what can be done about a run that is in the way."""
        self.permissions.check("train", request)
        model = self._model_to_train(systems)
        try:
            run = self.runs.start(short_run(self._models, model), session_of(request))
        except DeviceInUseError:
            in_the_way = WatchedRun(self._later.run_in_the_way().run_id)
            panel = self._show(in_the_way, "", systems, request, blocked_model=model)
            return {**panel, self.joining_run: "", self.blocked_model: model}
        panel = self._show(WatchedRun(run), run, systems, request)
        return {**panel, self.joining_run: run, self.blocked_model: ""}

    def _model_to_train(self, systems: list[str]) -> str:
        """Return the model of the first column; a ConfigError if it cannot be trained."""
        entries = self._models.entries()
        if not systems:
            raise ConfigError(
                "Choose a system first: training starts from the model of the first column."
            )
        model = System.named(systems[0], list(entries)).model
        if entries[model].kind == "embeddings":
            raise ConfigError(
                f"{quoted(model)} has embeddings from a file and cannot be trained. "
                "Put another system first."
            )
        return model

    def on_instead(
        self, systems: list[str], watched: WatchedRun, blocked_model: str, request: gr.Request
    ) -> Updates:
        """Stop the run that is in the way, and train the blocked model once it has ended."""
        return self._start_later(systems, watched, blocked_model, request, stops=True)

    def on_afterwards(
        self, systems: list[str], watched: WatchedRun, blocked_model: str, request: gr.Request
    ) -> Updates:
        """Train the blocked model once the run that is in the way has ended."""
        return self._start_later(systems, watched, blocked_model, request, stops=False)

    def _start_later(
        self,
        systems: list[str],
        watched: WatchedRun,
        blocked_model: str,
        request: Visitor,
        stops: bool,
    ) -> Updates:
        self.permissions.check("train", request)
        config = self.runs.check_config(short_run(self._models, blocked_model))
        self._later.start_run(config, stops, request)
        panel = self._show(watched, WAITING, systems, request)
        return {**panel, self.joining_run: WAITING, self.blocked_model: ""}

    def on_dismiss(
        self, systems: list[str], watched: WatchedRun, blocked_model: str, request: gr.Request
    ) -> Updates:
        return {**self._show(watched, "", systems, request), self.blocked_model: ""}

    def on_withdraw(
        self, systems: list[str], watched: WatchedRun, blocked_model: str, request: gr.Request
    ) -> Updates:
        """Take back the start that waits, or close the message that it was refused."""
        self._later.take_back(request)
        return self._show(watched, "", systems, request, blocked_model)

    def on_stop(self, systems: list[str], watched: WatchedRun, request: gr.Request) -> Updates:
        """Stop the run that is shown; its checkpoints stay."""
        self.permissions.check("train", request)
        self.permissions.check_cancel(self.runs.get(watched.run).session, request)
        self.runs.stop(watched.run)
        return self._show(watched, "", systems, request)

    def on_join(self, systems: list[str], watched: WatchedRun, request: gr.Request) -> Updates:
        """Have the run's column join the others at the next tick, or with its first checkpoint."""
        panel = self._show(watched, watched.run, systems, request)
        return {**panel, self.joining_run: watched.run}

    def on_tick(
        self,
        text: str,
        systems: list[str],
        answer: Answer | None,
        watched: WatchedRun,
        joining_run: str,
        blocked_model: str,
        request: gr.Request,
    ) -> Updates:
        """Show how far the run is; add its column, or search again, when there is a new checkpoint."""
        updates: Updates = {}
        under_way = self.runs.under_way()
        watched = replace(watched, run=under_way or watched.run)
        if not under_way:
            # Nothing is in the way any more.
            blocked_model = ""
            updates[self.blocked_model] = ""

        search_again: Updates = {self.ask: f"{time.monotonic()}"}
        joining_run = self._known_joining_run(joining_run, request)
        model = self._model_of(joining_run) if joining_run == watched.run else ""
        newer = self._newer_epochs(answer, text)
        if model:
            joining_run = ""
            systems = _with_column(systems, model)
            updates |= {self.joining_run: "", self.systems: self._chosen(systems), **search_again}
        elif newer and newer != watched.searched:
            watched = replace(watched, searched=newer)
            updates |= search_again
        return updates | self._show(watched, joining_run, systems, request, blocked_model)

    def run_notes(self, request: gr.Request) -> View:
        """Say of each run, for the list of systems, whose it is and how far it has come."""
        notes = []
        for run in self.runs.runs():
            model = self._model_of(run.run_id)
            if model:
                notes.append({"name": short_name(model), "note": self._run_note(run, request)})
        return {"runs": notes}

    def _run_note(self, run: Run, request: Visitor) -> str:
        is_mine = run.session == session_of(request) or self.permissions.may("train", request)
        notes = ["yours" if is_mine else "a visitor's"]
        if run.config is not None and run.status.epoch:
            notes.append(f"epoch {run.status.epoch} of {run.config.batches.epochs}")
        return ", ".join([*notes, run_view(run)["state_text"]])

    def on_epoch(self, systems: list[str], event: gr.EventData) -> Any:
        """Replace a run's system by that of one of its epochs."""
        run = event_text(event, "run")
        epoch = event_value(event, "epoch", int)
        return self._chosen(with_epoch(systems, run, epoch, self._models.entries()))

    @property
    def _models(self) -> Catalog:
        return self.galleries.built_in.models

    @property
    def _later(self) -> LaterStarts:
        return LaterStarts(self.runs, self.permissions)

    @property
    def _is_waiting(self) -> bool:
        waiting = self.runs.waiting
        return waiting is not None and waiting.is_waiting

    def _known_joining_run(self, joining_run: str, request: Visitor) -> str:
        """Return the id of the run whose column is to join; for WAITING, that of the run that has started since."""
        if joining_run != WAITING:
            return joining_run
        waiting = self.runs.waiting
        if waiting is None or waiting.session != session_of(request):
            return ""
        return waiting.run_id

    def _model_of(self, run: str) -> str:
        """Return the name of the model that a run has become; "" as long as it has no checkpoint."""
        entries = self._models.entries()
        # The catalog calls it "(run)" where a model has its name.
        for name in (run, f"{run} (run)"):
            if name in entries and entries[name].kind == "run":
                return name
        return ""

    def _chosen(self, systems: list[str]) -> gr.Dropdown:
        names = self.galleries.built_in.system_names(systems)
        return gr.Dropdown(system_choices(names), value=systems, multiselect=True)

    def _newer_epochs(self, answer: Answer | None, text: str) -> dict[str, int]:
        """Return the epochs that are newer than those that answered; none while a query is being typed."""
        if answer is None or answer.sentence != text:
            return {}
        newer = {}
        for ranking in answer.rankings:
            model = ranking.system.model
            served = self.galleries.built_in.live.epoch(model)
            if ranking.epoch and served and served != ranking.epoch:
                newer[model] = served
        return newer

    def _show(
        self,
        watched: WatchedRun,
        joining_run: str,
        systems: list[str],
        request: Visitor,
        blocked_model: str = "",
    ) -> Updates:
        """Show the panel, if it has changed, let the timer tick as long as it may change, and remember both."""
        run = self._existing_run(watched.run)
        is_busy = run is not None and run.is_under_way
        view = self._run_view(run, joining_run, systems, request) if run else {}
        waiting = self._later.view(request)
        if waiting:
            view["waiting"] = waiting
        if blocked_model and is_busy and not self._is_waiting:
            view["blocked_model"] = blocked_model

        polls = POLLS_AFTER_END if is_busy or self._is_waiting else watched.polls - 1
        updates: Updates = {
            self.timer: gr.Timer(active=polls > 0),
            self.watched: replace(watched, polls=polls, view=view),
        }
        if view != watched.view:
            updates[self.panel] = view
        return updates

    def _existing_run(self, run: str) -> Run | None:
        """Return a run by its id; None for "", or if it was deleted."""
        try:
            return self.runs.get(run) if run else None
        except ConfigError:
            return None

    def _run_view(self, run: Run, joining_run: str, systems: list[str], request: Visitor) -> View:
        """Show a run that is under way, or why it failed; nothing of one that ended otherwise."""
        run_id = run.run_id
        training = run_view(run, self.permissions.redactor(request))
        if not run.is_under_way and not training["error"]:
            return {}
        may_join = run.is_under_way and not self._has_column(run_id, systems)
        return {
            **training,
            "name": short_name(run_id),
            "is_joining": may_join and joining_run == run_id,
            "can_join": may_join and joining_run != run_id,
            "may_stop": self._later.may_stop(run, request),
        }

    def _has_column(self, run: str, systems: list[str]) -> bool:
        """Return True if a column shows an epoch of a run."""
        entries = self._models.entries()
        run_epochs = RunEpochs.of(self._model_of(run), entries)
        if run_epochs is None:
            return False
        models = (System.named(name, list(entries)).model for name in systems)
        return any(RunEpochs.of(model, entries) == run_epochs for model in models)


def _with_column(systems: list[str], model: str) -> list[str]:
    """Put a model next to the baseline, unless it has a column already."""
    if model in systems:
        return systems
    return [*systems[:1], model, *systems[1:]][:MAX_COLUMNS]
