"""Examples of covr on the Search tab: a clip of the built-in gallery plus a text."""

from urllib.parse import urlencode

import gradio as gr

from nt2vr.search.searcher import Searcher
from nt2vr.ui.library.media import Media
from nt2vr.ui.theme import template

PICTURE_EXAMPLES = (  # clip and text; in each, the fusion finds more than a mean of picture and sentence
    ("7a5f6ffed9", "without the bird"),
    ("1d11261277", "without the bear"),
    ("21ee816405", "without the woman"),
    ("e5817d7977", "without the boy"),
)
PICTURE_SYSTEMS = ("CLIP", "CLIP fusion", "CLIP parts")  # the stage and phones show the first two


def lay_out_picture_examples(searcher: Searcher, media: Media) -> gr.HTML:
    """Build the examples; its event `open` has a `link`."""
    examples = []
    for clip, text in PICTURE_EXAMPLES:
        video = searcher.video(clip)
        link = urlencode({"q": text, "like": clip, "systems": "|".join(PICTURE_SYSTEMS)})
        name = f"Like “{next(iter(video.captions), clip)}”, {text}"
        examples.append({"link": link, "text": text, "name": name, "src": media.urls("", video)["src"]})
    return template("picture-examples", {"examples": examples})
