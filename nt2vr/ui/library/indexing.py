"""Background updates and moves of libraries, which Search and Library start, and their views."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError, counted, listed
from nt2vr.library.galleries import systems_of
from nt2vr.library.move import Moved, move_library
from nt2vr.library.source import LibraryInfo
from nt2vr.library.update import IndexJob, Updated, update_library
from nt2vr.models.card import DEFAULT_FRAMES
from nt2vr.models.catalog import Catalog
from nt2vr.models.device import gflops_per_second
from nt2vr.models.download import BANDWIDTH, OFFERED, RECOMMENDED
from nt2vr.progress import Progress, Runner, Work, duration_text
from nt2vr.search.answers import Answer
from nt2vr.search.embed_clips import cost_text
from nt2vr.search.strategies import System
from nt2vr.services import Services
from nt2vr.ui.job_view import job_view
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.state import QUIET
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import Updates, event_value
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of

# The time of indexing is stated for so many clips where their number is not known.
PER_CLIPS = 100


def better_model(models: Catalog) -> str:
    """Return a model that knows more than drawings.

    If there is none here, this is the name that the one on offer will have.
    """
    return next(iter(models.real_models()), OFFERED.catalog_name)


def drawings_view(
    models: Catalog,
    names: Iterable[str],
    num_clips: int,
    permissions: Permissions,
    visitor: Visitor,
    is_indexed: bool = False,
) -> View:
    """Say which models know only drawings, and offer a better one at its cost.

    It is empty if all models know more. If one of them does, no other is offered.

    Args:
        names: the models.
        num_clips: clips of the library; 0 if their number is not known yet.
        is_indexed: whether the models have indexed the library already.
    """
    chosen = [name for name in dict.fromkeys(names) if name]
    drawn = [name for name in chosen if models.knows_only_drawings(name)]
    if not drawn:
        return {}
    text = _drawings_text(drawn)
    if len(drawn) < len(chosen):
        return {"text": text}

    model = better_model(models)
    is_here = model in models.names()
    if is_here:
        offer = f"Use {model} instead"
        actions = ["import"]
    else:
        offer = f"Get {model} and index {'again' if is_indexed else 'with it'}"
        actions = ["import", "download"]
    return {
        "text": text,
        "offer": offer,
        "cost": _cost(models.device, name=model, is_here=is_here, num_clips=num_clips),
        "refusal": permissions.refusal(visitor, *actions),
    }


def _drawings_text(models: Sequence[str]) -> str:
    if len(models) == 1:
        verb = "knows"
        consequence = "its ranking means"
    else:
        verb = "know"
        consequence = "their rankings mean"
    return f"{listed(*models)} {verb} only drawings: of real videos, {consequence} almost nothing."


def _cost(device: str, name: str, is_here: bool, num_clips: int) -> str:
    """Say how long a model takes to download and to index; "" if it is not a recommended one."""
    by_name = {model.catalog_name: model for model in RECOMMENDED}
    if name not in by_name:
        return ""
    model = by_name[name]
    gflops = (num_clips or PER_CLIPS) * DEFAULT_FRAMES * model.gflops
    computing = duration_text(gflops / gflops_per_second(device))
    if num_clips:
        clips = counted(num_clips, "clip")
    else:
        clips = f"each {PER_CLIPS} clips"
    indexing = f"about {computing} of computing on this machine for {clips}"
    if is_here:
        return f"It is here already; indexing takes {indexing}."

    download = duration_text(model.download_s)
    return (
        f"{model.size_mb:,} MB to download, about {download} at {BANDWIDTH} Mbit/s, "
        f"then {indexing}."
    )


class Indexing:
    """Updates and moves of libraries, one at a time and in order.

    After each, searches see what is new.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self.galleries = services.galleries
        self._runner = Runner[Updated | Moved]("update", queues=True)

    @property
    def models(self) -> Catalog:
        return self.galleries.built_in.models

    @property
    def by_library(self) -> dict[str, IndexJob]:
        """The update of each library: one that runs, otherwise one that waits, or the last."""
        jobs = self._runner.jobs
        ended = {job.key: job for job in jobs if not job.is_under_way}
        # The one that runs comes before those that wait.
        under_way = {job.key: job for job in reversed(jobs) if job.is_under_way}
        return ended | under_way

    def under_way(self, library_id: str) -> IndexJob | None:
        """Return the update of a library that runs, or otherwise waits, if any."""
        job = self.by_library.get(library_id)
        if job is not None and job.is_under_way:
            return job
        return None

    def cost(self, model: str, num_clips: int) -> str:
        """Say how long a slow model takes to index clips, measured on one; "" for other models.

        `num_clips` is 0 if their number is not known yet.
        """
        if model not in self.models.names():
            return ""
        if not self.models.card(model).capabilities.is_slow:
            return ""
        try:
            encoder = self.galleries.live.encoder(model)
            text = cost_text(encoder, num_clips or PER_CLIPS)
        except Nt2vrError as error:
            return str(error)
        if num_clips:
            return f"{text}."
        return f"Each {text}."

    def drawings(
        self,
        key: str,
        systems: Sequence[str],
        permissions: Permissions,
        visitor: Visitor,
        is_indexed: bool,
    ) -> View:
        """Return the `drawings_view` of the systems that search a library; empty if key is ""."""
        if not key:
            return {}
        names = self.models.names()
        models = [System.named(system, names).model for system in systems]
        num_clips = len(self.galleries.searcher(key).gallery.videos)
        return drawings_view(
            self.models,
            names=models,
            num_clips=num_clips,
            permissions=permissions,
            visitor=visitor,
            is_indexed=is_indexed,
        )

    def start(self, library_id: str, model: str, session: str = "") -> Future[IndexJob]:
        """Queue an update of a library under a model.

        If an equal one waits, it is returned instead.
        """
        self.models.find(model)
        name = self.models.named(model) or model
        return self._start(library_id, name, session)

    def get(self, library_id: str, permissions: Permissions, visitor: Visitor) -> Future[IndexJob]:
        """Queue an update under a model that knows more than drawings.

        It is downloaded first if there is none here.
        """
        self.check_get(permissions, visitor)
        model = better_model(self.models)
        is_here = model in self.models.names()
        download = None if is_here else partial(self._download, model)
        return self._start(library_id, model, session_of(visitor), prepare=download)

    def check_get(self, permissions: Permissions, visitor: Visitor) -> None:
        """Raise an AccessError if a visitor may not `get` the `better_model`."""
        permissions.check("import", visitor)
        if better_model(self.models) not in self.models.names():
            permissions.check("download", visitor)

    def _download(self, model: str, progress: Progress) -> None:
        progress(0, 0, f"asking for {model}")

        def report(done_bytes: int, total_bytes: int, doing: str) -> None:
            step = f"{doing}, in MB" if total_bytes else doing
            progress(done_bytes >> 20, total_bytes >> 20, step)

        self.models.add(model, progress=report)

    def _start(
        self,
        library_id: str,
        model: str,
        session: str,
        prepare: Callable[[Progress], object] | None = None,
    ) -> Future[IndexJob]:
        """Queue an update; `prepare` downloads its model."""
        services = self._services
        info = services.libraries.find(library_id)

        def update(progress: Progress) -> Updated:
            if prepare is not None:
                prepare(progress)
            progress(0, 0, "loading the model")
            return update_library(
                services.libraries,
                info.id,
                self.galleries.live.encoder(model),
                services.decoder,
                services.cache,
                progress=progress,
                milvus=services.milvus,
            )

        return self._queue(update, info, models=[model], session=session)

    def move(
        self, library_id: str, path: str, roots: Sequence[Path], session: str = ""
    ) -> Future[IndexJob]:
        """Queue the move of a library to a path in one of `roots`.

        A ConfigError says that its update is under way, or that the path cannot be used.
        """
        libraries = self._services.libraries
        info = libraries.find(library_id)
        if self.under_way(info.id):
            raise ConfigError(
                f"{info.name} is being updated. Cancel the update, or wait for it, then move the "
                "library."
            )
        # This refuses a path that cannot be used before the move is queued.
        libraries.moved_to(info.id, path, roots)

        def move(progress: Progress) -> Moved:
            return move_library(
                libraries,
                library_id=info.id,
                path=path,
                cache=self._services.cache,
                progress=progress,
                roots=roots,
            )

        return self._queue(move, info, models=[], session=session)

    def _queue(
        self, work: Work[Updated | Moved], info: LibraryInfo, models: Sequence[str], session: str
    ) -> Future[IndexJob]:
        """Queue work on a library, which searches open again afterwards."""
        end = self._runner.run(work, info.name, models, key=info.id, session=session)
        end.add_done_callback(lambda _: self.galleries.forget(info.id))
        return end

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        self._runner.cancel(number)


