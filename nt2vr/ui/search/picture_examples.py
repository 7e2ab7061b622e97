"""Examples of covr on the Search tab: a clip of the built-in gallery plus a text."""

from typing import Any
from urllib.parse import urlencode

import gradio as gr

from nt2vr.errors import Nt2vrError
from nt2vr.search.searcher import Searcher
from nt2vr.ui.library.media import Media
from nt2vr.ui.theme import template

PICTURE_EXAMPLES = (  # clip and text; in each, the fusion finds more than a mean of picture and sentence
    ("7a5f6ffed9", "without the bird"),
    ("1d11261277", "without the bear"),
    ("21ee816405", "without the woman"),
    ("e5817d7977", "without the boy"),
)
PICTURE_SYSTEMS = ("CLIP", "CLIP fusion", "CLIP parts", "CLIP slerp")  # the stage and phones show the first two


def lay_out_picture_examples(searcher: Searcher, media: Media) -> gr.HTML:
    """Build the examples; its event `open` has a `link`."""
    shown = [shown for clip, text in PICTURE_EXAMPLES if (shown := _shown(clip, text, searcher, media))]
    return template("picture-examples", {"examples": shown})


def _shown(clip: str, text: str, searcher: Searcher, media: Media) -> dict[str, Any]:
    """Show an example; empty if the gallery lacks its clip."""
    try:
        video = searcher.video(clip)
    except Nt2vrError:
        return {}
    link = urlencode({"q": text, "like": clip, "systems": "|".join(PICTURE_SYSTEMS)})
    name = f"Like “{next(iter(video.captions), clip)}”, {text}"
    return {"link": link, "text": text, "name": name, "src": media.urls("", video)["src"]}
