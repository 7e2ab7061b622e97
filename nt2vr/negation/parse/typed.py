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

from nt2vr.negation.parse.tokens import contraction, cue_of
from nt2vr.negation.parse.wordlists import text_of


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a query's text."""

    start: int
    end: int


class _Replacement(NamedTuple):
    """Characters `start` to `end` that become a new text, which stands for `source`."""

    start: int
    end: int
    text: str
    source: Span


class _Rewriting(NamedTuple):
    """A pattern and what replaces it."""

    # Its repeats are bounded, since strangers type the text.
    pattern: re.Pattern[str]
    # A function that returns None leaves the match as it is.
    new: str | Callable[[re.Match[str]], str | None]

    def replacements(self, match: re.Match[str]) -> Iterator[_Replacement]:
        """Yield what changes in a match."""
        pieces = self._pieces(match)
        kept_groups = [int(number) for number in pieces[1::2]]
        start = match.start()
        # The last text reaches to the end of the match, which is group 0.
        for text, group in zip(pieces[::2], [*kept_groups, 0], strict=True):
            end = match.start(group) if group else match.end()
            if text != match.string[start:end]:
                source = _source(match, start, end)
                yield _Replacement(start=start, end=end, text=text, source=source)
            start = match.end(group)

    def _pieces(self, match: re.Match[str]) -> list[str]:
        """Return the new texts, and between them the numbers of the groups that are kept."""
        if isinstance(self.new, str):
            return re.split(r"\\(\d)", self.new)
        text = self.new(match)
        return [match[0] if text is None else text]


def _source(match: re.Match[str], start: int, end: int) -> Span:
    """Return what a new text stands for: the words it replaces, or the first one of the match."""
    if match.string[start:end].strip():
        return Span(start, end)
    first_word = match[0].partition(" ")[0]
    return Span(match.start(), match.start() + len(first_word))


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

    def rewritten(self, rewritings: Iterable[_Rewriting]) -> "Typed":
        """Replace every match of each pattern, one pattern after the other."""
        typed = self
        for rewriting in rewritings:
            typed = typed._rewritten_once(rewriting)
        return typed

    def _rewritten_once(self, rewriting: _Rewriting) -> "Typed":
        text = ""
        spans: list[Span] = []
        copied = 0  # characters
        for match in rewriting.pattern.finditer(self.text):
            for replacement in rewriting.replacements(match):
                text += self.text[copied : replacement.start] + replacement.text
                spans += self.spans[copied : replacement.start]
                spans += [self._source(replacement)] * len(replacement.text)
                copied = replacement.end
        if not copied and not text:
            return self
        return Typed(text + self.text[copied:], [*spans, *self.spans[copied:]])

    def _source(self, replacement: _Replacement) -> Span:
        """Return where the words were typed for which a new text stands."""
        start, end = replacement.source
        # At the end of the text, nothing is replaced by something.
        start = min(start, len(self.text) - 1)
        return self.span(Span(start, max(start + 1, min(end, len(self.text)))))


def read_typed(text: str, editing: bool = False) -> Typed:
    """Return the text to parse; requests and fillers stay where they are all there is."""
    as_typed = Typed(text, [Span(i, i + 1) for i in range(len(text))])
    typed = as_typed.rewritten(_rewritings("operators") + _rewritings("spelling"))
    content = typed.rewritten(_rewritings("fillers") + _rewritings("requests"))
    if not editing:
        content = content.rewritten(_rewritings("slogans"))
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


def _contraction(match: re.Match[str]) -> str | None:
    return contraction(match[0].lower().replace("\u2019", "'"))


def _cue(match: re.Match[str]) -> str | None:
    word = match[0].lower()
    cue = cue_of(word)
    if cue == word:
        return None
    return cue


def _listed(match: re.Match[str]) -> str | None:
    """Return the conjunction for a mark in a denied list: "no cars/trucks", "no dogs & cats"."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    if match[0] != "/":
        before = before.replace(",", "")
    if before.endswith((" and", " but", " as well")):
        return None
    if not _compiled("{CUE_BEFORE}").search(before):
        return None
    if match[0] == "/":
        return " or "
    return " and "


def _literal(match: re.Match[str]) -> str:
    """Join a quoted text to one word, which denies nothing: a door marked "no-entry"."""
    before, quoted, _ = match[0].split('"')
    return f'{before}"{quoted.strip().replace(" ", "-")}"'


def _new_clause(match: re.Match[str]) -> str:
    return "; " if match.start() else ""


# By their names in the table.
_FUNCTIONS: dict[str, Callable[[re.Match[str]], str | None]] = {
    "contraction()": _contraction,
    "cue()": _cue,
    "listed()": _listed,
    "literal()": _literal,
    "new_clause()": _new_clause,
}
