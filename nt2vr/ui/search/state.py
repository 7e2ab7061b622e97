"""The state of a search: one dict of texts, as the address, saved links and the browser's requests have it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)

from nt2vr.errors import ConfigError, quoted
from nt2vr.search.references import DEFAULT_WEIGHT, MAX_REFERENCES, check_number
from nt2vr.search.searcher import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS, MAX_K
from nt2vr.search.strategies import STRENGTHS

# options of events that search: as many run at a time as searches do
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}
DEFAULT_QUERY = "a person without a dog"
K_CHOICES = (
    4,
    6,
    8,
    12,
    16,
    24,
)  # with four columns of 24 about a hundred clips: more playing at once tires a laptop
MAX_COLUMNS = 4
WORDS = {strategy: strength.word for strategy, strength in STRENGTHS.items()}
TEXTS = ("judged", "literal", "parts", "flip", "replay")


@dataclass(frozen=True)
class Chosen:
    """A reference as the browser names it."""

    clip: StrictStr = ""  # id of a clip; empty for an upload
    gallery: StrictStr = ""  # key of the clip's gallery
    path: StrictStr = ""  # of an upload
    weight: Annotated[StrictFloat, Field(ge=0, le=1)] = DEFAULT_WEIGHT  # 0 to 1
    wanted: StrictBool = True  # False for "less like this"


@dataclass(frozen=True)
class Request:
    """A search as the browser asks for it, see assets/ui/search.js."""

    number: StrictInt = 0
    link: dict[StrictStr, StrictStr] = field(default_factory=dict)
    opened: StrictBool = (
        False  # whether the inputs are to show the link; it is what they hold otherwise
    )
    references: list[Chosen] | None = None  # None if they are the link's

    @classmethod
    def of(cls, text: str) -> "Request":
        """Read what a browser sent; a ConfigError if it is of another form."""
        try:
            request = _REQUEST.validate_json(text or "{}")
        except ValidationError:
            raise ConfigError("The request was refused: it is not of the page's form.") from None
        check_chosen(request.references or ())
        return request


_REQUEST, _SENT = TypeAdapter(Request), TypeAdapter(list[Chosen])


@dataclass(frozen=True)
class SearchState:
    """What a search is asked with."""

    q: str = DEFAULT_QUERY  # the sentence
    gallery: str = ""  # key of a library; empty for the built-in gallery
    systems: Sequence[str] = DEFAULT_SYSTEMS  # names, one per column
    k: int = DEFAULT_K  # results per system
    references: tuple[Chosen, ...] = ()  # pictures, videos and clips to search by
    strengths: Mapping[str, float] = field(
        default_factory=dict
    )  # by strategy, of the sliders that were moved
    judged: str = ""  # query of an evaluation report, by its name in links
    literal: str = ""  # words to search for as typed, separated by "|"
    parts: str = ""  # wanted and unwanted part as the person corrected them, see `write_parts`; empty as understood
    flip: str = ""  # "1" if the negation is taken away: what the sentence excludes is wanted, too
    replay: str = ""  # "1" if a recorded training of the sentence is replayed

    @classmethod
    def of_link(cls, link: Mapping[str, str], query: str = DEFAULT_QUERY) -> "SearchState":
        """Read the address's parameters, lists separated by "|"; what they lack or get wrong keeps its default.

        `query` is that of a link without one.
        """
        gallery, k = link.get("gallery", ""), _number(link.get("k", ""), 1, MAX_K, DEFAULT_K)
        strengths = {
            name: _number(link.get(word, ""), *STRENGTHS[name].slider[:2])
            for name, word in WORDS.items()
        }
        return cls(
            link.get("q", query),
            gallery,
            [name for name in link.get("systems", "").split("|") if name],
            min(K_CHOICES, key=lambda count: abs(count - k)),
            _read_references(link, gallery),
            {name: strength for name, strength in strengths.items() if strength is not None},
            **{name: link.get(name, "") for name in TEXTS},
        )

    @property
    def link(self) -> dict[str, Any]:
        """The parameters of the address, without those unused; references are the clips of this gallery."""
        values = {
            **{WORDS[name]: str(strength) for name, strength in self.strengths.items()},
            **{name: getattr(self, name) for name in ("gallery", *TEXTS)},
            **_written(
                [each for each in self.references if each.clip and each.gallery == self.gallery]
            ),
        }
        used = {name: value for name, value in values.items() if value}
        return {"q": self.q, "systems": "|".join(self.systems), "k": str(self.k), **used}

    @property
    def turned(self) -> "SearchState":
        """The state with the negation taken away, or put back."""
        return replace(self, flip="" if self.flip else "1")

    def shown_of(self, names: Sequence[str], default: Sequence[str]) -> tuple["SearchState", str]:
        """Keep the systems that the page can show, by default those given, and say which of them it cannot."""
        known = [name for name in self.systems if name in names]
        shown = known[:MAX_COLUMNS] or [name for name in default if name in names]
        unknown, said = [name for name in self.systems if name not in names], []
        too_many = f"at most {MAX_COLUMNS} columns fit side by side."
        for left, reason in (
            (unknown, "there is no such system here."),
            (known[MAX_COLUMNS:], too_many),
        ):
            if left:
                others = " and others" * (len(left) > MAX_COLUMNS)
                said.append(
                    f"{', '.join(map(quoted, left[:MAX_COLUMNS]))}{others} cannot be shown: {reason}"
                )
        return replace(self, systems=shown), " ".join(said)


def _read_references(link: Mapping[str, str], gallery: str) -> tuple[Chosen, ...]:
    """Read clips from "a|b" and their weights from "0.5|0.3", the unwanted ones last, at most MAX_REFERENCES."""

    def listed(name: str) -> list[str]:
        return link.get(name, "").split("|", MAX_REFERENCES)[:MAX_REFERENCES]

    clips = [(clip, name == "like") for name in ("like", "unlike") for clip in listed(name) if clip]
    weights = [*listed("weight"), *[""] * MAX_REFERENCES]
    return tuple(
        Chosen(clip, gallery, weight=_number(weight, 0, 1, DEFAULT_WEIGHT), wanted=wanted)
        for (clip, wanted), weight in zip(clips[:MAX_REFERENCES], weights, strict=False)
    )


def _written(clips: Sequence[Chosen]) -> dict[str, str]:
    """Write references as `_read_references` reads them."""
    liked, unliked = ([each for each in clips if each.wanted is wanted] for wanted in (True, False))
    like, unlike = ("|".join(each.clip for each in kind) for kind in (liked, unliked))
    return {
        "like": like,
        "unlike": unlike,
        "weight": "|".join(f"{each.weight:g}" for each in liked + unliked),
    }


def _number(text: str, low: float, high: float, default: Any = None) -> Any:
    try:
        number = float(text)
    except ValueError:
        return default
    return default if math.isnan(number) else min(max(number, low), high)


def write_parts(wanted: str, unwanted: str) -> str:
    """Write a query's parts as corrected by a person."""
    return f"{wanted.replace('|', ' ').strip()}|{unwanted.strip()}"


