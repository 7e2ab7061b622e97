"""What programs may ask: `Requests` has a typed function for each.

`http_routes.py` offers them as plain HTTP under /api, `agent_tools.py` to agents over MCP, and
`gradio_events.py` to Gradio's clients. Limits and errors are those of the page.
"""

import base64
import tempfile
from concurrent.futures import Future
from pathlib import Path

import gradio as gr

from nt2vr.errors import ConfigError, MediaError
from nt2vr.evaluation.benchmark_kinds import ModelData
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.sources import Data
from nt2vr.files import JsonObject
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import BUILT_IN
from nt2vr.media.decode import Decoder
from nt2vr.negation.parse.query import Query
from nt2vr.progress import Job
from nt2vr.search.plan import DEFAULT_K
from nt2vr.search.references import DEFAULT_WEIGHT, Reference, check_number
from nt2vr.ui.web.api_types import MatchRequest, SearchRequest, checked_request
from nt2vr.ui.web.inputs import MAX_PICTURE_MB, MB, TOO_LARGE
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of

NO_DATA_URL = "Send the picture as a data URL: data:image/png;base64,…"


class Requests:
    """The functions behind HTTP, Gradio's clients and agents.

    Most of their docstrings are published: as descriptions of routes, and of tools for agents.
    """

    def __init__(
        self,
        galleries: Galleries,
        decoder: Decoder,
        evaluations: Evaluations,
        permissions: Permissions,
    ) -> None:
        self._galleries = galleries
        self._decoder = decoder
        self._evaluations = evaluations
        self._permissions = permissions

    def search(self, request: SearchRequest, picture: Path | None = None) -> JsonObject:
        """Search the gallery: the query's parts, and each system's ranked hits."""
        check_number(len(request.references))
        references = self._references(request, picture)
        searcher = self._galleries.searcher(request.gallery)
        query = searcher.checked(request.query, references)
        assert isinstance(query, Query), "it was typed"
        answer = searcher.search(
            query,
            request.systems or self._galleries.answering(searcher.key, query),
            request.k,
            references=references,
            strengths={"boolean": request.alpha},
            literal=request.literal,
        )
        return answer.as_dict()

    def match(self, request: MatchRequest) -> JsonObject:
        """Score captions for one clip or picture with each system."""
        reference = self._reference(request.clip, request.image)
        searcher = self._galleries.searcher(request.gallery)
        match = searcher.match(
            reference,
            request.lines,
            request.systems or self._galleries.default_systems(searcher.key),
            strengths={"boolean": request.alpha},
            literal=request.literal,
        )
        return match.as_dict()

    def search_sentence(
        self,
        query: str,
        systems: list[str] = [],  # noqa: B006  never changed
        k: int = DEFAULT_K,
        gallery: str = "",
    ) -> JsonObject:
        """Search videos by a sentence that may say what they must not show, such as "a dog and not a cat".

        Args:
            query: what the videos should show, and what they should not.
            systems: names from list_systems; each ranks the videos its own way. Default: one that
                leaves out what the query denies.
            k: videos per system, 1 to 100.
            gallery: a name or id from list_galleries; empty for the built-in one.

        Returns:
            JSON: the query's parts, and per system the ranked videos, with id, score and verdict if
                it is known.
        """
        values = {"query": query, "systems": systems, "k": k, "gallery": gallery}
        return self.search(checked_request(SearchRequest, values))

    def understand(self, query: str) -> JsonObject:
        """Split a sentence into what it wants and what it does not want, with a notice if it is hardly English."""
        request = checked_request(SearchRequest, {"query": query})
        parsed = self._galleries.built_in.understand(request.query)
        return {"wanted": parsed.wanted, "unwanted": parsed.unwanted, "notice": parsed.notice}

    def galleries(self) -> list[JsonObject]:
        """List the galleries that can be searched, with id and number of clips: the built-in one, then libraries."""
        num_clips = len(self._galleries.built_in.gallery.videos)
        listing = [{"name": BUILT_IN, "id": BUILT_IN, "num_clips": num_clips}]
        for info in self._galleries.libraries.infos():
            listing.append({"name": info.name, "id": info.id, "num_clips": info.num_clips})
        return listing

    def systems(self) -> list[str]:
        """List the systems that can search: each is a model, with or without a strategy for unwanted parts."""
        return self._galleries.built_in.system_names()

    def health(self) -> tuple[bool, str]:
        """Return whether searches are answered immediately, and what the start-up is doing."""
        built_in = self._galleries.built_in
        return built_in.is_ready, built_in.status

    def evaluate(self, data: str, systems: list[str], request: gr.Request) -> JsonObject:
        """Evaluate systems and their controls on "world" or "gallery"; return the report's numbers."""
        checked_request(SearchRequest, {"systems": systems})
        job = self.start_evaluation(request, Data(data.strip()), systems).result()
        if job.result:
            return self._evaluations.archive.summary(job.result)
        raise ConfigError(job.error or "The evaluation was cancelled on the page. Start it again.")

    def start_evaluation(
        self, visitor: Visitor, data: Data | ModelData, systems: list[str]
    ) -> Future[Job[str]]:
        """Start an evaluation as far as the visitor may; only data of this machine has splits."""
        self.check_room(visitor)
        if data.is_path:
            self._permissions.check("paths", visitor)
        elif isinstance(data, Data):
            data = Data(data.name)
        return self._evaluations.start(data, systems, session_of(visitor))

    def check_room(self, visitor: Visitor) -> None:
        """Refuse a further report where there are many, unless the visitor may delete some."""
        if not self._permissions.may("delete", visitor):
            self._evaluations.archive.check_room()

    def _references(self, request: SearchRequest, picture: Path | None) -> list[Reference]:
        """Read a search's references: its picture, an uploaded one, and the list."""
        references = []
        if request.image is not None:
            references.append(self._reference(image=request.image, weight=request.image_weight))
        if picture is not None:
            pixels = self._decoder.picture(picture)
            references.append(Reference((pixels,), weight=request.image_weight))
        for reference in request.references:
            references.append(self._reference(**reference.model_dump()))
        return references

    def _reference(
        self,
        clip: str = "",
        image: str | None = None,
        weight: float = DEFAULT_WEIGHT,
        wanted: bool = True,
    ) -> Reference:
        """Build a reference to a clip of the gallery, or to the picture in a data URL."""
        if (image is None) == (not clip):
            raise ConfigError("Name either a clip or an image: one of them.")
        if image is None:
            return Reference(video_id=clip, weight=weight, wanted=wanted)

        content = _content_of(image)
        with tempfile.TemporaryDirectory(prefix="nt2vr-") as folder:
            path = Path(folder) / "picture"
            path.write_bytes(content)
            pixels = self._decoder.picture(path)
        return Reference((pixels,), weight=weight, wanted=wanted)


def _content_of(data_url: str) -> bytes:
    """Return the file in the data URL of a picture."""
    head, comma, encoded = data_url.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise MediaError(NO_DATA_URL)
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise MediaError(NO_DATA_URL) from None
    if len(content) > MAX_PICTURE_MB * MB:
        raise MediaError(TOO_LARGE)
    return content
