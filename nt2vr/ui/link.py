"""Links to a search: the address bar holds query, gallery, systems, number of results, weights and reference clip."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nt2vr.search.searcher import MAX_K
from nt2vr.search.strategies import STRENGTHS

DEFAULT_QUERY = "a boy is dancing and not playing the drum"
DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
DEFAULT_WEIGHT = 0.5  # of the reference picture
DEFAULT_K = 8
K_CHOICES = (4, 6, 8, 12, 16, 24)  # with four columns of 24 about a hundred clips: more playing at once tires a laptop
MAX_COLUMNS = 4
WORDS = {strategy: strength.word for strategy, strength in STRENGTHS.items()}
SLIDERS = {  # strategy -> smallest and largest value on its slider, and the step
    "boolean": (0, 1.5, 0.05),
    "anchored": (0, 6, 0.1),
    "spherical": (0.8, 1, 0.005),
}

DEFAULTS: dict[str, Any] = {
    "q": DEFAULT_QUERY,
    "gallery": "",
    "systems": list(DEFAULT_SYSTEMS),
    "k": DEFAULT_K,
    **dict.fromkeys(WORDS.values(), ""),  # "" takes each model's own
    "weight": DEFAULT_WEIGHT,
    "like": "",
    "judged": "",
    "literal": "",
    "parts": "",
}


def read_link(link: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """Return a value for each of DEFAULTS; what a link lacks or gets wrong keeps its default.

    Args:
        link: the address's parameters: `systems` and `literal` separated by "|", others as they are.
        names: of the available systems; a link's others are dropped.
    """
    systems = [name for name in link.get("systems", "").split("|") if name in names][:MAX_COLUMNS]
    k = _number(link, "k", DEFAULT_K, 1, MAX_K)
    return {
        "q": link.get("q", DEFAULT_QUERY),
        "gallery": link.get("gallery", ""),
        "systems": systems or [name for name in DEFAULT_SYSTEMS if name in names],
        "k": min(K_CHOICES, key=lambda count: abs(count - k)),
        **{word: _number(link, word, "", *SLIDERS[strategy][:2]) for strategy, word in WORDS.items()},
        "weight": _number(link, "weight", DEFAULT_WEIGHT, 0, 1),
        "like": link.get("like", ""),
        "judged": link.get("judged", ""),
        "literal": link.get("literal", ""),
        "parts": link.get("parts", ""),
    }


def link_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the browser writes into the address for a value each of DEFAULTS; unused ones are left out."""
    optional = ("gallery", "like", "judged", "literal", "parts", *WORDS.values())
    return {
        name: "|".join(value) if name == "systems" else value
        for name, value in values.items()
        if value not in ("", None) or name not in optional
    }


def write_parts(wanted: str, unwanted: str) -> str:
    """Write a query's parts as corrected by a person."""
    return f"{wanted.replace('|', ' ').strip()}|{unwanted.strip()}"


def read_parts(parts: str) -> tuple[str, str]:
    """Return the wanted part, and the unwanted ones separated by commas."""
    wanted, _, unwanted = parts.partition("|")
    return wanted, unwanted


def read_strengths(texts: Sequence[str]) -> dict[str, float]:
    """Return strategy to strength from one text per strategy; "" leaves it out."""
    pairs = zip(WORDS.items(), texts, strict=True)
    read = {strategy: _number({word: text}, word, None, *SLIDERS[strategy][:2]) for (strategy, word), text in pairs}
    return {strategy: strength for strategy, strength in read.items() if strength is not None}


def _number(link: Mapping[str, str], name: str, default: Any, low: float, high: float) -> Any:
    try:
        number = float(link[name])
    except (KeyError, ValueError):
        return default
    return default if math.isnan(number) else min(max(number, low), high)
