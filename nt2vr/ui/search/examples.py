"""Queries to begin with, and the line about the gallery at the page's head."""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import islice
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
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Visitor, as_visitor_may_read
from nt2vr.world.offers import story_queries

EXAMPLES = ("a dog but no cat", "not dancing", "any vehicle except a car", "kitty without a doggy")
# For any videos.
GENERIC = (
    "a person, no car",
    "a room without people",
    "outdoors, but no animals",
    "not at night",
)
# Clips of a library that are looked at, spread over it.
MAX_LOOKED_AT = 500
# Examples that are made of a library.
MAX_OWN = 4
# Captions of a library that "Surprise me" draws from.
MAX_DRAWN = 40
# Length of an example.
MAX_CHARS = 60
# Words in the names that cameras, phones and programs give to files.
CAMERA = re.compile(
    r"img|vid|mov|mvi|dsc[fn]?|pxl|gopr|dji|whatsapp|videos?|images?|clips?|films?|movies?|screen|recordings?|screenshot|"
    r"untitled|copy|final|edit(ed)?|part|scene|take|cam(era)?|audio|fps|uhd|test|sample|preview"
)
SPLIT = re.compile(r"[\W_]+")
WORD = re.compile(r"([^\W\d_]+)\d*")
VOWEL = re.compile(r"[aeiouy]|[^\x00-\x7f]")


def status_line(galleries: Galleries, key: str = "", visitor: Visitor = None) -> str:
    """Return the page's head: brand on the left; on the right the gallery, and at first the start-up's progress."""
    searcher = galleries.searcher(key)
    name = searcher.gallery.name if searcher.is_library else "built-in world"
    about = as_visitor_may_read(galleries.built_in.status, visitor)
    if searcher.is_library and galleries.built_in.is_ready:
        about = counted(len(searcher.gallery.videos), "clip")
    return (
        '<a class="nt-skip" href="#columns" data-skip>To the clips</a>'
        f'<div class="nt-head"><h1 class="nt-brand"><s>n</s>T2VR</h1>'
        '<span class="nt-asks">Say what you do not want. Does the model listen?</span>'
        f'<span class="nt-status" role="status">{html.escape(f"{name} · {about}")}</span></div>'
    )


def examples_view(searcher: Searcher) -> View:
    """Offer queries for a gallery, and those that "Surprise me" draws from: stories in the built-in one."""
    if not searcher.is_library:
        return {"examples": EXAMPLES, "surprises": story_queries(), "is_library": False}
    surprises = _captions(searcher.gallery, MAX_DRAWN)
    return {
        "examples": own_examples(searcher.gallery),
        "surprises": surprises,
        "is_library": True,
    }


def own_examples(gallery: Gallery) -> list[str]:
    """Return queries for a library: captions, one of them negated, or what its files are called, or general ones."""
    captions = _captions(gallery, MAX_OWN)
    if not captions:
        names = dict.fromkeys(_file_names(gallery))
        return [*islice(names, MAX_OWN - 2), *GENERIC][:MAX_OWN]
    first, *later = captions
    negated = (changed(caption, "negate", ()) for caption in captions)
    first_negated = next(filter(None, negated), "")
    examples = (first, first_negated, *later[: MAX_OWN - 2])
    return list(filter(None, examples))


def _captions(gallery: Gallery, most: int) -> list[str]:
    """Return captions that are short enough, one of a clip."""
    texts = [min(video.captions, key=len) for video in _spread(gallery) if video.captions]
    captions = dict.fromkeys(text for text in texts if len(text) <= MAX_CHARS)
    return list(captions)[:most]


def _file_names(gallery: Gallery) -> Iterator[str]:
    """Yield the words of files' names, if one can be said, without what cameras write: "beach sunset"."""
    for video in _spread(gallery):
        words = []
        for part in SPLIT.split(video.path.stem.lower()):
            match = WORD.fullmatch(part)
            if match and not CAMERA.fullmatch(match[1]):
                words.append(match[1])
        name = " ".join(words)
        has_spoken_word = any(len(word) > 2 and VOWEL.search(word) for word in words)
        if has_spoken_word and len(name) <= MAX_CHARS:
            yield name


def _spread(gallery: Gallery) -> Sequence[Video]:
    return gallery.videos[:: max(1, len(gallery.videos) // MAX_LOOKED_AT)]


# Clips and texts; for each, CLIP's composer finds more than a mean of picture and sentence.
PICTURE_EXAMPLES = (
    ("7a5f6ffed9", "without the bird"),
    ("1d11261277", "without the bear"),
    ("21ee816405", "without the woman"),
    ("e5817d7977", "without the boy"),
)
PICTURE_MODEL = "CLIP"


def picture_systems(models: Catalog) -> list[str]:
    """List the systems of the examples; the stage and phones show the first two: the sentence, and a composer."""
    composers = models.find(PICTURE_MODEL).composers
    composing = [name for name, strategy in STRATEGIES.items() if strategy.composer in composers]
    strategies = ("plain", *composing, "parts")
    return [System(PICTURE_MODEL, strategy).name for strategy in strategies]


def lay_out_picture_examples(searcher: Searcher, media: Media) -> gr.HTML:
    """Build the examples; its event `open` has a `link`."""
    systems = "|".join(picture_systems(searcher.models))
    examples = []
    for clip, text in PICTURE_EXAMPLES:
        video = searcher.video(clip)
        caption = next(iter(video.captions), clip)
        examples.append(
            {
                "link": urlencode({"q": text, "like": clip, "systems": systems}),
                "text": text,
                "name": f"Like “{caption}”, {text}",
                "src": media.urls("", video)["src"],
            }
        )
    return template("picture-examples", {"examples": examples})
