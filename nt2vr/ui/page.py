"""The page: assembles its tabs, and serves it with its routes."""

import ctypes
import gc
import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from anyio import to_thread
from markdown_it import MarkdownIt
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from nt2vr.models.download import download_all
from nt2vr.search.searcher import Searcher
from nt2vr.services import Services
from nt2vr.settings import ASSETS, Settings, code_address, is_loopback, without_proxies
from nt2vr.ui.closing import ClosingSlide
from nt2vr.ui.evaluate.own_clips import OwnClips
from nt2vr.ui.evaluate.tab import EvaluateTab
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.media import FOREVER, Media
from nt2vr.ui.library.tab import LibraryTab
from nt2vr.ui.search.examples import status_line
from nt2vr.ui.search.first_answer import shipped_views
from nt2vr.ui.search.state import SearchState
from nt2vr.ui.search.tab import SearchTab
from nt2vr.ui.search.tab_layout import built_in_stories, menu_style
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.theme import QUIET, TEMPLATES, build_theme, head_scripts, template
from nt2vr.ui.train.tab import TrainTab
from nt2vr.ui.view import View
from nt2vr.ui.web.agent_tools import build_tools
from nt2vr.ui.web.documentation import PAPER, Documentation
from nt2vr.ui.web.errors import show_errors
from nt2vr.ui.web.first_page import FirstPage
from nt2vr.ui.web.gradio_events import build_events
from nt2vr.ui.web.gradio_files import GradioFiles
from nt2vr.ui.web.gradio_fixes import (
    check_inputs,
    keep_no_statistics,
    keep_signatures,
    limit_files,
    log_in_one_line,
    postprocess_what_needs_it,
    refuse_downloads,
    send_parts_when_opened,
    share_configurations,
    show_progress_where_seen,
    template_script,
    wake_queue,
)
from nt2vr.ui.web.http_routes import build_routes
from nt2vr.ui.web.inputs import HOUR_S, MAX_FILES, STAY_S, store_uploads, sweep_uploads
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.metrics import Metrics
from nt2vr.ui.web.permissions import WITHHELD, Permissions, names_path
from nt2vr.ui.web.request_checks import RequestChecks
from nt2vr.ui.web.requests import Requests
from trainer.runs.manager import RunManager

ABOUT = (
    f"After [“Learn to Understand Negation in Video Retrieval”]({PAPER}) (ACM MM 2022). Programs search over "
    "[the API](api/docs). The built-in world is drawn from [OpenMoji](https://openmoji.org) (CC BY-SA 4.0); results "
    "on it do not carry over to real footage. "
    "✓ right: shows the wanted part and nothing unwanted. A red border: shows the unwanted part. "
    "A dark mark: lacks the wanted part."
)

logger = logging.getLogger(__name__)

# Connections open at a time, of which a page has up to six. Further ones are answered with 503.
MAX_CONNECTIONS = 400
# Most recent visitors whose state is stored, about 0.15 MB each.
SESSIONS = 200
# Time between two updates of the start-up's progress.
STATUS_S = 0.7
LEAVE_REPORT = "nt2vr.leaveReport"


