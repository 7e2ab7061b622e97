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
from nt2vr.search.plan import CONCURRENT, DEFAULT_K, DEFAULT_SYSTEMS, MAX_K
from nt2vr.search.references import DEFAULT_WEIGHT, MAX_REFERENCES, check_number
from nt2vr.search.strategies import STRENGTHS
from nt2vr.ui.view import Link, Options, View

# Options of events that search: they share the limit of searches at a time.
PRIVATE: Options = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: Options = {"show_progress": "hidden", **PRIVATE}
DEFAULT_QUERY = "a person without a dog"
# Four columns of 24 are about a hundred clips: more playing at once tires a laptop.
K_CHOICES = (4, 6, 8, 12, 16, 24)
MAX_COLUMNS = 4
# Parameters of the address that are taken as they are.
TEXT_PARAMETERS = ("judged", "literal", "parts", "flip", "replay")


@dataclass(frozen=True)
class Chosen:
    """A reference as the browser names it.

    Attributes:
        clip: id of a clip; empty for an upload.
        gallery: key of the clip's gallery.
        path: of an upload.
        weight: 0 to 1.
        wanted: False for "less like this".
    """

    clip: StrictStr = ""
    gallery: StrictStr = ""
    path: StrictStr = ""
    weight: Annotated[StrictFloat, Field(ge=0, le=1)] = DEFAULT_WEIGHT
    wanted: StrictBool = True


# The references of a search, as a person chose them.
ChosenReferences = tuple[Chosen, ...]


@dataclass(frozen=True)
class Request:
    """A search as the browser requests it, see assets/ui/search.js.

    Attributes:
        link: parameters of the address that the search will have.
        opened: whether the link was opened, so that the inputs must show it; otherwise it was made
            from the inputs.
        references: None if they are the link's.
    """

    number: StrictInt = 0
    link: dict[StrictStr, StrictStr] = field(default_factory=dict)
    opened: StrictBool = False
    references: ChosenReferences | None = None

    @classmethod
    def of(cls, text: str) -> "Request":
        """Read what a browser sent; a ConfigError if it is of another form."""
        try:
            request = _REQUEST.validate_json(text or "{}")
        except ValidationError:
            raise ConfigError("The request was refused: it is not of the page's form.") from None
        check_chosen(request.references or ())
        return request


_REQUEST = TypeAdapter(Request)
_REFERENCES = TypeAdapter(ChosenReferences)


@dataclass(frozen=True)
class SearchState:
    """All that a person has entered for a search.

    Attributes:
        q: the sentence.
        gallery: key of a library; empty for the built-in gallery.
        systems: names, one per column.
        k: results per system.
        references: pictures, videos and clips to search by.
        strengths: by strategy, of the sliders that were moved.
        judged: query of an evaluation report, by its name in links.
        literal: words to search for as typed, separated by "|".
        parts: wanted and unwanted part as the person corrected them, see `write_parts`; empty as
            understood.
        flip: "1" if the negation is taken away: what the sentence excludes is wanted, too.
        replay: "1" if a recorded training of the sentence is replayed.
    """

    q: str = DEFAULT_QUERY
    gallery: str = ""
    systems: Sequence[str] = DEFAULT_SYSTEMS
    k: int = DEFAULT_K
    references: ChosenReferences = ()
    strengths: Mapping[str, float] = field(default_factory=dict)
    judged: str = ""
    literal: str = ""
    parts: str = ""
    flip: str = ""
    replay: str = ""

    @classmethod
    def of_link(cls, link: Link) -> "SearchState":
        """Read the address's parameters, lists separated by "|"; missing and wrong values keep their defaults."""
        gallery = link.get("gallery", "")
        k = _number(link.get("k", ""), 1, MAX_K, DEFAULT_K)
        return cls(
            q=link.get("q", DEFAULT_QUERY),
            gallery=gallery,
            systems=[name for name in link.get("systems", "").split("|") if name],
            k=min(K_CHOICES, key=lambda count: abs(count - k)),
            references=_read_references(link, gallery),
            strengths=_read_strengths(link),
            **{name: link.get(name, "") for name in TEXT_PARAMETERS},
        )

    @property
    def link(self) -> dict[str, Any]:
        """The parameters of the address, without those unused; references are the clips of this gallery."""
        values = {}
        for strategy, strength in self.strengths.items():
            values[STRENGTHS[strategy].word] = str(strength)
        values |= {name: getattr(self, name) for name in ("gallery", *TEXT_PARAMETERS)}
        values |= _write_references(self.references, self.gallery)
        used = {name: value for name, value in values.items() if value}
        return {"q": self.q, "systems": "|".join(self.systems), "k": str(self.k), **used}

    def with_existing(
        self, names: Sequence[str], default: Sequence[str]
    ) -> tuple["SearchState", str]:
        """Keep the systems that the page can show, otherwise the default ones, and say which of them it cannot.

        Args:
            names: of all systems.
        """
        existing = [name for name in self.systems if name in names]
        missing = [name for name in self.systems if name not in names]
        systems = existing[:MAX_COLUMNS] or [name for name in default if name in names]
        sentences = []
        if missing:
            sentences.append(f"{_cannot_be_shown(missing)}: there is no such system here.")
        if len(existing) > MAX_COLUMNS:
            too_many = _cannot_be_shown(existing[MAX_COLUMNS:])
            sentences.append(f"{too_many}: at most {MAX_COLUMNS} columns fit side by side.")
        return replace(self, systems=systems), " ".join(sentences)


