"""The functions of `Requests` as plain HTTP under /api, with their documentation.

An error is answered as `{"error": "one sentence"}`.
"""

import base64
import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.errors import BusyError, ConfigError, Nt2vrError
from nt2vr.files import JsonObject
from nt2vr.search.plan import CONCURRENT
from nt2vr.settings import project_version
from nt2vr.ui.web.api_types import (
    AnyRequest,
    GalleryInfo,
    Health,
    MatchAnswer,
    MatchRequest,
    Refusal,
    SearchAnswer,
    SearchRequest,
    SystemsRequest,
    checked_request,
)
from nt2vr.ui.web.errors import error_text
from nt2vr.ui.web.inputs import MB
from nt2vr.ui.web.permissions import as_visitor_may_read
from nt2vr.ui.web.requests import Requests

JSON = "application/json"
FORM = "multipart/form-data"
# Fields that a form may repeat.
LISTS = ("systems", "literal", "lines")
SCHEMAS = "#/components/schemas/"
REFUSALS: dict[int | str, JsonObject] = {status: {"model": Refusal} for status in (400, 500, 503)}


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
        # Its page fetches a logo from elsewhere.
        redoc_url=None,
    )
    api.add_middleware(HeadAsGet)
    # This is how FastAPI's own guide extends the document.
    api.openapi = partial(_openapi, api)  # type: ignore[method-assign]

    posts = _PostRoutes(api)
    posts.add("search", SearchRequest, requests.search, answer_kind=SearchAnswer)
    posts.add("match", MatchRequest, requests.match, answer_kind=MatchAnswer)
    api.get("/galleries", operation_id="galleries_galleries_get", response_model=list[GalleryInfo])(
        requests.galleries
    )
    api.get("/systems")(requests.systems)

    @api.get("/health", response_model=Health, responses={503: {"model": Health}})
    def health(request: Request) -> Response:
        """Return 200 once searches are answered immediately, and 503 while the first model is being loaded."""
        is_ready, status = requests.health()
        content = {"ready": is_ready, "status": as_visitor_may_read(status, request)}
        return JSONResponse(content, 200 if is_ready else 503)

    return api


def _openapi(api: FastAPI) -> JsonObject:
    """Describe the API, with the requests that the routes read themselves.

    Their forms are left out: of two kinds of body, openapi-python-client 0.29 makes a client that
    cannot be imported.
    """
    document = FastAPI.openapi(api)
    schemas = document["components"]["schemas"]
    for kind in (SearchRequest, MatchRequest):
        schema = kind.model_json_schema(ref_template=f"{SCHEMAS}{{model}}")
        schemas.update(schema.pop("$defs", {}))
        schemas[kind.__name__] = schema
    return document


class _PostRoutes:
    """Adds routes that take a JSON object, or a form whose picture is a file."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        self._of_texts = CapacityLimiter(CONCURRENT)
        # Texts do not wait for pictures, which may take long to decode.
        self._of_pictures = CapacityLimiter(CONCURRENT // 4)

    def add(
        self,
        name: str,
        kind: type[SystemsRequest],
        work: Callable[[Any], Any],
        answer_kind: type[BaseModel],
    ) -> None:
        """Add a route that answers requests of a kind by `work`, in a thread."""

        async def route(request: Request) -> Response:
            try:
                content = await _read(request, kind)
                answer = await to_thread.run_sync(work, content, limiter=self._limiter(content))
                return JSONResponse(answer)
            except ClientDisconnect:
                # Nobody is listening.
                return Response(status_code=400)
            except Exception as error:
                return JSONResponse({"error": error_text(error, request)}, _status_of(error))

        route.__name__ = name
        route.__doc__ = f"{inspect.getdoc(work)} A multipart form is accepted, too."
        schema = {"$ref": f"{SCHEMAS}{kind.__name__}"}
        body = {"required": True, "content": {JSON: {"schema": schema}}}
        self._api.add_api_route(
            f"/{name}",
            route,
            methods=["POST"],
            openapi_extra={"requestBody": body},
            response_model=answer_kind,
            responses=REFUSALS,
        )

    def _limiter(self, request: SystemsRequest) -> CapacityLimiter:
        images = [request.image]
        if isinstance(request, SearchRequest):
            images += [reference.image for reference in request.references]
        return self._of_pictures if any(images) else self._of_texts


def _status_of(error: Exception) -> int:
    if isinstance(error, BusyError):
        return 503
    if isinstance(error, Nt2vrError):
        return 400
    return 500


async def _read(request: Request, kind: type[AnyRequest]) -> AnyRequest:
    content_type = request.headers.get("content-type", "").partition(";")[0]
    if content_type.strip().lower() == FORM:
        return await _read_form(request, kind)
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ConfigError(f"Send a JSON object ({JSON}) or a form ({FORM}).")
    return checked_request(kind, values)


async def _read_form(request: Request, kind: type[AnyRequest]) -> AnyRequest:
    try:
        async with request.form(max_files=1, max_fields=50, max_part_size=MB) as form:
            values: JsonObject = {}
            for name in form:
                values[name] = form.getlist(name) if name in LISTS else form[name]
            picture = values.get("image")
            if isinstance(picture, UploadFile):
                content = base64.b64encode(await picture.read()).decode("ascii")
                values["image"] = f"data:image/upload;base64,{content}"
            # The values of a form are strings.
            return checked_request(kind, values, strict=False)
    except HTTPException as error:
        raise ConfigError(f"The form cannot be read: {error.detail}") from error
