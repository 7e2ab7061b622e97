"""Editing words next to a reference ("replace X by Y", "add Y").

Without a reference, "add" and "change" are words like others. The reference itself ("this", "the
same") is not a wanted word.
"""

from collections.abc import Iterator

from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrases, noun_of
from nt2vr.negation.parse.wordlists import listed, listed_runs, words

# Words before the replacement, by verb, the surest first.
_REPLACEMENT_JOINTS = {
    **dict.fromkeys(
        ("replace", "substitute", "swap", "exchange", "switch"), ("by", "with", "for", "to")
    ),
    **dict.fromkeys(("change", "turn", "convert", "transform"), ("into", "to")),
}
_WHOEVER = (
    "the one",
    "the person",
    "the ones",
    "the people",
    "whoever is",
    "everybody who",
    "anyone who",
)
# At the end of a clause.
_LAST = words("instead too")
# Of the wanted parts around an edit.
_LINK = ", "


def find_edits(phrases: Phrases) -> Iterator[Negation]:
    """Yield negations of what is replaced or removed, and of words that only say "edit this".

    The latter have no items. A removal without items is an order: it denies the phrase after it.
    """
    i = 0
    while i < len(phrases.tokens):
        edit = _edit(phrases, i)
        if edit is None:
            i += 1
            continue
        yield edit
        i = edit.end


def _edit(phrases: Phrases, i: int) -> Negation | None:
    follows_reference = phrases.longest(listed_runs("reference"), 0) == i
    if phrases.starts_clause(i) or follows_reference:
        edit = _edit_at_start(phrases, i)
        if edit is not None:
            return edit
    if i == 0:
        return None

    if phrases.word(i) == "replaced" and phrases.word(i + 1) in {"by", "with"}:
        return _unwanted(
            phrases, Cue("edit", i, i + 2), start=phrases.clause_start(i), stop=i, end=i + 2
        )
    if phrases.word(i) in _LAST and phrases.is_clause_edge(i + 1):
        return _left_out(i, i + 1)
    return None


def _edit_at_start(phrases: Phrases, i: int) -> Negation | None:
    edit = _replacement(phrases, i) or _removal(phrases, i)
    if edit is not None:
        return edit
    length = _reference(phrases, i) or phrases.longest(listed_runs("additions"), i)
    return _left_out(i, i + length) if length else None


def _reference(phrases: Phrases, i: int) -> int:
    """Return the length in words of "like this, but"; 0 if there is none at word i."""
    end = i + phrases.longest(listed_runs("reference"), i)
    # the same | man dances
    noun = phrases.noun_phrase(i)
    if end == i or (noun is not None and noun.end > end):
        return 0
    while phrases.is_listed(end, "joints"):
        end += 1
    return end - i


def _replacement(phrases: Phrases, i: int) -> Negation | None:
    """Read "replace X by Y", whose Y stays as the wanted part."""
    end = i + 1
    while not phrases.is_end(end):
        end += 1
    for joint in _REPLACEMENT_JOINTS.get(phrases.word(i), ()):
        for j in range(i + 2, end - 1):
            if phrases.word(j) == joint:
                return _unwanted(phrases, Cue("edit", i, i + 1), start=i + 1, stop=j, end=j + 1)
    return None


def _removal(phrases: Phrases, i: int) -> Negation | None:
    """Read "take away X" or "remove the one dancing on stage", to the end of its clause."""
    after = i + phrases.longest(listed_runs("removals"), i)
    if after == i or after >= len(phrases.tokens):
        return None
    if phrases.text(after, after + 2) not in _WHOEVER:
        return Negation(Cue("order", i, after), i, after)

    end = after + 2
    while not phrases.is_clause_edge(end):
        end += 1
    return _unwanted(phrases, Cue("edit", i, after), start=after, stop=end, end=end)


def _unwanted(phrases: Phrases, cue: Cue, start: int, stop: int, end: int) -> Negation | None:
    """Deny words `start` to `stop`; the words from the first of these or the cue to `end` go."""
    if start >= stop:
        return None
    # change it to …
    names_thing = not listed("referring").issuperset(phrases.words[start:stop])
    items = (noun_of(start, stop),) if names_thing else ()
    return Negation(
        cue=cue,
        items=items,
        start=min(cue.start, start),
        end=end,
        link=_LINK,
    )


def _left_out(start: int, end: int) -> Negation:
    return Negation(cue=Cue("edit", start, end), start=start, end=end, link=_LINK)