def read_chosen(value: Any) -> tuple[Chosen, ...]:
    """Read the references that the browser shows; a ConfigError if they are of another form, or too many."""
    try:
        chosen = tuple(
            _SENT.validate_python(
                value.get("references", []) if isinstance(value, Mapping) else None
            )
        )
    except ValidationError:
        raise ConfigError(
            "The request was refused: its references are not of the page's form."
        ) from None
    check_chosen(chosen)
    return chosen


def check_chosen(chosen: Sequence[Chosen]) -> None:
    """Refuse too many references, and one that is both a clip and an upload, or neither."""
    check_number(len(chosen))
    if any(bool(each.clip) == bool(each.path) for each in chosen):
        raise ConfigError("The request was refused: a reference is either a clip or an upload.")


def with_clip(
    chosen: Sequence[Chosen], clip: str, gallery: str, wanted: bool
) -> tuple[Chosen, ...]:
    """Add a clip; one that is a reference already becomes wanted or unwanted."""
    place = clip, gallery
    if any((each.clip, each.gallery) == place for each in chosen):
        return tuple(
            replace(each, wanted=wanted) if (each.clip, each.gallery) == place else each
            for each in chosen
        )
    check_number(len(chosen) + 1)
    return (*chosen, Chosen(clip, gallery, wanted=wanted))
