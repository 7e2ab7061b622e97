"""The open report: its name, sentences, chart and tables."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.evaluation.archive import Archive
from nt2vr.ui.evaluate.report_view import report_view
from nt2vr.ui.theme import Confirmation, script, template
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Updates

NAME = "Name of this report"


@dataclass
class ReportPanel:
    """The open report; lay it out within a column of its own."""

    archive: Archive

    def build(self) -> None:
        with gr.Row(elem_id="evaluate-buttons"):
            self.rename = gr.Button("Rename", elem_id="evaluate-rename", size="sm", min_width=90)
            self.delete = gr.Button("Delete", elem_id="evaluate-delete", size="sm", min_width=90)
        self.confirm = Confirmation(
            prefix="evaluate",
            action="delete",
            question="Delete this report permanently?",
            answer="Delete",
        )
        with gr.Row(
            visible=False, elem_id="evaluate-naming", elem_classes="nt-confirm nt-naming"
        ) as self._naming:
            self.name = gr.Textbox(
                placeholder=NAME,
                label=NAME,
                elem_id="evaluate-name",
                container=False,
                show_label=False,
                max_lines=1,
            )
            self._save_name = gr.Button("Save", size="sm", elem_id="evaluate-save-name")
        self.problem = problem_place("report-problem")
        self.report = template("evaluate-report", {})

    def wire_name(self, chosen: Any) -> list[Any]:
        """Show the box of the name when it is asked for; return the events after which it is saved."""
        saved = [self._save_name.click, self.name.submit]
        self.rename.click(None, None, self._naming, js=script("show", True))
        gr.on([*saved, chosen.change], None, None, self._naming, js=script("show", False))
        return saved

    def show(self, report_id: str) -> Updates:
        report = self.archive.load(report_id)
        names = {entry.report_id: entry.name for entry in self.archive.entries()}
        files = self.archive.files(report_id)
        return {self.report: report_view(report, report_id, files, names.get(report_id, ""))}
