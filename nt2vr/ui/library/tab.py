"""The Library tab: adds, indexes, renames, moves and removes libraries."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.source import WINDOW_S, LibraryInfo
from nt2vr.library.update import IndexJob
from nt2vr.media.gallery import Video
from nt2vr.ui.library.indexing import Indexing, drawings_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.library.view import info_view, list_view, posters_view, removal_text, skipped_view
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.theme import PRIVATE, QUIET, Confirmation, lead, menu, script, template
from nt2vr.ui.view import View
from nt2vr.ui.web.errors import problem_place, with_errors_shown_at
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value, is_upload
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.teaching import taught_name

POLL_S = 1.0
# Clips of a library whose posters are read every second while it is indexed.
MOST_WATCHED = 1_000
KINDS = (
    ("Upload files", "uploads"),
    ("Folder on this machine", "folder"),
    ("Manifest with captions", "manifest"),
    ("Dataset", "dataset"),
)
# By kind: the label of its path, and an example.
PATHS = {
    "uploads": ("", ""),
    "folder": ("Folder", "~/Videos"),
    "manifest": ("Captions file: CSV, TSV, JSONL or JSON", "~/clips/captions.jsonl"),
    "dataset": (
        "Folder of MSR-VTT, VATEX, Flickr30k, COCO, or of files with captions",
        "~/data/msrvtt",
    ),
}
INDEXED_BY = "Model to index with"
ELSEWHERE = "If its folder was moved, where is it now?"
# A script that empties an event's output.
CLEAR = "() => ''"
NO_UPLOADS = "No file is uploaded yet. Choose videos and pictures, and wait until they are here."


class NewLibraryForm:
    """The form of a new library."""

    def __init__(self, models: Sequence[str], default: str) -> None:
        with gr.Column(elem_id="library-form") as self.column:
            lead(
                "Search your own videos",
                "Drop them anywhere on this page, or name a folder, whose files stay there.",
            )
            self.kind = gr.Radio(
                list(KINDS),
                value="uploads",
                label="Where the videos come from",
                elem_id="library-kind",
            )
            self.files = gr.File(
                label="Videos and pictures",
                height=180,
                type="filepath",
                file_count="multiple",
                elem_id="library-files",
            )
            with gr.Row(equal_height=True):
                self.path = _textbox("library-path", scale=4, label="Folder", visible=False)
                self.split = menu(
                    "library-split",
                    label="Split",
                    choices=["all", "test", "validation", "train"],
                    value="all",
                    scale=1,
                    min_width=120,
                    visible=False,
                )
            self.problem = problem_place("library-problem")
            with gr.Row(equal_height=True):
                self.name = _textbox("library-name", scale=3, label="Name", placeholder="Holiday")
                self.window = gr.Number(
                    WINDOW_S,
                    label="Seconds per window (0: whole)",
                    minimum=0,
                    scale=3,
                    min_width=180,
                    elem_id="library-window",
                )
                self.model = menu(
                    "library-first-model",
                    label=INDEXED_BY,
                    choices=models,
                    value=default,
                    scale=3,
                    min_width=200,
                )
            self.drawings = template("search-index", {}, elem_id="form-drawings")
            self.add = _button(
                "library-add", text="Add and index", min_width=220, scale=0, variant="primary"
            )
            self.note = gr.Markdown(visible=False, elem_id="library-note")
        self.inputs = [
            self.kind,
            self.name,
            self.files,
            self.path,
            self.split,
            self.window,
            self.model,
        ]


class OpenLibraryPanel:
    """The open library: its facts and posters, its index, its name, and the skipped files.

    Attributes:
        updated: what depends on which library is open, and on its update.
    """

    def __init__(self, models: Sequence[str], default: str, teaching: Teaching) -> None:
        with gr.Column(visible=False, elem_id="library-open") as self.column:
            with gr.Row(elem_id="library-buttons"):
                self.elsewhere = gr.Button(
                    "Move…", elem_id="library-elsewhere", size="sm", min_width=76
                )
                self.remove = gr.Button("Remove", elem_id="library-remove", size="sm", min_width=90)
            self.confirm = Confirmation(
                prefix="library",
                action="remove",
                question="",
                answer="Remove",
            )
            self.problem = problem_place("open-problem")
            self.info = template("library-info", {})
            with gr.Row(equal_height=True, visible=False, elem_id="library-place") as self.place:
                self.path = _textbox("library-new-path", scale=4, label=ELSEWHERE, min_width=300)
                self.move = _button("library-move", "Find its files", 140)
            self.search = template("library-posters", {"posters": []})
            with gr.Row(equal_height=True, elem_id="library-index"):
                self.model = menu(
                    "library-model",
                    label=INDEXED_BY,
                    choices=models,
                    value=default,
                    scale=3,
                    min_width=200,
                )
                self.update = _button("library-update", "Update index", 140)
                self.cancel = _button(
                    "library-cancel", text="Cancel", min_width=100, interactive=False
                )
                self.more = gr.UploadButton(
                    "Upload more files",
                    min_width=160,
                    scale=1,
                    file_count="multiple",
                    elem_id="library-more",
                )
            self.drawings = template("search-index", {}, elem_id="open-drawings")
            teaching.build(self.drawings, "library-teach")
            with gr.Row(equal_height=True):
                self.name = _textbox("library-new-name", 4, label="Name")
                self.rename = _button("library-rename", "Rename", 120)
            self.skipped = template("library-skipped", {})
            self.retry = _button(
                "library-retry",
                text="Read skipped files again",
                min_width=220,
                scale=0,
                visible=False,
            )
        self.updated = [
            self.confirm.question,
            self.search,
            self.skipped,
            self.retry,
            self.name,
            self.more,
            self.model,
            self.drawings,
            self.elsewhere,
            self.place,
            self.path,
            self.move,
            self.info,
            self.update,
            self.cancel,
        ]


class LibraryParts:
    """All components of the tab: on the left the libraries, on the right the form or the open one.

    Attributes:
        chosen: id of the open library, "" for the form.
        seen: what the page last showed of the updates.
        updated: what depends on which library is open, and on the updates under way.
    """

    def __init__(self, models: Sequence[str], default: str, teaching: Teaching) -> None:
        self.chosen = gr.Textbox(visible="hidden")
        self.seen = gr.State()
        self.timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="library"):
            with gr.Column(scale=1, min_width=230, elem_id="library-side"):
                self.new = gr.Button("New library", elem_id="library-new")
                self.libraries = template("library-list", {"libraries": []}, "pick")
            with gr.Column(scale=5, min_width=500):
                self.form = NewLibraryForm(models, default)
                self.open = OpenLibraryPanel(models, default, teaching)
        self.updated = [
            self.chosen,
            self.form.column,
            self.open.column,
            self.seen,
            self.timer,
            self.libraries,
            *self.open.updated,
        ]


def _button(elem_id: str, text: str, min_width: int, scale: int = 1, **options: Any) -> gr.Button:
    return gr.Button(text, elem_id=elem_id, min_width=min_width, scale=scale, **options)


def _textbox(elem_id: str, scale: int, **options: Any) -> gr.Textbox:
    return gr.Textbox(elem_id=elem_id, max_lines=1, scale=scale, **options)


class LibraryTab:
    """Library tab over the app's libraries; `roots` are the folders in which they may be named."""

    _parts: LibraryParts

    def __init__(
        self,
        media: Media,
        indexing: Indexing,
        permissions: Permissions,
        roots: Sequence[Path],
        teaching: Teaching,
    ) -> None:
        self._media = media
        self._libraries = media.libraries
        self._indexing = indexing
        self._permissions = permissions
        self._roots = roots
        self._teaching = teaching

    def build(self, mark: gr.Textbox, opens: OpensQueries) -> None:
        """Lay the tab out inside the open tab and wire it; `mark` changes when it is opened."""
        self._parts = LibraryParts(self._models(), self._default_model(), self._teaching)
        self._wire_opening(mark)
        self._wire_form()
        self._wire_list()
        self._wire_open_library()
        opens(self._parts.open.search.open, self.on_search)
        opens(self._parts.open.drawings.open, self.on_search)

    def _wire_opening(self, mark: gr.Textbox) -> None:
        """Show the libraries when the tab is opened, and follow their updates."""
        parts = self._parts
        opened = mark.change(self.on_open, parts.chosen, parts.updated, **QUIET)
        opened.success(
            self.on_visit,
            [parts.form.model, parts.open.model, parts.chosen],
            [
                parts.form.add,
                parts.form.note,
                parts.form.model,
                parts.open.model,
                parts.form.drawings,
                parts.open.drawings,
            ],
            **QUIET,
        )
        parts.timer.tick(
            self.on_poll,
            [parts.chosen, parts.seen],
            parts.updated,
            queue=False,
            trigger_mode="once",
            **QUIET,
        )

    def _wire_form(self) -> None:
        form = self._parts.form
        form.model.change(self.on_model, form.model, form.drawings, **QUIET)
        of_kind = [form.files, form.path, form.split, form.window]
        form.kind.change(None, form.kind, of_kind, js=script("chooseKind", PATHS))
        outputs = [*self._parts.updated, form.files, form.name, form.problem]
        for event in (form.add.click, form.drawings.get):
            event(with_errors_shown_at(form.problem, self.on_add), form.inputs, outputs, **PRIVATE)
        corrected = (
            form.files.change,
            form.kind.change,
            form.path.input,
            form.name.input,
            form.window.input,
        )
        gr.on(corrected, None, None, form.problem, js=CLEAR)

    def _wire_list(self) -> None:
        parts = self._parts
        parts.new.click(self.on_new, None, parts.updated, **QUIET)
        parts.libraries.pick(self.on_pick, None, parts.updated, **QUIET)

    def _wire_open_library(self) -> None:
        parts = self._parts
        panel = parts.open
        model_or_library = (panel.model.change, parts.chosen.change)
        gr.on(model_or_library, self.on_model, [panel.model, parts.chosen], panel.drawings, **QUIET)
        # What visitors do to the open library, with the inputs besides its id.
        outputs = [*parts.updated, panel.problem]
        for event, handler, inputs in (
            (panel.drawings.get, self.on_get, []),
            (panel.update.click, self.on_update, [panel.model]),
            (panel.cancel.click, self.on_cancel, []),
            (panel.more.upload, self.on_more, [panel.more, panel.model]),
            (panel.rename.click, self.on_rename, [panel.name]),
            (panel.move.click, self.on_move, [panel.path]),
            (panel.path.submit, self.on_move, [panel.path]),
            (panel.confirm.yes.click, self.on_remove, []),
            (panel.retry.click, self.on_retry, [panel.model]),
        ):
            event(
                with_errors_shown_at(panel.problem, handler),
                [parts.chosen, *inputs],
                outputs,
                **QUIET,
            )
        library_or_path = (parts.chosen.change, panel.path.input)
        gr.on(library_or_path, None, None, panel.problem, js=CLEAR)
        parts.chosen.change(None, None, panel.path, js=CLEAR)
        panel.elsewhere.click(None, None, panel.place, js=script("show", True))
        leaving = (parts.new.click, parts.libraries.pick)
        panel.confirm.asked_by(panel.remove, parts.chosen, leaving)

    def on_open(self, chosen: str, request: gr.Request) -> Updates:
        """Show the library that was open before, otherwise the first, or the form if there is none."""
        infos = self._libraries.infos()
        if not chosen and infos:
            chosen = infos[0].id
        return self._show(chosen, request)

    def on_visit(
        self, form_model: str | None, open_model: str | None, chosen: str, request: gr.Request
    ) -> list[Any]:
        """List the models, disable what this visitor may not do, and say why."""
        may = self._permissions.may
        may_add = may("import", request) or may("paths", request)
        refusal = self._permissions.refusal(request, "import", "paths", "delete")
        names = self._models()
        form_model = self._model_or_default(form_model, names)
        open_model = self._model_or_default(open_model, names)
        return [
            gr.Button(interactive=may_add),
            gr.Markdown(refusal, visible=bool(refusal)),
            gr.Dropdown(names, value=form_model),
            gr.Dropdown(names, value=open_model),
            self._warning(form_model, 0, request),
            self.on_model(open_model, chosen, request) if chosen else {},
        ]

    def _model_or_default(self, model: str | None, names: Sequence[str]) -> str:
        """Return a model, or the default if it was removed or knows only drawings."""
        if model is None or model not in names or self._knows_only_drawings(model):
            return self._default_model()
        return model

    def on_model(
        self, model: str | None, chosen: str = "", request: gr.Request | None = None
    ) -> View:
        """Say that a model is slow or knows only drawings, or offer to teach it “not”."""
        # The clips of a library that is being updated are not counted yet.
        if self._indexing.under_way(chosen):
            return {}
        num_clips = len(self._videos(chosen)) if chosen else 0
        if self._permissions.may("import", request):
            cost = self._indexing.cost(model or "", num_clips)
            if cost:
                return {"drawings": {"text": cost}}
        warning = self._warning(model, num_clips, request)
        if warning["drawings"] or not num_clips or not model:
            return warning
        return self._teaching_offer(model, chosen, request)

    def _warning(self, model: str | None, num_clips: int, visitor: Visitor) -> View:
        models = self._indexing.models
        view = drawings_view(
            models,
            names=[model or ""],
            num_clips=num_clips,
            permissions=self._permissions,
            visitor=visitor,
        )
        return {"drawings": view}

    def _teaching_offer(self, model: str, library_id: str, request: gr.Request | None) -> View:
        """Offer to teach a model that has indexed a library, or to compare it with the taught one."""
        if not self._indexing.galleries.is_indexed(library_id, model):
            return {}
        taught_model = self._indexing.models.named(taught_name(model))
        if taught_model:
            state = {"gallery": library_id, "systems": f"{model}|{taught_model}"}
            return {"taught": taught_model, "id": library_id, "link": urlencode(state)}
        if model in self._teaching.names(request):
            return {"teach": model}
        return {}

    def on_poll(self, chosen: str, seen: Any, request: gr.Request) -> Any:
        """Follow the updates, and show the open library again once its update has ended.

        Updates that have ended are shown even if they were seen: the answer of an earlier tick,
        which shows one as under way, may have arrived last. That turns the timer off.
        """
        jobs = self._indexing.by_library
        if jobs == seen and _is_busy(jobs):
            return gr.skip()
        job = jobs.get(chosen)
        was_under_way = isinstance(seen, dict) and chosen in seen and seen[chosen].is_under_way
        if job is None or job.is_under_way or not was_under_way:
            return self._progress(chosen, request)

        updates = self._show(chosen, request)
        open_library = self._parts.open
        # The model may have been downloaded for this update.
        model = next(iter(job.models), None)
        if not self._knows_only_drawings(model):
            updates[open_library.model] = gr.Dropdown(self._models(), value=model)
        updates[open_library.drawings] = self.on_model(model, chosen, request)
        return updates

    def on_new(self, request: gr.Request) -> Updates:
        return self._show("", request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(event_value(event, "id", str), request)

    def on_add(
        self,
        kind: str,
        name: str,
        files: list[str] | None,
        path: str,
        split: str,
        window: float,
        model: str,
        event: gr.EventData,
        request: gr.Request,
    ) -> Updates:
        """Add a library, and index it in the background by the chosen model, or by a better one.

        The better one is offered where the chosen one knows only drawings.
        """
        uploads: list[tuple[str, Path]] = []
        if kind == "uploads":
            self._permissions.check("import", request)
            uploads = _uploads(files)
            if not uploads:
                raise ConfigError(NO_UPLOADS)
            path = ""
            default_name = Path(uploads[0][0]).stem
        else:
            self._permissions.check("paths", request)
            path = path.strip()
            default_name = Path(path).stem
        takes_better = self._is_of_warning(event)
        if takes_better:
            self._indexing.check_get(self._permissions, request)
        else:
            self._indexing.models.find(model)

        name = name.strip() or default_name or "library"
        info = self._libraries.add(name, kind, path, split, window, self._roots, uploads)  # type: ignore[arg-type]
        if takes_better:
            self._indexing.get(info.id, self._permissions, request)
        else:
            self._indexing.start(info.id, model, session_of(request))
        updates = self._show(info.id, request)
        updates[self._parts.form.files] = None
        updates[self._parts.form.name] = ""
        return updates

    def _is_of_warning(self, event: gr.EventData) -> bool:
        """Return whether an event comes from the warning that a model knows only drawings."""
        target = event.target
        return target is not None and target.elem_id == self._parts.form.drawings.elem_id

    def on_update(self, chosen: str, model: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        self._indexing.start(chosen, model, session_of(request))
        return self._show(chosen, request)

    def on_get(self, chosen: str, request: gr.Request) -> Updates:
        """Index the open library by a model that knows more than drawings; see `Indexing.get`."""
        self._indexing.get(chosen, self._permissions, request)
        updates = self._show(chosen, request)
        updates[self._parts.open.drawings] = {}
        return updates

    def on_cancel(self, chosen: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        job = self._indexing.under_way(chosen)
        if job is not None:
            self._permissions.check_cancel(job.session, request)
            self._indexing.cancel(job.number)
        return self._show(chosen, request)

    def on_more(
        self, chosen: str, files: list[str] | None, model: str, request: gr.Request
    ) -> Updates:
        self._permissions.check("import", request)
        self._libraries.upload(self._libraries.find(chosen).id, _uploads(files))
        return self.on_update(chosen, model, request)

    def on_rename(self, chosen: str, name: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        self._libraries.rename(chosen, name.strip())
        return self._show(chosen, request)

    def on_move(self, chosen: str, path: str, request: gr.Request) -> Updates:
        """Look for the files of a library in another folder, in the background."""
        self._permissions.check("paths", request)
        self._indexing.move(chosen, path.strip(), self._roots, session_of(request))
        return self._show(chosen, request)

    def on_remove(self, chosen: str, request: gr.Request) -> Updates:
        self._permissions.check("delete", request)
        self._libraries.remove(chosen)
        self._indexing.galleries.forget(chosen)
        return self._show("", request)

    def on_retry(self, chosen: str, model: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        self._libraries.retry(chosen)
        return self.on_update(chosen, model, request)

    def on_search(self, event: gr.EventData, _: Visitor) -> Mapping[str, str]:
        """Return the values of the link to the last search of a library in this browser."""
        values = dict(parse_qsl(event_value(event, "link", str)))
        values["gallery"] = event_value(event, "id", str)
        return values

    def _show(self, chosen: str, visitor: Visitor) -> Updates:
        """Open a library, or the form if there is none with this id."""
        info = self._find(chosen)
        if info is None:
            return self._show_form(visitor)
        return self._show_library(info, visitor)

    def _find(self, library_id: str) -> LibraryInfo | None:
        if not library_id:
            return None
        try:
            return self._libraries.find(library_id)
        # Somebody else has removed it.
        except Nt2vrError:
            return None

    def _show_form(self, visitor: Visitor) -> Updates:
        parts = self._parts
        updates = self._progress("", visitor)
        updates[parts.chosen] = ""
        updates[parts.form.column] = gr.Column(visible=True)
        updates[parts.open.column] = gr.Column(visible=False)
        updates[parts.open.search] = {}
        updates[parts.open.skipped] = {}
        updates[parts.open.name] = ""
        return updates

    def _show_library(self, info: LibraryInfo, visitor: Visitor) -> Updates:
        """Show what a library has, and what this visitor may do with it."""
        parts = self._parts
        panel = parts.open
        source = info.source
        is_uploaded = source.kind == "uploads"
        skipped = self._libraries.skipped(info.id)
        may_name_paths = self._permissions.may("paths", visitor)
        may_move = may_name_paths and not is_uploaded
        folder = None if may_name_paths else source.within or source.path
        return {
            **self._progress(info.id, visitor),
            parts.chosen: info.id,
            parts.form.column: gr.Column(visible=False),
            panel.column: gr.Column(visible=True),
            panel.confirm.question: removal_text(info),
            panel.search: self._posters(info),
            panel.skipped: skipped_view(skipped, folder),
            panel.retry: gr.Button(visible=any(not file.duplicate_of for file in skipped)),
            panel.name: info.name,
            panel.more: gr.UploadButton(visible=is_uploaded),
            panel.elsewhere: gr.Button(visible=may_move and info.available),
            panel.place: gr.Row(visible=may_move and not info.available),
        }

    def _progress(self, chosen: str, visitor: Visitor) -> Updates:
        """Show the list, and how far the update of the open library is."""
        parts = self._parts
        panel = parts.open
        jobs = self._indexing.by_library
        infos = self._libraries.infos()
        job = self._indexing.under_way(chosen)
        updates: Updates = {
            parts.seen: jobs,
            parts.timer: gr.Timer(active=_is_busy(jobs)),
            parts.libraries: list_view(infos, jobs, chosen),
            panel.info: {},
            panel.update: gr.Button(interactive=job is None),
            panel.move: gr.Button(interactive=job is None),
            panel.cancel: gr.Button(interactive=self._can_cancel(job, visitor)),
        }
        info = {info.id: info for info in infos}.get(chosen)
        if info is None:
            return updates
        may_name_paths = self._permissions.may("paths", visitor)
        updates[panel.info] = info_view(info, jobs.get(chosen), may_name_paths)
        # Posters appear as they are made.
        if job is not None and info.num_clips < MOST_WATCHED:
            updates[panel.search] = self._posters(info)
        return updates

    def _can_cancel(self, job: IndexJob | None, visitor: Visitor) -> bool:
        if job is None or job.state == "stopping":
            return False
        return self._permissions.may_cancel(job.session, visitor)

    def _posters(self, info: LibraryInfo) -> View:
        return posters_view(info, self._videos(info.id), self._media.urls)

    def _videos(self, library_id: str) -> Sequence[Video]:
        return self._indexing.galleries.searcher(library_id).gallery.videos

    def _models(self) -> list[str]:
        entries = self._indexing.models.entries()
        return [name for name, entry in entries.items() if entry.kind in ("model", "run")]

    def _default_model(self) -> str:
        return next(iter(self._indexing.models.real_models()), "CLIP")

    def _knows_only_drawings(self, model: str | None) -> bool:
        return not model or self._indexing.models.knows_only_drawings(model)


def _is_busy(jobs: Mapping[str, IndexJob]) -> bool:
    return any(job.is_under_way for job in jobs.values())


def _uploads(files: list[str] | None) -> list[tuple[str, Path]]:
    """Return uploaded files with their names.

    A ConfigError refuses all others, so that no path can be tried out.
    """
    paths = [Path(file) for file in files or ()]
    if not all(is_upload(path) for path in paths):
        raise ConfigError("There is no such file among the uploaded ones. Upload it again.")
    return [(path.name, path) for path in paths]
