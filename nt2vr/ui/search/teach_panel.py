"""Teaching a model “not”: what “More models” and the Library tab offer."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from nt2vr.errors import DeviceInUseError, RunError
from nt2vr.models.catalog import Catalog
from nt2vr.ui.later_starts import LaterStarts, StartChoice
from nt2vr.ui.theme import PRIVATE, QUIET
from nt2vr.ui.web.errors import problem_place, with_errors_shown_at
from nt2vr.ui.web.inputs import Updates, event_text
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.config import TrainConfig, resolved
from trainer.runs.manager import Run, RunManager
from trainer.teaching import announcement, estimate, run_of, teachable, teaching

HIDE = "() => ['', ...Array(3).fill({ __type__: 'update', visible: false })]"
# Default of an argument, by which Gradio knows where to pass the progress of a call.
PROGRESS = gr.Progress()


class Teaching:
    """Teaches a model “not” after saying how long that takes here: for “More models” and Library."""

    def __init__(self, models: Catalog, permissions: Permissions, runs: RunManager) -> None:
        self._models = models
        self._permissions = permissions
        self._runs = runs
        self._later = LaterStarts(runs, permissions)

    def names(self, visitor: Visitor) -> list[str]:
        """List the models that a visitor may teach."""
        return teachable(self._models) if self._permissions.may("train", visitor) else []

    def build(self, panel: gr.HTML, elem_id: str) -> Sequence[Any]:
        """Lay out what a panel's event `teach` shows; return the events after which a model is being taught."""
        place = problem_place(f"{elem_id}-problem")
        self._note = gr.Markdown(visible=False)
        self._choice = StartChoice(f"{elem_id}-choice")
        self._start = gr.Button(visible=False, elem_id=elem_id)
        self._name = gr.State("")
        hidden = [place, self._note, self._start, self._choice.row]
        outputs = [place, self._note, self._start, self._name, *self._choice.outputs]
        panel.change(None, None, hidden, js=HIDE)
        panel.teach(
            with_errors_shown_at(place, self.on_teach),
            None,
            outputs,
            show_progress_on=panel,
            **PRIVATE,
        )
        started = []
        for button, start in (
            (self._start, self.on_start),
            (self._choice.stop, self.on_start_instead),
            (self._choice.afterwards, self.on_start_afterwards),
        ):
            handler = with_errors_shown_at(place, start)
            started.append(button.click(handler, self._name, outputs, **QUIET))
        return started

    def on_teach(
        self, event: gr.EventData, request: gr.Request, progress: gr.Progress = PROGRESS
    ) -> Updates:
        """Say how long teaching a model takes here, and offer to start, or to go on after an interruption."""
        self._permissions.check("train", request)
        name = event_text(event, "name")
        config, run = self._config_and_run(name)
        try:
            self._runs.free_device()
        except DeviceInUseError:
            return self._offer(name, run, request)

        def report(done: int, total: int, doing: str) -> None:
            progress((done, total), desc=doing)

        progress(0, desc="measuring ten steps")
        action = "Teach"
        steps_done = 0
        if run is None:
            self._runs.check(config)
        else:
            action = "Go on teaching"
            config = run.config or config
            steps_done = run.status.step
        notice = announcement(config, estimate(config, report, steps_done), steps_done)
        if run is not None and run.lower_rate is not None:
            notice += (
                f" As the loss became non-finite, its learning rate will be {run.lower_rate:g}."
            )
        start = gr.Button(f"{action} {name} “not”", visible=True)
        note = gr.Markdown(notice, visible=True)
        return {self._note: note, self._start: start, self._name: name, **self._choice.hidden()}

    def on_start(self, name: str, request: gr.Request) -> Updates:
        """Start to teach a model, or offer what can be done about a run that is in the way."""
        self._permissions.check("train", request)
        try:
            self._teach(name, session_of(request))
        except DeviceInUseError:
            return self._offer(name, self._config_and_run(name)[1], request)
        return self._message(
            f"{name} is being taught. The Train tab shows its progress, and can stop and resume it."
        )

    def on_start_instead(self, name: str, request: gr.Request) -> Updates:
        """Stop the run that is in the way, and teach a model once it has ended."""
        return self._start_later(name, stops=True, request=request)

    def on_start_afterwards(self, name: str, request: gr.Request) -> Updates:
        """Teach a model once the run that is in the way has ended."""
        return self._start_later(name, stops=False, request=request)

    def _start_later(self, name: str, stops: bool, request: Visitor) -> Updates:
        self._permissions.check("train", request)
        config, run = self._config_and_run(name)
        if run is None:
            self._runs.check_config(config)
        session = session_of(request)
        start = partial(self._teach, name, session)
        self._later.start(config.encoder.name, start, stops, request)
        return self._message(
            f"{name} will be taught once the device is free. The Train tab shows what it is waiting for."
        )

    def _offer(self, name: str, run: Run | None, request: Visitor) -> Updates:
        """Offer what can be done about the run in the way.

        Args:
            name: of the model to teach.
            run: the one that teaches it; None if none has begun.
            request: of the visitor who may take the offer.
        """
        run_in_the_way = self._later.run_in_the_way()
        if run is not None and run.run_id == run_in_the_way.run_id:
            raise RunError(f"{name} is being taught already. The Train tab shows its progress.")
        may_stop = self._later.may_stop(run_in_the_way, request)
        return {
            **self._message(""),
            self._name: name,
            **self._choice.offered(run_in_the_way, may_stop),
        }

    def _message(self, text: str) -> Updates:
        """Return updates that show a sentence, if any, in place of what was offered."""
        note = gr.Markdown(text, visible=bool(text))
        return {self._note: note, self._start: gr.Button(visible=False), **self._choice.hidden()}

    def _teach(self, name: str, session: str) -> str:
        """Start to teach a model, or go on with it; return the id of the run."""
        config, run = self._config_and_run(name)
        if run is None:
            return self._runs.start(config, session)
        self._runs.resume(run.run_id, run.lower_rate, session)
        return run.run_id

    def _config_and_run(self, name: str) -> tuple[TrainConfig, Run | None]:
        """Return the config that teaches a model, and the interrupted run that began to, if there is one."""
        runs = self._runs
        config = resolved(teaching(self._models, name), runs.folder.parent)
        folder, is_new = run_of(runs.folder, config)
        return config, None if is_new else runs.get(folder.name)
