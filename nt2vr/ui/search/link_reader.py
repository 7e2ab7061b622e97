"""Resolves a link against the available galleries and models."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.errors import Nt2vrError
from nt2vr.search.galleries import Galleries
from nt2vr.ui.search.layout import gallery_choices, system_choices
from nt2vr.ui.search.link import read_link
from nt2vr.ui.search.references import Chosen, References


@dataclass(frozen=True)
class Opened:
    """A link resolved.

    Attributes:
        values: one per default of a link; the gallery exists, and so do the references, which are shown as chips.
        galleries: to choose from.
        systems: to choose from, with those of the link.
    """

    values: dict[str, Any]
    galleries: list[tuple[str, str]]
    systems: list[tuple[str, str]]


@dataclass(frozen=True)
class LinkReader:
    """Resolves links.

    Attributes:
        galleries: a link names one of them, models and clips.
        references: show clips as chips.
    """

    galleries: Galleries
    references: References

    def open(self, link: Mapping[str, str]) -> Opened:
        """Resolve a link; where its gallery is gone, say so and take the built-in one."""
        names = self.galleries.built_in.system_names(link.get("systems", "").split("|"))
        values = read_link(link, names)
        values["gallery"] = self._gallery(values["gallery"])
        asked = [Chosen(gallery=values["gallery"], **each) for each in values["references"]]
        known = self.references.known(asked)
        if len(known) < len(asked):
            gr.Warning("A clip that the link refers to is not in this gallery.")
        if upload := link.get("upload"):  # a query of a report brings its reference along
            try:
                known = self.references.with_uploads(known, [upload])
            except Nt2vrError as error:
                gr.Warning(html.escape(str(error), quote=False))
        values["references"] = self.references.view(known)
        return Opened(values, gallery_choices(self.galleries), system_choices(names))

    def _gallery(self, name: str) -> str:
        try:
            return self.galleries.key(name)
        except Nt2vrError as error:
            gr.Warning(html.escape(str(error), quote=False))
            return ""
