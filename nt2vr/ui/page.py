"""The page: builds services and tabs, and serves clips and reports."""

import html
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import gradio as gr
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from nt2vr.evaluation.jobs import Evaluations
from nt2vr.library.jobs import IndexJobs
from nt2vr.library.libraries import Libraries
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.models.catalog import Catalog
from nt2vr.models.downloads import download_all
from nt2vr.search.galleries import Galleries
from nt2vr.settings import Settings, is_loopback
from nt2vr.ui.evaluate.scripts import LEFT
from nt2vr.ui.evaluate.tab import EvaluateTab
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.media import FOREVER, Media
from nt2vr.ui.library.tab import LibraryTab
from nt2vr.ui.search.layout import menu_style
from nt2vr.ui.search.tab import SearchTab
from nt2vr.ui.search.watch import Trainings
from nt2vr.ui.theme import build_theme, template
from nt2vr.ui.web.gradio_api import build_api
from nt2vr.ui.web.inputs import check_inputs
from nt2vr.ui.web.memory import give_back_freed_memory
from nt2vr.ui.web.permissions import Permissions
from nt2vr.ui.web.request_checks import RequestChecks, refuse_unreadable
from nt2vr.ui.web.routes import build_routes
from nt2vr.ui.web.uploads import DAY_S, HOUR_S, prepare_uploads, refuse_addresses
from nt2vr.world.edits.edits import judge_video
from nt2vr.world.stories import story_queries
from nt2vr.world.synonyms import offered_words, synonyms

ABOUT = (
    "After “Learn to Understand Negation in Video Retrieval” (ACM MM 2022). The built-in world is drawn from "
    "[OpenMoji](https://openmoji.org) (CC BY-SA 4.0); results on it do not carry over to real footage. "
    "✓ right: shows the wanted part and nothing unwanted. *violates*: shows the unwanted part. "
    "*misses*: lacks the wanted part."
)

TabBuilder = Callable[[gr.Tab], None]  # fills an open tab
logger = logging.getLogger(__name__)

ANY_ADDRESS = ("0.0.0.0", "::")
SESSIONS = 200  # visitors whose state is kept, the latest; each takes about 0.35 MB

NO_TABS: Mapping[str, TabBuilder] = MappingProxyType({})


class ImmutableFiles(StaticFiles):
    """Static files named by their content, which browsers may cache for good."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Serve a file as immutable."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(FOREVER)
        return response


def status_line(text: str) -> str:
    """Return the page's head: the brand at the left, the status at the right."""
    return (
        f'<div class="nt-head"><h1 class="nt-brand">nT2VR</h1>'
        f'<span class="nt-status" role="status">built-in world · {html.escape(text)}</span></div>'
    )


def build_page(
    galleries: Galleries,
    media: Media,
    indexing: Indexing,
    evaluations: Evaluations,
    permissions: Permissions,
    settings: Settings,
    tabs: Mapping[str, TabBuilder] = NO_TABS,
    trainings: Trainings | None = None,
) -> tuple[gr.Blocks, SearchTab]:
    """Build the head, the tabs and the API; `tabs` adds those of other packages, by name, `trainings` the trainer."""
    page: gr.Blocks
    searcher, templates = galleries.built_in, settings.assets / "ui"
    with gr.Blocks(title="nT2VR", fill_width=True, analytics_enabled=False, delete_cache=(HOUR_S, DAY_S)) as page:
        head = gr.HTML(status_line(searcher.status), elem_id="head")
        if permissions.space_owner:
            gr.LoginButton(size="sm", elem_id="login")  # on a Space only: elsewhere Gradio asks the Hub for a token
        evaluate = EvaluateTab(evaluations, galleries, media, permissions, templates)
        tab = SearchTab(
            galleries,
            media,
            indexing,
            media.decoder,
            templates,
            permissions,
            evaluate.marked,
            offered_words(),
            story_queries(),
            trainings,
        )
        with gr.Tabs() as all_tabs:
            with gr.Tab("Search", id="search") as opened:
                opens_queries = tab.build(page, all_tabs)
            others = [opened]
            with gr.Tab("Library", id="library") as opened:
                LibraryTab(media, indexing, permissions, settings.allow_roots, templates).build(opened, opens_queries)
            others.append(opened)
            with gr.Tab("Evaluate", id="evaluate") as opened:
                evaluate.build(opened, opens_queries, page, all_tabs, tab.returned_to_report)
            for name, build in tabs.items():
                with gr.Tab(name, id=name.lower()) as opened:
                    build(opened)
                others.append(opened)
            for other in others:
                other.select(None, js=LEFT, api_visibility="private")
        gr.Markdown(ABOUT, elem_classes="nt-about")
        template(templates, "help", {})
        build_api(tab, evaluate)
        timer = gr.Timer(0.7)
        timer.tick(
            lambda: (status_line(searcher.status), gr.Timer(active=not searcher.is_ready)),
            None,
            [head, timer],
            show_progress="hidden",
            queue=False,
            api_visibility="private",
        )
    check_inputs(page)
    return page, tab


