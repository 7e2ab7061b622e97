"""The index of the library that is searched: what it lacks, how far its update is, and how it starts."""

import time
from dataclasses import dataclass

import gradio as gr

from nt2vr.errors import NotIndexedError
from nt2vr.library.galleries import systems_of
from nt2vr.library.update import IndexJob
from nt2vr.search.answers import Answer
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.view import update_view
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.state import QUIET
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import Updates, event_text
from nt2vr.ui.web.permissions import Permissions, session_of


@dataclass(frozen=True, eq=False)
class IndexPanel:
    """Starts and follows the indexing of the library that is searched.

    Attributes:
        indexing: starts the updates.
        permissions: decide who may.
        gallery: the library's key.
        systems: those that are compared. If they know only drawings, a better model's replace them
            once it has indexed the library.
        panel: shows `index_view`. Its event `start` names the models to index by, and `get` asks
            for a better one.
        timer: ticks while the library is indexed.
        ask: changes when that has ended, to search once more.
    """

    indexing: Indexing
    permissions: Permissions
    gallery: gr.Dropdown
    systems: gr.Dropdown
    panel: gr.HTML
    timer: gr.Timer
    ask: gr.Textbox

    def wire(self) -> None:
        outputs = [self.panel, self.timer]
        self.panel.start(self.on_index, self.gallery, outputs, **QUIET)
        self.panel.get(self.on_get, self.gallery, outputs, **QUIET)
        self.timer.tick(
            self.on_indexing,
            [self.gallery, self.systems],
            [*outputs, self.systems, self.ask],
            queue=False,
            **QUIET,
        )

    def on_index(self, key: str, event: gr.EventData, request: gr.Request) -> Updates:
        self.permissions.check("import", request)
        for model in event_text(event, "models").split("|"):
            self.indexing.start(key, model, session_of(request))
        return self._follow(key)

    def on_get(self, key: str, request: gr.Request) -> Updates:
        self.indexing.get(key, self.permissions, request)
        return self._follow(key)

    def _follow(self, key: str) -> Updates:
        view = update_view(self.indexing.under_way(key))
        return {self.panel: {"job": view}, self.timer: gr.Timer(active=True)}

    def on_indexing(self, key: str, systems: list[str], request: gr.Request) -> Updates:
        """Follow an update until it has ended, and then search once more."""
        job = self.indexing.under_way(key)
        if job is not None:
            return {self.panel: {"job": update_view(job)}}

        updates: Updates = {self.timer: gr.Timer(active=False)}
        ended = self.indexing.by_library.get(key)
        # Another gallery was chosen meanwhile.
        if ended is None:
            return updates
        drawings = self.indexing.drawings(key, systems, self.permissions, request, is_indexed=True)
        # The results on the page stay, and so does the reason.
        if ended.state == "failed":
            view = {"job": update_view(ended, self.permissions.redactor(request))}
            if drawings:
                view["drawings"] = drawings
            updates[self.panel] = view
            return updates

        # The job of a move has no model.
        model = next(iter(ended.models), "")
        knows_more = model != "" and not self.indexing.models.knows_only_drawings(model)
        if "offer" in drawings and knows_more and ended.state == "finished":
            choices = system_choices(self.indexing.galleries.built_in.system_names())
            systems = list(systems_of(model))
            updates[self.systems] = gr.Dropdown(choices, value=systems, multiselect=True)
        updates[self.panel] = {}
        updates[self.ask] = f"{time.monotonic()}"
        return updates


def index_view(
    answer: Answer,
    problem: NotIndexedError | None,
    job: IndexJob | None,
    refusal: str,
    drawings: View,
) -> View:
    """Show what the index of a library lacks, with a button to complete it, or how far that is.

    Args:
        answer: says how many clips each model has not indexed.
        problem: says that models have indexed none.
        job: the library's update, if it is under way.
        refusal: why this visitor may not start one.
        drawings: as from `drawings_view`; it is left out while an update is under way.
    """
    if job is not None:
        return {"job": update_view(job)}
    view = _missing_view(answer, problem, refusal)
    if drawings:
        view["drawings"] = drawings
    return view


def _missing_view(answer: Answer, problem: NotIndexedError | None, refusal: str) -> View:
    """Show what models have not indexed, with a button; empty if they have indexed everything."""
    if problem is not None:
        return {"text": str(problem), "models": "|".join(problem.models), "refusal": refusal}
    missing = {}
    for ranking in answer.rankings:
        model = ranking.system.model
        if ranking.missing:
            missing[model] = f"{ranking.missing:,} clips are not indexed by {model}"
    if not missing:
        return {}
    text = f"{'; '.join(missing.values())}: they were not searched."
    return {"text": text, "models": "|".join(missing), "refusal": refusal}
