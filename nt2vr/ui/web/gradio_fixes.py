"""Overrides of Gradio's behaviour, besides `nt2vr.ui.quickly_imported`.

Each was last needed with Gradio 6.31. `tests/unit/ui/web/test_gradio_fixes.py` and
`tests/browser/test_gradio_fixes.py` show each fault without its fix, and fail once a release of
Gradio makes the fix unnecessary: delete it then.
"""

import asyncio
import inspect
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import gradio as gr
from gradio import processing_utils, queueing, route_utils, routes
from gradio.blocks import Block, BlockContext, BlocksConfig
from gradio.mcp import GradioMCPServer
from gradio.renderable import Renderable
from gradio.route_utils import GradioMultiPartParser
from gradio.state_holder import SessionState
from starlette.types import Scope

from nt2vr.errors import MAX_QUOTED, quoted, reason_of
from nt2vr.ui.theme import TEMPLATES
from nt2vr.ui.web.later_parts import FirstView, LaterParts

logger = logging.getLogger(__name__)

# Components whose values never are files.
WITHOUT_FILES = (gr.HTML, gr.State, gr.Textbox, gr.Dropdown, gr.Slider, gr.Timer)
# Between two looks of the queue for events, and for their progress.
QUEUE_PAUSE_S = 1.0
PROGRESS_PAUSE_S = 0.1


def template_script() -> str:
    """Return the head script that keeps templates of `gr.HTML` from running values (security).

    Gradio fills in {{value}}, escaped as HTML, and evaluates the result as a JavaScript template
    literal, so that "${…}" in a query would run. The script patches `window.Function` to escape the
    literal first. In templates with `${esc(value)}`, which would not need it, one `esc` forgotten
    among some 900 tags would be an injection.
    """
    return f"<script>{(TEMPLATES / 'text-only.js').read_text(encoding='utf-8')}</script>"


def refuse_downloads() -> None:
    """Keep Gradio from downloading a file that a request names by its URL (security).

    Gradio has no setting for it.
    """

    async def refuse(url: str, cache_dir: str) -> str:
        raise gr.Error("Upload the file: addresses are not opened here.", print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse


def limit_files(most: int) -> None:
    """Keep a request from uploading more files than this (security).

    Gradio takes 1,000, and has no setting for it.
    """

    class Limited(GradioMultiPartParser):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "max_files": most})

    route_utils.GradioMultiPartParser = Limited  # type: ignore[misc]


def keep_temporary_files(folder: Path) -> None:
    """Let Gradio's routes make their folder in this one, unless it is read-only.

    Their default was chosen as they were imported: one folder for all users of the machine. Where
    it belongs to another user, no page can be built.
    """
    with suppress(OSError):
        (folder / "vibe_edit_history").mkdir(exist_ok=True)
        routes.DEFAULT_TEMP_DIR = str(folder)  # type: ignore[attr-defined]


def offer_tools(endpoints: Mapping[str, str]) -> None:
    """Limit Gradio's MCP server to these endpoints, by their tools' names (security).

    It would offer all endpoints to agents. Resources and prompts go, too: for an unknown prompt, it
    runs the last endpoint, with this machine's permissions.
    """
    create_server = GradioMCPServer.create_mcp_server

    def endpoints_by_tool(gradio: GradioMCPServer) -> dict[str, str]:
        return {f"{gradio.tool_prefix}{name}": endpoint for name, endpoint in endpoints.items()}

    def create_server_of_tools(gradio: GradioMCPServer) -> Any:
        server = create_server(gradio)
        types = gradio.types
        offered = (types.PingRequest, types.ListToolsRequest, types.CallToolRequest)
        handlers = server.request_handlers
        server.request_handlers = {kind: handlers[kind] for kind in offered}
        return server

    GradioMCPServer.get_tool_to_endpoint = endpoints_by_tool  # type: ignore[method-assign,assignment]
    GradioMCPServer.create_mcp_server = create_server_of_tools  # type: ignore[method-assign,assignment]


def is_odd_mcp_request(scope: Scope) -> bool:
    """Return whether a request is for Gradio's MCP server, but not a message to it (security).

    The server's page for browsers answers at any path that ends like its own, and has that path in
    a script, unescaped; the streams that GET and /sse open stay open; and /schema says nothing that
    a message does not.
    """
    _, server, rest = scope["path"].partition("/gradio_api/mcp")
    if not server:
        return False
    is_message = scope["method"] == "POST" and rest in ("", "/")
    return not is_message


def unopened_picture(**options: Any) -> gr.Image:
    """Build a `gr.Image` that passes its file's path on, and does not open it here (security)."""
    picture = gr.Image(type="filepath", **options)

    def path_of(payload: Any) -> str | None:
        if payload is None:
            return None
        return payload.path or ""

    # A subclass would write a .pyi next to its source.
    picture.preprocess = path_of  # type: ignore[method-assign]
    return picture


