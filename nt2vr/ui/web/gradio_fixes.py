"""All overrides of Gradio's behaviour but `nt2vr.ui.quickly_imported`; each was last needed with Gradio 6.31.

`tests/unit/ui/web/test_gradio_fixes.py` and `tests/browser/test_gradio_fixes.py` show each fault
without its fix, and fail once a release of Gradio makes the fix unnecessary: delete it then.
"""

import inspect
import logging
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import processing_utils, queueing, route_utils, routes
from gradio.blocks import Block, BlockContext, BlocksConfig
from gradio.mcp import GradioMCPServer
from gradio.renderable import Renderable
from gradio.route_utils import GradioMultiPartParser
from starlette.types import Scope

from nt2vr.errors import MAX_QUOTED, quoted, reason_of
from nt2vr.ui.theme import TEMPLATES
from nt2vr.ui.web.later_parts import FirstView, LaterParts

logger = logging.getLogger(__name__)


def template_script() -> str:
    """Return the head script that keeps the templates of `gr.HTML` from running the values they insert (security).

    Gradio fills in {{value}}, escaped as HTML, and evaluates the result as a JavaScript template
    literal, so that "${…}" in a query would run. The script patches `window.Function` to escape the
    literal first. In templates with `${esc(value)}`, which would not need it, one `esc` forgotten
    among some 900 tags would be an injection.
    """
    return f"<script>{(TEMPLATES / 'text-only.js').read_text(encoding='utf-8')}</script>"


def refuse_downloads() -> None:
    """Keep Gradio from downloading a file that a request names by its URL (security); there is no setting for it."""

    async def refuse(url: str, cache_dir: str) -> str:
        raise gr.Error("Upload the file: addresses are not opened here.", print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse


def limit_files(most: int) -> None:
    """Keep a request from uploading more files than this (security); Gradio takes 1,000, and has no setting for it."""

    class Limited(GradioMultiPartParser):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "max_files": most})

    route_utils.GradioMultiPartParser = Limited  # type: ignore[misc]


def keep_temporary_files(folder: Path) -> None:
    """Have Gradio's routes make their folder in this one; where it is read-only, they keep their default.

    That was chosen as they were imported: one folder for all users of the machine. No page can be
    built where it belongs to another user.
    """
    with suppress(OSError):
        (folder / "vibe_edit_history").mkdir(exist_ok=True)
        routes.DEFAULT_TEMP_DIR = str(folder)  # type: ignore[attr-defined]


def offer_tools(endpoints: Mapping[str, str]) -> None:
    """Keep Gradio's MCP server to these endpoints, by their tools' names (security): it would offer all to agents.

    Resources and prompts go, too: for an unknown prompt, it runs the last endpoint, with this
    machine's permissions.
    """
    create = GradioMCPServer.create_mcp_server

    def tools(server: GradioMCPServer) -> dict[str, str]:
        return {f"{server.tool_prefix}{name}": endpoint for name, endpoint in endpoints.items()}

    def only_tools(gradio: GradioMCPServer) -> Any:
        server, types = create(gradio), gradio.types
        kept = (types.PingRequest, types.ListToolsRequest, types.CallToolRequest)
        server.request_handlers = {each: server.request_handlers[each] for each in kept}
        return server

    GradioMCPServer.get_tool_to_endpoint = tools  # type: ignore[method-assign,assignment]
    GradioMCPServer.create_mcp_server = only_tools  # type: ignore[method-assign,assignment]


def is_odd_mcp_request(scope: Scope) -> bool:
    """Whether a request is for Gradio's MCP server, but not a message to it (security).

    Its page for browsers is served at any path that ends like the server's, and has that path in a
    script, unescaped; the streams that GET and /sse open stay open; and /schema tells nothing that
    a message does not.
    """
    _, found, rest = scope["path"].partition("/gradio_api/mcp")
    return bool(found) and (rest not in ("", "/") or scope["method"] != "POST")


def unopened_picture(**options: Any) -> gr.Image:
    """Build a `gr.Image` that hands on its file's path, without opening the file in this process (security)."""
    picture = gr.Image(type="filepath", **options)

    def path_of(payload: Any) -> str | None:
        return None if payload is None else payload.path or ""

    picture.preprocess = path_of  # type: ignore[method-assign]  # a subclass would write a .pyi next to its source
    return picture


def check_inputs(page: gr.Blocks) -> None:
    """Refuse what a page's components cannot read in one sentence, not in Gradio's many; what misses is "" or []."""
    preprocess = page.preprocess_data

    async def checked(block_fn: Any, inputs: list[Any], *args: Any, **options: Any) -> list[Any]:
        try:
            values = await preprocess(block_fn, inputs, *args, **options)
        except Exception as error:
            if isinstance(error, gr.Error) and not error.print_exception:  # raised by this app
                raise
            reason = str(error.message) if isinstance(error, gr.Error) else reason_of(error)
            raise gr.Error(
                f"The request was refused: {reason[:MAX_QUOTED]}", print_exception=False
            ) from error
        checked_values = []
        for block, value in zip(block_fn.inputs, values, strict=True):
            if not _can_hold(block, value):
                kind = type(value).__name__
                raise gr.Error(
                    f"The request was refused: {_name_of(block)} holds no {kind}.",
                    print_exception=False,
                )
            checked_values.append(_nothing_in(block) if value is None else value)
        return checked_values

    page.preprocess_data = checked  # type: ignore[method-assign]


