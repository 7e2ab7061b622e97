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
from starlette.routing import Mount, Route
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
from nt2vr.ui.search.first_answer import FirstAnswer
from nt2vr.ui.search.models import Teaching
from nt2vr.ui.search.tab import SearchTab, built_in_stories, menu_style
from nt2vr.ui.theme import QUIET, TEMPLATES, build_theme, head_scripts, template
from nt2vr.ui.train.tab import TrainTab
from nt2vr.ui.web.agent_tools import build_tools
from nt2vr.ui.web.documentation import PAPER, Documentation
from nt2vr.ui.web.errors import show_errors
from nt2vr.ui.web.first_page import FirstPage
from nt2vr.ui.web.gradio_events import build_events
from nt2vr.ui.web.gradio_files import GradioFiles
from nt2vr.ui.web.gradio_fixes import (
    check_inputs,
    keep_configurations,
    keep_signatures,
    leave_skipped_outputs,
    limit_files,
    log_in_one_line,
    refuse_downloads,
    send_parts_when_opened,
    show_progress_where_seen,
    template_script,
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

MAX_CONNECTIONS = 400  # open at a time; a page holds up to six
SESSIONS = 200  # most recent visitors whose state is stored, about 0.35 MB each
QUEUE_PAUSE_S = (
    0.02  # between two looks at an empty queue; at Gradio's .001 an idle app took 6 % of a core
)


class ImmutableFiles(StaticFiles):
    """Static files named by their content, which browsers may cache forever."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(FOREVER)
        return response


class ReportFiles(StaticFiles):
    """Files of reports; those that name folders are for visitors who may name such."""

    def __init__(self, folder: Path, permissions: Permissions) -> None:
        super().__init__(directory=folder, check_dir=False)
        self.config_checked = (
            True  # the first report creates the folder; until then all is "not found"
        )
        self._permissions = permissions

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        is_theirs = self._permissions.may("paths", HTTPConnection(scope))
        if is_theirs or not isinstance(response, FileResponse) or Path(path).suffix == ".npz":
            return response
        text = await to_thread.run_sync(
            partial(Path(response.path).read_text, "utf-8", errors="replace")
        )
        return (
            PlainTextResponse(WITHHELD, 403)
            if await to_thread.run_sync(names_path, text)
            else response
        )


def build_page(
    services: Services,
    media: Media,
    clips: OwnClips,
    permissions: Permissions,
    requests: Requests,
    mcp: bool,
) -> gr.Blocks:
    """Build the head, the tabs and the API; with `mcp`, agents are offered tools."""
    page: gr.Blocks
    galleries, settings, indexing = services.galleries, services.settings, Indexing(services)
    runs = RunManager(settings.data_dir / "runs", settings.device)
    with gr.Blocks(
        title="nT2VR", fill_width=True, analytics_enabled=False, delete_cache=(HOUR_S, STAY_S)
    ) as page:
        with gr.Row(elem_id="top"):
            head = gr.HTML(status_line(galleries), elem_id="head")
            gr.HTML(Documentation(code_address(settings)).links(), elem_id="links")
        if permissions.space_owner:
            gr.LoginButton(
                size="sm", elem_id="login"
            )  # only on a Space: elsewhere Gradio asks the Hub for a token
        later = LaterParts("library", "evaluate", "train", "more-models")
        evaluate = EvaluateTab(services, requests, media, clips, permissions)
        tab = SearchTab(
            galleries, media, indexing, services.pictures, permissions, head, evaluate.marked, runs
        )
        # Where the Train tab writes what the Evaluate tab is to measure.
        wished = gr.Textbox(visible="hidden", elem_id="evaluate-wished")
        with gr.Tabs() as all_tabs:
            with gr.Tab("Search", id="search") as search_tab:
                opens_queries = tab.build(page, all_tabs, later)
                ClosingSlide(settings.public_address).build()
            with gr.Tab("Library", id="library") as library_tab:
                teaching = Teaching(services.models, permissions, runs)
                LibraryTab(media, indexing, permissions, settings.allow_roots, teaching).build(
                    later.opened("library", library_tab, library_tab.select), opens_queries
                )
            with gr.Tab("Evaluate", id="evaluate") as evaluate_tab:
                evaluate.build(
                    later.opened("evaluate", evaluate_tab, evaluate_tab.select),
                    wished,
                    opens_queries,
                    page,
                    all_tabs,
                    tab.results.understood.report,
                )
            with gr.Tab("Train", id="train") as train_tab:
                TrainTab(runs, settings, permissions).build(
                    later.opened("train", train_tab, train_tab.select), all_tabs, wished
                )
            for other in (search_tab, library_tab, train_tab):
                other.select(None, js="nt2vr.leaveReport")
        # Not gr.Markdown, whose scripts for formulas and source code are as large as all others.
        gr.HTML(MarkdownIt().render(ABOUT), elem_classes="nt-about")
        template("help", {})
        later.never.append(build_events(requests))
        if mcp:
            build_tools(requests)
        timer = gr.Timer(0.7)

        def on_tick(gallery: str, request: gr.Request) -> tuple[str, gr.Timer]:
            return status_line(galleries, gallery, request), gr.Timer(
                active=not galleries.built_in.is_ready
            )

        timer.tick(on_tick, tab.controls.gallery, [head, timer], queue=False, **QUIET)
    check_inputs(page)
    show_errors(page)
    show_progress_where_seen(page)
    leave_skipped_outputs(page)
    keep_signatures(page)
    keep_configurations(page)
    send_parts_when_opened(page, later)
    return page


def first_view(services: Services, permissions: Permissions) -> dict[str, Any] | None:
    """Return the answer that pages open with, for their script; None if the shipped one is of something else."""
    first = FirstAnswer.shipped(services.models)
    if first is None or services.settings.index:
        return None
    trains = {"trains": permissions.may_from_here("train")}
    views = {**first.views, "understood": {**first.views["understood"], **trains}}
    return {"link": first.link, "views": views}


def serve(settings: Settings, mcp: bool = False) -> None:
    """Serve the page until stopped, with tools for agents if `mcp`; models are loaded once it is shown."""
    permissions, folder = Permissions.of(settings), settings.data_dir / "uploads"
    refuse_downloads()
    limit_files(MAX_FILES)
    log_in_one_line()
    store_uploads(folder)
    with closing(Services(settings)) as services:
        galleries = services.galleries
        media = Media(galleries, services.libraries, services.decoder, permissions)
        requests = Requests(galleries, services.pictures, services.evaluations, permissions)
        clips = OwnClips(
            archive=services.evaluations.archive,
            decoder=services.decoder,
            cache=services.cache,
            permissions=permissions,
            folder=settings.data_dir / "evaluation" / "previews",
        )
        page = build_page(services, media, clips, permissions, requests, mcp)
        first_page = FirstPage(lambda: galleries.live.has_begun)
        metrics = Metrics(galleries, permissions, page._queue.__len__)
        max_upload_bytes = round(settings.max_upload_gb * 1e9)
        checks = Middleware(
            RequestChecks, permissions, settings.host, settings.host_names, max_upload_bytes
        )
        page._queue.sleep_when_free = QUEUE_PAUSE_S
        host = (
            f"[{settings.host}]" if ":" in settings.host else settings.host
        )  # IPv6, as it stands in addresses
        # Gradio asks its own page for an answer, and no proxy may stand between them.
        launch = without_proxies()(page.launch)
        launch(
            server_name=host,
            server_port=settings.port,
            root_path=settings.root_path,  # not None, with which Gradio would read the environment
            theme=build_theme(),
            css=menu_style(),
            css_paths=[TEMPLATES / "style.css"],
            head=template_script()
            + head_scripts(first=first_view(services, permissions), stories=built_in_stories()),
            ssr_mode=False,  # Node would render templates without that script
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            show_error=True,
            mcp_server=mcp,  # not None, with which an environment variable would decide
            state_session_capacity=SESSIONS,
            app_kwargs={
                "middleware": [
                    Middleware(metrics.measured),
                    Middleware(first_page.noting),
                    checks,
                ],
                "routes": [
                    GradioFiles().route(),
                    Mount("/clips", ImmutableFiles(directory=ASSETS / "gallery" / "clips")),
                    Mount(
                        "/reports", ReportFiles(services.evaluations.archive.folder, permissions)
                    ),
                    media.route(),
                    clips.route(),
                    Route("/metrics", metrics.answer),
                    Mount("/api", build_routes(requests)),
                    *Documentation(code_address(settings)).routes(),
                ],
            },
            prevent_thread_lock=True,
        )
        page.server.config.limit_concurrency = (
            MAX_CONNECTIONS  # uvicorn answers further ones with 503
        )
        gc.freeze()  # the page stays: searches for garbage need not look at it
        gc.enable()
        if not permissions.space_owner and (page.root_path or not is_loopback(settings.host)):
            name = socket.gethostname() if settings.host in ("0.0.0.0", "::") else host
            address = f"http://{name}:{page.server_port}{page.root_path}/?token={permissions.token}"
            logger.info("The owner's link: %s", address)
        works: list[tuple[Callable[..., object], tuple[Any, ...]]] = [
            (warm_up, (galleries.built_in, first_page)),
            (give_back_freed_memory, ()),
            (sweep_uploads, (folder,)),
            (download_all, (settings.models, services.models.add)),
        ]
        for work, arguments in works:
            threading.Thread(target=work, args=arguments, daemon=True).start()
        with galleries.built_in.watching():
            page.block_thread()


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
