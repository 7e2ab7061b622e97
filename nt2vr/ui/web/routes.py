"""Plain HTTP routes under `/api`: search, match, galleries, systems, health; with OpenAPI docs.

Functions, limits and errors are those of the page; an error is `{"error": "one sentence"}`.
"""

import base64
import binascii
import json
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from nt2vr.errors import MAX_QUOTED, BusyError, ConfigError, MediaError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import BUILT_IN
from nt2vr.media.decode import Decoder
from nt2vr.search.match import match as match_lines
from nt2vr.search.references import DEFAULT_WEIGHT, Reference, check_number
from nt2vr.search.searcher import CONCURRENT
from nt2vr.settings import project_version
from nt2vr.ui.web.bodies import Slots, announced_bytes
from nt2vr.ui.web.errors import FAILED
from nt2vr.ui.web.permissions import told
from nt2vr.ui.web.schema import (
    SCHEMAS,
    GalleryInfo,
    Health,
    MatchAnswer,
    MatchRequest,
    Refusal,
    SearchAnswer,
    SearchRequest,
    described,
)
from nt2vr.ui.web.uploads import MAX_PICTURE_MB, MB, TOO_LARGE

logger = logging.getLogger(__name__)
Asked = TypeVar("Asked", bound=BaseModel)

JSON, FORM = "application/json", "multipart/form-data"
LISTS = ("systems", "literal", "lines")  # fields that a form may repeat
MAX_SEPARATORS = 5_000  # in a JSON body: a search has dozens; a body of nothing else takes 30 times its size


def build_routes(galleries: Galleries, decoder: Decoder) -> FastAPI:
    """Build the app that is mounted at /api."""
    api = FastAPIOffline(
        title="nT2VR",
        version=project_version(),
        description="Text-to-video retrieval that understands negation.",
        redoc_url=None,  # its page fetches a logo from elsewhere
    )
    limiter, large = CapacityLimiter(CONCURRENT), Slots()
    api.openapi = partial(described, api)  # type: ignore[method-assign]  # as FastAPI's own guide does
    refusals: dict[int | str, dict[str, Any]] = {status: {"model": Refusal} for status in (400, 500, 503)}

    def body(kind: type[BaseModel]) -> dict[str, Any]:
        content = {JSON: {"schema": {"$ref": f"{SCHEMAS}{kind.__name__}"}}}
        return {"requestBody": {"required": True, "content": content}}

    async def answered(request: Request, kind: type[Asked], work: Callable[[Asked, bytes | None], Any]) -> Response:
        client = request.client.host if request.client else ""
        try:
            async with large.taken(client) if announced_bytes(request.scope) > MB else nullcontext():
                asked, picture = await _read(request, kind)
                return JSONResponse(await to_thread.run_sync(partial(work, asked, picture), limiter=limiter))
        except Nt2vrError as error:
            return JSONResponse({"error": told(str(error), request)}, 503 if isinstance(error, BusyError) else 400)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is listening
        except Exception:
            logger.exception("A request over HTTP failed.")
            return JSONResponse({"error": FAILED}, 500)

    @api.post("/search", openapi_extra=body(SearchRequest), response_model=SearchAnswer, responses=refusals)
    async def search(request: Request) -> Response:
        """Search the gallery: the query's parts, and each system's ranked hits. A form (multipart) is read, too."""
        return await answered(request, SearchRequest, partial(_answer, galleries, decoder))

    @api.post("/match", openapi_extra=body(MatchRequest), response_model=MatchAnswer, responses=refusals)
    async def match(request: Request) -> Response:
        """Score captions for one clip or picture with each system. A form (multipart) is read, too."""
        return await answered(request, MatchRequest, partial(_matched, galleries, decoder))

    @api.get("/galleries", operation_id="galleries_galleries_get", response_model=list[GalleryInfo])
    def list_all() -> list[dict[str, Any]]:
        """List the galleries: the built-in one, then the libraries."""
        return list_galleries(galleries)

    @api.get("/systems")
    def systems() -> list[str]:
        """List the names of all systems."""
        return galleries.built_in.system_names()

    @api.get("/health", response_model=Health, responses={503: {"model": Health}})
    def health(request: Request) -> Response:
        """Return 200 once searches are answered immediately, and 503 while the first model is being loaded."""
        built_in = galleries.built_in
        ready = built_in.is_ready
        return JSONResponse({"ready": ready, "status": told(built_in.status, request)}, 200 if ready else 503)

    return api