def owner_link(host: str, page: gr.Blocks, permissions: Permissions) -> str:
    """Return the address at which a visitor becomes the owner."""
    name = socket.gethostname() if host in ANY_ADDRESS else host
    return f"http://{name}:{page.server_port}{page.root_path}/?token={permissions.token}"


def serve(
    settings: Settings,
    permissions: Permissions,
    tabs: Mapping[str, TabBuilder] = NO_TABS,
    trainings: Trainings | None = None,
) -> None:
    """Serve the page until stopped, with `tabs` after its own; models are loaded once it is up."""
    refuse_addresses()
    prepare_uploads(settings.data_dir / "uploads")
    gallery = load_gallery(settings.assets / "gallery" / "gallery.jsonl")
    model_folders = [settings.assets / "models", settings.data_dir / "models"]
    models = Catalog(model_folders, settings.device, settings.data_dir / "runs")
    with Decoder() as decoder:
        cache = Cache.of(settings.data_dir)
        libraries = Libraries(settings.data_dir / "libraries")
        galleries = Galleries(models, gallery, decoder, cache, judge_video, synonyms(), libraries)
        searcher, media = galleries.built_in, Media(galleries, libraries, decoder)
        indexing = Indexing(IndexJobs(libraries, galleries.encoder, decoder, cache), galleries)
        evaluations = Evaluations(models, decoder, cache, settings.data_dir / "evaluation", settings.assets, libraries)
        page, tab = build_page(galleries, media, indexing, evaluations, permissions, settings, tabs, trainings)
        clips = ImmutableFiles(directory=settings.assets / "gallery" / "clips")
        reports = StaticFiles(directory=evaluations.archive.folder, check_dir=False)
        max_upload_bytes = round(settings.max_upload_gb * 1e9)
        reports.config_checked = True  # the folder is made with the first report; until then nothing is found
        page.launch(
            server_name=settings.host,
            server_port=settings.port,
            theme=build_theme(),
            css=menu_style(),
            css_paths=[settings.assets / "ui" / "style.css"],
            head=f"<script>{(settings.assets / 'ui' / 'text-only.js').read_text(encoding='utf-8')}</script>",
            ssr_mode=False,  # in Node, templates would run without that script
            footer_links=[],
            run_history=False,
            enable_monitoring=False,
            show_error=True,
            state_session_capacity=SESSIONS,
            app_kwargs={
                "middleware": [
                    Middleware(RequestChecks, permissions, settings.host, settings.host_names, max_upload_bytes)
                ],
                "exception_handlers": {RequestValidationError: refuse_unreadable},
                "routes": [
                    Mount("/clips", clips),
                    Mount("/reports", reports),
                    media.route(),
                    Mount("/api", build_routes(tab)),
                ],
            },
            prevent_thread_lock=True,
        )
        if not permissions.space_owner and (page.root_path or not is_loopback(settings.host)):
            logger.info("The owner's link: %s", owner_link(settings.host, page, permissions))
        threading.Thread(target=searcher.warm_up, args=("CLIP",), daemon=True).start()
        threading.Thread(target=give_back_freed_memory, daemon=True).start()
        threading.Thread(target=download_all, args=(settings.models, models.download), daemon=True).start()
        with searcher.watching():
            page.block_thread()
