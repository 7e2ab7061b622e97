"""What programs may ask: `Requests` has a typed function for each.

`build_routes` offers them as plain HTTP under `/api`, `build_tools` to agents over MCP,
`build_events` to Gradio's clients. Limits and errors are those of the page; over HTTP an error is
`{"error": "one sentence"}`.
"""

import base64
import inspect
import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import gradio as gr
from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from gradio.events import api as gradio_api
from gradio.mcp import GradioMCPServer
from pydantic import BaseModel, Field, ValidationError, create_model
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.errors import MAX_QUOTED, BusyError, ConfigError, MediaError, Nt2vrError
from nt2vr.evaluation.benchmark_kinds import ModelData
from nt2vr.evaluation.jobs import Evaluations
from nt2vr.evaluation.sources import Data
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import BUILT_IN
from nt2vr.media.decode import Decoder
from nt2vr.negation.parse.query import Query
from nt2vr.progress import Job
from nt2vr.search.references import DEFAULT_WEIGHT, Reference, check_number
from nt2vr.search.searcher import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS
from nt2vr.search.strategies import DEFAULT_ALPHA
from nt2vr.settings import project_version
from nt2vr.ui.web.errors import told_of
from nt2vr.ui.web.gradio_fixes import offer_tools, unopened_picture
from nt2vr.ui.web.inputs import MAX_PICTURE_MB, MB, TOO_LARGE, is_too_large, is_upload
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of, told

JSON, FORM = "application/json", "multipart/form-data"
LISTS = ("systems", "literal", "lines")  # fields that a form may repeat
TOOL = "agent_"  # prefix of the tools' endpoints, since Gradio's API has a /search of its own
SCHEMAS = "#/components/schemas/"
MAX_ITEMS = (
    100  # of a list, before any item is checked; smaller excesses are refused by the searcher
)

Asked = TypeVar("Asked", bound=BaseModel)
Strings = Annotated[list[str], Field(max_length=MAX_ITEMS)]
Weight = Annotated[float, Field(allow_inf_nan=False)]
Verdict = Literal["right", "violation", "miss"] | None


class Complete(BaseModel, extra="forbid"):
    """Data that has no further fields."""


class ReferenceRequest(Complete):
    """A reference: a clip of the gallery, or a picture."""

    clip: str = Field("", description="video_id of a clip of the gallery")
    image: str | None = Field(None, description="a picture as a data URL")
    weight: Weight = Field(
        DEFAULT_WEIGHT, description="0 to 1; relative to other references, and to the text"
    )
    wanted: bool = Field(True, description="false: less like this")


class SystemsRequest(Complete):
    """What searches and matches have in common."""

    gallery: str = Field(
        "",
        description="name or id of a library, as listed by /api/galleries; default: the built-in",
    )
    systems: Strings = Field(
        [], description="names, as listed by /api/systems; default: one that suits the query"
    )
    image: str | None = Field(None, description="a picture as a data URL; in a form, a file")
    alpha: Weight = Field(
        DEFAULT_ALPHA, description="weight of the unwanted part where a system fixes none"
    )
    literal: Strings = Field(
        [], description="words to ask for as typed, not as the answer's read_as says"
    )


class SearchRequest(SystemsRequest):
    """A search; every field has a default, but one of query, image and references must be given."""

    query: str = Field("", description="what the clip should show, and what it should not")
    k: int = Field(DEFAULT_K, description="hits per system")
    image_weight: Weight = Field(DEFAULT_WEIGHT, description="0: text alone; 1: picture alone")
    references: list[ReferenceRequest] = Field(
        [], max_length=MAX_ITEMS, description="at most 4, in JSON only; image is a further one"
    )


class MatchRequest(SystemsRequest):
    """A choice among captions for one clip or one picture; one of clip and image must be given."""

    lines: Strings = Field([], description="2 to 8 captions")
    clip: str = Field("", description="video_id of a clip of the gallery")


class MatchLine(Complete):
    """A caption; one that is known to be true of the clip is right."""

    text: str
    verdict: Verdict


class SystemScores(Complete):
    """The scores of one system, a caption each; null for a caption that leaves it nothing to search for."""

    name: str
    scores: list[float | None]
    best: int | None = Field(
        description="place of the highest score, from 0; null if there is no single one"
    )


