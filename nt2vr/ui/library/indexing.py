"""Background updates and moves of libraries, started from Search and Library alike, as template data."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError, counted, listed
from nt2vr.library.galleries import systems_of
from nt2vr.library.move import Moved, move_library
from nt2vr.library.update import IndexJob, Updated, update_library
from nt2vr.models.card import DEFAULT_FRAMES
from nt2vr.models.catalog import Catalog
from nt2vr.models.device import gflops_per_second
from nt2vr.models.download import BANDWIDTH, OFFERED, RECOMMENDED
from nt2vr.progress import Progress, Runner, duration_text
from nt2vr.search.answers import Answer
from nt2vr.search.embed_clips import cost_text
from nt2vr.search.strategies import System
from nt2vr.services import Services
from nt2vr.ui.job_view import job_view
from nt2vr.ui.search.results import system_choices
from nt2vr.ui.search.state import QUIET
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of

PER_CLIPS = 100  # clips that the time of indexing is stated for where their number is not known


def better_model(models: Catalog) -> str:
    """Return a model here that knows more than drawings, otherwise the name that the offered one will have."""
    return next(iter(models.real_models()), OFFERED.catalog_name)


def drawings_view(
    models: Catalog,
    names: Iterable[str],
    num_clips: int,
    permissions: Permissions,
    visitor: Visitor,
    again: bool = False,
) -> dict[str, Any]:
    """Say which of some models know only drawings, and offer to get a better one, at its cost; nothing if none does.

    If one of the named models knows more, none is offered. `num_clips` of the library is 0 if that
    is not known yet; `again` is true if they have indexed it already.
    """
    given = [name for name in dict.fromkeys(names) if name]
    drawn = [name for name in given if models.knows_only_drawings(name)]
    if not drawn:
        return {}
    know, mean = (
        ("knows", "its ranking means") if len(drawn) == 1 else ("know", "their rankings mean")
    )
    text = f"{listed(*drawn)} {know} only drawings: of real videos, {mean} almost nothing."
    if len(drawn) < len(given):
        return {"text": text}
    model = better_model(models)
    is_here = model in models.names()
    do = (
        f"Use {model} instead"
        if is_here
        else f"Get {model} and index {'again' if again else 'with it'}"
    )
    refusal = permissions.refusal(visitor, *(("import",) if is_here else ("import", "download")))
    return {
        "text": text,
        "do": do,
        "cost": _cost(models.device, model, is_here, num_clips),
        "refusal": refusal,
    }


def _cost(device: str, name: str, is_here: bool, num_clips: int) -> str:
    """Say what a model takes; of one that is not recommended, nothing is known."""
    model = next((each for each in RECOMMENDED if each.catalog_name == name), None)
    if model is None:
        return ""
    clips = num_clips or PER_CLIPS
    computing = duration_text(clips * DEFAULT_FRAMES * model.gflops / gflops_per_second(device))
    each = "" if num_clips else "each "
    indexing = f"about {computing} of computing on this machine for {each}{counted(clips, 'clip')}"
    if is_here:
        return f"It is here already; indexing takes {indexing}."
    download = f"{model.size_mb:,} MB to download, about {duration_text(model.download_s)} at {BANDWIDTH} Mbit/s"
    return f"{download}, then {indexing}."


class Indexing:
    """Updates and moves of libraries, one at a time and in order, after each of which searches see what is new."""

    def __init__(self, services: Services) -> None:
        self._services, self.galleries = services, services.galleries
        self._runner = Runner[Updated | Moved]("update", queues=True)

    @property
    def by_library(self) -> dict[str, IndexJob]:
        """The update of each library that is under way, running before waiting ones, or ended last."""
        jobs = self._runner.jobs
        ended = {job.key: job for job in jobs if not job.is_under_way}
        return ended | {job.key: job for job in reversed(jobs) if job.is_under_way}

    def cost(self, model: str, num_clips: int) -> str:
        """Say what indexing clips (0: unknown number) by a slow model costs, measured on one; nothing for others."""
        if model not in self.models.names() or not self.models.card(model).capabilities.is_slow:
            return ""
        try:
            each = "" if num_clips else "Each "
            return f"{each}{cost_text(self.galleries.live.encoder(model), num_clips or PER_CLIPS)}."
        except Nt2vrError as error:
            return str(error)

    @property
    def models(self) -> Catalog:
        return self.galleries.built_in.models

    def start(self, library_id: str, model: str, session: str = "") -> Future[IndexJob]:
        """Queue an update of a library under a model; a waiting equal one is returned instead."""
        self.models.find(model)
        return self._start(library_id, self.models.named(model) or model, session)

    def get(self, library_id: str, permissions: Permissions, visitor: Visitor) -> Future[IndexJob]:
        """Update a library under a model that knows more than drawings, which is downloaded if none is here."""
        self.check_get(permissions, visitor)
        model = better_model(self.models)

        def download(progress: Progress) -> None:
            progress(0, 0, f"asking for {model}")

            def report(done: int, total: int, doing: str) -> None:
                progress(done >> 20, total >> 20, f"{doing}, in MB" if total else doing)

            self.models.add(model, progress=report)

        prepare = None if model in self.models.names() else download
        return self._start(library_id, model, session_of(visitor), prepare)

    def check_get(self, permissions: Permissions, visitor: Visitor) -> None:
        """Raise AccessError if a visitor may not `get` what `better_model` names."""
        permissions.check("import", visitor)
        if better_model(self.models) not in self.models.names():
            permissions.check("download", visitor)

    def _start(
        self,
        library_id: str,
        model: str,
        session: str,
        prepare: Callable[[Progress], object] | None = None,
    ) -> Future[IndexJob]:
        """Queue an update; `prepare` downloads its model."""
        parts = self._services
        info = parts.libraries.find(library_id)

        def work(progress: Progress) -> Updated:
            if prepare is not None:
                prepare(progress)
            progress(0, 0, "loading the model")
            tools = self.galleries.live.encoder(model), parts.decoder, parts.cache, progress
            return update_library(parts.libraries, info.id, *tools, milvus=parts.milvus)

        ended = self._runner.run(work, info.name, [model], info.id, session)
        ended.add_done_callback(lambda _: self.galleries.forget(info.id))
        return ended

    def move(
        self, library_id: str, path: str, roots: Sequence[Path], session: str = ""
    ) -> Future[IndexJob]:
        """Queue the move of a library to a path in one of `roots`; one that cannot be used is refused at once."""
        libraries, cache = self._services.libraries, self._services.cache
        info = libraries.find(library_id)
        if self.under_way(info.id):
            raise ConfigError(
                f"{info.name} is being updated. Cancel the update, or wait for it, then move the library."
            )
        libraries.moved_to(info.id, path, roots)

        def work(progress: Progress) -> Moved:
            return move_library(libraries, info.id, path, cache, progress, roots)

        ended = self._runner.run(work, info.name, key=info.id, session=session)
        ended.add_done_callback(lambda _: self.galleries.forget(info.id))
        return ended

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        self._runner.cancel(number)

    def drawings(
        self,
        key: str,
        systems: Sequence[str],
        permissions: Permissions,
        visitor: Visitor,
        again: bool,
    ) -> dict[str, Any]:
        """Say of the systems that a library is searched by what `drawings_view` says of their models."""
        if not key:
            return {}
        names, clips = self.models.names(), self.galleries.searcher(key).gallery.videos
        asked = [System.named(name, names).model for name in systems]
        return drawings_view(self.models, asked, len(clips), permissions, visitor, again)

    def under_way(self, library_id: str) -> IndexJob | None:
        """Return the update of a library that is running, or else waiting, if any."""
        job = self.by_library.get(library_id)
        return job if job is not None and job.is_under_way else None


def job_word(job: IndexJob | None) -> str:
    """Return what a running job of a library does: a move names no model."""
    return "indexing" if job is None or job.models else "moving"


def index_view(
    answer: Answer | None,
    problem: NotIndexedError | None,
    job: IndexJob | None,
    refusal: str = "",
    tell: Callable[[str], str] = str,
    drawings: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Show what a library lacks of its index, with a button that has it indexed, or how far that has come.

    `job` is the library's update, if it is under way or has failed; `tell` is as `job_view` takes
    it; `refusal` says why this visitor may not start one; `drawings`, as from `drawings_view`, is
    not shown while an update is under way.
    """
    warning = {"drawings": dict(drawings)} if drawings else {}
    if job is not None:
        return {"job": job_view(job, job_word(job), tell), **({} if job.is_under_way else warning)}
    if problem is not None:
        return {
            "text": str(problem),
            "models": "|".join(problem.models),
            "refusal": refusal,
            **warning,
        }
    rankings = answer.rankings if answer else ()
    behind = {ranking.system.model: ranking.missing for ranking in rankings if ranking.missing}
    if not behind:
        return warning
    lacking = "; ".join(
        f"{count:,} clips are not indexed by {model}" for model, count in behind.items()
    )
    return {
        "text": f"{lacking}: they were not searched.",
        "models": "|".join(behind),
        "refusal": refusal,
        **warning,
    }


