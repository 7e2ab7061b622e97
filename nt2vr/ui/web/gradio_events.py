"""The functions of `Requests` as events for Gradio's clients."""

from collections.abc import Callable, Sequence
from pathlib import Path

import gradio as gr
from gradio.components import Component

from nt2vr.errors import MediaError
from nt2vr.files import JsonObject
from nt2vr.search.plan import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS
from nt2vr.search.references import DEFAULT_WEIGHT
from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.ui.web.api_types import SearchRequest, checked_request
from nt2vr.ui.web.gradio_fixes import unopened_picture
from nt2vr.ui.web.inputs import TOO_LARGE, is_too_large, is_upload
from nt2vr.ui.web.requests import Requests


def build_events(requests: Requests) -> gr.Row:
    """Offer /search, /systems and /evaluate to Gradio's clients; their names and inputs stay as they are.

    Return the row of their components, which no browser shows.
    """

    def search(
        query: str,
        systems: list[str],
        k: float,
        image: str | None,
        image_weight: float,
        alpha: float,
    ) -> JsonObject:
        """Search the gallery; return the query's wanted and unwanted parts and every system's ranked hits."""
        if image is not None and not is_upload(image):
            raise MediaError("There is no such picture among the uploaded files. Upload it again.")
        if image and is_too_large(image):
            raise MediaError(TOO_LARGE)
        values = {
            "query": query,
            "systems": systems,
            "k": k,
            "image_weight": image_weight,
            "alpha": alpha,
        }
        # JavaScript does not distinguish 8 from 8.0.
        request = checked_request(SearchRequest, values, strict=False)
        return requests.search(request, Path(image) if image else None)

    row: gr.Row
    with gr.Row(visible=False) as row:
        search_inputs = [
            gr.Textbox(label="query"),
            gr.JSON(list(DEFAULT_SYSTEMS), label="systems"),
            gr.Number(DEFAULT_K, label="k"),
            unopened_picture(label="Reference picture"),
            gr.Number(DEFAULT_WEIGHT, label="image_weight"),
            gr.Number(DEFAULT_ALPHA, label="alpha"),
        ]
        evaluate_inputs = [gr.Textbox("gallery", label="data"), gr.JSON(["CLIP"], label="systems")]
        _add_event("search", search, search_inputs)
        _add_event("systems", requests.systems, None)
        _add_event("evaluate", requests.evaluate, evaluate_inputs)
    return row


def _add_event(
    name: str, handler: Callable[..., object], inputs: Sequence[Component] | None
) -> None:
    """Offer a function as an event of a button that nobody sees."""
    gr.Button().click(handler, inputs, gr.JSON(), api_name=name, concurrency_limit=CONCURRENT)
