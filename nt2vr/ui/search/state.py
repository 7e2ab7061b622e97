"""The state of a search: what it is asked with, in one object that links are written from and read into.

On the page, each value lives in one place: in the component that shows it, or in the hidden one,
see `SearchState.hidden`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictStr, TypeAdapter, ValidationError

from nt2vr.errors import ConfigError, quoted
from nt2vr.search.references import DEFAULT_WEIGHT, MAX_REFERENCES, check_number
from nt2vr.search.searcher import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS, MAX_K
from nt2vr.search.strategies import STRENGTHS

# options of events that search: as many run at a time as searches do
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}
DEFAULT_QUERY = "a street without cars"
K_CHOICES = (4, 6, 8, 12, 16, 24)  # with four columns of 24 about a hundred clips: more playing at once tires a laptop
MAX_COLUMNS = 4
WORDS = {strategy: strength.word for strategy, strength in STRENGTHS.items()}
TEXTS = ("judged", "literal", "parts", "flip", "replay")
NAMES = frozenset({"q", "gallery", "systems", "k", *WORDS.values(), *TEXTS, "like", "unlike", "weight"})  # in links
REFUSED = "The request was refused: its {} are not of the page's form."


@dataclass(frozen=True)
class Chosen:
    """A reference as the browser names it."""

    clip: StrictStr = ""  # id of a clip; empty for an upload
    gallery: StrictStr = ""  # key of the clip's gallery
    path: StrictStr = ""  # of an upload
    weight: Annotated[StrictFloat, Field(ge=0, le=1)] = DEFAULT_WEIGHT  # 0 to 1
    wanted: StrictBool = True  # False for "less like this"


_SENT = TypeAdapter(list[Chosen])


@dataclass(frozen=True)
class SearchState:
    """What a search is asked with."""

    q: str = DEFAULT_QUERY  # the sentence
    gallery: str = ""  # key of a library; empty for the built-in gallery
    systems: Sequence[str] = DEFAULT_SYSTEMS  # names, one per column
    k: int = DEFAULT_K  # results per system
    references: tuple[Chosen, ...] = ()  # pictures, videos and clips to search by
    # each slider's word to the value it was moved to, as text; empty takes each model's own
    strengths: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(WORDS.values(), ""))
    judged: str = ""  # query of an evaluation report, by its name in links
    literal: str = ""  # words to search for as typed, separated by "|"
    parts: str = ""  # wanted and unwanted part as the person corrected them, see `write_parts`; empty as understood
    flip: str = ""  # "1" if the negation is taken away: what the sentence excludes is wanted, too
    replay: str = ""  # "1" if a recorded training of the sentence is replayed

    @classmethod
    def of_link(
        cls,
        link: Mapping[str, str],
        names: Sequence[str],
        query: str = DEFAULT_QUERY,
        default: Sequence[str] = DEFAULT_SYSTEMS,
    ) -> "SearchState":
        """Read a link; what it lacks or gets wrong keeps its default.

        Args:
            link: the address's parameters: systems, words and references separated by "|", others as they are.
            names: of the available systems; a link's others are dropped.
            query: of a link without one, in its gallery.
            default: systems of a link that names none of those available.
        """
        systems = [name for name in link.get("systems", "").split("|") if name in names][:MAX_COLUMNS]
        k = _number(link.get("k", ""), 1, MAX_K, DEFAULT_K)
        gallery = link.get("gallery", "")
        return cls(
            link.get("q", query),
            gallery,
            systems or [name for name in default if name in names],
            min(K_CHOICES, key=lambda count: abs(count - k)),
            _read_references(link, gallery),
            {word: str(_strength(strategy, link.get(word, ""), "")) for strategy, word in WORDS.items()},
            **{name: link.get(name, "") for name in TEXTS},
        )

    @classmethod
    def of_page(
        cls, q: str, gallery: str, systems: Sequence[str], k: int, references: Any, hidden: Any
    ) -> "SearchState":
        """Take the values of the page's components, which check all types but the last two; or raise a ConfigError."""
        names = (*WORDS.values(), *TEXTS)
        if not isinstance(hidden, Mapping) or not all(isinstance(hidden.get(name), str) for name in names):
            raise ConfigError(REFUSED.format("values"))
        strengths = {word: hidden[word] for word in WORDS.values()}
        texts = {name: hidden[name] for name in TEXTS}
        return cls(q, gallery, systems or [], k, read_chosen(references), strengths, **texts)

    @property
    def hidden(self) -> dict[str, str]:
        """The values that no component shows as they are."""
        return {**self.strengths, **{name: getattr(self, name) for name in TEXTS}}

    @property
    def link(self) -> dict[str, Any]:
        """The parameters of the address, without those unused; references are the clips of this gallery."""
        clips = [each for each in self.references if each.clip and each.gallery == self.gallery]
        wanted, unwanted = ([each for each in clips if each.wanted is kind] for kind in (True, False))
        values = {
            "q": self.q,
            "gallery": self.gallery,
            "systems": "|".join(self.systems),
            "k": self.k,
            **self.hidden,
            "like": "|".join(each.clip for each in wanted),
            "unlike": "|".join(each.clip for each in unwanted),
            "weight": "|".join(f"{each.weight:g}" for each in (*wanted, *unwanted)),
        }
        return {name: value for name, value in values.items() if value or name in ("q", "systems", "k")}

    @property
    def moved(self) -> dict[str, float]:
        """Strategy to strength, as far as sliders were moved."""
        read = {strategy: _strength(strategy, self.strengths[word], None) for strategy, word in WORDS.items()}
        return {strategy: strength for strategy, strength in read.items() if strength is not None}


