"""A Gradio app that does nothing, with as many events as the page: `python -m benchmarks.trivial_app PORT [ANSWER]`.

The cost of answering one of its events is the part of Gradio itself in answering a search. The app
repeats a text, or returns a recorded answer of the page: a JSON file with a list of template values.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

EVENTS = 98


def build(values: list[dict[str, Any]]) -> gr.Blocks:
    """Build the page: a text box, and buttons that repeat its text, or return these values."""
    page: gr.Blocks
    answer: Callable[[str], Any] = str
    with gr.Blocks(analytics_enabled=False) as page:
        query = gr.Textbox("", elem_id="query")
        outputs: list[Any] = [gr.Textbox("")]
        if values:
            outputs = [gr.HTML({}, html_template="") for _ in values]
            answer = lambda _: values  # noqa: E731
        for number in range(EVENTS):
            button = gr.Button("Search", elem_id="search-button" if number == 0 else None)
            button.click(answer, query, outputs, api_visibility="private", concurrency_limit=None)
    return page


if __name__ == "__main__":
    port, *answers = sys.argv[1:]
    recorded = [json.loads(Path(file).read_text(encoding="utf-8")) for file in answers]
    build(recorded[0] if recorded else []).launch(server_port=int(port), quiet=True)
