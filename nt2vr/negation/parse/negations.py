"""Negations of a sentence: their cues and the phrases that these deny, as word positions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from nt2vr.negation.parse.phrases import Phrase

CueKind = Literal[
    "not",
    "no",
    "without",
    "nobody",
    "except",
    "minus",
    "order",
    "absent",
    "free",
    "less",
    "double",
    "edit",
]
"""What a cue denies:

not: the verb, noun, place or quality after it; the thing before it if the words after it only
    mean "in the picture".
no, without, order: the thing after it; for "without" also what somebody does; for "order" at the
    start of a clause.
nobody: people, or what nobody does.
except: the thing after it; if that is an exception from a denial, nothing is denied, and it is
    wanted.
absent: the thing before it, or after it if the order is inverted.
minus, free, less: the next word, the noun to which it is attached, the thing that its word names.
double: nothing, since two negations affirm.
edit: what is replaced or removed (`nt2vr.negation.parse.editing`).
"""


class Cue(NamedTuple):
    """Words `start` to `end` (exclusive), which deny something."""

    kind: CueKind
    start: int
    end: int


@dataclass(frozen=True)
class Negation:
    """One cue and the phrases it denies; words `start` to `end` (exclusive) are not wanted."""

    cue: Cue
    start: int
    end: int
    # Each is denied from its `start` to its `core`; there are none if two negations cancel out.
    items: tuple[Phrase, ...] = ()
    # First word of a verb before the cue that the first item needs: "wearing" no hat.
    verb: int | None = None
    # Name of the first item where the sentence has none: "people" for "nobody".
    thing: str = ""
    # Text that replaces words `start` to `end` in the wanted part.
    link: str = ""
    # Kinds that are denied except for what is wanted: "animals" in "no animals except dogs".
    other_kinds: tuple[str, ...] = ()

    def ending(self, end: int, setting: int | None = None) -> "Negation":
        """Return the negation with another end of its last item, and another setting there."""
        *items, last = self.items
        items.append(replace(last, end=end, setting=setting))
        return replace(self, items=tuple(items), end=max(end, self.end))


# Of one sentence, from left to right.
Negations = Sequence[Negation]
