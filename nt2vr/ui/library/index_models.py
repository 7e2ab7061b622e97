"""The models that libraries are indexed by, and what the page says of the one that is chosen."""

from dataclasses import dataclass
from urllib.parse import urlencode

import gradio as gr

from nt2vr.models.catalog import Catalog
from nt2vr.ui.library.drawings import drawings_view
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.theme import menu
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions, Visitor
from trainer.teaching import taught_name


@dataclass
class IndexModels:
    """The models of the catalog that embed videos."""

    indexing: Indexing
    permissions: Permissions
    teaching: Teaching

    @property
    def names(self) -> list[str]:
        entries = self._catalog.entries()
        return [name for name, entry in entries.items() if entry.kind in ("model", "run")]

    @property
    def default(self) -> str:
        """The first model that knows more than drawings."""
        return next(iter(self._catalog.real_models()), "CLIP")

    def menu(self, elem_id: str) -> gr.Dropdown:
        return menu(
            elem_id,
            label="Model to index with",
            choices=self.names,
            value=self.default,
            scale=3,
            min_width=200,
        )

    def choices(self, model: str) -> gr.Dropdown:
        return gr.Dropdown(self.names, value=model)

    def existing(self, model: str | None) -> str:
        """Return a model, or the default if it was removed or knows only drawings."""
        if model not in self.names or self._catalog.knows_only_drawings(model):
            return self.default
        return model

    def notice(self, model: str | None, library_id: str, visitor: Visitor) -> View:
        """Say that a model is slow or knows only drawings, or offer to teach it “not”.

        Args:
            library_id: "" for a library that is still to be added.
        """
        # The clips of a library that is being updated are not counted yet.
        if self.indexing.under_way(library_id):
            return {}
        num_clips = 0
        if library_id:
            num_clips = len(self.indexing.galleries.searcher(library_id).gallery.videos)
        if self.permissions.may("import", visitor):
            cost = self.indexing.cost(model or "", num_clips)
            if cost:
                return {"drawings": {"text": cost}}
        drawings = self.drawings_notice(model, num_clips, visitor)
        if drawings["drawings"] or not num_clips or not model:
            return drawings
        return self._teaching_offer(model, library_id, visitor)

    def drawings_notice(self, model: str | None, num_clips: int, visitor: Visitor) -> View:
        view = drawings_view(
            self._catalog,
            names=[model or ""],
            num_clips=num_clips,
            permissions=self.permissions,
            visitor=visitor,
        )
        return {"drawings": view}

    def _teaching_offer(self, model: str, library_id: str, visitor: Visitor) -> View:
        """Offer to teach a model that has indexed a library, or to compare it with the taught one."""
        if not self.indexing.galleries.is_indexed(library_id, model):
            return {}
        taught_model = self._catalog.named(taught_name(model))
        if taught_model:
            state = {"gallery": library_id, "systems": f"{model}|{taught_model}"}
            return {"taught_model": taught_model, "id": library_id, "link": urlencode(state)}
        if model in self.teaching.names(visitor):
            return {"teachable_model": model}
        return {}

    @property
    def _catalog(self) -> Catalog:
        return self.indexing.models
