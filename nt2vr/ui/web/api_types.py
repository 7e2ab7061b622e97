"""The requests and answers of the API as pydantic models."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from nt2vr.errors import MAX_QUOTED, ConfigError
from nt2vr.search.judge import Verdict
from nt2vr.search.plan import DEFAULT_K
from nt2vr.search.references import DEFAULT_WEIGHT
from nt2vr.search.strategies import DEFAULT_ALPHA

# Items of a list, before any is checked. Smaller excesses are refused by the searcher.
MAX_ITEMS = 100

AnyRequest = TypeVar("AnyRequest", bound=BaseModel)
Strings = Annotated[list[str], Field(max_length=MAX_ITEMS)]
Weight = Annotated[float, Field(allow_inf_nan=False)]


class Complete(BaseModel, extra="forbid"):
    """A JSON object that has no further fields."""


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
        description="name or id of a library, as listed by /api/galleries; default: the built-in gallery",
    )
    systems: Strings = Field(
        [], description="names, as listed by /api/systems; default: one that suits the query"
    )
    image: str | None = Field(None, description="a picture as a data URL; in a form, a file")
    alpha: Weight = Field(
        DEFAULT_ALPHA, description="weight of the unwanted part where a system fixes none"
    )
    literal: Strings = Field(
        [], description="words to search for as typed, not as the answer's read_as says"
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
    verdict: Verdict | None


class SystemScores(Complete):
    """The scores of one system, a caption each; null for a caption that leaves it nothing to search for."""

    name: str
    scores: list[float | None]
    best: int | None = Field(
        description="position of the highest score, from 0; null if there is no single one"
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
        {}, description="words that a model does not know, each with the word searched for instead"
    )


class FoundMoment(Complete):
    """A window of a long video, in seconds."""

    start: float
    end: float | None
    score: float


class FoundClip(Complete):
    """A clip, or adjacent windows of one long video, which alone have the fields from `long_video` on."""

    video_id: str
    rank: int
    score: float
    verdict: Verdict | None
    long_video: str = Field("", description="id of the long video")
    film: str = Field("", description="long_video, as version 0.2.0 named it")
    start: float = 0.0
    end: float | None = None
    moments: list[FoundMoment] = []


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


def checked_request(
    kind: type[AnyRequest], values: Mapping[str, Any], strict: bool = True
) -> AnyRequest:
    """Validate the values of a request; unless `strict`, numbers may be strings."""
    try:
        return kind.model_validate(values, strict=strict)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(step) for step in first["loc"])
        raise ConfigError(f"{field[:MAX_QUOTED]}: {first['msg']}.") from error