def _cannot_be_shown(names: Sequence[str]) -> str:
    """Begin a sentence on systems, of which the first few are named."""
    text = ", ".join(map(quoted, names[:MAX_COLUMNS]))
    if len(names) > MAX_COLUMNS:
        text += " and others"
    return f"{text} cannot be shown"


def _read_strengths(link: Link) -> dict[str, float]:
    strengths = {}
    for strategy, kind in STRENGTHS.items():
        low, high, _ = kind.slider
        strength = _number(link.get(kind.word, ""), low, high)
        if strength is not None:
            strengths[strategy] = strength
    return strengths


def _read_references(link: Link, gallery: str) -> ChosenReferences:
    """Read clips from "a|b" and their weights from "0.5|0.3", the unwanted ones last, at most MAX_REFERENCES."""
    clips = [(clip, True) for clip in _read_list(link, "like") if clip]
    clips += [(clip, False) for clip in _read_list(link, "unlike") if clip]
    weights = _read_list(link, "weight")
    references = []
    for number, (clip, wanted) in enumerate(clips[:MAX_REFERENCES]):
        weight = DEFAULT_WEIGHT
        if number < len(weights):
            weight = _number(weights[number], 0, 1, DEFAULT_WEIGHT)
        references.append(Chosen(clip, gallery, weight=weight, wanted=wanted))
    return tuple(references)


def _read_list(link: Link, name: str) -> list[str]:
    """Read a list of at most MAX_REFERENCES, however long the text is."""
    return link.get(name, "").split("|", MAX_REFERENCES)[:MAX_REFERENCES]


def _write_references(references: ChosenReferences, gallery: str) -> dict[str, str]:
    """Write the clips of a gallery among references as `_read_references` reads them."""
    clips = []
    for reference in references:
        if reference.clip and reference.gallery == gallery:
            clips.append(reference)
    clips.sort(key=lambda reference: not reference.wanted)
    return {
        "like": "|".join(reference.clip for reference in clips if reference.wanted),
        "unlike": "|".join(reference.clip for reference in clips if not reference.wanted),
        "weight": "|".join(f"{reference.weight:g}" for reference in clips),
    }


def _number(text: str, low: float, high: float, default: Any = None) -> Any:
    try:
        number = float(text)
    except ValueError:
        return default
    if math.isnan(number):
        return default
    return min(max(number, low), high)


def write_parts(wanted: str, unwanted: str) -> str:
    """Write a query's parts as corrected by a person."""
    return f"{wanted.replace('|', ' ').strip()}|{unwanted.strip()}"


def read_chosen(view: View) -> ChosenReferences:
    """Read the references that the browser shows; a ConfigError if they are of another form, or too many."""
    try:
        chosen = _REFERENCES.validate_python(view.get("references", []))
    except ValidationError:
        raise ConfigError(
            "The request was refused: its references are not of the page's form."
        ) from None
    check_chosen(chosen)
    return chosen


def check_chosen(chosen: ChosenReferences) -> None:
    """Refuse too many references, and one that is both a clip and an upload, or neither."""
    check_number(len(chosen))
    if any(bool(reference.clip) == bool(reference.path) for reference in chosen):
        raise ConfigError("The request was refused: a reference is either a clip or an upload.")


def with_clip(chosen: ChosenReferences, clip: str, gallery: str, wanted: bool) -> ChosenReferences:
    """Add a clip; one that is a reference already becomes wanted or unwanted."""
    references = []
    is_new = True
    for reference in chosen:
        if (reference.clip, reference.gallery) == (clip, gallery):
            is_new = False
            reference = replace(reference, wanted=wanted)
        references.append(reference)
    if is_new:
        check_number(len(chosen) + 1)
        references.append(Chosen(clip, gallery, wanted=wanted))
    return tuple(references)