def dropped_systems(link: Mapping[str, str], names: Sequence[str]) -> str:
    """Name the systems of a link that the page does not show, and say why; empty if it shows all."""
    asked = list(filter(None, link.get("systems", "").split("|")))
    unknown = [quoted(name) for name in asked if name not in names]
    left = [quoted(name) for name in [name for name in asked if name in names][MAX_COLUMNS:]]
    return " ".join(
        f"{', '.join(each[:MAX_COLUMNS])}{' and others' * (len(each) > MAX_COLUMNS)} {why}"
        for each, why in (
            (unknown, "cannot be shown: there is no such system here."),
            (left, f"cannot be shown: at most {MAX_COLUMNS} systems fit side by side."),
        )
        if each
    )


def _read_references(link: Mapping[str, str], gallery: str) -> tuple[Chosen, ...]:
    """Read clips from "a|b" and their weights from "0.5|0.3", the unwanted ones last, at most MAX_REFERENCES."""
    texts = [*link.get("weight", "").split("|", MAX_REFERENCES)[:MAX_REFERENCES], *[""] * MAX_REFERENCES]
    weights = [_number(text, 0, 1, DEFAULT_WEIGHT) for text in texts]
    clips = [
        (clip, name == "like")
        for name in ("like", "unlike")
        for clip in link.get(name, "").split("|", MAX_REFERENCES)[:MAX_REFERENCES]
        if clip
    ]
    found = zip(clips[:MAX_REFERENCES], weights, strict=False)
    return tuple(Chosen(clip, gallery, weight=weight, wanted=wanted) for (clip, wanted), weight in found)


def _strength(strategy: str, text: str, default: Any) -> Any:
    low, high, _ = STRENGTHS[strategy].slider
    return _number(text, low, high, default)


def _number(text: str, low: float, high: float, default: Any) -> Any:
    try:
        number = float(text)
    except ValueError:
        return default
    return default if math.isnan(number) else min(max(number, low), high)


def write_parts(wanted: str, unwanted: str) -> str:
    """Write a query's parts as corrected by a person."""
    return f"{wanted.replace('|', ' ').strip()}|{unwanted.strip()}"


def read_parts(parts: str) -> tuple[str, str]:
    """Return the wanted part, and the unwanted ones separated by commas."""
    wanted, _, unwanted = parts.partition("|")
    return wanted, unwanted


def read_chosen(value: Any) -> tuple[Chosen, ...]:
    """Check the references that a browser sent; a ConfigError if they are of another form, or too many."""
    sent = value.get("references", []) if isinstance(value, Mapping) else None
    try:
        chosen = tuple(_SENT.validate_python(sent))
    except ValidationError:
        raise ConfigError(REFUSED.format("references")) from None
    check_number(len(chosen))
    if any(bool(each.clip) == bool(each.path) for each in chosen):
        raise ConfigError(REFUSED.format("references"))
    return chosen


def with_clip(chosen: Sequence[Chosen], clip: str, gallery: str, wanted: bool) -> tuple[Chosen, ...]:
    """Add a clip; one that is a reference already becomes wanted or unwanted."""
    if any((each.clip, each.gallery) == (clip, gallery) for each in chosen):
        return tuple(
            replace(each, wanted=wanted) if (each.clip, each.gallery) == (clip, gallery) else each for each in chosen
        )
    check_number(len(chosen) + 1)
    return (*chosen, Chosen(clip, gallery, wanted=wanted))
