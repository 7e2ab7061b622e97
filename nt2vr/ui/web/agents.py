"""Tools for agents over MCP: search, understand, and the names of systems and galleries; they change nothing."""

import json
import logging
from collections.abc import Callable

import gradio as gr
from anyio import CapacityLimiter, to_thread
from gradio.events import api
from gradio.mcp import GradioMCPServer

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.search.searcher import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS
from nt2vr.ui.web.gradio_fixes import offer_tools
from nt2vr.ui.web.permissions import Permissions
from nt2vr.ui.web.routes import checked_request, list_galleries, search_gallery
from nt2vr.ui.web.schema import SearchRequest

logger = logging.getLogger(__name__)

PREFIX = "agent_"  # of the tools' endpoints, since Gradio's API has a /search of its own


class ToolError(gr.Error):
    """An error as agents read it: the sentence, without the quotation marks that Gradio adds."""

    def __str__(self) -> str:
        return str(self.message)


def check_installed() -> None:
    """Refuse to go on without the MCP package."""
    if not hasattr(GradioMCPServer, "StreamableHTTPSessionManager"):  # the last of what Gradio imports of it
        raise ConfigError("MCP needs a package that is not installed: pip install 'nt2vr[mcp]', or 'gradio[mcp]'.")


def build_tools(galleries: Galleries, permissions: Permissions) -> None:
    """Offer the tools, and no other endpoint of the page, to agents.

    They are not queued: Gradio would call a queued one from this machine, with this machine's permissions.
    """
    limiter = CapacityLimiter(CONCURRENT)

    async def answered(work: Callable[[], object], request: gr.Request) -> str:
        try:
            return json.dumps(await to_thread.run_sync(work, limiter=limiter), ensure_ascii=False)
        except Nt2vrError as error:
            raise ToolError(permissions.teller(request)(str(error)), print_exception=False) from error
        except Exception as error:
            logger.exception("A tool failed.")
            raise ToolError("Something went wrong; the log has the details.", print_exception=False) from error

    async def search(
        request: gr.Request,
        query: str,
        systems: list[str] = list(DEFAULT_SYSTEMS),  # noqa: B006  never changed
        k: int = DEFAULT_K,
        gallery: str = "",
    ) -> str:
        """Search videos by a sentence that may say what they must not show, such as "a dog and not a cat".

        Args:
            query: what the videos should show, and what they should not.
            systems: names from list_systems; each ranks the videos its own way.
            k: videos per system, 1 to 100.
            gallery: a name or id from list_galleries; empty for the built-in one.

        Returns:
            JSON: the query's parts, and per system the ranked videos, with id, score and verdict if it is known.
        """
        values = {"query": query, "systems": systems, "k": k, "gallery": gallery}
        return await answered(lambda: search_gallery(galleries, checked_request(SearchRequest, values), ()), request)

    async def understand(request: gr.Request, query: str) -> str:
        """Split a sentence into what it wants and what it does not want, without searching.

        Args:
            query: the sentence.

        Returns:
            JSON: lists of wanted and unwanted parts, and a notice if the sentence is hardly English.
        """

        def parts() -> dict[str, object]:
            found = galleries.built_in.understand(query)
            return {"wanted": found.wanted, "unwanted": found.unwanted, "notice": found.notice}

        return await answered(parts, request)

    async def list_systems(request: gr.Request) -> str:
        """List the systems that can search: each is a model, with or without a strategy for unwanted parts.

        Returns:
            JSON: the names.
        """
        return await answered(galleries.built_in.system_names, request)

    async def list_libraries(request: gr.Request) -> str:
        """List the galleries that can be searched: the built-in one, then the libraries.

        Returns:
            JSON: name, id and number of clips of each.
        """
        return await answered(lambda: list_galleries(galleries), request)

    tools = {
        "search": search,
        "understand": understand,
        "list_systems": list_systems,
        "list_galleries": list_libraries,
    }
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # a malformed message is answered, not logged over a page
    for name, tool in tools.items():
        api(tool, api_name=f"{PREFIX}{name}", queue=False)
    offer_tools({name: f"/{PREFIX}{name}" for name in tools})
