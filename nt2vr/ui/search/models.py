"""“More models” on the Search tab: one box that adds a model from any source, and teaching a model “not”."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Event
from typing import Any

import gradio as gr

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.models.acquire import FILE_SUFFIXES, is_download
from nt2vr.models.download import OFFERED, RECOMMENDED, available, can_download
from nt2vr.models.options import ACTIVATIONS, Activation, AddOptions
from nt2vr.progress import stoppable
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import check_model_name
from nt2vr.ui.search.state import MAX_COLUMNS
from nt2vr.ui.search.teaching import PROGRESS, Teaching
from nt2vr.ui.theme import QUIET, fold, menu, script, template
from nt2vr.ui.web.errors import problem_place, with_errors_shown_at
from nt2vr.ui.web.inputs import event_value, is_upload
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.permissions import Permissions, session_of
from trainer.runs.manager import RunManager

MOST_FOUND = 24  # names listed while typing
_available = cache(available)
SOURCE = "Model to add: one of the above, or type to search all of open_clip's"
OTHER_SOURCES = (
    "Or a file or folder on this computer (~/checkpoints/best.pt, ~/models/mine), a repository on the Hugging "
    "Face Hub (hf:OWNER/NAME), a model of sentence-transformers (st:OWNER/NAME), or embeddings (mine.npz)."
)
WHERE = (
    "Models are stored in the data folder. Files are never executed: only their tensors are read."
)


@dataclass
class MoreModels:
    """Panel for adding models; if MAX_COLUMNS systems are chosen already, a new model replaces the last."""

    searcher: Searcher
    permissions: Permissions
    runs: RunManager
    started: Sequence[Any] = field(
        init=False
    )  # events after which a model is being taught, or will be
    _teaching: Teaching = field(init=False)
    # of each model that is being added, the session of the page that started it, and what cancels
    # it
    _under_way: list[tuple[str, Event]] = field(default_factory=list)
    _systems: gr.Dropdown = field(init=False)
    _note: gr.Markdown = field(init=False)
    _added: gr.JSON = field(init=False)  # for the browser: the model, and what the boxes held

    def build(self, systems: gr.Dropdown, page: gr.Blocks, later: LaterParts) -> Sequence[Any]:
        """Lay the panel out; return the events after which a model has joined the chosen `systems`."""
        self._systems = systems
        offer = gr.Button(
            f"Add a real CLIP: {OFFERED.name}, {OFFERED.size_mb} MB", visible=False, elem_id="offer"
        )
        with fold("More models", elem_id="more-models") as panel:
            recommended = template("recommended", recommended_view(self.searcher.models.names()))
            self._teaching = Teaching(self.searcher.models, self.permissions, self.runs)
            self.started = self._teaching.build(recommended, "teach")
            source = gr.Textbox(
                RECOMMENDED[0].name,
                label=SOURCE,
                info=OTHER_SOURCES,
                max_lines=1,
                elem_id="model-source",
            )
            with gr.Row(elem_id="model-buttons"):
                at_left: dict[str, Any] = {"scale": 0, "min_width": 76}
                add = gr.Button("Add", variant="primary", elem_id="model-add", **at_left)
                upload = gr.UploadButton(
                    "Upload a file",
                    file_types=list(FILE_SUFFIXES),
                    elem_id="model-upload",
                    scale=0,
                    min_width=120,
                )
                cancel = gr.Button("Cancel", elem_id="model-cancel", **at_left)
            place = problem_place("model-problem")
            with fold("Name and settings", elem_id="model-options"):
                name, *options = self._build_options()
            self._note = gr.Markdown(WHERE, min_height=40, elem_id="more-models-note")
            self._added = gr.JSON(visible="hidden")

        private: dict[str, Any] = {"api_visibility": "private", "show_progress_on": self._note}
        recommended.choose(self.on_choose, None, [source, recommended], **QUIET)
        source.input(self.on_find, source, recommended, trigger_mode="always_last", **QUIET)
        cancel.click(self.on_cancel, None, self._note, **QUIET)
        upload.upload(self.on_upload, upload, source, **private)
        visited = [add, upload, self._note, recommended]
        if self.permissions.space_owner:
            page.load(self.on_visit, None, visited, **QUIET)
            page.load(self.on_offer, None, offer, **QUIET)
        else:  # the panel's content is needed by nothing outside of it
            mark = later.opened("more-models", panel, panel.expand)
            mark.change(self.on_visit, None, visited, **QUIET)

        inputs = [source, name, *options, systems]
        answered = [place, systems, self._note, self._added]
        add.click(with_errors_shown_at(place, self.on_add), inputs, answered, **private)
        source.submit(with_errors_shown_at(place, self.on_add), inputs, answered, **private)
        taken = offer.click(self.on_take, systems, [systems, self._note, self._added], **private)
        taken.success(lambda: gr.Button(visible=False), None, offer, **QUIET)
        boxes = [systems, source, name]
        return [
            self._added.change(
                None, [self._added, *boxes], boxes, js=script("addModel", MAX_COLUMNS - 1)
            )
        ]

    def _build_options(self) -> list[Any]:
        """Lay out the boxes of a name, an architecture, an activation, a number of frames and a key."""

        def box(elem_id: str, label: str, example: str, scale: int, min_width: int) -> gr.Textbox:
            place: dict[str, Any] = {"elem_id": elem_id, "scale": scale, "min_width": min_width}
            return gr.Textbox(label=label, placeholder=example, max_lines=1, **place)

        with gr.Row():
            name = box("model-name", "Name", "default: the source's", 2, 150)
            example = "automatic; or ViT-B-32, or a model here"
            architecture = box("model-architecture", "Architecture", example, 3, 200)
        with gr.Row():
            choices = [("automatic", ""), *((activation, activation) for activation in ACTIVATIONS)]
            activation = menu(
                "model-activation", "Activation", choices, value="", scale=1, min_width=130
            )
            # An empty box would become 0 in the browser anyway.
            number: dict[str, Any] = {"precision": 0, "minimum": 0, "scale": 1, "min_width": 160}
            frames = gr.Number(0, label="Frames, 0: automatic", elem_id="model-frames", **number)
            key = box("model-key", "Key, of several models", "state_dict_ema", 1, 160)
        return [name, architecture, activation, frames, key]

    def on_visit(self, request: gr.Request) -> list[Any]:
        """Disable what this visitor may not do, and say why."""
        may_import = self.permissions.may("import", request)
        may_add = may_import or self.permissions.may("download", request)
        note = self.permissions.refusal(request, "download", "import") or WHERE
        return [
            gr.Button(interactive=may_add),
            gr.Button(interactive=may_import),
            note,
            self._view(request),
        ]

    def on_offer(self, request: gr.Request) -> gr.Button:
        """Offer a real CLIP on a Space that reaches the Hub, to those who may download, until it is here."""
        is_wanted = self.permissions.space_owner and self.permissions.may("download", request)
        is_here = OFFERED.name in (name.replace(" ", "") for name in self.searcher.models.names())
        return gr.Button(visible=bool(is_wanted) and not is_here and can_download(OFFERED.name))

    def _view(self, visitor: gr.Request, found: Sequence[str] = ()) -> dict[str, Any]:
        return recommended_view(self.searcher.models.names(), found, self._teaching.names(visitor))

    def on_choose(self, event: gr.EventData, request: gr.Request) -> tuple[str, dict[str, Any]]:
        return event_value(event, "name", str), self._view(request)

    def on_find(self, text: str, request: gr.Request) -> dict[str, Any]:
        """List the models of open_clip's with the typed words in their names."""
        words = text[:MAX_QUOTED].casefold().split()  # no name is as long
        found = [
            name
            for name in _available()
            if words and all(word in name.casefold() for word in words)
        ]
        return self._view(request, found)

    def on_cancel(self, request: gr.Request) -> str:
        if not self.permissions.may("import", request):
            self.permissions.check("download", request)
        under_way = list(self._under_way)
        if not under_way:
            return "No model is being added."
        theirs = [
            stop for session, stop in under_way if self.permissions.may_cancel(session, request)
        ]
        if not theirs:
            self.permissions.check_cancel(under_way[0][0], request)
        for stop in theirs:
            stop.set()
        return "It is being cancelled."

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
        chosen: list[str] | None,
        request: gr.Request,
        progress: gr.Progress = PROGRESS,
    ) -> dict[Any, Any]:
        """Add a model from any source, for a visitor who may."""
        source = (source or "").strip()
        self._check(source, request)
        options = AddOptions(
            name=name or "",
            model=architecture or "",
            key=key or "",
            frames=int(frames or 0) or None,
            activation=activation or "",
        )
        return self._add(source, options, chosen, request, progress)

    def on_take(
        self, chosen: list[str] | None, request: gr.Request, progress: gr.Progress = PROGRESS
    ) -> dict[Any, Any]:
        """Add the real CLIP that is offered."""
        self.permissions.check("download", request)
        return self._add(OFFERED.name, AddOptions(), chosen, request, progress)

    def _check(self, source: str, request: gr.Request) -> None:
        """Raise an AccessError unless a visitor may add a model from this source; its path is not looked at before."""
        if is_upload(source):
            self.permissions.check("import", request)
        elif is_download(source):
            self.permissions.check("download", request)
        else:
            self.permissions.check("import", request)
            self.permissions.check("paths", request)

    def _add(
        self,
        source: str,
        options: AddOptions,
        chosen: list[str] | None,
        request: gr.Request,
        progress: gr.Progress,
    ) -> dict[Any, Any]:
        progress(
            0, desc="looking at the file" if is_upload(source) else f"looking for {quoted(source)}"
        )
        download_size = ""
        stop = Event()

        def report(done: int, total: int, doing: str) -> None:
            description = f"{doing}. {download_size}" if download_size else doing
            if total:
                progress((done, total), desc=description, unit="bytes")
            else:
                progress(0, desc=description)  # Gradio shows no description without a share

        def announce(text: str) -> None:
            nonlocal download_size
            download_size = text
            progress(0, desc=text)

        under_way = (session_of(request), stop)
        self._under_way.append(under_way)
        models = self.searcher.models
        try:
            added = models.add(
                source, options, stoppable(report, stop.is_set), announce, check_model_name
            )
        except InterruptedError:
            raise ConfigError("It was cancelled. Nothing of the model was saved.") from None
        finally:
            self._under_way.remove(under_way)

        # Embeddings answer their own queries in their own gallery, so they are not put next to the
        # others.
        is_embeddings = models.find(added.name).kind == "embeddings"
        return {
            self._systems: gr.Dropdown(self.searcher.system_names(chosen or ())),
            self._note: f"{added.name}: {added.remark}"
            if added.was_here
            else f"Added {added.name}. {added.remark}",
            # The time makes a second addition of one model a change, too.
            self._added: {
                "model": "" if is_embeddings else added.name,
                "source": source,
                "name": options.name,
                "time_s": time.monotonic(),
            },
        }


def recommended_view(
    here: Iterable[str], found: Sequence[str] = (), teachable: Sequence[str] = ()
) -> dict[str, Any]:
    """List the recommended models, marking those already `here`, models that were `found`, and those to be taught."""
    known = {name.replace(" ", "") for name in here}
    more, models = len(found) - MOST_FOUND, []
    for model in RECOMMENDED:
        msrvtt = f"{model.msrvtt:.1f}" if model.msrvtt else ""
        size, is_here = f"{model.size_mb:,} MB", model.name in known
        models.append(
            {**vars(model), "size": size, "speed": model.speed, "msrvtt": msrvtt, "here": is_here}
        )
    return {
        "models": models,
        "found": list(found[:MOST_FOUND]),
        "teachable": list(teachable),
        "more": f"and {more:,} more: type more of the name" if more > 0 else "",
    }
