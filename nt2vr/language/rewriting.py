"""Rewriting of typed text, character by character traceable: highlights still point into what was typed."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


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
