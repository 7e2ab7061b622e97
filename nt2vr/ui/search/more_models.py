"""“More models” on the Search tab: one box that adds a model from any source, and teaching a model “not”."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Event
from typing import Any

import gradio as gr

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.models.acquire import is_download
from nt2vr.models.download import OFFERED, RECOMMENDED, available, can_download
from nt2vr.models.options import Activation, AddOptions
from nt2vr.progress import stoppable
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import check_model_name
from nt2vr.ui.search.add_model_form import WHERE, AddModelForm
from nt2vr.ui.search.state import MAX_COLUMNS
from nt2vr.ui.search.teach_panel import PROGRESS, Teaching
from nt2vr.ui.theme import PRIVATE, QUIET, fold, script, template
from nt2vr.ui.view import Options, View
from nt2vr.ui.web.errors import with_errors_shown_at
from nt2vr.ui.web.inputs import Updates, event_text, is_upload
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.runs.manager import RunManager

# Names listed while a person types.
MAX_MATCHES = 24
_available = cache(available)


@dataclass
class MoreModels:
    """Panel for adding models; if MAX_COLUMNS systems are chosen already, a new model replaces the last.

    Attributes:
        started: events after which a model is being taught, or will be.
    """

    searcher: Searcher
    permissions: Permissions
    runs: RunManager
    # For each model that is being added: the session that started it, and the event that cancels it.
    _under_way: list[tuple[str, Event]] = field(default_factory=list)

    def build(self, systems: gr.Dropdown, page: gr.Blocks, later: LaterParts) -> Sequence[Any]:
        """Lay the panel out; return the events after which a model has joined the chosen `systems`."""
        models = self.searcher.models
        self._systems = systems
        offer = gr.Button(
            f"Add a real CLIP: {OFFERED.name}, {OFFERED.size_mb} MB", visible=False, elem_id="offer"
        )
        with fold("More models", elem_id="more-models") as panel:
            self._recommended = template("recommended", recommended_view(models.names()))
            self._teaching = Teaching(models, self.permissions, self.runs)
            self.started = self._teaching.build(self._recommended, "teach")
            self._form = AddModelForm()
        self._wire_form(offer)
        self._wire_visits(page, later, panel, offer)
        form = self._form
        boxes = [systems, form.source, form.name]
        joins = script("addModel", MAX_COLUMNS - 1)
        return [form.added.change(None, [form.added, *boxes], boxes, js=joins)]

    def _wire_form(self, offer: gr.Button) -> None:
        form = self._form
        source = form.source
        systems = self._systems
        recommended = self._recommended
        recommended.choose(self.on_choose, None, [source, recommended], **QUIET)
        source.input(self.on_find, source, recommended, trigger_mode="always_last", **QUIET)
        form.cancel.click(self.on_cancel, None, form.note, **QUIET)
        progress_in_note: Options = {**PRIVATE, "show_progress_on": form.note}
        form.upload.upload(self.on_upload, form.upload, source, **progress_in_note)
        inputs = [*form.inputs, systems]
        outputs = [systems, form.note, form.added]
        for event in (form.add.click, source.submit):
            handler = with_errors_shown_at(form.problem, self.on_add)
            event(handler, inputs, [form.problem, *outputs], **progress_in_note)
        accepted = offer.click(self.on_accept, systems, outputs, **progress_in_note)
        accepted.success(lambda: gr.Button(visible=False), None, offer, **QUIET)

    def _wire_visits(
        self, page: gr.Blocks, later: LaterParts, panel: gr.Accordion, offer: gr.Button
    ) -> None:
        """Say what a visitor may do once the panel is opened; on a Space, with the page, for the `offer` above it."""
        form = self._form
        outputs = [form.add, form.upload, form.note, self._recommended]
        if self.permissions.space_owner:
            page.load(self.on_visit, None, outputs, **QUIET)
            page.load(self.on_offer, None, offer, **QUIET)
        else:
            mark = later.opened("more-models", panel, panel.expand)
            mark.change(self.on_visit, None, outputs, **QUIET)

    def on_visit(self, request: gr.Request) -> Updates:
        """Disable what this visitor may not do, and say why."""
        form = self._form
        permissions = self.permissions
        may_import = permissions.may("import", request)
        may_add = may_import or permissions.may("download", request)
        note = permissions.refusal(request, "download", "import") or WHERE
        return {
            form.add: gr.Button(interactive=may_add),
            form.upload: gr.Button(interactive=may_import),
            form.note: note,
            self._recommended: self._view(request),
        }

    def on_offer(self, request: gr.Request) -> gr.Button:
        """Offer a real CLIP on a Space that reaches the Hub, to those who may download, until it is here."""
        is_here = OFFERED.name in _names_without_spaces(self.searcher.models.names())
        may_download = self.permissions.may("download", request)
        is_offered = may_download and not is_here and can_download(OFFERED.name)
        return gr.Button(visible=is_offered)

    def _view(self, visitor: gr.Request, matching: Sequence[str] = ()) -> View:
        teachable = self._teaching.names(visitor)
        return recommended_view(self.searcher.models.names(), matching, teachable)

    def on_choose(self, event: gr.EventData, request: gr.Request) -> Updates:
        name = event_text(event, "name")
        return {self._form.source: name, self._recommended: self._view(request)}

    def on_find(self, text: str, request: gr.Request) -> View:
        """List the models of open_clip's with the typed words in their names."""
        # No name of a model is longer.
        words = text[:MAX_QUOTED].casefold().split()
        if not words:
            return self._view(request)
        matching = []
        for name in _available():
            if all(word in name.casefold() for word in words):
                matching.append(name)
        return self._view(request, matching)

    def on_cancel(self, request: gr.Request) -> str:
        permissions = self.permissions
        if not permissions.may("import", request):
            permissions.check("download", request)
        under_way = list(self._under_way)
        if not under_way:
            return "No model is being added."
        visitors_stops = [
            stop for session, stop in under_way if permissions.may_cancel(session, request)
        ]
        if not visitors_stops:
            first_session, _ = under_way[0]
            permissions.check_cancel(first_session, request)
        for stop in visitors_stops:
            stop.set()
        return "The addition is being cancelled."

    def on_upload(self, path: str | None, request: gr.Request) -> str:
        """Name the uploaded file in the box, as the source."""
        self.permissions.check("import", request)
        if path is None or not is_upload(path):
            raise ConfigError("There is no such file among the uploaded ones. Upload it again.")
        return path

    def on_add(
        self,
        source: str,
        name: str,
        architecture: str,
        activation: Activation,
        frames: float,
        key: str,
        chosen: list[str],
        request: gr.Request,
        progress: gr.Progress = PROGRESS,
    ) -> Updates:
        """Add a model from any source, for a visitor who may."""
        source = source.strip()
        self._check(source, request)
        options = AddOptions(
            name=name,
            model=architecture,
            key=key,
            frames=int(frames or 0) or None,
            activation=activation or "",
        )
        return self._add(source, options, chosen, request, progress)

    def on_accept(
        self, chosen: list[str], request: gr.Request, progress: gr.Progress = PROGRESS
    ) -> Updates:
        self.permissions.check("download", request)
        return self._add(OFFERED.name, AddOptions(), chosen, request, progress)

    def _check(self, source: str, request: Visitor) -> None:
        """Raise an AccessError unless a visitor may add a model from this source; it is not read before."""
        actions = ["import", "paths"]
        if is_upload(source):
            actions = ["import"]
        elif is_download(source):
            actions = ["download"]
        for action in actions:
            self.permissions.check(action, request)

    def _add(
        self,
        source: str,
        options: AddOptions,
        chosen: list[str],
        request: Visitor,
        progress: gr.Progress,
    ) -> Updates:
        subject = "looking at the file" if is_upload(source) else f"looking for {quoted(source)}"
        progress(0, desc=subject)
        stop = Event()
        under_way = (session_of(request), stop)
        self._under_way.append(under_way)
        models = self.searcher.models
        download = _Download(progress)
        try:
            added = models.add(
                source,
                options,
                stoppable(download.report, stop.is_set),
                download.announce,
                check_model_name,
            )
        except InterruptedError:
            raise ConfigError(
                "The addition was cancelled. Nothing of the model was saved."
            ) from None
        finally:
            self._under_way.remove(under_way)

        name = added.name
        note = f"Added {name}. {added.remark}"
        if added.was_here:
            note = f"{name}: {added.remark}"
        # Embeddings answer their own queries in their own gallery, so they are not put next to the
        # others.
        is_embeddings = models.find(name).kind == "embeddings"
        return {
            self._systems: gr.Dropdown(self.searcher.system_names(chosen)),
            self._form.note: note,
            # The time makes a second addition of one model a change, too.
            self._form.added: {
                "model": "" if is_embeddings else name,
                "source": source,
                "name": options.name,
                "time_s": time.monotonic(),
            },
        }


