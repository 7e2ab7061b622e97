"""The functions of `Requests` that change nothing, as tools for agents over MCP."""

import inspect
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import gradio as gr
from anyio import CapacityLimiter, to_thread
from gradio.events import api as gradio_api
from gradio.mcp import GradioMCPServer

from nt2vr.errors import ConfigError
from nt2vr.search.plan import CONCURRENT
from nt2vr.ui.web.errors import error_text
from nt2vr.ui.web.gradio_fixes import offer_tools
from nt2vr.ui.web.requests import Requests

# What a tool does; it returns what can be written as JSON.
Work = Callable[..., object]
# Prefix of the tools' endpoints, since Gradio's API has a /search of its own.
TOOL = "agent_"


class ToolError(gr.Error):
    """An error as agents read it: the sentence, without the quotation marks that Gradio adds."""

    def __str__(self) -> str:
        return str(self.message)


def build_tools(requests: Requests) -> None:
    """Offer functions that change nothing, and no other endpoint of the page, to agents.

    They are not queued: Gradio would call a queued one from this machine, with this machine's
    permissions.
    """
    # This name is the last of what Gradio imports of the package.
    if not hasattr(GradioMCPServer, "StreamableHTTPSessionManager"):
        raise ConfigError(
            "MCP needs a package that is not installed: pip install 'nt2vr[mcp]', or 'gradio[mcp]'."
        )
    # A malformed message is answered, not logged over a page.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)

    limiter = CapacityLimiter(CONCURRENT)
    tools: dict[str, Work] = {
        "search": requests.search_sentence,
        "understand": requests.understand,
        "list_systems": requests.systems,
        "list_galleries": requests.galleries,
    }
    for name, work in tools.items():
        gradio_api(_tool(name, work, limiter), api_name=f"{TOOL}{name}", queue=False)
    offer_tools({name: f"/{TOOL}{name}" for name in tools})


def _tool(name: str, work: Work, limiter: CapacityLimiter) -> Callable[..., Awaitable[str]]:
    """Return a function that does some work in a thread; the work checks what it is given."""

    async def tool(request: gr.Request, *values: Any) -> str:
        try:
            answer = await to_thread.run_sync(work, *values, limiter=limiter)
            return json.dumps(answer, ensure_ascii=False)
        except Exception as error:
            raise ToolError(error_text(error, request), print_exception=False) from error

    # Gradio describes to agents the parameters of the work, which come after the request.
    visitor, _ = inspect.signature(tool).parameters.values()
    parameters = [visitor, *inspect.signature(work).parameters.values()]
    signature = inspect.Signature(parameters, return_annotation=str)
    tool.__signature__ = signature  # type: ignore[attr-defined]
    tool.__annotations__ = {"request": gr.Request, **work.__annotations__, "return": str}
    tool.__name__ = name
    tool.__doc__ = inspect.getdoc(work)
    return tool