def check_inputs(page: gr.Blocks) -> None:
    """Refuse values that a page's components cannot have, in one sentence instead of a traceback.

    A text or a list that is null becomes an empty one.
    """
    preprocess = page.preprocess_data

    async def preprocess_checked(
        block_fn: Any, inputs: list[Any], *args: Any, **options: Any
    ) -> list[Any]:
        try:
            values = await preprocess(block_fn, inputs, *args, **options)
        except gr.Error as error:
            # One of this app's is in one sentence already.
            if not error.print_exception:
                raise
            raise _refused(str(error.message)[:MAX_QUOTED]) from error
        except Exception as error:
            raise _refused(reason_of(error)[:MAX_QUOTED]) from error
        blocks = block_fn.inputs
        return [_checked(block, value) for block, value in zip(blocks, values, strict=True)]

    page.preprocess_data = preprocess_checked  # type: ignore[method-assign]


def _refused(reason: str) -> gr.Error:
    return gr.Error(f"The request was refused: {reason}", print_exception=False)


def _checked(block: Any, value: Any) -> Any:
    """Return a component's value, empty if it is null; an error if the component cannot have it."""
    if not _can_hold(block, value):
        name = getattr(block, "label", None) or block.elem_id or type(block).__name__
        raise _refused(f"{name} holds no {type(value).__name__}.")
    if value is None and isinstance(block, gr.Textbox):
        return ""
    if value is None and isinstance(block, gr.Dropdown) and block.multiselect:
        return []
    return value


def _can_hold(block: Any, value: Any) -> bool:
    """Return whether a value is of the kind that a component has, where Gradio does not check it."""
    if isinstance(block, gr.HTML):
        # All that handlers read are templates.
        return isinstance(value, dict)
    if value is None:
        return True
    if isinstance(block, gr.BrowserState):
        return isinstance(value, str)
    if isinstance(block, gr.Dropdown):
        if block.multiselect:
            return isinstance(value, list) and all(isinstance(choice, str) for choice in value)
        return isinstance(value, str | int | float)
    return True


def log_in_one_line() -> None:
    """Keep Gradio from printing tracebacks (security).

    Otherwise, whoever closes connections halfway fills the log.
    """

    def log_error() -> None:
        logger.warning("Gradio could not answer an event: %s", quoted(repr(sys.exception())))

    for module in (queueing, route_utils, routes):
        module.traceback = _changed(traceback, print_exc=log_error)  # type: ignore[attr-defined]


def _changed(module: ModuleType, **functions: Any) -> SimpleNamespace:
    """Return a stand-in for a module, with functions of this app in place of its own."""
    return SimpleNamespace(**{**vars(module), **functions})


def share_configurations(page: gr.Blocks) -> None:
    """Compute once how the page's components are described to browsers, for all visitors.

    Gradio does so for each visitor, while all others wait: 70 ms for 320 components. It also writes
    all values that a visitor sees into a copy, from which it would make a deep link. The page
    offers none.
    """
    for number, block in page.blocks.items():
        block.stored_configuration = _configuration(number, [], block)  # type: ignore[union-attr]
    BlocksConfig.config_for_block = staticmethod(_stored_configuration)  # type: ignore[assignment]
    SessionState._update_value_in_config = lambda *_: None  # type: ignore[method-assign]


_configuration = BlocksConfig.config_for_block


def _stored_configuration(
    number: int, rendered: list[int], block: Block, renderable: Renderable | None = None
) -> dict[str, Any]:
    stored: dict[str, Any] | None = vars(block).get("stored_configuration")
    if stored is None or renderable is not None:
        return _configuration(number, rendered, block, renderable)
    return stored


def keep_no_statistics(page: gr.Blocks) -> None:
    """Keep no statistics of events.

    After each event, Gradio makes a pandas table of up to 10,000 earlier ones, for its page of
    statistics, which is not served.
    """
    page._queue.ANALYTICS_MAX_EVENTS = 0


def postprocess_what_needs_it(page: gr.Blocks) -> None:
    """Leave outputs alone that a handler's dict does not name, and what `gr.HTML` shows.

    Gradio builds each skipped output again (1.5 ms). In a template's value it looks for files in
    every text, three times.
    """
    _postprocess_named_outputs(page)
    _complete_no_addresses(page)


