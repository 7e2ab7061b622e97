"""The closing slide of the stage: what the main systems achieve, and the address of the page as a QR code."""

from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

import gradio as gr
import segno

from nt2vr.evaluation.ready_report import ready_report
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.roles import REFERENCE
from nt2vr.evaluation.tables import lines_of, named_columns
from nt2vr.settings import is_loopback
from nt2vr.ui.evaluate.figures import best_system, written
from nt2vr.ui.evaluate.findings import findings_of
from nt2vr.ui.theme import QUIET, template
from nt2vr.ui.view import View, Views
from nt2vr.ui.web.inputs import event_text

MAX_ADDRESS_CHARS = 300
# Around the code, in its squares; those who look at it from afar need a margin.
CODE_MARGIN = 3


@dataclass
class ClosingSlide:
    """The slide, which is empty until it is shown.

    Its figures are those of the report that comes with the app.
    """

    public_address: str

    def build(self) -> None:
        slide = template("closing", {})
        slide.show(self.on_show, slide, slide, **QUIET)

    def on_show(self, shown: View, event: gr.EventData) -> View:
        """Add the figures, and the address by which others can open the page."""
        address = event_text(event, "address")
        if not is_public(address):
            address = self.public_address
        return {**shown, **_ready_figures(), **code_view(address)}


@cache
def _ready_figures() -> View:
    return figures_view(ready_report())


def figures_view(report: Report) -> View:
    """Show a line per system, with the figures of what the report says first."""
    systems = [line for line in lines_of(report) if line.role != REFERENCE]
    rows: Views = [{"system": line.name, "role": line.role, "cells": []} for line in systems]
    measures = []
    for measure in findings_of(report):
        measures.append({"title": measure.title, "scale": measure.scale})
        _, column = named_columns(report)[measure.key]
        best = best_system(report, systems, column)
        for line, row in zip(systems, rows, strict=True):
            figure = written(column, line.metrics.get(measure.key))
            # It is marked where it is clearly the best.
            row["cells"].append({"text": figure, "best": line.name == best})
    return {
        "about": f"{report.name}: {len(report.queries):,} queries, {len(report.video_ids):,} clips",
        "measures": measures,
        "rows": rows,
    }


def code_view(address: str) -> View:
    """Show an address and its QR code; nothing if others cannot open it."""
    if not is_public(address):
        return {}
    code = segno.make(address, error="m", micro=False)
    picture = code.svg_data_uri(border=CODE_MARGIN, light="#fff")
    return {"address": address, "code": picture}


def is_public(address: str) -> bool:
    """Return whether an address leads to this page from other machines, too."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    is_of_web = parts.scheme in ("http", "https") and len(address) <= MAX_ADDRESS_CHARS
    return is_of_web and bool(parts.hostname) and not is_loopback(parts.hostname or "")
