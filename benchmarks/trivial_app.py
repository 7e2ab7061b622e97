"""A Gradio app that does nothing, with as many events as the page: `python -m benchmarks.trivial_app PORT`.

What it costs to answer one of its events is Gradio's own part of answering a search.
"""

import sys

import gradio as gr

EVENTS = 98


def build() -> gr.Blocks:
    """Build the page: a text box whose search repeats the query, and buttons that do the same."""
    page: gr.Blocks
    with gr.Blocks(analytics_enabled=False) as page:
        query = gr.Textbox("", elem_id="query")
        answer = gr.Textbox("")
        buttons = [
            gr.Button("Search", elem_id="search-button" if number == 0 else None)
            for number in range(EVENTS)
        ]
        for button in buttons:
            button.click(str, query, answer, api_visibility="private", concurrency_limit=None)
    return page


if __name__ == "__main__":
    build().launch(server_port=int(sys.argv[1]), quiet=True)
