"""The Train tab: a form for new runs, and all runs with progress, curves and log."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain, count, cycle
from typing import Any

import gradio as gr

from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import DeviceInUseError, Nt2vrError
from nt2vr.evaluation.sources import WORDS
from nt2vr.media.store import bytes_in
from nt2vr.models.catalog import Catalog
from nt2vr.registry import pick
from nt2vr.settings import ASSETS, Settings, resolve_path
from nt2vr.ui.evaluate.wish import Wish
from nt2vr.ui.later_starts import LaterStarts, StartChoice
from nt2vr.ui.theme import PRIVATE, QUIET, Confirmation, lead, menu, template
from nt2vr.ui.train.form import FIRST as FIRST_PRESETS
from nt2vr.ui.train.form import (
    Field,
    bases,
    config_fields,
    in_words,
    label_of,
    losses_view,
    presets,
    presets_view,
    read_form,
)
from nt2vr.ui.train.view import (
    Curve,
    comparable,
    curves,
    lower_rate_label,
    run_view,
    runs_view,
    trash_text,
)
from nt2vr.ui.web.errors import problem_place, told_at
from nt2vr.ui.web.inputs import Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from nt2vr.world import WORLD
from trainer.config import TrainConfig, is_captions_file, load_config, names_files
from trainer.runs.manager import Run, RunManager
from trainer.teaching import BY_DEPTH, PRESET, changes_by_depth

POLL_S = 1.0
MAX_CURVES = 12
MAX_BESIDE = 4  # runs in the charts of another: more lines are hard to tell apart
COLOURS = (
    "#6d64e8",
    "#a39a8c",
    "#c2760c",
    "#1c9a86",
    "#c43d6b",
    "#4a90d9",
)  # of lines, on light and dark ground
# always visible, in this order; the rest is under “All other settings”
FIRST = ("name", "base", "data", "train", "epochs", "batch_size", "learning_rate", "num_clips")


class TrainTab:
    """Layout and event handlers of the Train tab; `permissions` say who may train, delete runs and name files."""

    def __init__(self, manager: RunManager, settings: Settings, permissions: Permissions) -> None:
        self._manager, self._settings, self._permissions = manager, settings, permissions
        fields = {field.key: field for field in config_fields() if field.key != "losses"}
        self._fields = [fields[key] for key in dict.fromkeys([*FIRST, *fields])]
        self._presets = presets()
        self._later = LaterStarts(manager, permissions)

    def build(self, mark: gr.Textbox, tabs: gr.Tabs, wished: gr.Textbox) -> None:
        """Lay the tab out and wire it.

        `mark` changes when the tab is opened; the Evaluate tab of `tabs` reads in `wished` what to
        measure.
        """
        note = gr.Markdown(visible=False, elem_id="train-note")
        # run_id of the open run, "" for the form, None for the default (see `_show`); stored in the
        # browser
        self._chosen = chosen = gr.BrowserState(None, storage_key="nt2vr-run", secret="nt2vr")
        self._seen, timer = gr.State(), gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="train"):
            with gr.Column(scale=1, min_width=230, elem_id="train-list"):
                new = gr.Button("New run", elem_id="train-new")
                self._runs = runs = template("train-runs", {"runs": []}, "pick")
                with gr.Column(visible=False, elem_id="train-trash") as self._trash:
                    self._trash_size = gr.Markdown()
                    empty = gr.Button("Empty trash", size="sm", elem_id="train-empty-trash")
            with gr.Column(scale=5, min_width=500):
                self._form = form = FormParts(self._fields, self._presets, self._bases(None))
                self._parts = parts = RunParts()
        buttons = [parts.stop, parts.resume, parts.resume_lower, parts.delete]
        watched = [self._seen, runs, parts.run, *parts.curves, parts.log, *buttons]
        everything = [
            chosen,
            form.column,
            parts.column,
            self._trash,
            self._trash_size,
            parts.beside,
            *watched,
        ]
        filled, polled = [*form.values, form.losses], [chosen, self._seen, parts.beside]
        preset = [form.presets, form.preset, *filled]
        components: dict[str, Any] = {
            field.key: value for field, value in zip(self._fields, form.values, strict=True)
        }
        base = components["base"]
        mark.change(self.on_visit, None, [form.start, empty, note], **QUIET)
        mark.change(self._show, chosen, everything, **QUIET).success(
            self.on_opened,
            [form.presets, form.losses],
            [base, form.presets, form.losses, timer],
            **QUIET,
        )
        timer.tick(self.on_poll, polled, watched, queue=False, trigger_mode="once", **QUIET)
        by_depth = [components[key] for key in BY_DEPTH]
        base.input(self.on_base, [form.presets, base], by_depth, **QUIET)
        form.preset.input(self.on_preset, form.preset, preset, **QUIET)
        form.presets.pick(self.on_pick_preset, None, preset, **QUIET)
        shown = [*everything, form.problem, *form.choice.shown]
        starting = (
            (form.start, self.on_start),
            (form.choice.stop, self.on_start_instead),
            (form.choice.afterwards, self.on_start_afterwards),
        )
        for button, start in starting:
            button.click(
                told_at(form.problem, start), filled, shown, show_progress_on=form.start, **PRIVATE
            )
        new.click(self.on_new, None, everything, **QUIET)
        runs.pick(self.on_pick, None, everything, **QUIET)
        runs.withdraw(self.on_withdraw, chosen, everything, **QUIET)
        empty.click(self.on_empty_trash, chosen, everything, **QUIET)
        clicked = (
            (parts.stop, self.on_stop),
            (parts.resume, self.on_resume),
            (parts.resume_lower, self.on_resume_lower),
        )
        for button, handler in clicked:
            button.click(
                told_at(parts.problem, handler), chosen, [*everything, parts.problem], **QUIET
            )
        chosen.change(None, None, parts.problem, js="() => ''")
        parts.run.pick(self.on_evaluate, chosen, [tabs, wished], **QUIET)
        parts.beside.input(self.on_poll, polled, watched, trigger_mode="always_last", **QUIET)
        parts.confirm.asked_by(parts.delete, chosen, (new.click, runs.pick))
        deleted = told_at(parts.problem, self.on_delete)
        parts.confirm.yes.click(deleted, chosen, [*everything, parts.problem], **QUIET)

    def on_opened(
        self, cards: Mapping[str, Any], losses: Mapping[str, Any], request: gr.Request
    ) -> tuple[Any, ...]:
        """Refresh the list of base models, poll, and on first opening load losses and times, which import torch."""
        name = str(cards.get("chosen"))
        pick("preset", name, self._presets)
        table = gr.skip() if losses.get("losses") else losses_view(self._presets[name]["losses"])
        times = presets_view(self._presets, name, self._settings.device)
        return gr.Dropdown(choices=self._bases(request)), times, table, gr.Timer(active=True)

    def on_poll(
        self, chosen: str | None, seen: str | None, beside: list[str] | None, request: gr.Request
    ) -> Any:
        """Refresh the list and the open run, with the curves of others, if anything has changed."""
        runs = self._manager.runs()
        run = next((run for run in runs if run.run_id == chosen), None)
        others = [other for other in runs if other.run_id in (beside or []) and other != run][
            :MAX_BESIDE
        ]
        if self._stamp(runs, run, others, request) == seen:
            return gr.skip()
        return self._watched(runs, run, others, request)

    def on_preset(self, name: str) -> list[Any]:
        preset = pick("preset", name, self._presets)
        values = [preset[field.key] for field in self._fields]
        filled = [json.dumps(value) if isinstance(value, Mapping) else value for value in values]
        cards = presets_view(self._presets, name, self._settings.device)
        menu = gr.Dropdown(value=None if any(card["chosen"] for card in cards["presets"]) else name)
        return [cards, menu, *filled, losses_view(preset["losses"])]

    def on_base(self, cards: Mapping[str, Any], base: str) -> list[Any]:
        """If the preset teaches “not”, set what depends on the depth of its base."""
        preset = load_config(PRESET).flat()
        if cards.get("chosen") != preset["name"]:
            return [gr.skip() for _ in BY_DEPTH]
        values = preset | changes_by_depth(resolve_path(base))
        return [values[key] for key in BY_DEPTH]

    def on_pick_preset(self, event: gr.EventData) -> list[Any]:
        return self.on_preset(event_value(event, "id", str))

    def on_visit(self, request: gr.Request) -> list[Any]:
        actions = ("train", "delete")
        refusal = self._permissions.refusal(request, *actions)
        return [
            *(gr.Button(interactive=self._permissions.may(action, request)) for action in actions),
            gr.Markdown(refusal, visible=bool(refusal)),
        ]

    def on_start(self, request: gr.Request, *filled: Any) -> Updates:
        """Start a run and open it, or offer what can be done about a run that is in the way."""
        config = self._config(filled, request)
        try:
            with _fields_in_words():
                run_id = self._manager.start(config, session_of(request))
        except DeviceInUseError:
            run = self._later.run_in_the_way()
            return self._form.choice.offered(run, self._later.may_stop(run, request))
        return {**self._show(run_id, request), **self._form.choice.hidden()}

    def on_start_instead(self, request: gr.Request, *filled: Any) -> Updates:
        """Stop the run that is in the way, and start the form's once it has ended."""
        return self._start_later(filled, stops=True, request=request)

    def on_start_afterwards(self, request: gr.Request, *filled: Any) -> Updates:
        """Start the form's run once the one that is in the way has ended."""
        return self._start_later(filled, stops=False, request=request)

    def _start_later(self, filled: Sequence[Any], stops: bool, request: gr.Request) -> Updates:
        config = self._config(filled, request)
        with _fields_in_words():
            config = self._manager.check_config(config)
        session = session_of(request)
        self._later.start(
            config.encoder.name, lambda: self._manager.start(config, session), stops, request
        )
        return {**self._show(self._manager.under_way(), request), **self._form.choice.hidden()}

    def on_withdraw(self, chosen: str | None, request: gr.Request) -> Updates:
        """Take back the start that waits, or close the message that it was refused."""
        self._later.take_back(request)
        return self._show(chosen, request)

    def _config(self, filled: Sequence[Any], request: gr.Request) -> TrainConfig:
        """Read the form, as far as this visitor may start a run with it."""
        self._permissions.check("train", request)
        *values, losses = filled
        by_key = dict(zip([field.key for field in self._fields], values, strict=True))
        if by_key["data"] != WORLD or by_key["base"] not in dict(self._bases(request)).values():
            self._permissions.check(
                "paths", request
            )  # before the form is read, which looks at both
        with _fields_in_words():
            config = read_form(by_key, losses)
        if names_files(config):
            self._permissions.check("paths", request)
        return config.replace(name=self._free_name(config.encoder.name))

    def _free_name(self, name: str) -> str:
        """Return a name, with a number if a run of that name is here, so that their models can be told apart."""
        taken = {run.name for run in self._manager.runs()}
        names = chain([name], (f"{name} {number}" for number in count(2)))
        return next(free for free in names if free not in taken)

    def on_new(self, request: gr.Request) -> Updates:
        return self._show("", request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(event_value(event, "id", str), request)

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
        self._manager.resume(run_id, self._manager.get(run_id).lower_rate, session_of(request))
        return self._show(run_id, request)

    def on_evaluate(self, run_id: str, request: gr.Request) -> list[Any]:
        """Open the form of a new evaluation, of a run's model on what was held out of its data."""
        config = self._manager.get(run_id).config
        data = config.dataset.data if config else WORLD
        split = "test"  # of the built-in world, which has no other
        if data != WORLD:
            self._permissions.check("paths", request)
            split = "validation"
            if is_captions_file(kind_and_path(data)[1]):
                data = f"{WORDS}{data}"
        catalog = Catalog.of(self._settings)
        system = catalog.name_of_run(self._manager.folder / run_id)
        return [gr.Tabs(selected="evaluate"), Wish(data, split, [system]).write()]

    def _system_of(self, run_id: str) -> str:
        return Catalog.of(self._settings).name_of_run(self._manager.folder / run_id)

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
        if chosen is None or (chosen and chosen not in [run.run_id for run in runs]):
            chosen = next(
                (run.run_id for run in sorted(runs, key=lambda run: not run.is_under_way)), ""
            )
        run = next((run for run in runs if run.run_id == chosen), None)
        text, choices = trash_text(bytes_in(self._manager.trash)), comparable(runs, run)
        return {
            self._chosen: chosen,
            self._form.column: gr.Column(visible=run is None),
            self._parts.column: gr.Column(visible=run is not None),
            self._trash: gr.Column(visible=bool(text)),
            self._trash_size: text,
            self._parts.beside: gr.Dropdown(
                choices=choices, value=[], multiselect=True, visible=bool(choices)
            ),
            **self._watched(runs, run, [], request),
        }

    def _watched(
        self, runs: list[Run], run: Run | None, others: list[Run], visitor: Visitor
    ) -> Updates:
        """Return updates for everything that changes during a run."""
        parts = self._parts
        listed = {
            self._seen: self._stamp(runs, run, others, visitor),
            self._runs: {**runs_view(runs, run), "waiting": self._later.view(visitor)},
        }
        if run is None:
            return {
                **listed,
                parts.run: {},
                parts.log: {},
                **dict.fromkeys(parts.curves, gr.LinePlot(visible=False)),
            }
        may_train, may_delete = (
            self._permissions.may("train", visitor),
            self._permissions.may("delete", visitor),
        )
        rows = {each.run_id: self._manager.metrics(each.run_id) for each in (run, *others)}
        can_stop = run.is_under_way and (run.status.state != "stopping" or run.may_end_at_once)
        may_stop = may_train and self._permissions.may_cancel(run.session, visitor)
        stop = "End now" if run.may_end_at_once else "Stop"
        return {
            **listed,
            parts.run: self._run_view(run, rows[run.run_id], visitor),
            **dict(zip(parts.curves, _plots(curves(run, rows.pop(run.run_id), rows)), strict=True)),
            parts.log: {
                "text": self._manager.log_tail(run.run_id) if may_train else ""
            },  # it names files
            parts.stop: gr.Button(stop, interactive=may_stop and can_stop),
            parts.resume: gr.Button(interactive=may_train and run.can_resume),
            parts.resume_lower: gr.Button(
                lower_rate_label(run), interactive=may_train, visible=run.lower_rate is not None
            ),
            parts.delete: gr.Button(interactive=may_delete and not run.is_under_way),
        }

    def _run_view(
        self, run: Run, rows: Sequence[Mapping[str, float]], visitor: Visitor
    ) -> dict[str, Any]:
        is_fusion = run.config is not None and run.config.encoder.trains_fusion
        is_of_world = run.config is not None and run.config.dataset.is_world
        may_evaluate = not is_fusion and (is_of_world or self._permissions.may("paths", visitor))
        tell = self._permissions.teller(visitor)
        return run_view(run, tell, rows, self._system_of(run.run_id), may_evaluate)

    def _stamp(self, runs: list[Run], run: Run | None, others: list[Run], visitor: Visitor) -> str:
        """Hash the displayed state; the page needs no update while the hash stays the same."""
        listed = [
            self._later.view(visitor),
            *((run.run_id, run.status, run.may_end_at_once) for run in runs),
        ]
        shown = [*([run] if run else []), *others]
        measured = [(each.run_id, len(self._manager.metrics(each.run_id))) for each in shown]
        detail = (*measured, self._manager.log_tail(run.run_id)) if run else ()
        return blake2b(repr((listed, detail)).encode(), digest_size=8).hexdigest()

    def _bases(self, visitor: Visitor) -> list[tuple[str, str]]:
        """List the models to start from: those of the data folder, whose values are paths, only to who may train."""
        folders = [ASSETS / "models"]
        if self._permissions.may("train", visitor):
            folders += [
                self._settings.data_dir / "models",
                *self._manager.folder.glob("[!.]*/checkpoints"),
            ]
        return list(bases(folders).items())


@contextmanager
def _fields_in_words() -> Iterator[None]:
    """Have errors within the block name fields as the form labels them."""
    try:
        yield
    except Nt2vrError as error:
        raise type(error)(in_words(str(error))) from error


def _plots(some: Sequence[Curve]) -> list[gr.LinePlot]:
    common: dict[str, Any] = {"color": "line", "y_title": " ", "color_title": " ", "visible": True}
    shown = [
        gr.LinePlot(
            curve.points,
            curve.x,
            "value",
            color_map=dict(zip(dict.fromkeys(curve.points["line"]), cycle(COLOURS))),
            title=curve.title,
            caption=curve.note,
            x_lim=[0, curve.end],
            **common,
        )
        for curve in some[:MAX_CURVES]
    ]
    return [*shown, *[gr.LinePlot(visible=False)] * (MAX_CURVES - len(shown))]


class FormParts:
    """The form of a new run, with the first preset's values; `fields` begin with those of `FIRST`."""

    def __init__(
        self,
        fields: Sequence[Field],
        presets: Mapping[str, Mapping[str, Any]],
        bases: Sequence[tuple[str, str]],
    ) -> None:
        default = next(iter(presets))
        values = presets[default]
        with gr.Column(visible=False, elem_id="train-form") as self.column:
            lead("Teach a model", "Choose what to begin with. Everything can be changed below.")
            self.presets = template("train-presets", presets_view(presets, default), "pick")
            with gr.Row(equal_height=True):
                more = list(presets)[len(FIRST_PRESETS) :]
                self.preset = menu("train-preset", "More presets", more, value=None, scale=4)
                look: dict[str, Any] = {"variant": "primary", "scale": 1, "min_width": 200}
                self.start = gr.Button("Start training", elem_id="train-start", **look)
            self.problem = problem_place("train-problem")
            self.choice = StartChoice("train-choice")
            with gr.Group(), gr.Row(elem_classes=["nt-fields", "nt-first"]):
                self.values = [
                    _input(field, values[field.key], bases) for field in fields[: len(FIRST)]
                ]
            self.losses = template("train-losses", {"losses": []})
            with gr.Accordion("All other settings", open=False, elem_id="train-more"):  # noqa: SIM117
                with gr.Row(elem_classes="nt-fields"):
                    self.values += [
                        _input(field, values[field.key], bases) for field in fields[len(FIRST) :]
                    ]


def _input(field: Field, value: Any, bases: Sequence[tuple[str, str]]) -> gr.components.Component:
    common: dict[str, Any] = {
        "label": label_of(field.key),
        "info": field.info,
        "elem_id": f"train-{field.key}",
    }
    common["min_width"] = 220
    if field.key == "base":
        return gr.Dropdown(list(bases), value=value, allow_custom_value=True, **common)
    if field.choices:
        return gr.Dropdown(list(field.choices), value=value, **common)
    if isinstance(field.default, bool):
        return gr.Checkbox(value, **common)
    if isinstance(field.default, int | float):
        return gr.Number(value, **common)
    if isinstance(field.default, Mapping):
        return gr.Textbox(json.dumps(value), lines=2, max_lines=4, elem_classes="nt-json", **common)
    return gr.Textbox(value, max_lines=1, **common)


class RunParts:
    def __init__(self) -> None:
        with gr.Column(visible=False, elem_id="train-watch") as self.column:
            with gr.Row(elem_id="train-buttons"):
                self.stop = gr.Button("Stop", elem_id="train-stop", size="sm", min_width=90)
                self.resume = gr.Button("Resume", elem_id="train-resume", size="sm", min_width=90)
                self.delete = gr.Button("Delete", elem_id="train-delete", size="sm", min_width=90)
            question = "Move this run, with all its checkpoints, to the trash?"
            self.confirm = Confirmation("train", "delete", question, "Move to trash")
            self.problem = problem_place("run-problem")
            self.run = template("train-run", {}, "pick")
            look: dict[str, Any] = {"visible": False, "variant": "primary", "size": "sm"}
            self.resume_lower = gr.Button("Resume", elem_id="train-resume-lower", **look)
            some: dict[str, Any] = {
                "value": [],
                "multiselect": True,
                "max_choices": MAX_BESIDE,
                "visible": False,
            }
            self.beside = menu("train-beside", "Compare its curves with", [], **some)
            with gr.Row(elem_id="train-curves"):
                self.curves = [
                    gr.LinePlot(visible=False, height=290, min_width=240) for _ in range(MAX_CURVES)
                ]
            self.log = template("train-log", {})
