"""The functions of `Requests` as plain HTTP under /api, with their documentation."""

import base64
import inspect
import json
from collections.abc import Callable
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
from nt2vr.search.searcher import CONCURRENT
from nt2vr.settings import project_version
from nt2vr.ui.web.api_types import (
    Asked,
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
from nt2vr.ui.web.errors import told_of
from nt2vr.ui.web.inputs import MB
from nt2vr.ui.web.permissions import told
from nt2vr.ui.web.requests import Requests

JSON, FORM = "application/json", "multipart/form-data"
LISTS = ("systems", "literal", "lines")  # fields that a form may repeat
SCHEMAS = "#/components/schemas/"


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