def wire_indexing(
    indexing: Indexing,
    permissions: Permissions,
    gallery: gr.Dropdown,  # the library's key
    systems: gr.Dropdown,  # compared; if they know only drawings, a better model's replace them once it has indexed
    panel: gr.HTML,  # shows `index_view`; its event `start` names the models to index by, `get` asks for a better one
    timer: gr.Timer,  # ticks while the library is indexed
    ask: gr.Textbox,  # changes when it has ended, to search once more
) -> None:
    """Let a panel start and follow the indexing of the library that is searched."""

    def on_index(key: str, event: gr.EventData, request: gr.Request) -> tuple[Any, Any]:
        permissions.check("import", request)
        for model in event_value(event, "models", str).split("|"):
            indexing.start(key, model, session_of(request))
        return index_view(None, None, indexing.under_way(key)), gr.Timer(active=True)

    def on_get(key: str, request: gr.Request) -> tuple[Any, Any]:
        indexing.get(key, permissions, request)
        return index_view(None, None, indexing.under_way(key)), gr.Timer(active=True)

    def on_indexing(key: str, chosen: list[str], request: gr.Request) -> tuple[Any, ...]:
        job = indexing.under_way(key)
        if job is not None:
            return index_view(None, None, job), gr.skip(), gr.skip(), gr.skip()
        last, ended = indexing.by_library.get(key), gr.Timer(active=False)
        if last is None:  # another gallery was chosen meanwhile
            return gr.skip(), ended, gr.skip(), gr.skip()
        drawings = indexing.drawings(key, chosen or (), permissions, request, again=True)
        if (
            last is not None and last.state == "failed"
        ):  # what is shown stays, and so does the reason
            panel = index_view(
                None, None, last, tell=permissions.teller(request), drawings=drawings
            )
            return panel, ended, gr.skip(), gr.skip()
        used = (
            last.models
            if last is not None and last.state == "finished" and "do" in drawings
            else ()
        )
        better = [model for model in used if not indexing.models.knows_only_drawings(model)]
        names = [name for model in better for name in systems_of(model)]
        shown = gr.Dropdown(
            system_choices(indexing.galleries.built_in.system_names()),
            value=names,
            multiselect=True,
        )
        return {}, ended, shown if names else gr.skip(), f"{time.monotonic()}"

    panel.start(on_index, gallery, [panel, timer], **QUIET)
    panel.get(on_get, gallery, [panel, timer], **QUIET)
    timer.tick(on_indexing, [gallery, systems], [panel, timer, systems, ask], queue=False, **QUIET)
