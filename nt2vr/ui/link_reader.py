"""Resolves a link against the galleries and models at hand."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import Nt2vrError
from nt2vr.media.decode import Decoder
from nt2vr.search.galleries import Galleries
from nt2vr.ui.link import read_link
from nt2vr.ui.media import Media
from nt2vr.ui.search_layout import gallery_choices, system_choices

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Opened:
    """A link resolved.

    Attributes:
        values: one per default of a link; the gallery exists.
        galleries: to choose from.
        systems: to choose from, with those of the link.
        picture: of the clip that the link is "like", if any.
    """

    values: dict[str, Any]
    galleries: list[tuple[str, str]]
    systems: list[tuple[str, str]]
    picture: Picture | None


@dataclass(frozen=True)
class LinkReader:
    """Resolves links.

    Attributes:
        galleries: a link names one of them, models and clips.
        media: has stills of libraries' clips.
        decoder: decodes clips of the built-in gallery.
    """

    galleries: Galleries
    media: Media
    decoder: Decoder

    def open(self, link: Mapping[str, str]) -> Opened:
        """Resolve a link; where its gallery is gone, say so and take the built-in one."""
        names = self.galleries.built_in.system_names(link.get("systems", "").split("|"))
        values = read_link(link, names)
        values["gallery"] = self._gallery(values["gallery"])
        picture = None
        try:
            picture = self.middle_frame(values["gallery"], values["like"]) if values["like"] else None
        except Nt2vrError:
            values["like"] = ""
        return Opened(values, gallery_choices(self.galleries), system_choices(names), picture)

    def middle_frame(self, gallery: str, video_id: str) -> Picture:
        """Return a clip's middle frame."""
        video = self.galleries.searcher(gallery).video(video_id)
        if gallery:
            return self.decoder.picture(self.media.still(gallery, video))
        frames = self.decoder.frames(video.path, 1, None).result()
        return np.asarray(frames[0], np.uint8)

    def _gallery(self, name: str) -> str:
        try:
            return self.galleries.key(name)
        except Nt2vrError as error:
            gr.Warning(html.escape(str(error), quote=False))
            return ""
