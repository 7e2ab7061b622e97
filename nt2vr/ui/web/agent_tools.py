"""The functions of `Requests` that change nothing, as tools for agents over MCP."""

import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import gradio as gr
from anyio import CapacityLimiter, to_thread
from gradio.events import api as gradio_api
from gradio.mcp import GradioMCPServer
from pydantic import BaseModel, create_model

from nt2vr.errors import ConfigError
from nt2vr.search.plan import CONCURRENT
from nt2vr.ui.web.api_types import checked_request
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
    """Return a function that checks its arguments, and does some work in a thread."""
    parameters = inspect.signature(work).parameters
    arguments_kind = _arguments_kind(name, parameters)

    async def tool(request: gr.Request, *values: Any) -> str:
        try:
            arguments = dict(zip(parameters, values, strict=False))
            checked = checked_request(arguments_kind, arguments).model_dump()
            answer = await to_thread.run_sync(partial(work, **checked), limiter=limiter)
            return json.dumps(answer, ensure_ascii=False)
        except Exception as error:
            raise ToolError(error_text(error, request), print_exception=False) from error

    tool.__name__ = name
    tool.__doc__ = inspect.getdoc(work)
    _set_signature(tool, parameters)
    return tool


def _arguments_kind(name: str, parameters: Mapping[str, inspect.Parameter]) -> type[BaseModel]:
    """Make a model of a function's arguments, as pydantic checks them."""
    fields: dict[str, Any] = {}
    for parameter in parameters.values():
        is_required = parameter.default is parameter.empty
        default = ... if is_required else parameter.default
        fields[parameter.name] = (parameter.annotation, default)
    return create_model(name, **fields)


def _set_signature(tool: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> None:
    """Give a tool the signature that Gradio describes to agents: its parameters, after the request."""
    visitor = inspect.Parameter(
        "request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request
    )
    with_visitor = [visitor, *parameters.values()]
    signature = inspect.Signature(with_visitor, return_annotation=str)
    tool.__signature__ = signature  # type: ignore[attr-defined]
    tool.__annotations__ = {
        **{parameter.name: parameter.annotation for parameter in with_visitor},
        "return": str,
    }
