"""Queries to begin with, and the line about the gallery at the page's head."""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from nt2vr.errors import counted
from nt2vr.library.galleries import Galleries
from nt2vr.media.gallery import Gallery, Video
from nt2vr.models.catalog import Catalog
from nt2vr.negation.generate.changes import changed
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import STRATEGIES, System
from nt2vr.ui.library.media import Media
from nt2vr.ui.theme import template
from nt2vr.ui.web.permissions import Visitor, as_visitor_may_read
from nt2vr.world.offers import story_queries

EXAMPLES = ("a dog but no cat", "not dancing", "any vehicle except a car", "kitty without a doggy")
GENERIC = (
    "a person, no car",
    "a room without people",
    "outdoors, but no animals",
    "not at night",
)  # for any videos
LOOKED_AT = 500  # clips of a library, spread over it
MOST_OWN, MOST_DRAWN = 4, 40  # examples of a library's own, and captions that one is drawn from
MAX_CHARS = 60  # of an example
CAMERA = re.compile(  # words of names that cameras, phones and programs give
    r"img|vid|mov|mvi|dsc[fn]?|pxl|gopr|dji|whatsapp|videos?|images?|clips?|films?|movies?|screen|recordings?|screenshot|"
    r"untitled|copy|final|edit(ed)?|part|scene|take|cam(era)?|audio|fps|uhd|test|sample|preview"
)
SPLIT, WORD, VOWEL = (
    re.compile(r"[\W_]+"),
    re.compile(r"([^\W\d_]+)\d*"),
    re.compile(r"[aeiouy]|[^\x00-\x7f]"),
)


def status_line(galleries: Galleries, key: str = "", visitor: Visitor = None) -> str:
    """Return the page's head: brand on the left; on the right the gallery, and at first the start-up's progress."""
    searcher, built_in = galleries.searcher(key), galleries.built_in
    name, about = "built-in world", as_visitor_may_read(built_in.status, visitor)
    if searcher.is_library:
        name = searcher.gallery.name
        about = counted(len(searcher.gallery.videos), "clip") if built_in.is_ready else about
    return (
        '<a class="nt-skip" href="#columns" data-skip>To the clips</a>'
        f'<div class="nt-head"><h1 class="nt-brand"><s>n</s>T2VR</h1>'
        '<span class="nt-asks">Say what you do not want. Does the model listen?</span>'
        f'<span class="nt-status" role="status">{html.escape(f"{name} · {about}")}</span></div>'
    )


def examples_view(searcher: Searcher) -> dict[str, Any]:
    """Offer queries for a gallery, and those that "Surprise me" draws from: stories in the built-in one."""
    if not searcher.is_library:
        return {"examples": list(EXAMPLES), "drawn": story_queries(), "own": False}
    captions = list(islice(_captions(searcher.gallery), MOST_DRAWN))
    return {"examples": own_examples(searcher.gallery), "drawn": captions, "own": True}


def own_examples(gallery: Gallery) -> list[str]:
    """Return queries for a library: captions, one of them negated, or what its files are called, or general ones."""
    captions = list(islice(_captions(gallery), MOST_OWN))
    if captions:
        negated = next(filter(None, (changed(caption, "negate", ()) for caption in captions)), "")
        return [*filter(None, (captions[0], negated)), *captions[1 : MOST_OWN - 1]]
    return [*islice(dict.fromkeys(_named(gallery)), MOST_OWN - 2), *GENERIC][:MOST_OWN]


def _captions(gallery: Gallery) -> Iterator[str]:
    """Yield captions that are short enough, one of a clip."""
    texts = (min(video.captions, key=len) for video in _spread(gallery) if video.captions)
    return iter(dict.fromkeys(text for text in texts if len(text) <= MAX_CHARS))


def _named(gallery: Gallery) -> Iterator[str]:
    """Yield the words of files' names, if one can be said, without what cameras write: "beach sunset"."""
    for video in _spread(gallery):
        found = (WORD.fullmatch(part) for part in SPLIT.split(video.path.stem.lower()))
        words = [match[1] for match in found if match and not CAMERA.fullmatch(match[1])]
        if len(" ".join(words)) <= MAX_CHARS and any(
            len(word) > 2 and VOWEL.search(word) for word in words
        ):
            yield " ".join(words)


def _spread(gallery: Gallery) -> Sequence[Video]:
    return gallery.videos[:: max(1, len(gallery.videos) // LOOKED_AT)]


PICTURE_EXAMPLES = (  # clip and text; in each, CLIP's composer finds more than a mean of picture and sentence
    ("7a5f6ffed9", "without the bird"),
    ("1d11261277", "without the bear"),
    ("21ee816405", "without the woman"),
    ("e5817d7977", "without the boy"),
)
PICTURE_MODEL = "CLIP"


def picture_systems(models: Catalog) -> list[str]:
    """List the systems of the examples: the stage and phones show the first two, of which the second has learnt it."""
    composers = models.find(PICTURE_MODEL).composers
    learnt = [name for name, strategy in STRATEGIES.items() if strategy.composer in composers]
    return [System(PICTURE_MODEL, strategy).name for strategy in ("plain", *learnt, "parts")]


def lay_out_picture_examples(searcher: Searcher, media: Media) -> gr.HTML:
    """Build the examples; its event `open` has a `link`."""
    examples = []
    systems = "|".join(picture_systems(searcher.models))
    for clip, text in PICTURE_EXAMPLES:
        video = searcher.video(clip)
        link = urlencode({"q": text, "like": clip, "systems": systems})
        name = f"Like “{next(iter(video.captions), clip)}”, {text}"
        examples.append(
            {"link": link, "text": text, "name": name, "src": media.urls("", video)["src"]}
        )
    return template("picture-examples", {"examples": examples})
