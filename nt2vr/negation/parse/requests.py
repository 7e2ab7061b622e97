"""Typed text as the rules read it: operators spelt out, misspelt contractions mended, requests and fillers left out.

Every character is traceable, so that highlights point into what was typed. The rewritings are in
`assets/language/rewriting.toml`. What is denied is decided by `nt2vr.negation.parse.scope`, not
here.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
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

    def edits(self, match: re.Match[str]) -> Iterator[tuple[int, int, str, Span]]:
        """Yield start, end and new text of what changes, and what the text stands for: if no word, the first one."""
        new = self.new if isinstance(self.new, str) else self.new(match)
        if new is None:
            return
        pieces = re.split(r"\\(\d)", new) if isinstance(self.new, str) else [new]
        start, word = (
            match.start(),
            Span(match.start(), match.start() + len(match[0].partition(" ")[0])),
        )
        for piece, group in zip_longest(pieces[::2], map(int, pieces[1::2]), fillvalue=0):
            end = match.start(group) if group else match.end()
            if piece != match.string[start:end]:
                yield (
                    start,
                    end,
                    str(piece),
                    Span(start, end) if match.string[start:end].strip() else word,
                )
            start = match.end(int(group))


@dataclass(frozen=True)
class Typed:
    """Text whose characters come from a typed text."""

    text: str
    starts: Sequence[int]  # per character, where it, or what it replaces, starts in the typed text
    ends: Sequence[int]  # per character, where that ends

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
        edits = [edit for match in step.pattern.finditer(self.text) for edit in step.edits(match)]
        if not edits:
            return self
        text, starts, ends, at, last = list[str](), list[int](), list[int](), 0, len(self.text) - 1
        for start, end, new, source in edits:
            text += [self.text[at:start], new]
            starts += [*self.starts[at:start], *[self.starts[min(source.start, last)]] * len(new)]
            ends += [
                *self.ends[at:start],
                *[self.ends[min(max(source.start, source.end - 1), last)]] * len(new),
            ]
            at = end
        return Typed(
            "".join([*text, self.text[at:]]), [*starts, *self.starts[at:]], [*ends, *self.ends[at:]]
        )


def read_typed(text: str, editing: bool = False) -> Typed:
    """Return the text to take apart: `text` itself in most cases, and wherever nothing else would be left."""
    typed = Typed(text, range(len(text)), range(1, len(text) + 1)).rewritten(
        _steps("operators") + _steps("spelling")
    )
    said = typed.rewritten(
        (*_steps("fillers"), *_steps("requests"), *(() if editing else _steps("slogans")))
    )
    return said if said.text.strip(" .,;:!?") else typed


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(text_of("language/rewriting.toml"))


@cache
def _steps(name: str) -> tuple[Step, ...]:
    return tuple(
        Step(_compiled(pieces), _FUNCTIONS.get(new, new)) for new, *pieces in _table()[name]
    )


def _compiled(pieces: Iterable[str]) -> re.Pattern[str]:
    return re.compile(_filled(pieces), re.IGNORECASE)


def _filled(pieces: Iterable[str]) -> str:
    parts = _table()["parts"]
    return re.sub(r"\{([A-Z_]+)\}", lambda match: _filled(parts[match[1]]), "".join(pieces))


def _contraction(match: re.Match[str]) -> str | None:
    return contraction(match[0].lower().replace("\u2019", "'"))


def _cue(match: re.Match[str]) -> str | None:
    word = match[0].lower()
    return cue if (cue := cue_of(word)) != word else None


def _listed(match: re.Match[str]) -> str | None:
    """Return the conjunction for a mark in a denied list: "no cars/trucks", "no dogs & cats"."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    before = before if match[0] == "/" else before.replace(",", "")
    if not _compiled("{CUE_BEFORE}").search(before) or before.endswith(
        (" and", " but", " as well")
    ):
        return None
    return " or " if match[0] == "/" else " and "


def _literal(match: re.Match[str]) -> str:
    before, quoted, _ = match[0].split('"')  # one word denies nothing: a door marked "no-entry"
    return f'{before}"{quoted.strip().replace(" ", "-")}"'


def _new_clause(match: re.Match[str]) -> str:
    return "; " if match.start() else ""


_FUNCTIONS: dict[str, Callable[[re.Match[str]], str | None]] = {
    f"{function.__name__.strip('_')}()": function
    for function in (_contraction, _cue, _listed, _literal, _new_clause)
}