def _nothing_in(block: Any) -> Any:
    """Return what a component without a value has."""
    if isinstance(block, gr.Textbox):
        return ""
    return [] if isinstance(block, gr.Dropdown) and block.multiselect else None


def _can_hold(block: Any, value: Any) -> bool:
    """Whether a value that anyone may send is of the kind that a component has; Gradio does not look at these."""
    if isinstance(block, gr.HTML):
        return isinstance(value, dict)  # all that handlers read are templates
    if value is None:
        return True
    if isinstance(block, gr.BrowserState):
        return isinstance(value, str)
    if isinstance(block, gr.Dropdown):
        if block.multiselect:
            return isinstance(value, list) and all(isinstance(choice, str) for choice in value)
        return isinstance(value, str | int | float)
    return True


def _name_of(block: Any) -> str:
    """Name a component within a sentence."""
    return str(getattr(block, "label", None) or block.elem_id or type(block).__name__)


class _OneLine:
    """What Gradio logs of an error that this app has not foreseen, in place of the module `traceback`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(traceback, name)

    @staticmethod
    def print_exc(*_: Any, **__: Any) -> None:
        logger.warning("Gradio could not answer an event: %s", quoted(repr(sys.exc_info()[1])))


def log_in_one_line() -> None:
    """Keep Gradio from printing tracebacks (security): whoever closes connections halfway would fill the log."""
    for module in (queueing, route_utils, routes):
        module.traceback = _OneLine()  # type: ignore[attr-defined]


def keep_configurations(page: gr.Blocks) -> None:
    """Work out once what browsers are told of the page's components as they are built.

    Gradio does so for each visitor, while all others wait: 70 ms for 320 components.
    """
    for number, block in page.blocks.items():
        block.kept_configuration = _configuration(number, [], block)  # type: ignore[union-attr]
    BlocksConfig.config_for_block = staticmethod(_kept_configuration)  # type: ignore[assignment]


_configuration = BlocksConfig.config_for_block


def _kept_configuration(
    number: int, rendered: list[int], block: Block, renderable: Renderable | None = None
) -> dict[str, Any]:
    kept = vars(block).get("kept_configuration")
    if kept is None or renderable is not None:
        return _configuration(number, rendered, block, renderable)
    # A session writes values into its own properties.
    return {**kept, "props": {**kept["props"]}}


def leave_skipped_outputs(page: gr.Blocks) -> None:
    """Leave those outputs alone of which a handler's dict says nothing; Gradio builds each of them anew (1.5 ms)."""
    postprocess = page.postprocess_data

    async def without_skipped(block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        if not isinstance(predictions, dict) or not all(
            isinstance(key, Block) for key in predictions
        ):
            return await postprocess(block_fn, predictions, state)
        changed = copy(block_fn)
        changed.outputs = [
            block for block in block_fn.outputs if predictions.get(block, gr.skip()) != gr.skip()
        ]
        if not changed.outputs:
            return [gr.skip()] * len(block_fn.outputs)
        values = [predictions[block] for block in changed.outputs]
        written = await postprocess(changed, values[0] if len(values) == 1 else values, state)
        by_block = dict(zip(changed.outputs, written, strict=True))
        return [by_block.get(block, gr.skip()) for block in block_fn.outputs]

    page.postprocess_data = without_skipped  # type: ignore[method-assign]


def keep_signatures(page: gr.Blocks) -> None:
    """Keep the signatures of the components' constructors, which Gradio works out anew for each component.

    It does so for each component that an event updates. `inspect.signature` returns what a function
    has in `__signature__`.
    """
    classes = {ancestor for block in page.blocks.values() for ancestor in type(block).__mro__}
    for component in classes:
        constructor = vars(component).get("__init__")
        while inspect.isfunction(constructor):
            constructor.__signature__ = inspect.signature(constructor)  # type: ignore[attr-defined]
            constructor = getattr(constructor, "__wrapped__", None)


def show_progress_where_seen(page: gr.Blocks) -> None:
    """Keep events' progress off what cannot show it: events that show none, and layout such as tabs.

    At every step, Gradio's page copies the values of all outputs that an earlier event had, and of
    all that lies in them: the tabs alone made that the whole page, some 2,400 copies in its first
    seconds.
    """
    for event in page.fns.values():
        if event.show_progress_on is None:
            seen = event.outputs if event.show_progress != "hidden" else ()
            event.show_progress_on = [
                block for block in seen if not isinstance(block, BlockContext)
            ]


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
        number = block_fn if isinstance(block_fn, int) else block_fn._id
        if number in later.by_event:
            part = later.by_event[number]
            content = FirstView(describe(), later.all).content_of(part, loaded_by=number)
            root = options.get("root_path")
            output["render_config"] = (
                content if root is None else processing_utils.add_root_url(content, root, None)
            )
        return output

    page.get_config_file = describe_first_view  # type: ignore[method-assign]
    page.process_api = process_with_part  # type: ignore[method-assign]
