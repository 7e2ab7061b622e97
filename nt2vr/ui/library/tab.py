"""The Library tab: adds, indexes, renames, moves and removes libraries."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.ui.job_view import is_under_way
from nt2vr.ui.library.form_panel import NewLibraryForm
from nt2vr.ui.library.index_models import IndexModels
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.library_panel import LibraryPanel
from nt2vr.ui.library.media import Media
from nt2vr.ui.library.view import Jobs, list_view
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.theme import PRIVATE, QUIET, template
from nt2vr.ui.view import Link, View
from nt2vr.ui.web.errors import with_errors_shown_at
from nt2vr.ui.web.inputs import Components, OpensQueries, Updates, event_text, is_upload
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of

POLL_S = 1.0


class LibraryTab:
    """Library tab over the app's libraries; `roots` are the folders in which they may be named."""

    def __init__(
        self,
        media: Media,
        indexing: Indexing,
        permissions: Permissions,
        roots: Sequence[Path],
        teaching: Teaching,
    ) -> None:
        self._libraries = media.libraries
        self._indexing = indexing
        self._permissions = permissions
        self._roots = roots
        self._models = IndexModels(indexing, permissions, teaching)
        self._form = NewLibraryForm(self._models)
        self._panel = LibraryPanel(media, permissions, self._models)

    def build(self, mark: gr.Textbox, opens: OpensQueries) -> None:
        """Lay the tab out inside the open tab and wire it; `mark` changes when it is opened."""
        self._build_panels()
        self._wire_opening(mark)
        self._wire_form()
        self._wire_list()
        self._wire_panel()
        opens(self._panel.posters.open, self.on_search)
        opens(self._panel.notice.open, self.on_search)

    def _build_panels(self) -> None:
        # The id of the open library, "" for the form.
        self._chosen = gr.Textbox(visible="hidden")
        # The updates as the page showed them last.
        self._seen = gr.State()
        self._timer = gr.Timer(POLL_S, active=False)
        with gr.Row(elem_id="library"):
            with gr.Column(scale=1, min_width=230, elem_id="library-side"):
                self._new = gr.Button("New library", elem_id="library-new")
                self._list = template("library-list", {"libraries": []}, "pick")
            with gr.Column(scale=5, min_width=500):
                self._form.build()
                self._panel.build()

    @property
    def _shown(self) -> Components:
        """The components that depend on which library is open, and on the updates under way."""
        return [
            self._chosen,
            self._form.column,
            self._seen,
            self._timer,
            self._list,
            *self._panel.shown,
        ]

    def _wire_opening(self, mark: gr.Textbox) -> None:
        """Show the libraries when the tab is opened, and follow their updates."""
        opened = mark.change(self.on_open, self._chosen, self._shown, **QUIET)
        opened.success(
            self.on_visit,
            [self._form.model, self._panel.model, self._chosen],
            [*self._form.visited, *self._panel.visited],
            **QUIET,
        )
        self._timer.tick(
            self.on_poll,
            [self._chosen, self._seen],
            self._shown,
            queue=False,
            trigger_mode="once",
            **QUIET,
        )

    def _wire_form(self) -> None:
        form = self._form
        form.wire_fields()
        form.model.change(self.on_model, form.model, form.notice, **QUIET)
        outputs = [*self._shown, form.files, form.name, form.problem]
        for event in (form.add.click, form.notice.get):
            event(with_errors_shown_at(form.problem, self.on_add), form.inputs, outputs, **PRIVATE)

    def _wire_list(self) -> None:
        self._new.click(self.on_new, None, self._shown, **QUIET)
        self._list.pick(self.on_pick, None, self._shown, **QUIET)

    def _wire_panel(self) -> None:
        panel = self._panel
        panel.wire_move(self._chosen)
        panel.confirm.asked_by(panel.remove, self._chosen, (self._new.click, self._list.pick))
        gr.on(
            (panel.model.change, self._chosen.change),
            self.on_model,
            [panel.model, self._chosen],
            panel.notice,
            **QUIET,
        )
        # What visitors do to the open library, with the inputs besides its id.
        for event, handler, inputs in (
            (panel.notice.get, self.on_get, []),
            (panel.update.click, self.on_update, [panel.model]),
            (panel.cancel.click, self.on_cancel, []),
            (panel.upload_more.upload, self.on_more, [panel.upload_more, panel.model]),
            (panel.rename.click, self.on_rename, [panel.name]),
            (panel.find_files.click, self.on_move, [panel.folder]),
            (panel.folder.submit, self.on_move, [panel.folder]),
            (panel.confirm.yes.click, self.on_remove, []),
            (panel.retry.click, self.on_retry, [panel.model]),
        ):
            event(
                with_errors_shown_at(panel.problem, handler),
                [self._chosen, *inputs],
                [*self._shown, panel.problem],
                **QUIET,
            )

    def on_open(self, chosen: str, request: gr.Request) -> Updates:
        """Show the library that was open before, otherwise the first, or the form if there is none."""
        infos = self._libraries.infos()
        if not chosen and infos:
            chosen = infos[0].id
        return self._show(chosen, request)

    def on_visit(
        self, form_model: str | None, panel_model: str | None, chosen: str, request: gr.Request
    ) -> Updates:
        """List the models, disable what this visitor may not do, and say why."""
        return {
            **self._form.visit(form_model, request),
            **self._panel.visit(panel_model, chosen, request),
        }

    def on_model(
        self, model: str | None, chosen: str = "", request: gr.Request | None = None
    ) -> View:
        return self._models.notice(model, chosen, request)

    def on_poll(self, chosen: str, seen: Jobs | None, request: gr.Request) -> Any:
        """Follow the updates, and show the open library again once its update has ended.

        Updates that have ended are shown even if they were seen: the answer of an earlier tick,
        which shows one as under way, may have arrived last. That turns the timer off.
        """
        jobs = self._indexing.by_library
        if jobs == seen and _is_busy(jobs):
            return gr.skip()
        job = jobs.get(chosen)
        was_under_way = is_under_way((seen or {}).get(chosen))
        if job is None or job.is_under_way or not was_under_way:
            return self._follow(chosen, jobs, request)

        updates = self._show(chosen, request)
        # The model may have been downloaded for this update.
        model = next(iter(job.models), None)
        if model is not None and not self._indexing.models.knows_only_drawings(model):
            updates[self._panel.model] = self._models.choices(model)
        updates[self._panel.notice] = self._models.notice(model, chosen, request)
        return updates

    def on_new(self, request: gr.Request) -> Updates:
        return self._show("", request)

    def on_pick(self, event: gr.EventData, request: gr.Request) -> Updates:
        return self._show(event_text(event, "id"), request)

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
        """Add a library, and index it in the background by the chosen model, or by a better one."""
        if kind == "uploads":
            self._permissions.check("import", request)
            uploads = _uploads(files)
            if not uploads:
                raise ConfigError(
                    "No file is uploaded yet. Choose videos and pictures, and wait until they are here."
                )
            named_after = uploads[0][0]
        else:
            self._permissions.check("paths", request)
            uploads = []
            path = path.strip()
            named_after = path
        # The better one is taken on a click on the warning that the chosen one knows only drawings.
        target = event.target
        takes_better = target is not None and target.elem_id == self._form.notice.elem_id
        if takes_better:
            self._indexing.check_get(self._permissions, request)
        else:
            self._indexing.models.find(model)

        name = name.strip() or Path(named_after).stem or "library"
        info = self._libraries.add(name, kind, path, split, window, self._roots, uploads)  # type: ignore[arg-type]
        if takes_better:
            self._indexing.get(info.id, self._permissions, request)
        else:
            self._indexing.start(info.id, model, session_of(request))
        return {**self._show(info.id, request), self._form.files: None, self._form.name: ""}

    def on_update(self, chosen: str, model: str, request: gr.Request) -> Updates:
        self._permissions.check("import", request)
        self._indexing.start(chosen, model, session_of(request))
        return self._show(chosen, request)

    def on_get(self, chosen: str, request: gr.Request) -> Updates:
        """Index the open library by a model that knows more than drawings; see `Indexing.get`."""
        self._indexing.get(chosen, self._permissions, request)
        return {**self._show(chosen, request), self._panel.notice: {}}

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

    def on_search(self, event: gr.EventData, _: Visitor) -> Link:
        """Return the values of the link to the last search of a library in this browser."""
        values = dict(parse_qsl(event_text(event, "link")))
        values["gallery"] = event_text(event, "id")
        return values

    def _show(self, chosen: str, visitor: Visitor) -> Updates:
        """Open a library, or the form if there is none with this id."""
        # A job that ends from here on is shown as ended by the next tick, with what it changed.
        jobs = self._indexing.by_library
        info = None
        # There is none for the form, or somebody else has removed it.
        with suppress(Nt2vrError):
            info = self._libraries.find(chosen)
        library_id = info.id if info else ""
        panel = self._panel.show(info, visitor) if info else self._panel.show_nothing()
        return {
            **self._follow(library_id, jobs, visitor),
            self._chosen: library_id,
            self._form.column: gr.Column(visible=info is None),
            **panel,
        }

    def _follow(self, chosen: str, jobs: Jobs, visitor: Visitor) -> Updates:
        """Show the list, and how far the update of the open library is."""
        infos = self._libraries.infos()
        by_id = {info.id: info for info in infos}
        return {
            self._seen: jobs,
            self._timer: gr.Timer(active=_is_busy(jobs)),
            self._list: list_view(infos, jobs, chosen),
            **self._panel.follow(by_id.get(chosen), jobs.get(chosen), visitor),
        }


def _is_busy(jobs: Jobs) -> bool:
    return any(job.is_under_way for job in jobs.values())


def _uploads(files: list[str] | None) -> list[tuple[str, Path]]:
    """Return uploaded files with their names.

    A ConfigError refuses all others, so that no path can be tried out.
    """
    paths = [Path(file) for file in files or ()]
    if not all(is_upload(path) for path in paths):
        raise ConfigError("There is no such file among the uploaded ones. Upload it again.")
    return [(path.name, path) for path in paths]