def list_galleries(galleries: Galleries) -> list[dict[str, Any]]:
    """List the galleries: the built-in one, then the libraries."""
    infos = galleries.shelf.infos()
    return [
        {"name": BUILT_IN, "id": BUILT_IN, "num_clips": len(galleries.built_in.gallery.videos)},
        *({"name": info.name, "id": info.id, "num_clips": info.num_clips} for info in infos),
    ]


def checked_request(kind: type[Asked], values: Mapping[str, Any], strict: bool = True) -> Asked:
    """Validate the values of a request; unless `strict`, numbers may be strings."""
    try:
        return kind.model_validate(values, strict=strict)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ConfigError(f"{'.'.join(map(str, first['loc']))[:MAX_QUOTED]}: {first['msg']}.") from error


async def _read(request: Request, kind: type[Asked]) -> tuple[Asked, bytes | None]:
    """Read a JSON object or a form; return the content of a form's file separately."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if content_type == FORM:
            async with request.form(max_files=1, max_fields=50, max_part_size=MB) as form:
                values: dict[str, Any] = {key: form[key] for key in form if key not in ("image", *LISTS)}
                picture = form.get("image")
                content = await picture.read() if isinstance(picture, UploadFile) else None
                if content is None and picture is not None:
                    values["image"] = picture
                values |= {key: form.getlist(key) for key in LISTS if key in form}
                return checked_request(kind, values, strict=False), content  # a form's values are strings
        return checked_request(kind, _object(await request.body())), None
    except HTTPException as error:
        raise ConfigError(f"The form cannot be read: {error.detail}") from error


def _object(body: bytes) -> Mapping[str, Any]:
    separators = sum(map(body.count, b",[{"))
    if separators > MAX_SEPARATORS:
        raise ConfigError(
            f"The request has {separators:,} commas and brackets; a search has at most {MAX_SEPARATORS:,}."
        )
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ConfigError(f"Send a JSON object ({JSON}) or a form ({FORM}).")
    return data


def _decode(url: str) -> bytes:
    head, comma, content = url.partition(",")
    try:
        if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
            raise ValueError
        return base64.b64decode(content, validate=True)
    except (ValueError, binascii.Error):
        raise MediaError("Send the picture as a data URL: data:image/png;base64,…") from None


def search_gallery(galleries: Galleries, asked: SearchRequest, references: Sequence[Reference]) -> dict[str, Any]:
    """Search with decoded references; return the answer as plain data."""
    searcher, strengths = galleries.searcher(asked.gallery), {"boolean": asked.alpha}
    return searcher.search(asked.query, asked.systems, asked.k, references, strengths, asked.literal).as_dict()


def _answer(galleries: Galleries, decoder: Decoder, asked: SearchRequest, file: bytes | None) -> dict[str, Any]:
    check_number(len(asked.references))
    image = asked.image if file is None else file
    references = [] if image is None else [_picture(decoder, image, asked.image_weight)]
    for each in asked.references:
        if (each.image is None) == (not each.clip):
            raise ConfigError("A reference is either a clip or an image: name one of them.")
        if each.image is None:
            references.append(Reference((), each.clip, each.weight, each.wanted))
        else:
            references.append(_picture(decoder, each.image, each.weight, each.wanted))
    return search_gallery(galleries, asked, references)


def _matched(galleries: Galleries, decoder: Decoder, asked: MatchRequest, file: bytes | None) -> dict[str, Any]:
    image = asked.image if file is None else file
    if (image is None) == (not asked.clip):
        raise ConfigError("Captions are matched with either a clip or an image: name one of them.")
    shown = Reference((), asked.clip) if image is None else _picture(decoder, image)
    searcher, strengths = galleries.searcher(asked.gallery), {"boolean": asked.alpha}
    return match_lines(searcher, shown, asked.lines, asked.systems, strengths, asked.literal).as_dict()


def _picture(decoder: Decoder, image: str | bytes, weight: float = DEFAULT_WEIGHT, wanted: bool = True) -> Reference:
    """Decode a data URL, or a file's content."""
    content = _decode(image) if isinstance(image, str) else image
    if len(content) > MAX_PICTURE_MB * MB:
        raise MediaError(TOO_LARGE)
    with tempfile.TemporaryDirectory(prefix="nt2vr-") as folder:
        path = Path(folder) / "picture"
        path.write_bytes(content)
        return Reference((decoder.picture(path),), "", weight, wanted)