class MatchAnswer(Complete):
    """The scores of all captions; fields with a default may be left out."""

    lines: list[MatchLine]
    systems: list[SystemScores]
    judged_by: str = Field("", description="captions, if the verdicts derive from them")


class QueryParts(Complete):
    text: str
    wanted: list[str]
    unwanted: list[str]
    notice: str = Field("", description="if the query is hardly English")
    read_as: dict[str, str] = Field(
        {}, description="words that a model does not know, and what it was asked for"
    )


class Span(Complete):
    """A window of a long video, in seconds."""

    start: float
    end: float | None
    score: float


class FoundClip(Complete):
    """A clip, or adjacent windows of one film, which alone have the fields from `film` on."""

    video_id: str
    rank: int
    score: float
    verdict: Verdict
    film: str = ""
    start: float = 0.0
    end: float | None = None
    moments: list[Span] = []


class SystemAnswer(Complete):
    name: str
    hits: list[FoundClip]
    epoch: int | None = Field(None, description="of a training run, the epoch that answered")
    read_as: dict[str, str] = {}
    reads: str = Field(
        "", description="words of the sentence that are not stop words, for models that have these"
    )
    missing: int = Field(0, description="clips that are not indexed by its model")
    recall: float = Field(1.0, description="of an approximate index")


class SearchAnswer(Complete):
    """The answer to a search; fields with a default may be left out."""

    query: QueryParts
    systems: list[SystemAnswer]
    gallery: str = Field("", description="id of the library; left out for the built-in gallery")
    judged_by: str = Field("", description="captions, if the verdicts derive from them")


class GalleryInfo(BaseModel):
    name: str
    id: str
    num_clips: int


class Health(BaseModel):
    """Whether searches are answered immediately, and what the start-up is doing."""

    ready: bool
    status: str


class Refusal(BaseModel):
    """Why there is no answer, in one sentence."""

    error: str


class Requests:
    """The functions behind all three faces."""

    def __init__(
        self,
        galleries: Galleries,
        decoder: Decoder,
        evaluations: Evaluations,
        permissions: Permissions,
    ) -> None:
        self._galleries, self._decoder = galleries, decoder
        self._evaluations, self._permissions = evaluations, permissions

    def search(self, asked: SearchRequest, picture: Path | None = None) -> dict[str, Any]:
        """Search the gallery: the query's parts, and each system's ranked hits."""
        check_number(len(asked.references))
        references = []
        if asked.image is not None:
            references.append(self._reference(image=asked.image, weight=asked.image_weight))
        if picture is not None:
            references.append(
                Reference((self._decoder.picture(picture),), weight=asked.image_weight)
            )
        references += [self._reference(**each.model_dump()) for each in asked.references]
        searcher, strengths = self._galleries.searcher(asked.gallery), {"boolean": asked.alpha}
        query = searcher.checked(asked.query, references)
        assert isinstance(query, Query), "it was typed"
        systems = asked.systems or self._galleries.answering(searcher.key, query)
        return searcher.search(
            query, systems, asked.k, references, strengths, asked.literal
        ).as_dict()

    def match(self, asked: MatchRequest) -> dict[str, Any]:
        """Score captions for one clip or picture with each system."""
        shown = self._reference(asked.clip, asked.image)
        searcher, strengths = self._galleries.searcher(asked.gallery), {"boolean": asked.alpha}
        systems = asked.systems or self._galleries.default_systems(searcher.key)
        return searcher.match(shown, asked.lines, systems, strengths, asked.literal).as_dict()

    def search_sentence(
        self,
        query: str,
        systems: list[str] = [],  # noqa: B006  never changed
        k: int = DEFAULT_K,
        gallery: str = "",
    ) -> dict[str, Any]:
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

    def understand(self, query: str) -> dict[str, Any]:
        """Split a sentence into what it wants and what it does not want, with a notice if it is hardly English."""
        found = self._galleries.built_in.understand(query)
        return {"wanted": found.wanted, "unwanted": found.unwanted, "notice": found.notice}

    def galleries(self) -> list[dict[str, Any]]:
        """List the galleries that can be searched, with id and number of clips: the built-in one, then libraries."""
        built_in = {
            "name": BUILT_IN,
            "id": BUILT_IN,
            "num_clips": len(self._galleries.built_in.gallery.videos),
        }
        infos = self._galleries.shelf.infos()
        return [
            built_in,
            *({"name": info.name, "id": info.id, "num_clips": info.num_clips} for info in infos),
        ]

    def systems(self) -> list[str]:
        """List the systems that can search: each is a model, with or without a strategy for unwanted parts."""
        return self._galleries.built_in.system_names()

    def health(self) -> tuple[bool, str]:
        """Return whether searches are answered immediately, and what the start-up is doing."""
        return self._galleries.built_in.is_ready, self._galleries.built_in.status

    def evaluate(self, data: str, systems: list[str], request: gr.Request) -> dict[str, Any]:
        """Evaluate systems and their controls on "world" or "gallery"; return the report's numbers."""
        checked_request(SearchRequest, {"systems": systems})
        job = self.start_evaluation(request, Data(data.strip()), systems).result()
        if not job.result:
            raise ConfigError(
                job.error or "The evaluation was cancelled on the page. Start it again."
            )
        return self._evaluations.archive.summary(job.result)

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
        """Refuse a further report where there are many, but not to those who may delete some."""
        if not self._permissions.may("delete", visitor):
            self._evaluations.archive.check_room()

    def _reference(
        self,
        clip: str = "",
        image: str | None = None,
        weight: float = DEFAULT_WEIGHT,
        wanted: bool = True,
    ) -> Reference:
        if (image is None) == (not clip):
            raise ConfigError("Name either a clip or an image: one of them.")
        if image is None:
            return Reference((), clip, weight, wanted)
        head, comma, content = image.partition(",")
        try:
            if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
                raise ValueError
            picture = base64.b64decode(content, validate=True)
        except ValueError:
            raise MediaError("Send the picture as a data URL: data:image/png;base64,…") from None
        if len(picture) > MAX_PICTURE_MB * MB:
            raise MediaError(TOO_LARGE)
        with tempfile.TemporaryDirectory(prefix="nt2vr-") as folder:
            path = Path(folder) / "picture"
            path.write_bytes(picture)
            return Reference((self._decoder.picture(path),), "", weight, wanted)


