"""The Library tab: adds, indexes, renames, moves and removes libraries."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.source import WINDOW_S
from nt2vr.ui.library.indexing import Indexing, drawings_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.library.view import info_view, list_view, posters_view, removal_text, skipped_view
from nt2vr.ui.search.models import Teaching
from nt2vr.ui.theme import PRIVATE, QUIET, Confirmation, lead, menu, script, template
from nt2vr.ui.web.errors import problem_place, told_at
from nt2vr.ui.web.inputs import OpensQueries, Updates, event_value, is_upload
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.teaching import taught

POLL_S = 1.0
MOST_WATCHED = 1_000  # clips of a library whose list is read every second while it is indexed
KINDS = (
    ("Upload files", "uploads"),
    ("Folder on this machine", "folder"),
    ("Manifest with captions", "manifest"),
    ("Dataset", "dataset"),
)
PATHS = {  # kind -> the label of its path, and an example
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


class NewParts:
    """The form of a new library."""

    def __init__(self, models: Sequence[str], default: str) -> None:
        with gr.Column(elem_id="library-form") as self.column:
            about = "Drop them anywhere on this page, or name a folder, whose files stay there."
            lead("Search your own videos", about)
            label = "Where the videos come from"
            self.kind = gr.Radio(list(KINDS), value="uploads", label=label, elem_id="library-kind")
            several: dict[str, Any] = {"file_count": "multiple", "elem_id": "library-files"}
            self.files = gr.File(
                label="Videos and pictures", height=180, type="filepath", **several
            )
            with gr.Row(equal_height=True):
                self.path = _textbox("library-path", 4, label="Folder", visible=False)
                split: dict[str, Any] = {
                    "value": "all",
                    "scale": 1,
                    "min_width": 120,
                    "visible": False,
                }
                self.split = menu(
                    "library-split", "Split", ["all", "test", "validation", "train"], **split
                )
            self.problem = problem_place("library-problem")
            with gr.Row(equal_height=True):
                self.name = _textbox("library-name", 3, label="Name", placeholder="Holiday")
                place: dict[str, Any] = {"scale": 2, "min_width": 180, "elem_id": "library-window"}
                label = "Seconds per window (0: keep videos whole)"
                self.window = gr.Number(WINDOW_S, label=label, minimum=0, **place)
                self.model = menu(
                    "library-first-model", INDEXED_BY, models, value=default, scale=3, min_width=200
                )
            self.drawings = template("search-index", {}, elem_id="form-drawings")
            self.add = _button("library-add", "Add and index", 220, scale=0, variant="primary")
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


class OpenParts:
    """The open library."""

    def __init__(self, models: Sequence[str], default: str, teaching: Teaching) -> None:
        with gr.Column(visible=False, elem_id="library-open") as self.column:
            with gr.Row(elem_id="library-buttons"):
                self.elsewhere = gr.Button(
                    "Move…", elem_id="library-elsewhere", size="sm", min_width=76
                )
                self.remove = gr.Button("Remove", elem_id="library-remove", size="sm", min_width=90)
            self.confirm = Confirmation("library", "remove", "", "Remove")
            self.problem = problem_place("open-problem")
            self.info = template("library-info", {})
            with gr.Row(equal_height=True, visible=False, elem_id="library-place") as self.place:
                self.path = _textbox("library-new-path", 4, label=ELSEWHERE, min_width=300)
                self.move = _button("library-move", "Find its files", 140)
            self.search = template("library-posters", {"posters": []})
            with gr.Row(equal_height=True, elem_id="library-index"):
                self.model = menu(
                    "library-model", INDEXED_BY, models, value=default, scale=3, min_width=200
                )
                self.update = _button("library-update", "Update index", 140)
                self.cancel = _button("library-cancel", "Cancel", 100, interactive=False)
                more: dict[str, Any] = {"file_count": "multiple", "elem_id": "library-more"}
                self.more = gr.UploadButton("Upload more files", min_width=160, scale=1, **more)
            self.drawings = template("search-index", {}, elem_id="open-drawings")
            teaching.build(self.drawings, "library-teach")
            with gr.Row(equal_height=True):
                self.name = _textbox("library-new-name", 4, label="Name")
                self.rename = _button("library-rename", "Rename", 120)
            self.skipped = template("library-skipped", {})
            self.retry = _button(
                "library-retry", "Read skipped files again", 220, scale=0, visible=False
            )


class LibraryParts:
    """All components of the tab: at the left the libraries, at the right the form or the open one."""

    def __init__(self, models: Sequence[str], default: str, teaching: Teaching) -> None:
        self.chosen = gr.Textbox(visible="hidden")  # id of the open library, "" for the form
        self.seen = gr.State()  # what the page last showed of the updates
        self.timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="library"):
            with gr.Column(scale=1, min_width=230, elem_id="library-side"):
                self.new = gr.Button("New library", elem_id="library-new")
                self.libraries = template("library-list", {"libraries": []}, "pick")
            with gr.Column(scale=5, min_width=320):
                self.form = NewParts(models, default)
                self.open = OpenParts(models, default, teaching)


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
        self._media, self._indexing, self._permissions = media, indexing, permissions
        self._libraries, self._roots, self._teaching = media.libraries, roots, teaching

    def build(self, mark: gr.Textbox, opens: OpensQueries) -> None:
        """Lay the tab out inside the open tab and wire it; `mark` changes when it is opened."""
        self._parts = p = LibraryParts(self._models(), self._default_model(), self._teaching)
        form, o, models = p.form, p.open, [p.form.model, p.open.model]
        # everything that depends on which library is open, and on the updates under way
        panes, watched = [p.chosen, form.column, o.column], [p.seen, p.timer, p.libraries]
        facts = [
            o.confirm.question,
            o.search,
            o.skipped,
            o.retry,
            o.name,
            o.more,
            o.model,
            o.drawings,
        ]
        moves = [o.elsewhere, o.place, o.path, o.move]
        shown = [*panes, *watched, *facts, *moves, o.info, o.update, o.cancel]
        opened = mark.change(self.on_open, p.chosen, shown, **QUIET)
        visited = [form.add, form.note, *models, form.drawings, o.drawings]
        opened.success(self.on_visit, [*models, p.chosen], visited, **QUIET)
        form.model.change(self.on_model, form.model, form.drawings, **QUIET)
        of_kind = [form.files, form.path, form.split, form.window]
        form.kind.change(None, form.kind, of_kind, js=script("chooseKind", PATHS))
        p.timer.tick(
            self.on_poll, [p.chosen, p.seen], shown, queue=False, trigger_mode="once", **QUIET
        )
        for asked in (form.add.click, form.drawings.get):
            added = [*shown, form.files, form.name, form.problem]
            asked(told_at(form.problem, self.on_add), form.inputs, added, **PRIVATE)
        mended = (
            form.files.change,
            form.kind.change,
            form.path.input,
            form.name.input,
            form.window.input,
        )
        gr.on(mended, None, None, form.problem, js="() => ''")
        p.new.click(self.on_new, None, shown, **QUIET)
        p.libraries.pick(self.on_pick, None, shown, **QUIET)
        gr.on(
            (o.model.change, p.chosen.change),
            self.on_model,
            [o.model, p.chosen],
            o.drawings,
            **QUIET,
        )
        for event, handler, inputs in (
            (o.drawings.get, self.on_get, []),
            (o.update.click, self.on_update, [o.model]),
            (o.cancel.click, self.on_cancel, []),
            (o.more.upload, self.on_more, [o.more, o.model]),
            (o.rename.click, self.on_rename, [o.name]),
            (o.move.click, self.on_move, [o.path]),
            (o.path.submit, self.on_move, [o.path]),
            (o.confirm.yes.click, self.on_remove, []),
            (o.retry.click, self.on_retry, [o.model]),
        ):
            event(told_at(o.problem, handler), [p.chosen, *inputs], [*shown, o.problem], **QUIET)
        gr.on((p.chosen.change, o.path.input), None, None, o.problem, js="() => ''")
        p.chosen.change(None, None, o.path, js="() => ''")
        o.elsewhere.click(None, None, o.place, js=script("show", True))
        o.confirm.asked_by(o.remove, p.chosen, (p.new.click, p.libraries.pick))
        opens(o.search.open, self.on_search)
        opens(o.drawings.open, self.on_search)

    def on_open(self, chosen: str, request: gr.Request) -> Updates:
        """Show what was open before, otherwise the first library, or the form if there is none."""
        infos = self._libraries.infos()
        return self._show(chosen or (infos[0].id if infos else ""), request)

    def on_visit(
        self, form_model: str | None, open_model: str | None, chosen: str, request: gr.Request
    ) -> list[Any]:
        """List the models, disable what this visitor may not do, and say why; models of drawings are no default."""
        may = self._permissions.may("import", request) or self._permissions.may("paths", request)
        refusal = self._permissions.refusal(request, "import", "paths", "delete")
        names, default = self._models(), self._default_model()
        before = (form_model, open_model)  # of which one may have been removed
        better = [
            default if name not in names or self._knows_only_drawings(name) else name
            for name in before
        ]
        return [
            gr.Button(interactive=may),
            gr.Markdown(refusal, visible=bool(refusal)),
            *(gr.Dropdown(names, value=name) for name in better),
            self._warning(better[0], 0, request),
            self.on_model(better[1], chosen, request) if chosen else {},
        ]

    def on_model(
        self, model: str | None, chosen: str = "", request: gr.Request | None = None
    ) -> dict[str, Any]:
        """Say if a model knows only drawings, or is slow; of one that has indexed the open library, offer “not”."""
        if chosen and self._indexing.under_way(chosen):  # its clips are not counted yet
            return {}
        clips = len(self._indexing.galleries.searcher(chosen).gallery.videos) if chosen else 0
        if self._permissions.may("import", request) and (
            cost := self._indexing.cost(model or "", clips)
        ):
            return {"drawings": {"text": cost}}
        if (view := self._warning(model, clips, request))["drawings"] or not (clips and model):
            return view
        models, indexed = self._indexing.models, self._indexing.galleries.is_indexed(chosen, model)
        if indexed and (name := models.named(taught(model))):
            return {
                "taught": name,
                "id": chosen,
                "link": urlencode({"gallery": chosen, "systems": f"{model}|{name}"}),
            }
        return {"teach": model} if indexed and model in self._teaching.names(request) else {}

    def _warning(self, model: str | None, clips: int, request: Visitor) -> dict[str, Any]:
        return {
            "drawings": drawings_view(
                self._indexing.models, [model or ""], clips, self._permissions, request
            )
        }

    def on_poll(self, chosen: str, seen: Any, request: gr.Request) -> Any:
        """Follow the updates; show what the open library has got once its update has ended.

        Updates that have ended are shown even if they were seen: the answer of an earlier tick,
        which shows one as under way, may have arrived last. That turns the timer off.
        """
        now = self._indexing.by_library
        if now == seen and any(job.is_under_way for job in now.values()):
            return gr.skip()
        before = seen.get(chosen) if isinstance(seen, dict) else None
        job = now.get(chosen)
        if job is not None and before is not None and before.is_under_way and not job.is_under_way:
            used = next(iter(job.models), None)  # it may have been downloaded for this update
            shown = self._show(chosen, request)
            if not self._knows_only_drawings(used):
                shown[self._parts.open.model] = gr.Dropdown(self._models(), value=used)
            return shown | {self._parts.open.drawings: self.on_model(used, chosen, request)}
        return self._progress(chosen, request)

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
        """Add a library, and index it in the background; after a warning, by a better model than the chosen one."""
        is_better = (
            event.target is not None and event.target.elem_id == self._parts.form.drawings.elem_id
        )
        self._permissions.check("import" if kind == "uploads" else "paths", request)
        uploads, path = (_uploads(files), "") if kind == "uploads" else ([], path.strip())
        if kind == "uploads" and not uploads:
            raise ConfigError(
                "No file is uploaded yet. Choose videos and pictures, and wait until they are here."
            )
        if is_better:
            self._indexing.check_get(self._permissions, request)
        else:
            self._indexing.models.find(model)
        name = name.strip() or Path(uploads[0][0] if uploads else path).stem or "library"
        info = self._libraries.add(name, kind, path, split, window, self._roots, uploads)  # type: ignore[arg-type]
        if is_better:
            self._indexing.get(info.id, self._permissions, request)
        else:
            self._indexing.start(info.id, model, session_of(request))
        return {
            **self._show(info.id, request),
            self._parts.form.files: None,
            self._parts.form.name: "",
        }

    def on_update(self, chosen: str, model: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        self._indexing.start(chosen, model, session_of(request))
        return self._show(chosen, request)

    def on_get(self, chosen: str, request: gr.Request) -> Updates:
        """Index the open library by a model that knows more than drawings, which is downloaded if none is here."""
        self._indexing.get(chosen, self._permissions, request)
        return self._show(chosen, request) | {self._parts.open.drawings: {}}

    def on_cancel(self, chosen: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        if job := self._indexing.under_way(chosen):
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
        return {
            **dict(parse_qsl(event_value(event, "link", str))),
            "gallery": event_value(event, "id", str),
        }

    def _show(self, chosen: str, visitor: Visitor) -> Updates:
        """Open a library, or the form if there is none with this id."""
        p, o = self._parts, self._parts.open
        try:
            info = self._libraries.find(chosen) if chosen else None
        except Nt2vrError:  # removed by somebody else
            info = None
        shown: Updates = {
            p.chosen: info.id if info else "",
            p.form.column: gr.Column(visible=info is None),
            o.column: gr.Column(visible=info is not None),
            **self._progress(info.id if info else "", visitor),
        }
        if info is None:
            return shown | {o.search: {}, o.skipped: {}, o.name: ""}
        skipped = self._libraries.skipped(info.id)
        names_paths = self._permissions.may("paths", visitor)
        may_move = names_paths and info.source.kind != "uploads"
        folder = None if names_paths else info.source.within or info.source.path
        videos = self._indexing.galleries.searcher(info.id).gallery.videos
        return shown | {
            o.confirm.question: removal_text(info),
            o.search: posters_view(info, videos, self._media.urls),
            o.skipped: skipped_view(skipped, folder),
            o.retry: gr.Button(visible=any(not each.duplicate_of for each in skipped)),
            o.name: info.name,
            o.more: gr.UploadButton(visible=info.source.kind == "uploads"),
            o.elsewhere: gr.Button(visible=may_move and info.available),
            o.place: gr.Row(visible=may_move and not info.available),
        }

    def _progress(self, chosen: str, visitor: Visitor) -> Updates:
        """Show the list, and the open library with its update."""
        p, o, jobs, infos = (
            self._parts,
            self._parts.open,
            self._indexing.by_library,
            self._libraries.infos(),
        )
        info = next((info for info in infos if info.id == chosen), None)
        job = self._indexing.under_way(chosen) if chosen else None
        is_busy = any(each.is_under_way for each in jobs.values())
        can_cancel = (
            job is not None
            and job.state != "stopping"
            and self._permissions.may_cancel(job.session, visitor)
        )
        found: Updates = {}
        if (
            job is not None and info is not None and info.num_clips < MOST_WATCHED
        ):  # thumbnails as they come
            videos = self._indexing.galleries.searcher(info.id).gallery.videos
            found = {o.search: posters_view(info, videos, self._media.urls)}
        return found | {
            p.seen: jobs,
            p.timer: gr.Timer(active=is_busy),
            p.libraries: list_view(infos, jobs, chosen),
            o.info: info_view(info, jobs.get(info.id), self._permissions.may("paths", visitor))
            if info
            else {},
            o.update: gr.Button(interactive=job is None),
            o.move: gr.Button(interactive=job is None),
            o.cancel: gr.Button(interactive=can_cancel),
        }

    def _models(self) -> list[str]:
        return [
            name
            for name, entry in self._indexing.models.entries().items()
            if entry.kind in ("model", "run")
        ]

    def _default_model(self) -> str:
        return next(iter(self._indexing.models.real_models()), "CLIP")

    def _knows_only_drawings(self, model: str | None) -> bool:
        return not model or self._indexing.models.knows_only_drawings(model)


def _uploads(files: list[str] | None) -> list[tuple[str, Path]]:
    """Return uploaded files with their names; a ConfigError for others, so that no path can be tried out."""
    if not all(is_upload(file) for file in files or ()):
        raise ConfigError("There is no such file among the uploaded ones. Upload it again.")
    return [(Path(file).name, Path(file)) for file in files or ()]
