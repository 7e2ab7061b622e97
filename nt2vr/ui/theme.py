"""Theme of the page, its templates, and small parts that tabs share."""

import json
from collections.abc import Sequence
from typing import Any

import gradio as gr

from nt2vr.settings import ASSETS
from nt2vr.ui.view import Options, View

TEMPLATES = ASSETS / "ui"
# Scripts that the page loads once, in this order, after report-link, which makes `nt2vr`.
HEAD = ("storage", "stories", "search", "first", "evaluate", "library", "uploads", "boxes", "guess")
# Options of events that show their progress.
PRIVATE: Options = {"api_visibility": "private"}
QUIET: Options = {"show_progress": "hidden", **PRIVATE}

# Colours of style.css, which follow the theme.
SURFACES = {
    "body_text_color": "var(--nt-ink)",
    "border_color_primary": "var(--nt-line)",
    "block_background_fill": "var(--nt-paper)",
    "block_border_color": "var(--nt-line)",
    "block_title_text_color": "var(--nt-soft)",
    "block_label_background_fill": "var(--nt-paper)",
    "input_background_fill": "var(--nt-paper)",
    "input_border_color": "var(--nt-line)",
    "button_secondary_background_fill": "var(--nt-paper)",
    "button_secondary_background_fill_hover": "var(--nt-ground)",
    "button_secondary_border_color": "var(--nt-line)",
    "button_secondary_text_color": "var(--nt-ink)",
}


def build_theme() -> gr.themes.Base:
    """Return a theme with system fonts, as the page must work offline, and contrasts of 4.5 or more."""
    return gr.themes.Default(
        primary_hue="indigo",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        body_text_color_subdued="*neutral_600",
        block_info_text_color="*neutral_600",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_700",
        **{name + dark: value for name, value in SURFACES.items() for dark in ("", "_dark")},
        block_radius="var(--nt-round)",
        container_radius="var(--nt-round)",
        input_radius="8px",
        button_large_radius="var(--nt-round)",
        button_medium_radius="var(--nt-round)",
        button_small_radius="8px",
        button_large_text_weight="600",
        button_border_width="1px",
    )


def head_scripts(**constants: Any) -> str:
    """Return the scripts of the page's head, with the functions that events call, and constants for these."""
    # In a string of JSON, no "<" may end the script.
    values = json.dumps(constants).replace("<", "\\u003c")
    scripts = [_read_script("report-link"), f"Object.assign(nt2vr, {values});"]
    scripts += [_read_script(name) for name in HEAD]
    return "".join(f"<script>{text}</script>" for text in scripts)


def _read_script(name: str) -> str:
    return (TEMPLATES / f"{name}.js").read_text(encoding="utf-8")


def script(name: str, *constants: Any) -> str:
    """Return a call of the browser's function `nt2vr.name` with constants before an event's inputs."""
    return f"(...inputs) => nt2vr.{name}(...{json.dumps(constants)}, ...inputs)"


def template(name: str, value: View, *shared: str, elem_id: str = "") -> gr.HTML:
    """Build an HTML component from `name`.html, the `shared` scripts and `name`.js, if any; `name` is its default id.

    Templates insert values as {{value}}, which escapes them, never as ${value}; see
    `gradio_fixes.template_script`.
    """
    scripts = list(shared)
    if (TEMPLATES / f"{name}.js").is_file():
        scripts.append(name)
    return gr.HTML(
        value,
        html_template=(TEMPLATES / f"{name}.html").read_text(encoding="utf-8"),
        js_on_load="".join(map(_read_script, scripts)) or None,
        elem_id=elem_id or name,
    )


def lead(title: str, text: str) -> gr.HTML:
    """Build the heading of a form; its texts are taken as HTML."""
    return gr.HTML(f"<h3>{title}</h3><p>{text}</p>", elem_classes="nt-lead")


def fold(label: str, elem_id: str) -> gr.Accordion:
    """Build a closed accordion whose content is mounted from the start.

    With `open=False` Gradio mounts it on the first opening, and later writes the earlier values
    again: text typed in between is lost. It tests for exactly `false`, so 0 is closed and mounted.
    """
    return gr.Accordion(label, open=0, elem_id=elem_id)  # type: ignore[arg-type]


def menu(elem_id: str, label: str, choices: Sequence[Any], **options: Any) -> gr.Dropdown:
    return gr.Dropdown(choices, label=label, elem_id=elem_id, **options)


class Confirmation:
    """The row and its buttons, hidden until asked for: `prefix`-confirm, `prefix`-`action`-now and `prefix`-keep."""

    def __init__(self, prefix: str, action: str, question: str, answer: str) -> None:
        self._id = f"{prefix}-confirm"
        with gr.Row(
            visible=False, elem_id=self._id, elem_classes="nt-confirm", equal_height=True
        ) as self.row:
            self.question = gr.Markdown(question)
            self.yes = gr.Button(
                answer, variant="stop", size="sm", elem_id=f"{prefix}-{action}-now"
            )
            self.no = gr.Button("Keep it", size="sm", elem_id=f"{prefix}-keep")

    def asked_by(self, button: gr.Button, about: Any, left_by: Sequence[Any]) -> None:
        """Show the row on a click of the button; hide it on an answer, an event of `left_by`, or when `about` changes.

        `about` names what is open. The row stays while a tab is refreshed, so no late answer of the
        server removes it.
        """
        button.click(None, about, self.row, js=script("askAbout", self._id))
        about.change(None, about, self.row, js=script("dropUnlessAbout", self._id))
        for event in (self.yes.click, self.no.click, *left_by):
            event(None, None, self.row, js=script("show", False))