def checked_request(kind: type[Asked], values: Mapping[str, Any], strict: bool = True) -> Asked:
    """Validate the values of a request; unless `strict`, numbers may be strings."""
    try:
        return kind.model_validate(values, strict=strict)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ConfigError(
            f"{'.'.join(map(str, first['loc']))[:MAX_QUOTED]}: {first['msg']}."
        ) from error


class HeadAsGet:
    """ASGI middleware that answers HEAD as GET, without the body, which FastAPI's own routes refuse."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"}, receive, send_without_body)


def build_routes(requests: Requests) -> FastAPI:
    """Build the app that is mounted at /api, with a page of its documentation."""
    api = FastAPIOffline(
        title="nT2VR",
        version=project_version(),
        description="Text-to-video retrieval that understands negation.",
        redoc_url=None,  # its page fetches a logo from elsewhere
    )
    api.add_middleware(HeadAsGet)
    limiter, of_pictures = CapacityLimiter(CONCURRENT), CapacityLimiter(CONCURRENT // 4)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": Refusal} for status in (400, 500, 503)
    }

    def described() -> dict[str, Any]:
        document = FastAPI.openapi(api)
        # The routes read their requests themselves. Their forms are left out: of two kinds of body,
        # openapi-python-client 0.29 makes a client that cannot be imported.
        for kind in (SearchRequest, MatchRequest):
            request = kind.model_json_schema(ref_template=f"{SCHEMAS}{{model}}")
            document["components"]["schemas"] |= {
                **request.pop("$defs", {}),
                kind.__name__: request,
            }
        return document

    def offer(
        name: str, kind: type[SystemsRequest], work: Callable[[Any], Any], answer: type[BaseModel]
    ) -> None:
        async def route(request: Request) -> Response:
            try:
                asked = await _read(request, kind)
                has_picture = any(each.image for each in (asked, *getattr(asked, "references", ())))
                found = await to_thread.run_sync(
                    work, asked, limiter=of_pictures if has_picture else limiter
                )
                return JSONResponse(found)
            except ClientDisconnect:
                return Response(status_code=400)  # nobody is listening
            except Exception as error:
                status = (
                    503
                    if isinstance(error, BusyError)
                    else 400
                    if isinstance(error, Nt2vrError)
                    else 500
                )
                return JSONResponse({"error": told_of(error, request)}, status)

        route.__name__, route.__doc__ = (
            name,
            f"{inspect.getdoc(work)} A form (multipart) is read, too.",
        )
        content = {JSON: {"schema": {"$ref": f"{SCHEMAS}{kind.__name__}"}}}
        body = {"requestBody": {"required": True, "content": content}}
        api.post(f"/{name}", openapi_extra=body, response_model=answer, responses=refusals)(route)

    api.openapi = described  # type: ignore[method-assign]  # as FastAPI's own guide does
    offer("search", SearchRequest, requests.search, SearchAnswer)
    offer("match", MatchRequest, requests.match, MatchAnswer)
    api.get("/galleries", operation_id="galleries_galleries_get", response_model=list[GalleryInfo])(
        requests.galleries
    )
    api.get("/systems")(requests.systems)

    @api.get("/health", response_model=Health, responses={503: {"model": Health}})
    def health(request: Request) -> Response:
        """Return 200 once searches are answered immediately, and 503 while the first model is being loaded."""
        ready, status = requests.health()
        return JSONResponse(
            {"ready": ready, "status": told(status, request)}, 200 if ready else 503
        )

    return api


async def _read(request: Request, kind: type[Asked]) -> Asked:
    """Read a JSON object, or a form whose picture is a file."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != FORM:
        try:
            values = json.loads(await request.body())
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise ConfigError(f"Send a JSON object ({JSON}) or a form ({FORM}).")
        return checked_request(kind, values)
    try:
        async with request.form(max_files=1, max_fields=50, max_part_size=MB) as form:
            values = {key: form.getlist(key) if key in LISTS else form[key] for key in form}
            if isinstance(picture := values.get("image"), UploadFile):
                content = base64.b64encode(await picture.read()).decode("ascii")
                values["image"] = f"data:image/upload;base64,{content}"
            return checked_request(kind, values, strict=False)  # a form's values are strings
    except HTTPException as error:
        raise ConfigError(f"The form cannot be read: {error.detail}") from error


