"""Live training on the Search tab: a column searches again at every checkpoint.

Knows of the trainer only what `Trainings` says; the page passes one in.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import gradio as gr

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.catalog import Catalog
from nt2vr.search.answers import Answer
from nt2vr.search.galleries import Galleries
from nt2vr.search.systems import System
from nt2vr.ui.search.column_view import short_name
from nt2vr.ui.search.epochs import Asked, Counts, with_epoch, with_run
from nt2vr.ui.search.layout import Controls, Results, system_choices
from nt2vr.ui.search.link import MAX_COLUMNS
from nt2vr.ui.search.scripts import ASK
from nt2vr.ui.theme import template
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions

POLL_S = 1.0
REST = 10  # polls after the end of a run, within which its last checkpoint is served


@dataclass(frozen=True)
class Training:
    """A run as the page shows it.

    Attributes:
        state: "preparing", "running", "stopping", or how it ended.
        word: the state in words.
        doing: progress in words.
        left: time left in words.
        share: progress in percent.
        error: reason for a failure.
        under_way: whether it is training.
    """

    state: str
    word: str
    doing: str = ""
    left: str = ""
    share: str = "0"
    error: str = ""
    under_way: bool = False


class Trainings(Protocol):
    """Starts, shows and stops runs."""

    def start(self, base: Path, name: str) -> str:
        """Start a short run from a checkpoint folder, the model `name`; return the run's id.

        Raises:
            Nt2vrError: if it cannot be started.
        """
        ...

    def under_way(self) -> str:
        """Return the id of the run that is training; "" if there is none."""
        ...

    def look(self, run: str) -> Training:
        """Return a run; raises ConfigError if it does not exist."""
        ...

    def stop(self, run: str) -> None:
        """Ask a run to stop; raises RunError if it is not training."""
        ...


@dataclass(frozen=True)
class Memory:
    """What a page remembers of the run that it watches.

    Attributes:
        run: its id; "" for none.
        asked: the epochs last searched for, by model.
        polls: number of polls left once it has ended.
        view: the panel.
    """

    run: str = ""
    asked: Mapping[str, int] = field(default_factory=dict)
    polls: int = 0
    view: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Watch:
    """Panel of the run that is training, and the columns of runs.

    Attributes:
        galleries: have the models.
        permissions: says who may train.
        trainings: None if the trainer is left out.
        timer: ticks while a run is under way.
    """

    galleries: Galleries
    permissions: Permissions
    trainings: Trainings | None
    _counts: Counts = field(default_factory=Counts)
    _panel: gr.HTML = field(init=False)
    timer: gr.Timer = field(init=False)
    _memory: gr.State = field(init=False)  # of ticks, of which one under way may overwrite it
    _joins: gr.State = field(init=False)  # id of the run whose column is to join the others with its first checkpoint

    def build(self, templates: Path) -> None:
        """Lay out the panel, empty until a run is under way."""
        self._panel = template(templates, "watch", {})
        self.timer, self._memory, self._joins = gr.Timer(POLL_S, active=False), gr.State(Memory()), gr.State("")

    def wire(self, page: gr.Blocks, controls: Controls, results: Results, quiet: Mapping[str, Any]) -> None:
        """Wire the sliders of the columns, the panel and the timer."""
        c = controls
        moved = results.columns.epoch(self.on_epoch, c.systems, c.systems, **quiet)
        moved.success(fn=None, outputs=c.ask, js=ASK, api_visibility="private")
        if self.trainings is None:
            return
        panel = [self._panel, self.timer, self._memory]
        looked, updated = [c.query, c.systems, results.answer, self._memory, self._joins], [*panel, self._joins]
        page.load(self.on_visit, c.systems, panel, **quiet)
        self._panel.start(self.on_start, c.systems, updated, **quiet)
        self._panel.stop(self.on_stop, [c.systems, self._memory], panel, **quiet)
        self._panel.join(self.on_join, [c.systems, self._memory], updated, **quiet)
        self.timer.tick(self.on_tick, looked, [*updated, c.systems, c.ask], queue=False, trigger_mode="once", **quiet)

    def offers(self, request: gr.Request) -> bool:
        """Whether to offer a training to this visitor."""
        return self.trainings is not None and self.permissions.may("train", request)

    def columns(self, view: Mapping[str, Any], answer: Answer, key: str) -> dict[str, Any]:
        """Add to a view what `Asked.columns` does; `key` identifies the query."""
        entries = self._models.entries()
        return Asked(answer, key, entries, lambda run: self._models.card(run).base, self._counts).columns(view)

    def awake(self) -> dict[Any, Any]:
        """Keep the panel up to date if a run is under way, along with a search's answer."""
        return {self.timer: gr.Timer(active=True)} if self.trainings and self.trainings.under_way() else {}

    @user_errors
    def on_visit(self, systems: list[str], request: gr.Request) -> tuple[Any, ...]:
        """Show the run that is under way, if any, whoever started it."""
        run = self._trains.under_way()
        return self._showing(Memory(run), "", systems, request) if run else (gr.skip(), gr.skip(), gr.skip())

    @user_errors
    def on_start(self, systems: list[str], request: gr.Request) -> tuple[Any, ...]:
        """Train from the model of the first column."""
        self.permissions.check("train", request)
        entries = self._models.entries()
        if not systems:
            raise ConfigError("Choose a system first: training starts from the model of the first column.")
        model = System.named(systems[0], list(entries)).model
        if entries[model].kind == "embeddings":
            raise ConfigError(
                f"{quoted(model)} has embeddings from a file and cannot be trained. Put another system first."
            )
        run = self._trains.start(entries[model].folders[0], model)
        return *self._showing(Memory(run), run, systems, request), run

    @user_errors
    def on_stop(self, systems: list[str], memory: Memory, request: gr.Request) -> tuple[Any, ...]:
        """Stop the run that is shown; its checkpoints stay."""
        self.permissions.check("train", request)
        self._trains.stop(memory.run)
        return self._showing(memory, "", systems, request)

    @user_errors
    def on_join(self, systems: list[str], memory: Memory, request: gr.Request) -> tuple[Any, ...]:
        """Have the run's column join the others at the next tick, or with its first checkpoint."""
        return *self._showing(memory, memory.run, systems, request), memory.run

    @user_errors
    def on_tick(
        self, text: str, systems: list[str], answer: Answer | None, memory: Memory, joins: str, request: gr.Request
    ) -> tuple[Any, ...]:
        """Show how far the run is, add its column if that is to join, and search again for a newer checkpoint."""
        memory = replace(memory, run=self._trains.under_way() or memory.run)
        if joins and joins == memory.run and joins in self._models.entries():
            joined = with_run(systems or [], joins, MAX_COLUMNS)
            return *self._showing(memory, "", joined, request), "", self._chosen(joined), f"{time.monotonic()}"
        newer = self._newer(answer) if answer and answer.query.text == text else {}  # not while a query is being typed
        asks = f"{time.monotonic()}" if newer and newer != memory.asked else gr.skip()
        memory = replace(memory, asked=newer or memory.asked)
        return *self._showing(memory, joins, systems, request), gr.skip(), gr.skip(), asks

    @user_errors
    def on_epoch(self, systems: list[str], event: gr.EventData) -> Any:
        """Replace a run's system by that of one of its epochs."""
        run, epoch = event_value(event, "run", str), event_value(event, "epoch", int)
        return self._chosen(with_epoch(systems or [], run, epoch, self._models.entries()))

    @property
    def _models(self) -> Catalog:
        return self.galleries.built_in.models

    @property
    def _trains(self) -> Trainings:
        if self.trainings is None:
            raise ConfigError("The trainer is left out here.")
        return self.trainings

    def _chosen(self, systems: Sequence[str]) -> gr.Dropdown:
        names = self.galleries.built_in.system_names(systems)
        return gr.Dropdown(system_choices(names), value=list(systems), multiselect=True)

    def _newer(self, answer: Answer) -> dict[str, int]:
        """Return the epochs that are served by now, where others answered."""
        live = self.galleries.built_in.live
        served = {r.system.model: (r.epoch, live.epoch(r.system.model)) for r in answer.rankings if r.epoch}
        return {model: now for model, (answered, now) in served.items() if now is not None and now != answered}

    def _showing(self, memory: Memory, joins: str, systems: Sequence[str], request: gr.Request) -> tuple[Any, ...]:
        """Return the panel, if it has changed, the timer and the memory."""
        try:
            training = self._trains.look(memory.run) if memory.run else None
        except ConfigError:  # deleted
            training = None
        polls = REST if training and training.under_way else memory.polls - 1
        view = self._view(training, memory.run, joins, systems, request) if training else {}
        panel = gr.skip() if view == memory.view else view
        return panel, gr.Timer(active=polls > 0), replace(memory, polls=polls, view=view)

    def _view(
        self, training: Training, run: str, joins: str, systems: Sequence[str], request: gr.Request
    ) -> dict[str, Any]:
        """Show a run that is under way, or why it failed; nothing of one that ended otherwise."""
        if not training.under_way and not training.error:
            return {}
        is_shown = any(name.startswith(run) for name in systems or ())
        return {
            **vars(training),
            "name": short_name(run),
            "joins": joins == run and not is_shown and training.under_way,
            "can_join": joins != run and not is_shown and training.under_way,
            "may_stop": training.under_way and training.state != "stopping" and self.permissions.may("train", request),
        }
