"""Typed text as the rules read it: operators spelt out, misspelt contractions mended, requests and fillers left out.

Every character is traceable, so that highlights point into what was typed. The rewritings are in
`assets/language/rewriting.toml`. What is denied is decided by `nt2vr.negation.parse.scope`, not here.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from nt2vr.negation.parse.tokens import contraction, cue_of
from nt2vr.negation.parse.wordlists import text_of


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a query's text."""

    start: int
    end: int


class Step(NamedTuple):
    """One rewriting."""

    pattern: re.Pattern[str]  # what is replaced; its repeats are bounded: strangers type the text
    new: str | Callable[[re.Match[str]], str | None]  # by what; None leaves the match as it is


@dataclass(frozen=True)
class Typed:
    """Text whose characters come from a typed text."""

    text: str
    starts: Sequence[int]  # per character, where it, or what it replaces, starts in the typed text
    ends: Sequence[int]  # per character, where that ends

    @classmethod
    def of(cls, text: str) -> "Typed":
        """Start with the text as typed."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def span(self, span: Span) -> Span:
        """Return where words of `text` were typed."""
        return Span(self.starts[span.start], self.ends[span.end - 1])

    def rewritten(self, steps: Iterable[Step]) -> "Typed":
        """Replace every match of each step, one step after the other."""
        typed = self
        for step in steps:
            typed = typed._replaced(step)
        return typed

    def _replaced(self, step: Step) -> "Typed":
        edits = []
        for match in step.pattern.finditer(self.text):
            new = step.new if isinstance(step.new, str) else step.new(match)
            pieces = re.split(r"\\(\d)", new or "") if isinstance(step.new, str) else [new]
            start = match.start()
            for piece, group in zip(pieces[::2], [*(int(group or 0) for group in pieces[1::2]), None], strict=True):
                end = match.end() if group is None else match.start(group)
                if piece is not None and piece != self.text[start:end]:
                    edits.append((start, end, piece))
                start = match.end(group or 0)  # a group stays where it was typed
        if not edits:
            return self
        text, starts, ends, at = list[str](), list[int](), list[int](), 0
        for start, end, new in edits:
            text += [self.text[at:start], new]
            starts += [*self.starts[at:start], *[self.starts[start]] * len(new)]
            ends += [*self.ends[at:start], *[self.ends[max(start, end - 1)]] * len(new)]
            at = end
        return Typed("".join([*text, self.text[at:]]), [*starts, *self.starts[at:]], [*ends, *self.ends[at:]])


def read_typed(text: str) -> Typed:
    """Return the text to take apart: `text` itself in most cases, and wherever nothing else would be left."""
    typed = Typed.of(text)
    if _part("OPERATOR").search(text):
        typed = typed.rewritten(_steps("operators"))
    typed = typed.rewritten(_steps("spelling"))
    said = typed.rewritten((*_steps("fillers"), *_steps("choices"), *_steps("requests")))
    return said if said.text.strip(" .,;:!?") else typed


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(text_of("language/rewriting.toml"))


@cache
def _steps(name: str) -> tuple[Step, ...]:
    return tuple(Step(_compiled(pieces), _FUNCTIONS.get(new, new)) for new, *pieces in _table()[name])


@cache
def _part(name: str) -> re.Pattern[str]:
    return _compiled(_table()["parts"][name])


def _compiled(pieces: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern for any letter case."""
    return re.compile(_filled(pieces), re.IGNORECASE)


def _filled(pieces: Iterable[str]) -> str:
    """Join the pieces of a pattern, and fill in the parts that it names."""
    parts = _table()["parts"]
    return re.sub(r"\{([A-Z_]+)\}", lambda match: _filled(parts[match[1]]), "".join(pieces))


def _before(match: re.Match[str], num_chars: int = 80) -> str:
    """Return the text before a match, as far as it matters."""
    return match.string[max(0, match.start() - num_chars) : match.start()]


def _contraction(match: re.Match[str]) -> str | None:
    return contraction(match[0].lower().replace("\u2019", "'"))


def _cue(match: re.Match[str]) -> str | None:
    """Return the cue that a word is a misspelling of, if any."""
    word = match[0].lower()
    return cue if (cue := cue_of(word)) != word else None


def _listed(match: re.Match[str]) -> str | None:
    """Return the conjunction for a mark in a denied list: "no cars/trucks", "no dogs & cats"."""
    before = _before(match)
    if not _part("CUE_BEFORE").search(before) or before.endswith((" and", " but", " as well")):
        return None
    return " or " if match[0] == "/" else " and "


def _enumerated(match: re.Match[str]) -> str | None:
    """Return "exclude phones or laptops" for "exclude: phones, laptops", if the rest is no list of what is wanted."""
    is_list = match[0].count(",") > 1 or (match.start() > 0 and "," in match[0])
    names_another = match.string[match.end() : match.end() + 1] == ":"
    return re.sub(r"\s?,\s?(?!and |or )", " or ", match[0]) if is_list and not names_another else None


def _expected(match: re.Match[str]) -> str | None:
    """Return "except" for an "expect" after "all animals"."""
    return "except" if _part("QUANTIFIED").search(_before(match, 60)) else None


def _rather(match: re.Match[str]) -> str | None:
    """Return "rather than" for the joint of "I prefer tea to coffee"."""
    chosen = list(_part("CHOICE").finditer(match.string, max(0, match.start() - 80), match.start()))
    between = match.string[chosen[-1].end() : match.start()] if chosen else ""
    return "rather than" if between and not re.search(r"[.;?!]|\b(?:to|over|than|instead|not)\b", between) else None


def _chosen(match: re.Match[str]) -> str | None:
    """Return nothing but punctuation for "I'd rather see" where "rather than" follows."""
    follows = "rather than " in match.string[match.end() : match.end() + 80]
    return match[0][: 2 * (match[0][0] in ".;,!?")] if follows else None


def _named(match: re.Match[str]) -> str | None:
    """Return the noun of a contrast's "one": "not a young woman, an old one"."""
    found = _part("CONTRAST").search(match.string, max(0, match.start() - 80), match.end())
    return found[1] or found[2] if found else None


def _judged(match: re.Match[str]) -> str | None:
    """Return "no running" for "running? no", if something else gets a yes, and for "cat: no"."""
    if not _part("APPROVES").search(match.string) and not re.search("[:=]", match[0]):
        return None
    return f"{match[1]}," if match[2][0] in "yY" else f"no {match[1]},"


def _corrected(match: re.Match[str]) -> str | None:
    """Return "no cat," for the start of "a cat, no wait, a dog"; a denial corrected stays as it is."""
    is_denial = _part("DENIAL").search(match[1]) or match[1].lower() in {"sorry", "wait", "oops"}
    return None if is_denial else f"no {match[1]}, "


def _new_clause(match: re.Match[str]) -> str:
    """Return what separates the rest from the words before the request."""
    return "; " if match.start() else ""


_FUNCTIONS: dict[str, Callable[[re.Match[str]], str | None]] = {
    f"{function.__name__.strip('_')}()": function
    for function in (
        *(_contraction, _cue, _listed, _enumerated, _expected, _rather),
        *(_chosen, _named, _judged, _corrected, _new_clause),
    )
}
