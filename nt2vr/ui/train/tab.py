"""The Train tab: a form for new runs, and all runs with progress, curves and log."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import gradio as gr

from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import DeviceInUseError
from nt2vr.evaluation.sources import WORDS
from nt2vr.files import hash_text
from nt2vr.media.limits import bytes_in
from nt2vr.models.catalog import Catalog
from nt2vr.settings import Settings
from nt2vr.ui.evaluate.evaluation_request import EvaluationRequest
from nt2vr.ui.later_starts import LaterStarts
from nt2vr.ui.theme import PRIVATE, QUIET, template
from nt2vr.ui.train.form_panel import RunForm, fields_in_words
from nt2vr.ui.train.run_panel import MAX_BESIDE, RunPanel
from nt2vr.ui.train.view import Runs, runs_view, trash_text
from nt2vr.ui.view import View
from nt2vr.ui.web.errors import with_errors_shown_at
from nt2vr.ui.web.inputs import Components, Updates, event_text
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from nt2vr.world import WORLD
from trainer.config import TrainConfig, is_captions_file
from trainer.runs.manager import Run, RunManager

POLL_S = 1.0


class TrainTab:
    """Event handlers of the Train tab; `permissions` say who may train, delete runs and name files."""

    def __init__(self, manager: RunManager, settings: Settings, permissions: Permissions) -> None:
        self._manager = manager
        self._models = Catalog.of(settings)
        self._permissions = permissions
        self._later = LaterStarts(manager, permissions)
        self.form = RunForm(manager.folder, settings, permissions)
        self._run = RunPanel(manager, self._models, permissions)

    def build(self, mark: gr.Textbox, tabs: gr.Tabs, requested: gr.Textbox) -> None:
        """Lay the tab out and wire it.

        `mark` changes when the tab is opened; the Evaluate tab of `tabs` reads in `requested` what to
        measure.
        """
        self._build_panels()
        self._wire_opening(mark)
        self._wire_form()
        self._wire_list()
        self._wire_run(tabs, requested)

    def _build_panels(self) -> None:
        self._note = gr.Markdown(visible=False, elem_id="train-note")
        # The run_id of the open run, "" for the form, None for the default (see `_show`), stored in
        # the browser.
        self._chosen = gr.BrowserState(None, storage_key="nt2vr-run", secret="nt2vr")
        # What was shown last, see `_stamp`.
        self._seen = gr.State()
        self._timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="train"):
            with gr.Column(scale=1, min_width=230, elem_id="train-list"):
                self._new = gr.Button("New run", elem_id="train-new")
                self._list = template("train-runs", {"runs": []}, "pick")
                with gr.Column(visible=False, elem_id="train-trash") as self._trash:
                    self._trash_size = gr.Markdown()
                    self._empty = gr.Button("Empty trash", size="sm", elem_id="train-empty-trash")
            with gr.Column(scale=5, min_width=500):
                self.form.build()
                self._run.build()

    @property
    def _watched(self) -> Components:
        """The components that change during a run."""
        return [self._seen, self._list, *self._run.shown]

    @property
    def _shown(self) -> Components:
        """The components that depend on which run is open."""
        return [
            self._chosen,
            self.form.column,
            self._run.column,
            self._run.beside,
            self._trash,
            self._trash_size,
            *self._watched,
        ]

    def _wire_opening(self, mark: gr.Textbox) -> None:
        """Wire what is done when the tab is opened, and while it is."""
        form = self.form
        mark.change(self.on_visit, None, [form.start, self._empty, self._note], **QUIET)
        opened = mark.change(self._show, self._chosen, self._shown, **QUIET)
        opened.success(
            self.on_opened,
            [form.presets, form.losses],
            [form.base, form.presets, form.losses, self._timer],
            **QUIET,
        )
        polled = [self._chosen, self._seen, self._run.beside]
        self._timer.tick(
            self.on_poll, polled, self._watched, queue=False, trigger_mode="once", **QUIET
        )
        self._run.beside.input(
            self.on_poll, polled, self._watched, trigger_mode="always_last", **QUIET
        )

    def _wire_form(self) -> None:
        form = self.form
        form.base.input(form.on_base, [form.presets, form.base], form.boxes_by_depth, **QUIET)
        form.preset.input(form.on_preset, form.preset, form.shown, **QUIET)
        form.presets.pick(form.on_pick_preset, None, form.shown, **QUIET)
        outputs = [*self._shown, form.problem, *form.choice.outputs]
        starting = (
            (form.start, self.on_start),
            (form.choice.stop, self.on_start_instead),
            (form.choice.afterwards, self.on_start_afterwards),
        )
        for button, start in starting:
            button.click(
                with_errors_shown_at(form.problem, start),
                form.filled,
                outputs,
                show_progress_on=form.start,
                **PRIVATE,
            )

    def _wire_list(self) -> None:
        outputs = self._shown
        self._new.click(self.on_new, None, outputs, **QUIET)
        self._list.pick(self.on_pick, None, outputs, **QUIET)
        self._list.withdraw(self.on_withdraw, self._chosen, outputs, **QUIET)
        self._empty.click(self.on_empty_trash, self._chosen, outputs, **QUIET)

    def _wire_run(self, tabs: gr.Tabs, requested: gr.Textbox) -> None:
        panel = self._run
        chosen = self._chosen
        outputs = [*self._shown, panel.problem]
        clicked = (
            (panel.stop, self.on_stop),
            (panel.resume, self.on_resume),
            (panel.resume_lower, self.on_resume_lower),
            (panel.confirm.yes, self.on_delete),
        )
        for button, handler in clicked:
            button.click(with_errors_shown_at(panel.problem, handler), chosen, outputs, **QUIET)
        chosen.change(None, None, panel.problem, js="() => ''")
        panel.confirm.asked_by(panel.delete, chosen, (self._new.click, self._list.pick))
        panel.run.pick(self.on_evaluate, chosen, [tabs, requested], **QUIET)

    def on_opened(self, cards: View, losses: View, request: gr.Request) -> tuple[Any, ...]:
        """Refresh the list of base models, poll, and on first opening load losses and times, which import torch."""
        return (*self.form.refresh(cards, losses, request), gr.Timer(active=True))

    def on_poll(
        self, chosen: str | None, seen: str | None, beside: list[str], request: gr.Request
    ) -> Any:
        """Refresh the list and the open run, with the curves of others, if anything has changed."""
        runs = self._manager.runs()
        run = _run_of(runs, chosen)
        runs_beside = [candidate for candidate in runs if candidate.run_id in beside]
        compared = [candidate for candidate in runs_beside if candidate != run][:MAX_BESIDE]
        if self._stamp(runs, run, compared, visitor=request) == seen:
            return gr.skip()
        return self._watch(runs, run, compared, visitor=request)

    def on_visit(self, request: gr.Request) -> list[Any]:
        """Disable what this visitor may not do, and say why."""
        refusal = self._permissions.refusal(request, "train", "delete")
        return [
            gr.Button(interactive=self._permissions.may("train", request)),
            gr.Button(interactive=self._permissions.may("delete", request)),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def on_start(self, request: gr.Request, *filled: Any) -> Updates:
        """Start a run and open it, or offer what can be done about a run that is in the way."""
        config = self._config(filled, request)
        try:
            with fields_in_words():
                run_id = self._manager.start(config, session_of(request))
        except DeviceInUseError:
            run = self._later.run_in_the_way()
            return self.form.choice.offered(run, self._later.may_stop(run, request))
        return {**self._show(run_id, request), **self.form.choice.hidden()}

    def on_start_instead(self, request: gr.Request, *filled: Any) -> Updates:
        """Stop the run that is in the way, and start the form's once it has ended."""
        return self._start_later(filled, stops=True, request=request)

    def on_start_afterwards(self, request: gr.Request, *filled: Any) -> Updates:
        """Start the form's run once the one that is in the way has ended."""
        return self._start_later(filled, stops=False, request=request)

    def _start_later(self, filled: Sequence[Any], stops: bool, request: gr.Request) -> Updates:
        config = self._config(filled, request)
        with fields_in_words():
            config = self._manager.check_config(config)
        self._later.start_run(config, stops, request)
        return {**self._show(self._manager.under_way(), request), **self.form.choice.hidden()}

    def _config(self, filled: Sequence[Any], request: Visitor) -> TrainConfig:
        """Read the form; the name has a number if a run of that name is here."""
        config = self.form.read(filled, request)
        used_names = {run.name for run in self._manager.runs()}
        name = config.encoder.name
        numbers = count(2)
        while name in used_names:
            name = f"{config.encoder.name} {next(numbers)}"
        return config.replace(name=name)

    def on_withdraw(self, chosen: str | None, request: gr.Request) -> Updates:
        """Take back the start that waits, or close the message that it was refused."""
        self._later.take_back(request)
        return self._show(chosen, request)

    def on_new(self, request: gr.Request) -> Updates:
        return self._show("", request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(event_text(event, "id"), request)

    def on_stop(self, run_id: str, request: gr.Request) -> Updates:
        self._permissions.check("train", request)
        run = self._manager.get(run_id)
        self._permissions.check_cancel(run.session, request)
        self._manager.stop(run_id, at_once=run.may_end_at_once)
        return self._show(run_id, request)

    def on_resume(self, run_id: str, request: gr.Request) -> Updates:
        self._permissions.check("train", request)
        self._manager.resume(run_id, session=session_of(request))
        return self._show(run_id, request)

    def on_resume_lower(self, run_id: str, request: gr.Request) -> Updates:
        """Resume a run whose loss became non-finite at a lower learning rate."""
        self._permissions.check("train", request)
        lower_rate = self._manager.get(run_id).lower_rate
        self._manager.resume(run_id, lower_rate, session_of(request))
        return self._show(run_id, request)

    def on_evaluate(self, run_id: str, request: gr.Request) -> list[Any]:
        """Open the form of a new evaluation, of a run's model on what was held out of its data."""
        config = self._manager.get(run_id).config
        data = config.dataset.data if config else WORLD
        # Of the built-in world, which has no other.
        split = "test"
        if data != WORLD:
            self._permissions.check("paths", request)
            split = "validation"
            if is_captions_file(kind_and_path(data)[1]):
                data = f"{WORDS}{data}"
        system = self._models.name_of_run(self._manager.folder / run_id)
        return [gr.Tabs(selected="evaluate"), EvaluationRequest(data, split, [system]).write()]

    def on_delete(self, run_id: str, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._manager.delete(run_id)
        return self._show(None, request)

    def on_empty_trash(self, chosen: str | None, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._manager.empty_trash()
        return self._show(chosen, request)

    def _show(self, chosen: str | None, request: gr.Request) -> Updates:
        """Open a run, or the form for ""; for None or a deleted run, the active run, the newest or the form."""
        runs = self._manager.runs()
        run = _run_of(runs, chosen)
        if run is None and chosen != "":
            # A run under way comes first, otherwise the newest: False is before True.
            run = min(runs, key=lambda run: not run.is_under_way, default=None)
        trash = trash_text(bytes_in(self._manager.trash))
        return {
            self._chosen: run.run_id if run else "",
            self.form.column: gr.Column(visible=run is None),
            **self._run.open(runs, run),
            self._trash: gr.Column(visible=bool(trash)),
            self._trash_size: trash,
            **self._watch(runs, run, compared=[], visitor=request),
        }

    def _watch(self, runs: Runs, run: Run | None, compared: Runs, visitor: Visitor) -> Updates:
        """Return updates for everything that changes during a run."""
        panel = self._run.show(run, compared, visitor) if run else self._run.show_nothing()
        return {
            self._seen: self._stamp(runs, run, compared, visitor),
            self._list: {**runs_view(runs, run), "waiting": self._later.view(visitor)},
            **panel,
        }

    def _stamp(self, runs: Runs, run: Run | None, compared: Runs, visitor: Visitor) -> str:
        """Hash the displayed state; the page needs no update while the hash stays the same."""
        manager = self._manager
        state: list[Any] = [self._later.view(visitor)]
        for listed_run in runs:
            state.append((listed_run.run_id, listed_run.status, listed_run.may_end_at_once))
        if run is not None:
            state.append(manager.log_tail(run.run_id))
            for shown_run in (run, *compared):
                state.append((shown_run.run_id, len(manager.metrics(shown_run.run_id))))
        return hash_text(repr(state), 8)


def _run_of(runs: Runs, run_id: str | None) -> Run | None:
    return next((run for run in runs if run.run_id == run_id), None)