def running_text(job: IndexJob | None) -> str:
    """Return what a running job of a library does: a move names no model."""
    if job is None or job.models:
        return "indexing"
    return "moving"


def index_view(
    answer: Answer | None,
    problem: NotIndexedError | None,
    job: IndexJob | None,
    refusal: str = "",
    redact: Callable[[str], str] = str,
    drawings: Mapping[str, Any] = MappingProxyType({}),
) -> View:
    """Show what the index of a library lacks, with a button to complete it, or how far that is.

    Args:
        answer: says how many clips each model has not indexed.
        problem: says that models have indexed none.
        job: the library's update, if it is under way or has failed.
        refusal: why this visitor may not start one.
        redact: as `job_view` takes it.
        drawings: as from `drawings_view`; it is left out while an update is under way.
    """
    view = _missing_view(answer, problem, refusal)
    if job is not None:
        view = {"job": job_view(job, running_text(job), redact)}
    if drawings and not (job is not None and job.is_under_way):
        view["drawings"] = dict(drawings)
    return view


def _missing_view(answer: Answer | None, problem: NotIndexedError | None, refusal: str) -> View:
    """Show what models have not indexed, with a button; empty if they have indexed everything."""
    if problem is not None:
        return {"text": str(problem), "models": "|".join(problem.models), "refusal": refusal}
    missing: dict[str, str] = {}
    for ranking in answer.rankings if answer is not None else ():
        model = ranking.system.model
        if ranking.missing:
            missing[model] = f"{ranking.missing:,} clips are not indexed by {model}"
    if not missing:
        return {}
    text = f"{'; '.join(missing.values())}: they were not searched."
    return {"text": text, "models": "|".join(missing), "refusal": refusal}


