"""Typed text as the rules read it.

Operators are spelt out, misspelt contractions mended, requests and fillers left out. Every
character is traceable, so that highlights point into what was typed. The rewritings are in
`assets/language/rewriting.toml`. What is denied is decided by `nt2vr.negation.parse.scope`, not
here.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from nt2vr.negation.parse.misspelt_cues import contraction, cue_of
from nt2vr.negation.parse.wordlists import text_of


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a query's text."""

    start: int
    end: int


# Returns the new text of a match.
_Rewrite = Callable[[re.Match[str]], str]


class _Rewriting(NamedTuple):
    """A pattern and what replaces it."""

    # Its repeats are bounded, since strangers type the text.
    pattern: re.Pattern[str]
    new: str | _Rewrite

    def replacements(self, match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
        """Yield the start, the end and the new text of each part of a match around the groups that stay."""
        if not isinstance(self.new, str):
            yield *match.span(), self.new(match)
            return

        # New texts, and between them the numbers of the groups.
        pieces = re.split(r"\\(\d)", self.new)
        edges = [match.start()]
        for group in pieces[1::2]:
            edges += match.span(int(group))
        edges.append(match.end())
        yield from zip(edges[::2], edges[1::2], pieces[::2], strict=True)


@dataclass(frozen=True)
class Typed:
    """Text whose characters come from a typed text.

    Attributes:
        text: as it is read.
        spans: for each of its characters, where it, or what it replaces, was typed.
    """

    text: str
    spans: Sequence[Span]

    def span(self, span: Span) -> Span:
        """Return where words of `text` were typed."""
        return Span(self.spans[span.start].start, self.spans[span.end - 1].end)

    def rewritten(self, *lists: str) -> "Typed":
        """Replace every match of each pattern in some lists of `rewriting.toml`, in their order."""
        typed = self
        for name in lists:
            for rewriting in _rewritings(name):
                typed = typed._rewritten_once(rewriting)
        return typed

    def _rewritten_once(self, rewriting: _Rewriting) -> "Typed":
        text = ""
        spans = []
        copied = 0  # characters
        for match in rewriting.pattern.finditer(self.text):
            for start, end, new in rewriting.replacements(match):
                if new == self.text[start:end]:
                    continue
                source = self._source(match, start, end)
                text += self.text[copied:start] + new
                spans += [*self.spans[copied:start], *[source] * len(new)]
                copied = end
        # Most patterns match nothing.
        if not copied and not text:
            return self
        return Typed(text + self.text[copied:], [*spans, *self.spans[copied:]])

    def _source(self, match: re.Match[str], start: int, end: int) -> Span:
        """Return where the words were typed that are replaced, or else the first of the match."""
        if not self.text[start:end].strip():
            start = match.start()
            end = start + len(match[0].partition(" ")[0])
        # At the end of the text, nothing is replaced by something.
        start = min(start, len(self.text) - 1)
        return self.span(Span(start, max(start + 1, end)))


def read_typed(text: str, editing: bool = False) -> Typed:
    """Return the text to parse; requests and fillers stay where they are all there is."""
    as_typed = Typed(text, [Span(i, i + 1) for i in range(len(text))])
    typed = as_typed.rewritten("operators", "spelling")
    content = typed.rewritten("fillers", "requests")
    if not editing:
        content = content.rewritten("slogans")
    if not content.text.strip(" .,;:!?"):
        return typed
    return content


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(text_of("language/rewriting.toml"))


@cache
def _rewritings(name: str) -> tuple[_Rewriting, ...]:
    rewritings = []
    for new, *pieces in _table()[name]:
        rewritings.append(_Rewriting(_compiled(pieces), _FUNCTIONS.get(new, new)))
    return tuple(rewritings)


def _compiled(pieces: Iterable[str]) -> re.Pattern[str]:
    return re.compile(_filled(pieces), re.IGNORECASE)


def _filled(pieces: Iterable[str]) -> str:
    """Join the pieces of a pattern, with named parts such as "{CUE}" filled in."""
    parts = _table()["parts"]
    return re.sub(r"\{([A-Z_]+)\}", lambda match: _filled(parts[match[1]]), "".join(pieces))


def _contraction(match: re.Match[str]) -> str:
    return contraction(match[0].lower().replace("\u2019", "'")) or match[0]


def _cue(match: re.Match[str]) -> str:
    word = match[0].lower()
    cue = cue_of(word)
    return match[0] if cue == word else cue


def _listed(match: re.Match[str]) -> str:
    """Return the conjunction for a mark in a denied list: "no cars/trucks", "no dogs & cats"."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    conjunction = " or "
    if match[0] != "/":
        conjunction = " and "
        before = before.replace(",", "")
    is_joined = before.endswith((" and", " but", " as well"))
    if is_joined or not _compiled(["{CUE_BEFORE}"]).search(before):
        return match[0]
    return conjunction


def _literal(match: re.Match[str]) -> str:
    """Join a quoted text to one word, which denies nothing: a door marked "no-entry"."""
    before, quoted, _ = match[0].split('"')
    return f'{before}"{quoted.strip().replace(" ", "-")}"'


def _new_clause(match: re.Match[str]) -> str:
    return "; " if match.start() else ""


# By their names in the table.
_FUNCTIONS: dict[str, _Rewrite] = {
    "contraction()": _contraction,
    "cue()": _cue,
    "listed()": _listed,
    "literal()": _literal,
    "new_clause()": _new_clause,
}
