"""Requests and answers of the routes under `/api`, as their OpenAPI document describes them."""

from typing import Annotated, Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from nt2vr.search.references import DEFAULT_WEIGHT
from nt2vr.search.searcher import DEFAULT_K, DEFAULT_SYSTEMS
from nt2vr.search.strategies import DEFAULT_ALPHA

SCHEMAS = "#/components/schemas/"
MAX_ITEMS = 100  # of a list, before any item is checked; smaller excesses are refused by the searcher
Weight = Annotated[float, Field(allow_inf_nan=False)]


class Complete(BaseModel):
    """Data that has no further fields."""

    model_config = ConfigDict(extra="forbid")


class ReferenceRequest(Complete):
    """A reference: a clip of the gallery, or a picture."""

    clip: str = Field("", description="video_id of a clip of the gallery")
    image: str | None = Field(None, description="a picture as a data URL")
    weight: Weight = Field(DEFAULT_WEIGHT, description="0 to 1; relative to other references, and to the text")
    wanted: bool = Field(True, description="false: less like this")


class SearchRequest(Complete):
    """A search; every field has a default, but one of query, image and references must be given."""

    query: str = Field("", description="what the clip should show, and what it should not")
    gallery: str = Field("", description="name or id of a library, as listed by /api/galleries; default: the built-in")
    systems: list[str] = Field(
        list(DEFAULT_SYSTEMS), max_length=MAX_ITEMS, description="names, as listed by /api/systems"
    )
    k: int = Field(DEFAULT_K, description="hits per system")
    image: str | None = Field(None, description="a reference picture as a data URL; in a form, a file")
    image_weight: Weight = Field(DEFAULT_WEIGHT, description="0: text alone; 1: picture alone")
    alpha: Weight = Field(DEFAULT_ALPHA, description="weight of the unwanted part where a system fixes none")
    references: list[ReferenceRequest] = Field(
        [], max_length=MAX_ITEMS, description="at most 4, in JSON only; image is a further one"
    )
    literal: list[str] = Field(
        [], max_length=MAX_ITEMS, description="words to ask for as typed, not as the answer's read_as says"
    )


class MatchRequest(Complete):
    """A choice among captions for one clip or one picture; one of clip and image must be given."""

    lines: list[str] = Field([], max_length=MAX_ITEMS, description="2 to 8 captions")
    clip: str = Field("", description="video_id of a clip of the gallery")
    image: str | None = Field(None, description="a picture as a data URL; in a form, a file")
    gallery: str = Field("", description="as for a search")
    systems: list[str] = Field(
        list(DEFAULT_SYSTEMS), max_length=MAX_ITEMS, description="names, as listed by /api/systems"
    )
    alpha: Weight = Field(DEFAULT_ALPHA, description="weight of the unwanted part where a system fixes none")
    literal: list[str] = Field([], max_length=MAX_ITEMS, description="as for a search")


class MatchLine(Complete):
    """A caption; one that is known to be true of the clip is right."""

    text: str
    verdict: Literal["right", "violation", "miss"] | None


class SystemScores(Complete):
    """The scores of one system, a caption each; null for a caption that leaves it nothing to search for."""

    name: str
    scores: list[float | None]
    best: int | None = Field(description="place of the highest score, from 0; null if there is no single one")


class MatchAnswer(Complete):
    """The scores of all captions; fields with a default may be left out."""

    lines: list[MatchLine]
    systems: list[SystemScores]
    judged_by: str = Field("", description="captions, if the verdicts derive from them")


class QueryParts(Complete):
    """The query as it was understood."""

    text: str
    wanted: list[str]
    unwanted: list[str]
    notice: str = Field("", description="if the query is hardly English")
    read_as: dict[str, str] = Field({}, description="words that a model does not know, and what it was asked for")


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
    verdict: Literal["right", "violation", "miss"] | None
    film: str = ""
    start: float = 0.0
    end: float | None = None
    moments: list[Span] = []


class SystemAnswer(Complete):
    """The ranking of one system."""

    name: str
    hits: list[FoundClip]
    epoch: int | None = Field(None, description="of a training run, the epoch that answered")
    read_as: dict[str, str] = {}
    reads: str = Field("", description="words of the sentence that are not stop words, for models that have these")
    missing: int = Field(0, description="clips that are not indexed by its model")
    recall: float = Field(1.0, description="of an approximate index")


class SearchAnswer(Complete):
    """The answer to a search; fields with a default may be left out."""

    query: QueryParts
    systems: list[SystemAnswer]
    gallery: str = Field("", description="id of the library; left out for the built-in gallery")
    judged_by: str = Field("", description="captions, if the verdicts derive from them")


class GalleryInfo(BaseModel):
    """A gallery that can be searched."""

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


def described(api: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document with the JSON requests that routes read themselves.

    Their forms are left out: of two kinds of body, openapi-python-client 0.29 makes a client that cannot be imported.
    """
    document = FastAPI.openapi(api)
    for kind in (SearchRequest, MatchRequest):
        request = kind.model_json_schema(ref_template=f"{SCHEMAS}{{model}}")
        document["components"]["schemas"] |= {**request.pop("$defs", {}), kind.__name__: request}
    return document