class ImmutableFiles(StaticFiles):
    """Static files named by their content, which browsers may cache forever."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(FOREVER)
        return response


class ReportFiles(StaticFiles):
    """Files of reports; one that names folders of this machine is withheld from most visitors."""

    def __init__(self, folder: Path, permissions: Permissions) -> None:
        super().__init__(directory=folder, check_dir=False)
        # The folder may not exist yet: the first report creates it.
        self.config_checked = True
        self._permissions = permissions

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        may_read_paths = self._permissions.may("paths", HTTPConnection(scope))
        is_array = Path(path).suffix == ".npz"
        if may_read_paths or is_array or not isinstance(response, FileResponse):
            return response
        read_text = partial(Path(response.path).read_text, "utf-8", errors="replace")
        text = await to_thread.run_sync(read_text)
        if await to_thread.run_sync(names_path, text):
            return PlainTextResponse(WITHHELD, 403)
        return response


class App:
    """The page with its tabs, routes and API.

    Args:
        mcp: whether agents are offered tools.
    """

    def __init__(self, services: Services, permissions: Permissions, mcp: bool = False) -> None:
        settings = services.settings
        galleries = services.galleries
        self._services = services
        self._settings = settings
        self._permissions = permissions
        self._mcp = mcp
        self._documentation = Documentation(code_address(settings))
        self._media = Media(galleries, services.libraries, services.decoder, permissions)
        self._requests = Requests(galleries, services.pictures, services.evaluations, permissions)
        self._clips = OwnClips(services, permissions)
        self._indexing = Indexing(services)
        self._runs = RunManager(settings.data_dir / "runs", settings.device)
        self.page = self._build_page()
        self._metrics = Metrics(galleries, permissions, self.page._queue.__len__)
        self._first_page = FirstPage(lambda: galleries.live.has_begun)

    def _build_page(self) -> gr.Blocks:
        page: gr.Blocks
        with gr.Blocks(
            title="nT2VR", fill_width=True, analytics_enabled=False, delete_cache=(HOUR_S, STAY_S)
        ) as page:
            head = self._build_head()
            later = LaterParts("library", "evaluate", "train", "more-models")
            gallery = self._build_tabs(page, head, later)
            # Not gr.Markdown, whose scripts for formulas and source code are as large as all others.
            gr.HTML(MarkdownIt().render(ABOUT), elem_classes="nt-about")
            template("help", {})
            later.for_programs.append(build_events(self._requests))
            if self._mcp:
                build_tools(self._requests)
            timer = gr.Timer(STATUS_S)
            timer.tick(self.on_tick, gallery, [head, timer], queue=False, **QUIET)
        check_inputs(page)
        show_errors(page)
        show_progress_where_seen(page)
        postprocess_what_needs_it(page)
        keep_signatures(page)
        share_configurations(page)
        keep_no_statistics(page)
        wake_queue(page)
        send_parts_when_opened(page, later)
        return page

    def _build_head(self) -> gr.HTML:
        with gr.Row(elem_id="top"):
            head = gr.HTML(status_line(self._services.galleries), elem_id="head")
            gr.HTML(self._documentation.links(), elem_id="links")
        # Elsewhere than on a Space, Gradio would ask the Hub for a token.
        if self._permissions.space_owner:
            gr.LoginButton(size="sm", elem_id="login")
        return head

    def _build_tabs(self, page: gr.Blocks, head: gr.HTML, later: LaterParts) -> gr.Dropdown:
        """Lay the tabs out; return the choice of the gallery."""
        evaluate = EvaluateTab(
            self._services, self._requests, self._media, self._clips, self._permissions
        )
        search = SearchTab(
            self._services.galleries,
            self._media,
            self._indexing,
            self._services.pictures,
            self._permissions,
            head=head,
            marked=evaluate.listings.marked,
            runs=self._runs,
        )
        library = LibraryTab(
            self._media,
            self._indexing,
            self._permissions,
            self._settings.allow_roots,
            Teaching(self._services.models, self._permissions, self._runs),
        )
        train = TrainTab(self._runs, self._settings, self._permissions)
        # The Train tab writes the name of a model here, and the Evaluate tab then measures it.
        model_to_evaluate = gr.Textbox(visible="hidden", elem_id="evaluate-wished")
        with gr.Tabs() as tabs:
            with gr.Tab("Search", id="search") as tab:
                opens_queries = search.build(page, tabs, later)
                ClosingSlide(self._settings.public_address).build()
                tab.select(None, js=LEAVE_REPORT)
            with gr.Tab("Library", id="library") as tab:
                opened = later.opened("library", tab, tab.select)
                library.build(opened, opens_queries)
                tab.select(None, js=LEAVE_REPORT)
            with gr.Tab("Evaluate", id="evaluate") as tab:
                opened = later.opened("evaluate", tab, tab.select)
                report = search.results.understood.report
                evaluate.build(opened, model_to_evaluate, opens_queries, page, tabs, report)
            with gr.Tab("Train", id="train") as tab:
                opened = later.opened("train", tab, tab.select)
                train.build(opened, tabs, model_to_evaluate)
                tab.select(None, js=LEAVE_REPORT)
        return search.controls.gallery

    def on_tick(self, gallery: str, request: gr.Request) -> tuple[str, gr.Timer]:
        """Show how far the start-up is, until it is done."""
        line = status_line(self._services.galleries, gallery, request)
        return line, gr.Timer(active=not self._services.galleries.built_in.is_ready)

    def first_view(self) -> View | None:
        """Return the shipped answer to the default query, for the script of the page; None if it is outdated."""
        views = shipped_views(self._services.models)
        if views is None or self._settings.index:
            return None
        may_train = self._permissions.may_from_here("train")
        understood = {**views["understood"], "may_train": may_train}
        return {"link": SearchState().link, "views": {**views, "understood": understood}}

    def launch(self) -> None:
        """Start to serve the page and its routes."""
        settings = self._settings
        # Gradio asks its own page for an answer, and no proxy may stand between them.
        launch = without_proxies()(self.page.launch)
        launch(
            server_name=_host_in_addresses(settings),
            server_port=settings.port,
            # Not None, with which Gradio would read the environment.
            root_path=settings.root_path,
            theme=build_theme(),
            css=menu_style(),
            css_paths=[TEMPLATES / "style.css"],
            head=template_script()
            + head_scripts(first=self.first_view(), stories=built_in_stories()),
            # Node would render templates without the head's script.
            ssr_mode=False,
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            show_error=True,
            # Not None, with which an environment variable would decide.
            mcp_server=self._mcp,
            state_session_capacity=SESSIONS,
            app_kwargs={"middleware": self._middleware(), "routes": self._routes()},
            prevent_thread_lock=True,
        )
        self.page.server.config.limit_concurrency = MAX_CONNECTIONS

    def _middleware(self) -> list[Middleware]:
        settings = self._settings
        return [
            Middleware(self._metrics.measured),
            Middleware(self._first_page.noting),
            Middleware(
                RequestChecks,
                self._permissions,
                settings.host,
                settings.host_names,
                round(settings.max_upload_gb * 1e9),
            ),
        ]

    def _routes(self) -> list[BaseRoute]:
        archive = self._services.evaluations.archive
        return [
            GradioFiles().route(),
            Mount("/clips", ImmutableFiles(directory=ASSETS / "gallery" / "clips")),
            Mount("/reports", ReportFiles(archive.folder, self._permissions)),
            self._media.route(),
            self._clips.route(),
            Route("/metrics", self._metrics.answer),
            Mount("/api", build_routes(self._requests)),
            *self._documentation.routes(),
        ]

    def log_owner_link(self) -> None:
        """Log the address that makes a browser the owner's.

        It is not needed on this machine alone, where all are the owner, nor on a Space, which knows
        its owner.
        """
        host = self._settings.host
        root = self.page.root_path
        if self._permissions.space_owner or (not root and is_loopback(host)):
            return
        name = _host_in_addresses(self._settings)
        if host in ("0.0.0.0", "::"):
            name = socket.gethostname()
        address = f"http://{name}:{self.page.server_port}{root}"
        logger.info("The owner's link: %s/?token=%s", address, self._permissions.token)

    def start_background_work(self, uploads: Path) -> None:
        """Start background threads, most of which run as long as the process, after the first page."""
        services = self._services
        _in_background(warm_up, services.galleries.built_in, self._first_page)
        _in_background(give_back_freed_memory)
        _in_background(sweep_uploads, uploads)
        _in_background(download_all, self._settings.models, services.models.add)


def _host_in_addresses(settings: Settings) -> str:
    """Return the host as it is written in addresses, with brackets around IPv6."""
    return f"[{settings.host}]" if ":" in settings.host else settings.host


def _in_background(work: Callable[..., object], *arguments: Any) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def serve(settings: Settings, mcp: bool = False) -> None:
    """Serve the page until stopped; models are loaded once it is shown.

    Args:
        mcp: whether agents are offered tools.
    """
    permissions = Permissions.of(settings)
    uploads = settings.data_dir / "uploads"
    refuse_downloads()
    limit_files(MAX_FILES)
    log_in_one_line()
    store_uploads(uploads)
    with closing(Services(settings)) as services:
        app = App(services, permissions, mcp)
        app.launch()
        # What exists by now lives as long as the process, so the garbage collector can skip it.
        gc.freeze()
        gc.enable()
        app.log_owner_link()
        app.start_background_work(uploads)
        with services.galleries.built_in.watching():
            app.page.block_thread()


def warm_up(searcher: Searcher, first_page: FirstPage) -> None:
    """Load what the first search needs, once the first page is shown."""
    first_page.wait()
    searcher.warm_up("CLIP")


def give_back_freed_memory(interval_s: float = 60.0) -> None:
    """Trim the heap at intervals for as long as the process lives; return at once where the C library is not glibc.

    glibc holds on to freed memory: in three minutes of mixed use, trimming returned 22 to 82 MB. It
    takes about 20 ms.
    """
    try:
        trim = ctypes.CDLL("libc.so.6").malloc_trim
    except (OSError, AttributeError):
        return
    while True:
        time.sleep(interval_s)
        trim(0)
