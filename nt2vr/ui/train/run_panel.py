"""The open run: its progress, plots and log, and what can be done about it."""

from dataclasses import dataclass

import gradio as gr

from nt2vr.models.catalog import Catalog
from nt2vr.ui.theme import Confirmation, menu, template
from nt2vr.ui.train.plots import RunMetrics, plots_view
from nt2vr.ui.train.view import Runs, comparable, lower_rate_label, run_view
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components, Updates
from nt2vr.ui.web.permissions import Permissions, Visitor
from trainer.runs.manager import Run, RunManager

# Runs in the plots of another: more lines are hard to tell apart.
MAX_BESIDE = 4


@dataclass
class RunPanel:
    """The open run, in a column of its own."""

    manager: RunManager
    models: Catalog
    permissions: Permissions

    def build(self) -> None:
        with gr.Column(visible=False, elem_id="train-watch") as self.column:
            with gr.Row(elem_id="train-buttons"):
                self.stop = gr.Button("Stop", elem_id="train-stop", size="sm", min_width=90)
                self.resume = gr.Button("Resume", elem_id="train-resume", size="sm", min_width=90)
                self.delete = gr.Button("Delete", elem_id="train-delete", size="sm", min_width=90)
            self.confirm = Confirmation(
                prefix="train",
                action="delete",
                question="Move this run, with all its checkpoints, to the trash?",
                answer="Move to trash",
            )
            self.problem = problem_place("run-problem")
            self.run = template("train-run", {}, "pick")
            self.resume_lower = gr.Button(
                "Resume",
                elem_id="train-resume-lower",
                visible=False,
                variant="primary",
                size="sm",
            )
            self.beside = menu(
                "train-beside",
                label="Compare its curves with",
                choices=[],
                value=[],
                multiselect=True,
                max_choices=MAX_BESIDE,
                visible=False,
            )
            self._plots = template("train-plots", {})
            self._log = template("train-log", {})

    @property
    def shown(self) -> Components:
        """The components that `show` updates."""
        buttons = [self.stop, self.resume, self.resume_lower, self.delete]
        return [self.run, self._plots, self._log, *buttons]

    def open(self, runs: Runs, run: Run | None) -> Updates:
        """Show the panel if a run is open, and offer the other runs for its plots."""
        choices = comparable(runs, run)
        beside = gr.Dropdown(choices=choices, value=[], multiselect=True, visible=bool(choices))
        return {self.column: gr.Column(visible=run is not None), self.beside: beside}

    def show_nothing(self) -> Updates:
        return {self.run: {}, self._plots: {}, self._log: {}}

    def show(self, run: Run, compared: Runs, visitor: Visitor) -> Updates:
        """Show what changes during a run; the curves of `compared` are laid over its own."""
        manager = self.manager
        metrics, *beside = [
            RunMetrics(shown_run, manager.metrics(shown_run.run_id))
            for shown_run in (run, *compared)
        ]
        # The log names files.
        may_train = self.permissions.may("train", visitor)
        log = manager.log_tail(run.run_id) if may_train else ""
        view = run_view(
            run,
            self.permissions.redactor(visitor),
            metrics.rows,
            system=self.models.name_of_run(manager.folder / run.run_id),
            base=_base_of(run, self.models),
            may_evaluate=self._may_evaluate(run, visitor),
        )
        return {
            self.run: view,
            self._plots: plots_view(metrics, beside),
            self._log: {"text": log},
            **self._buttons(run, visitor),
        }

    def _buttons(self, run: Run, visitor: Visitor) -> Updates:
        """Enable what this visitor may do about a run in its state."""
        permissions = self.permissions
        may_train = permissions.may("train", visitor)
        may_stop = may_train and permissions.may_cancel(run.session, visitor)
        may_delete = permissions.may("delete", visitor)
        can_stop = run.is_under_way and (run.status.state != "stopping" or run.may_end_at_once)
        stop = "End now" if run.may_end_at_once else "Stop"
        return {
            self.stop: gr.Button(stop, interactive=may_stop and can_stop),
            self.resume: gr.Button(interactive=may_train and run.can_resume),
            self.resume_lower: gr.Button(
                lower_rate_label(run), interactive=may_train, visible=run.lower_rate is not None
            ),
            self.delete: gr.Button(interactive=may_delete and not run.is_under_way),
        }

    def _may_evaluate(self, run: Run, visitor: Visitor) -> bool:
        config = run.config
        if config is not None:
            if not config.encoder.trains_towers:
                return False
            if config.dataset.is_world:
                return True
        return self.permissions.may("paths", visitor)


def _base_of(run: Run, models: Catalog) -> str:
    """Return the name in Search of the model that a run started from; "" if it has none there."""
    folder = run.config.encoder.base_folder if run.config else None
    if folder is None:
        return ""
    for name, entry in models.entries().items():
        if folder.resolve() in [path.resolve() for path in entry.folders]:
            return name
    return ""