def _postprocess_named_outputs(page: gr.Blocks) -> None:
    postprocess = page.postprocess_data

    async def postprocess_rest(block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        is_by_block = isinstance(predictions, dict) and all(
            isinstance(key, Block) for key in predictions
        )
        # To a single output, an empty dict is its value: a clip is closed by it.
        is_value = predictions == {} and len(block_fn.outputs) == 1
        if is_value or not is_by_block:
            return await postprocess(block_fn, predictions, state)

        sent = {}
        rest = {}
        for block in block_fn.outputs:
            value = predictions.get(block, gr.skip())
            if _is_content(block, value):
                sent[block] = value
            elif value != gr.skip():
                rest[block] = value
        if rest:
            event_of_rest = copy(block_fn)
            event_of_rest.outputs = list(rest)
            processed = await postprocess(event_of_rest, rest, state)
            sent |= zip(rest, processed, strict=True)
        return [sent.get(block, gr.skip()) for block in block_fn.outputs]

    page.postprocess_data = postprocess_rest  # type: ignore[method-assign]


def _complete_no_addresses(page: gr.Blocks) -> None:
    """Keep Gradio from looking for addresses of files to complete, in events whose outputs have none."""
    process = page.process_api

    async def process_without_addresses(block_fn: Any, *args: Any, **options: Any) -> Any:
        if all(isinstance(block, WITHOUT_FILES) for block in block_fn.outputs):
            options["root_path"] = None
        return await process(block_fn, *args, **options)

    page.process_api = process_without_addresses  # type: ignore[method-assign]


def _is_content(block: Block, value: Any) -> bool:
    """Return whether a value is what `gr.HTML` shows, and neither an update nor a skip."""
    if not isinstance(block, gr.HTML):
        return False
    return isinstance(value, str) or (isinstance(value, dict) and "__type__" not in value)


def wake_queue(page: gr.Blocks) -> None:
    """Have the queue start an event as it arrives or a worker is free, and look for progress less often.

    Gradio looks for events every millisecond, which takes 6 % of a core of an idle app, and for
    progress every hundredth of a second.
    """
    queue = page._queue
    pause = _Pause(QUEUE_PAUSE_S)
    queue.push = _waking(queue.push, pause)  # type: ignore[method-assign]
    queue.process_events = _waking(queue.process_events, pause)  # type: ignore[method-assign]
    queue.sleep_when_free = pause
    queue.progress_update_sleep_when_free = PROGRESS_PAUSE_S
    queueing.asyncio = _changed(asyncio, sleep=_sleep)  # type: ignore[assignment, attr-defined]


class _Pause(float):
    """The seconds that a queue would sleep; `wake` ends them."""

    def __init__(self, seconds: float) -> None:
        self._is_over = asyncio.Event()

    async def wait(self) -> None:
        self._is_over.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_over.wait(), self)

    def wake(self) -> None:
        self._is_over.set()


def _waking(function: Callable[..., Awaitable[Any]], pause: _Pause) -> Any:
    """Return a function that ends a pause when it is done."""

    async def do_and_wake(*args: Any, **options: Any) -> Any:
        try:
            return await function(*args, **options)
        finally:
            pause.wake()

    return do_and_wake


async def _sleep(seconds: float) -> None:
    """Do as `asyncio.sleep`, but let a pause be ended."""
    await (seconds.wait() if isinstance(seconds, _Pause) else asyncio.sleep(seconds))


def keep_signatures(page: gr.Blocks) -> None:
    """Compute the signatures of the components' constructors once.

    Gradio does so for each component that an event updates. `inspect.signature` returns what a
    function has in `__signature__`.
    """
    classes: set[type] = set()
    for block in page.blocks.values():
        classes.update(type(block).__mro__)
    for component in classes:
        constructor = vars(component).get("__init__")
        while inspect.isfunction(constructor):
            constructor.__signature__ = inspect.signature(constructor)  # type: ignore[attr-defined]
            constructor = getattr(constructor, "__wrapped__", None)


def show_progress_where_seen(page: gr.Blocks) -> None:
    """Show no progress where nobody sees it: of hidden events, and on layout such as tabs.

    At every step, Gradio's page copies the values of all outputs that an earlier event had, and of
    all that lies in them. The tabs alone made that the whole page, some 2,400 copies in its first
    seconds.
    """
    for event in page.fns.values():
        if event.show_progress_on is not None:
            continue
        seen = []
        if event.show_progress != "hidden":
            seen = [block for block in event.outputs if not isinstance(block, BlockContext)]
        event.show_progress_on = seen


def send_parts_when_opened(page: gr.Blocks, later: LaterParts) -> None:
    """Leave the content of parts out of what browsers get at first; an event of each sends it.

    Gradio sends all of a page at once, and has its browser code load each kind of component and
    build each event before anything is shown. `gr.render` would build components anew for each
    visitor. What it sends to the browser is sent here, of components that the page has once.
    """
    describe = page.get_config_file
    process = page.process_api

    def describe_first_view() -> Any:
        config: Any = describe()
        first = FirstView(config, later.all)
        config["components"] = first.components
        config["page"][""] = first.page
        return config

    async def process_with_part(block_fn: Any, *args: Any, **options: Any) -> Any:
        output = await process(block_fn, *args, **options)
        part = later.by_event.get(block_fn._id)
        if part is not None:
            content = FirstView(describe(), later.all).content_of(part, loaded_by=block_fn._id)
            root = options.get("root_path")
            output["render_config"] = (
                content if root is None else processing_utils.add_root_url(content, root, None)
            )
        return output

    page.get_config_file = describe_first_view  # type: ignore[method-assign]
    page.process_api = process_with_part  # type: ignore[method-assign]
