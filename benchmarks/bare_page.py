"""A Gradio page that only shows: a text box and eight pictures of the gallery: `python -m benchmarks.bare_page PORT`.

The time until its pictures are shown is the part of Gradio itself in showing the first clips.
"""

import sys

import gradio as gr

from nt2vr.settings import ASSETS

PICTURES = 8


def build() -> gr.Blocks:
    """Build the page; its pictures are posters of the gallery's first clips."""
    page: gr.Blocks
    posters = sorted((ASSETS / "gallery" / "clips").glob("*.webp"))[:PICTURES]
    with gr.Blocks(analytics_enabled=False) as page:
        gr.Textbox("", elem_id="query")
        with gr.Row():
            for poster in posters:
                gr.Image(str(poster), width=150, height=150, min_width=120, buttons=[])
    return page


if __name__ == "__main__":
    build().launch(server_port=int(sys.argv[1]), quiet=True)
