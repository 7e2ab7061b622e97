"""Starting a run although another is in its way: after that one's end, which may be asked for."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import gradio as gr

from nt2vr.errors import Nt2vrError, RunError
from nt2vr.ui.search.formats import run_title, short_name
from nt2vr.ui.view import View
from nt2vr.ui.web.errors import FAILED
from nt2vr.ui.web.inputs import Components, Updates
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.config import TrainConfig
from trainer.runs.manager import Run, RunManager


@dataclass(frozen=True)
class LaterStarts:
    """Has a run start after the one in its way, for visitors who may train; one start can wait."""

    runs: RunManager
    permissions: Permissions

    def run_in_the_way(self) -> Run:
        """Return the run that a new one would have to wait for.

        Raises:
            RunError: if there is none, or if another start waits for it already.
        """
        self.runs.refuse_second_wait()
        run_id = self.runs.under_way()
        if not run_id:
            raise RunError("The run that was in the way has ended. Start again.")
        return self.runs.get(run_id)

    def may_stop(self, run: Run, visitor: Visitor) -> bool:
        """Whether a visitor may ask a run to stop, and it has not been asked yet."""
        if not run.is_under_way or run.status.state == "stopping":
            return False
        may_train = self.permissions.may("train", visitor)
        return may_train and self.permissions.may_cancel(run.session, visitor)

    def start_run(self, config: TrainConfig, stops: bool, request: Visitor) -> None:
        """Have a new run start once none is in its way, see `start`."""
        session = session_of(request)
        start = partial(self.runs.start, config, session)
        self.start(config.encoder.name, start, stops, request)

    def start(self, name: str, start: Callable[[], str], stops: bool, request: Visitor) -> None:
        """Have a run start once none is in its way.

        Args:
            name: of the run.
            start: starts it, and returns its id.
            stops: whether the run in the way is asked to stop.
            request: of the visitor who asks for it.
        """
        self.permissions.check("train", request)
        run_in_the_way = self.runs.under_way() if stops else ""
        if run_in_the_way:
            self.permissions.check_cancel(self.runs.get(run_in_the_way).session, request)
        self.runs.start_later(name, start, session_of(request))
        if run_in_the_way:
            # It may just have ended.
            with suppress(RunError):
                self.runs.stop(run_in_the_way)

    def take_back(self, request: Visitor) -> None:
        """Let the start that waits never happen, or close the message that it was refused."""
        self.permissions.check("train", request)
        waiting = self.runs.waiting
        if waiting is not None and waiting.is_waiting:
            self.permissions.check_cancel(waiting.session, request)
        self.runs.take_back_start()

    def view(self, visitor: Visitor) -> View:
        """Return what the page says of the start that waits, or was refused; nothing if there is none."""
        waiting = self.runs.waiting
        if waiting is None:
            return {}

        name = run_title(waiting.name)
        may_train = self.permissions.may("train", visitor)
        if waiting.error is not None:
            reason = FAILED
            if isinstance(waiting.error, Nt2vrError):
                reason = self.permissions.redactor(visitor)(str(waiting.error))
            text = f"{name} could not start. {reason}"
            return {"text": text, "is_refused": True, "button": "close" if may_train else ""}

        if not waiting.is_waiting:
            return {}

        may_take_back = may_train and self.permissions.may_cancel(waiting.session, visitor)
        run_id = self.runs.under_way()
        text = f"{name} starts now."
        if run_id:
            text = f"{name} starts after {short_name(run_id)}, if this app is still running then."
        return {
            "text": text,
            "is_refused": False,
            "button": "do not start" if may_take_back else "",
        }


class StartChoice:
    """The row that offers to stop the run in the way, or to start after it; hidden until there is one."""

    def __init__(self, elem_id: str) -> None:
        with gr.Row(
            visible=False, elem_id=elem_id, elem_classes="nt-next", equal_height=True
        ) as self.row:
            self.question = gr.Markdown()
            self.stop = gr.Button("Stop it and start", size="sm", elem_id=f"{elem_id}-stop")
            self.afterwards = gr.Button(
                "Start afterwards", size="sm", elem_id=f"{elem_id}-afterwards"
            )

    def offered(self, run: Run, may_stop: bool) -> Updates:
        """Return updates that offer what a visitor may do about the run in the way."""
        question = f"{short_name(run.run_id)} is training, and one run trains at a time."
        return {
            self.row: gr.Row(visible=True),
            self.question: question,
            self.stop: gr.Button(visible=may_stop),
        }

    def hidden(self) -> Updates:
        return {self.row: gr.Row(visible=False)}

    @property
    def outputs(self) -> Components:
        """The components that the updates are for."""
        return [self.row, self.question, self.stop]