@dataclass
class _Download:
    """Shows on the page how far a download is, and its size once that is known."""

    progress: gr.Progress
    size: str = ""

    def announce(self, size: str) -> None:
        self.size = size
        self.progress(0, desc=size)

    def report(self, done: int, total: int, doing: str) -> None:
        description = f"{doing}. {self.size}" if self.size else doing
        if total:
            self.progress((done, total), desc=description, unit="bytes")
        else:
            # Gradio shows no description without a share.
            self.progress(0, desc=description)


def _names_without_spaces(names: Iterable[str]) -> set[str]:
    """Write names of the catalog as those of downloads are: "ViT-B-32/openai"."""
    return {name.replace(" ", "") for name in names}


def recommended_view(
    names: Iterable[str], matching: Sequence[str] = (), teachable: Sequence[str] = ()
) -> View:
    """List the recommended models, those that were searched for, and those to be taught.

    Args:
        names: of the models that are here.
        matching: names with what is typed in them.
    """
    names_here = _names_without_spaces(names)
    models = []
    for model in RECOMMENDED:
        models.append(
            {
                **vars(model),
                "size": f"{model.size_mb:,} MB",
                "speed": model.speed,
                "msrvtt": f"{model.msrvtt:.1f}" if model.msrvtt else "",
                "is_here": model.name in names_here,
            }
        )
    num_more = len(matching) - MAX_MATCHES
    return {
        "models": models,
        "matching": matching[:MAX_MATCHES],
        "teachable": teachable,
        "more_matching": f"and {num_more:,} more: type more of the name" if num_more > 0 else "",
    }
