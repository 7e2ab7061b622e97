"""Links to a search: query, gallery, systems, number of results, weights, references."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nt2vr.search.references import DEFAULT_WEIGHT, MAX_REFERENCES
from nt2vr.search.searcher import DEFAULT_K, DEFAULT_SYSTEMS, MAX_K
from nt2vr.search.strategies import STRENGTHS

DEFAULT_QUERY = "a boy is dancing and not playing the drum"
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
    "references": [],
    "judged": "",
    "literal": "",
    "parts": "",
}
REFERENCES = ("like", "unlike", "weight")  # what a link writes of references: clips, clips, and the weights of all
NAMES = frozenset({*DEFAULTS, *REFERENCES} - {"references"})


def read_link(link: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """Return a value for each of DEFAULTS; what a link lacks or gets wrong keeps its default.

    Args:
        link: the address's parameters: systems, words and references separated by "|", others as they are.
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
        "references": _references(link),
        "judged": link.get("judged", ""),
        "literal": link.get("literal", ""),
        "parts": link.get("parts", ""),
    }


def link_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the browser writes into the address for a value each of DEFAULTS; unused ones are left out."""
    optional = ("gallery", "judged", "literal", "parts", *WORDS.values())
    written = {
        name: "|".join(value) if name == "systems" else value
        for name, value in values.items()
        if name != "references" and (value not in ("", None) or name not in optional)
    }
    return written | _write_references(values.get("references", ()))


def _write_references(references: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Write clips as "a|b" and their weights as "0.5|0.3", the unwanted ones last."""
    kinds = [[each for each in references if each["wanted"] is wanted] for wanted in (True, False)]
    texts = ["|".join(each["clip"] for each in kind) for kind in kinds]
    texts.append("|".join(f"{each['weight']:g}" for kind in kinds for each in kind))
    return {name: text for name, text in zip(REFERENCES, texts, strict=True) if text}


def _references(link: Mapping[str, str]) -> list[dict[str, Any]]:
    """Read what `_write_references` wrote, at most as many as a query can have."""
    weights = [*link.get("weight", "").split("|", MAX_REFERENCES)[:MAX_REFERENCES], *[""] * MAX_REFERENCES]
    clips = [
        (clip, name == "like")
        for name in REFERENCES[:2]
        for clip in link.get(name, "").split("|", MAX_REFERENCES)[:MAX_REFERENCES]
        if clip
    ]
    return [
        {"clip": clip, "weight": _number({"weight": weight}, "weight", DEFAULT_WEIGHT, 0, 1), "wanted": wanted}
        for (clip, wanted), weight in zip(clips[:MAX_REFERENCES], weights, strict=False)
    ]


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
