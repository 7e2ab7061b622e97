"""Gradio's API endpoints; their names and signatures stay the same for existing clients."""

from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.search.references import DEFAULT_WEIGHT, Reference
from nt2vr.search.searcher import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS
from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.ui.web.evaluations import start_evaluation
from nt2vr.ui.web.gradio_fixes import reference_picture
from nt2vr.ui.web.permissions import Permissions
from nt2vr.ui.web.routes import checked_request, search_gallery
from nt2vr.ui.web.schema import SearchRequest


def build_api(galleries: Galleries, decoder: Decoder, evaluations: Evaluations, permissions: Permissions) -> None:
    """Offer /search, /systems and /evaluate with hidden inputs, which allow more than those of the page."""

    def search(
        query: str, systems: list[str], k: float, image: str | None, image_weight: float, alpha: float
    ) -> dict[str, Any]:
        """Search the gallery; return the query's wanted and unwanted parts and every system's ranked hits."""
        count = int(k) if k == int(k) else k  # JavaScript does not distinguish 8 from 8.0
        values = {"query": query, "systems": systems, "k": count, "image_weight": image_weight, "alpha": alpha}
        asked = checked_request(SearchRequest, values)
        picture = [] if image is None else [Reference((decoder.picture(Path(image)),), weight=asked.image_weight)]
        return search_gallery(galleries, asked, picture)

    def evaluate(data: str, systems: list[str], request: gr.Request) -> dict[str, Any]:
        """Evaluate systems and their controls on "world" or "gallery"; return the report's numbers."""
        checked_request(SearchRequest, {"systems": systems})
        job = start_evaluation(evaluations, permissions, request, data, systems).result()
        if not job.result:
            raise ConfigError(job.error or "The evaluation was cancelled on the page. Start it again.")
        return evaluations.archive.summary(job.result)

    with gr.Row(visible=False):
        asked = [
            gr.Textbox(label="query"),
            gr.JSON(list(DEFAULT_SYSTEMS), label="systems"),
            gr.Number(DEFAULT_K, label="k"),
            reference_picture(),
            gr.Number(DEFAULT_WEIGHT, label="image_weight"),
            gr.Number(DEFAULT_ALPHA, label="alpha"),
        ]
        evaluated = [gr.Textbox("gallery", label="data"), gr.JSON(["CLIP"], label="systems")]
        systems = galleries.built_in.system_names
        endpoints = {"search": (search, asked), "systems": (systems, None), "evaluate": (evaluate, evaluated)}
        for name, (handler, inputs) in endpoints.items():
            gr.Button().click(handler, inputs, gr.JSON(), api_name=name, concurrency_limit=CONCURRENT)
