"""Breakdown below an open report: its components and event."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from nt2vr.evaluation.reports.report import Report
from nt2vr.ui.evaluate.breakdown_view import HARD_PAIRS, breakdown_view, measure_choices
from nt2vr.ui.theme import QUIET, fold, template

SYSTEMS = ("first", "second")  # of the list of queries


class BreakdownPanel:
    """Which metric is broken down, and the groups; folded."""

    def __init__(self) -> None:
        label = "Breakdown: where the two systems differ by more than noise"
        with fold(label, elem_id="evaluate-breakdowns") as self.fold:
            self.measure = gr.Dropdown([HARD_PAIRS], value=HARD_PAIRS, label="Measure", elem_id="evaluate-measure")
            self.groups = template("evaluate-breakdown", {})

    def wire(self, load: Callable[[str, Sequence[str]], Report], report: gr.HTML, queries: gr.HTML) -> None:
        """Follow the open report and the two systems whose queries are listed; `load` opens a report by its id."""

        def on_change(shown: dict[str, Any], listed: dict[str, Any], key: str) -> list[Any]:
            """Break the chosen metric down, or another one if the systems have not both."""
            report_id, first, second = (str(each) for each in (shown.get("id", ""), *map(listed.get, SYSTEMS)))
            if not report_id:
                return [gr.skip(), {}]
            opened = load(report_id, (first, second))
            choices = measure_choices(opened, first, second)
            keys = [key for _, key in choices]
            if not keys:
                return [gr.skip(), {}]
            key = key if key in keys else keys[0]
            return [gr.Dropdown(choices, value=key), breakdown_view(opened, first, second, key)]

        gr.on(
            (queries.change, self.measure.input),
            on_change,
            [report, queries, self.measure],
            [self.measure, self.groups],
            js="nt2vr.brief",
            trigger_mode="always_last",
            **QUIET,
        )
