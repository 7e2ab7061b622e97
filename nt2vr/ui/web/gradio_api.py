"""Gradio API endpoints with stable names and signatures. Earlier clients go on working."""

from typing import Any

import gradio as gr

from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.ui.evaluate.tab import EvaluateTab
from nt2vr.ui.search.link import DEFAULT_K, DEFAULT_SYSTEMS, DEFAULT_WEIGHT
from nt2vr.ui.search.tab import CONCURRENT, SearchTab
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.picture import reference_picture
from nt2vr.ui.web.routes import checked_request, search_gallery


def build_api(tab: SearchTab, evaluate_tab: EvaluateTab) -> None:
    """Offer /search, /systems and /evaluate, with inputs of their own, because those of the page allow less."""

    @user_errors
    def search(
        query: str, systems: list[str], k: float, image: str | None, image_weight: float, alpha: float
    ) -> dict[str, Any]:
        """Search the gallery; return the query's wanted and unwanted parts and every system's ranked hits."""
        count = int(k) if k == int(k) else k  # pages and clients do not distinguish 8 from 8.0
        values = {"query": query, "systems": systems, "k": count, "image_weight": image_weight, "alpha": alpha}
        return search_gallery(tab, checked_request(values), image)

    @user_errors
    def evaluate(data: str, systems: list[str], request: gr.Request) -> dict[str, Any]:
        """Evaluate systems and their controls on "world" or "gallery"; return the report's numbers."""
        checked_request({"systems": systems})
        return evaluate_tab.evaluate(data, systems, request)

    with gr.Row(visible=False):
        inputs = [
            gr.Textbox(label="query"),
            gr.JSON(list(DEFAULT_SYSTEMS), label="systems"),
            gr.Number(DEFAULT_K, label="k"),
            reference_picture(),
            gr.Number(DEFAULT_WEIGHT, label="image_weight"),
            gr.Number(DEFAULT_ALPHA, label="alpha"),
        ]
        answer, names = gr.JSON(), gr.JSON()
        data, evaluated_systems = gr.Textbox("gallery", label="data"), gr.JSON(["CLIP"], label="systems")
        report = gr.JSON()
        gr.Button().click(search, inputs, answer, api_name="search", concurrency_limit=CONCURRENT)
        gr.Button().click(
            tab.galleries.built_in.system_names, None, names, api_name="systems", concurrency_limit=CONCURRENT
        )
        gr.Button().click(
            evaluate, [data, evaluated_systems], report, api_name="evaluate", concurrency_limit=CONCURRENT
        )
