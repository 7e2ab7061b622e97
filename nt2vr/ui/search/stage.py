"""Stage mode, for talks: its template and stories, searches with a speaker's note."""

import json
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.ui.theme import template


def built_in_stories(templates: Path) -> list[dict[str, Any]]:
    """Read the stories that the app ships: `query`, `systems`, `k` and `note` each."""
    stories: list[dict[str, Any]] = json.loads((templates / "stories.json").read_text(encoding="utf-8"))
    return stories


def lay_out_stage(templates: Path) -> gr.HTML:
    """Build the stage, hidden until it is entered."""
    return template(templates, "stage", {"stories": built_in_stories(templates)})
