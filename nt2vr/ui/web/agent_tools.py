"""The functions of `Requests` that change nothing, as tools for agents over MCP."""

import inspect
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr
from anyio import CapacityLimiter, to_thread
from gradio.events import api as gradio_api
from gradio.mcp import GradioMCPServer
from pydantic import create_model

from nt2vr.errors import ConfigError
from nt2vr.search.searcher import CONCURRENT
from nt2vr.ui.web.api_types import checked_request
from nt2vr.ui.web.errors import told_of
from nt2vr.ui.web.gradio_fixes import offer_tools
from nt2vr.ui.web.requests import Requests

TOOL = "agent_"  # prefix of the tools' endpoints, since Gradio's API has a /search of its own


class ToolError(gr.Error):
    """An error as agents read it: the sentence, without the quotation marks that Gradio adds."""

    def __str__(self) -> str:
        return str(self.message)


def build_tools(requests: Requests) -> None:
    """Offer functions that change nothing, and no other endpoint of the page, to agents.

    They are not queued: Gradio would call a queued one from this machine, with this machine's
    permissions.
    """
    if not hasattr(
        GradioMCPServer, "StreamableHTTPSessionManager"
    ):  # the last of what Gradio imports of it
        raise ConfigError(
            "MCP needs a package that is not installed: pip install 'nt2vr[mcp]', or 'gradio[mcp]'."
        )
    limiter = CapacityLimiter(CONCURRENT)

    def offer(name: str, work: Callable[..., object]) -> None:
        async def tool(request: gr.Request, *values: Any) -> str:
            try:
                given = dict(zip(asked.parameters, values, strict=False))
                checked = checked_request(arguments, given).model_dump()
                answer = await to_thread.run_sync(partial(work, **checked), limiter=limiter)
                return json.dumps(answer, ensure_ascii=False)
            except Exception as error:
                raise ToolError(told_of(error, request), print_exception=False) from error

        asked = inspect.signature(work)
        fields: dict[str, Any] = {
            parameter.name: (
                parameter.annotation,
                ... if parameter.default is parameter.empty else parameter.default,
            )
            for parameter in asked.parameters.values()
        }
        arguments = create_model(name, **fields)
        visitor = inspect.Parameter(
            "request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request
        )
        parameters = [visitor, *asked.parameters.values()]
        tool.__signature__ = asked.replace(parameters=parameters, return_annotation=str)  # type: ignore[attr-defined]
        tool.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": str}
        tool.__name__, tool.__doc__ = name, inspect.getdoc(work)
        gradio_api(tool, api_name=f"{TOOL}{name}", queue=False)

    logging.getLogger("mcp").setLevel(
        logging.CRITICAL
    )  # a malformed message is answered, not logged over a page
    tools: dict[str, Callable[..., object]] = {
        "search": requests.search_sentence,
        "understand": requests.understand,
        "list_systems": requests.systems,
        "list_galleries": requests.galleries,
    }
    for name, work in tools.items():
        offer(name, work)
    offer_tools({name: f"/{TOOL}{name}" for name in tools})
