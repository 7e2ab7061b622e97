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
        """Yield what changes in a match; a replaced gap stands for the first word of the match."""
        # Even pieces are texts, odd ones the numbers of the groups that are kept between them.
        if isinstance(self.new, str):
            pieces = re.split(r"\\(\d)", self.new)
        else:
            text = self.new(match)
            if text is None:
                return
            pieces = [text]

        first_word = match[0].partition(" ")[0]
        first_word_span = Span(match.start(), match.start() + len(first_word))
        start = match.start()
        for index in range(0, len(pieces), 2):
            group = int(pieces[index + 1]) if index + 1 < len(pieces) else 0
            end = match.start(group) if group else match.end()
            replaced = match.string[start:end]
            if pieces[index] != replaced:
                source = first_word_span
                if replaced.strip():
                    source = Span(start, end)
                yield _Replacement(
                    start=start,
                    end=end,
                    text=pieces[index],
                    source=source,
                )
            start = match.end(group)


@dataclass(frozen=True)
class Typed:
    """Text whose characters come from a typed text."""

    text: str
    starts: Sequence[int]  # per character, where it, or what it replaces, starts in the typed text
    ends: Sequence[int]  # per character, where that ends

    def span(self, span: Span) -> Span:
        """Return where words of `text` were typed."""
        return Span(self.starts[span.start], self.ends[span.end - 1])

    def rewritten(self, rewritings: Iterable[_Rewriting]) -> "Typed":
        """Replace every match of each pattern, one pattern after the other."""
        typed = self
        for rewriting in rewritings:
            typed = typed._rewritten_once(rewriting)
        return typed

    def _rewritten_once(self, rewriting: _Rewriting) -> "Typed":
        replacements: list[_Replacement] = []
        for match in rewriting.pattern.finditer(self.text):
            replacements += rewriting.replacements(match)
        if not replacements:
            return self

        texts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = len(self.text) - 1
        copied = 0  # characters
        for replacement in replacements:
            first_char = min(replacement.source.start, last)
            last_char = min(max(replacement.source.start, replacement.source.end - 1), last)
            num_chars = len(replacement.text)

            texts += [self.text[copied : replacement.start], replacement.text]
            starts += self.starts[copied : replacement.start]
            starts += [self.starts[first_char]] * num_chars
            ends += self.ends[copied : replacement.start]
            ends += [self.ends[last_char]] * num_chars
            copied = replacement.end

        texts.append(self.text[copied:])
        starts += self.starts[copied:]
        ends += self.ends[copied:]
        return Typed("".join(texts), starts, ends)


def read_typed(text: str, editing: bool = False) -> Typed:
    """Return the text to parse; requests and fillers stay where they are all there is."""
    as_typed = Typed(text, range(len(text)), range(1, len(text) + 1))
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
