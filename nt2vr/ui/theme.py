"""The look: a Gradio theme without web fonts, the style sheet, and the page's own templates."""

from pathlib import Path
from typing import Any

import gradio as gr


def build_theme() -> gr.themes.Base:
    """Return the theme; system fonts, because the page must not need a network."""
    return gr.themes.Default(
        primary_hue="blue",
        neutral_hue="slate",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def template(folder: Path, name: str, value: dict[str, Any], **options: Any) -> gr.HTML:
    """Build an HTML component from `name`.html and, where there is one, `name`.js.

    Templates write values as {{value}}, which escapes them, never as ${value}, which does not.
    """
    script = folder / f"{name}.js"
    return gr.HTML(
        value,
        html_template=(folder / f"{name}.html").read_text(encoding="utf-8"),
        js_on_load=script.read_text(encoding="utf-8") if script.is_file() else None,
        elem_id=name,
        **options,
    )