def build_events(requests: Requests) -> gr.Row:
    """Offer /search, /systems and /evaluate to Gradio's clients; their names and inputs stay as they are.

    Return the row of their components, which no browser shows.
    """

    def search(
        query: str,
        systems: list[str],
        k: float,
        image: str | None,
        image_weight: float,
        alpha: float,
    ) -> dict[str, Any]:
        """Search the gallery; return the query's wanted and unwanted parts and every system's ranked hits."""
        if image is not None and not is_upload(image):
            raise MediaError("There is no such picture among the uploaded files. Upload it again.")
        if image and is_too_large(image):
            raise MediaError(TOO_LARGE)
        values = {
            "query": query,
            "systems": systems,
            "k": k,
            "image_weight": image_weight,
            "alpha": alpha,
        }
        checked = checked_request(
            SearchRequest, values, strict=False
        )  # JavaScript does not distinguish 8 from 8.0
        return requests.search(checked, Path(image) if image else None)

    row: gr.Row
    with gr.Row(visible=False) as row:
        asked = [
            gr.Textbox(label="query"),
            gr.JSON(list(DEFAULT_SYSTEMS), label="systems"),
            gr.Number(DEFAULT_K, label="k"),
            unopened_picture(label="Reference picture"),
            gr.Number(DEFAULT_WEIGHT, label="image_weight"),
            gr.Number(DEFAULT_ALPHA, label="alpha"),
        ]
        evaluated = [gr.Textbox("gallery", label="data"), gr.JSON(["CLIP"], label="systems")]
        endpoints: dict[str, tuple[Callable[..., object], Any]] = {
            "search": (search, asked),
            "systems": (requests.systems, None),
            "evaluate": (requests.evaluate, evaluated),
        }
        for name, (handler, inputs) in endpoints.items():
            gr.Button().click(
                handler, inputs, gr.JSON(), api_name=name, concurrency_limit=CONCURRENT
            )
    return row


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