def wire_indexing(
    indexing: Indexing,
    permissions: Permissions,
    gallery: gr.Dropdown,
    systems: gr.Dropdown,
    panel: gr.HTML,
    timer: gr.Timer,
    ask: gr.Textbox,
) -> None:
    """Let a panel start and follow the indexing of the library that is searched.

    Args:
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
    events = _IndexEvents(indexing, permissions, systems, panel, timer, ask)
    panel.start(events.on_index, gallery, [panel, timer], **QUIET)
    panel.get(events.on_get, gallery, [panel, timer], **QUIET)
    outputs = [panel, timer, systems, ask]
    timer.tick(events.on_indexing, [gallery, systems], outputs, queue=False, **QUIET)


@dataclass(frozen=True, eq=False)
class _IndexEvents:
    """What happens to a library when its panel in Search is used; as `wire_indexing` takes it."""

    indexing: Indexing
    permissions: Permissions
    systems: gr.Dropdown
    panel: gr.HTML
    timer: gr.Timer
    ask: gr.Textbox

    def on_index(self, key: str, event: gr.EventData, request: gr.Request) -> Updates:
        self.permissions.check("import", request)
        for model in event_value(event, "models", str).split("|"):
            self.indexing.start(key, model, session_of(request))
        return self._follow(key)

    def on_get(self, key: str, request: gr.Request) -> Updates:
        self.indexing.get(key, self.permissions, request)
        return self._follow(key)

    def _follow(self, key: str) -> Updates:
        job = self.indexing.under_way(key)
        return {self.panel: index_view(None, None, job), self.timer: gr.Timer(active=True)}

    def on_indexing(self, key: str, systems: list[str] | None, request: gr.Request) -> Updates:
        """Follow an update until it has ended, and then search once more."""
        job = self.indexing.under_way(key)
        if job is not None:
            return {self.panel: index_view(None, None, job)}

        updates: Updates = {self.timer: gr.Timer(active=False)}
        ended = self.indexing.by_library.get(key)
        # Another gallery was chosen meanwhile.
        if ended is None:
            return updates
        drawings = self.indexing.drawings(
            key, systems or (), self.permissions, request, is_indexed=True
        )
        # The results on the page stay, and so does the reason.
        if ended.state == "failed":
            redact = self.permissions.redactor(request)
            updates[self.panel] = index_view(
                None, problem=None, job=ended, redact=redact, drawings=drawings
            )
            return updates

        better_systems = self._better_systems(ended)
        if "offer" in drawings and better_systems:
            choices = system_choices(self.indexing.galleries.built_in.system_names())
            updates[self.systems] = gr.Dropdown(choices, value=better_systems, multiselect=True)
        updates[self.panel] = {}
        updates[self.ask] = f"{time.monotonic()}"
        return updates

    def _better_systems(self, job: IndexJob) -> list[str]:
        """List the systems of models that have indexed a library and know more than drawings."""
        names: list[str] = []
        if job.state != "finished":
            return names
        for model in job.models:
            if not self.indexing.models.knows_only_drawings(model):
                names += systems_of(model)
        return names
