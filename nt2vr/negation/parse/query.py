"""Query understanding: splits a sentence into wanted and unwanted parts.

The rules are in `nt2vr.negation.parse.scope`; `query_text` turns their word positions back into
text.
"""

import re
from dataclasses import dataclass, replace
from itertools import chain

from nt2vr.errors import QueryError
from nt2vr.negation.parse.affirmed import affirmed_text
from nt2vr.negation.parse.foreign import notice_of
from nt2vr.negation.parse.phrases import Phrases, phrases_of
from nt2vr.negation.parse.query_text import QueryText
from nt2vr.negation.parse.scope import ScopeFinder
from nt2vr.negation.parse.typed import Span as Span
from nt2vr.negation.parse.typed import Typed, read_typed
from nt2vr.negation.parse.wanted import wanted_stretches

MAX_QUERY_CHARS = 1000
MAX_PART_CHARS = 2 * MAX_QUERY_CHARS
# Of all parts together, which may be longer than the query: a list's items repeat their verb.
MAX_PARTS_CHARS = 10 * MAX_QUERY_CHARS
# Marks before a part of a query, several in a row as one: "," "; and no" "-" of "-dog".
_MARK = r"(?:[,;|&+]|\b(?:and|or|nor|no|not|without|minus)\b|(?<!\S)[-!](?=\S))"
MARKS = re.compile(rf"{_MARK}(?:\W*{_MARK})*", re.IGNORECASE)
# Each part is encoded and judged; the longest sentence has a list of so many words.
MAX_UNWANTED = 200
NOT_BOTH = "“But not both” excludes nothing: clips that show both are found, too."


@dataclass(frozen=True)
class Query:
    """A sentence split into its parts; `cues` and `scopes` show how it was understood.

    Attributes:
        text: the sentence as typed.
        wanted: phrases the video should show; () if the sentence only negates.
        unwanted: affirmative phrases the video should not show, one per thing.
        cues: positions of the negation words.
        scopes: positions of the unwanted phrases, in the order of `unwanted`.
        others: kinds of which only what is wanted may be shown: "animals" in "a dog and no other
            animals". Nothing is searched by them; verdicts count them.
    """

    text: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    cues: tuple[Span, ...] = ()
    scopes: tuple[Span, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """One sentence on text that is hardly English or excludes nothing; otherwise empty."""
        notice = notice_of(self.text)
        if notice:
            return notice
        if "but not both" in self.text.lower():
            return NOT_BOTH
        return ""

    @property
    def affirmed(self) -> "Query":
        """The query without its negation: what it excludes is wanted, too."""
        text = affirmed_text(self.wanted, self.unwanted)
        return Query(text, (*self.wanted, *self.unwanted))


def understand(text: str, editing: bool = False) -> Query:
    """Split a sentence into its wanted and unwanted parts; blank text gives an empty query.

    With `editing`, edits are understood as well, as next to a reference picture: "replace the dog
    by a cat".

    Raises:
        QueryError: if the text is too long or has too many parts.
    """
    check_text(text, MAX_QUERY_CHARS)
    # Each part but the first follows a mark. Counting marks takes no time, unlike parsing.
    num_parts = len(MARKS.findall(text))
    if num_parts > MAX_UNWANTED:
        raise QueryError(f"The query has {num_parts:,} parts; name at most {MAX_UNWANTED}.")

    typed = read_typed(text, editing)
    # Invisible marks alone are blank, too.
    if not typed.text.strip():
        return Query(text)
    query = split_query(typed.text, phrases_of(typed.text), editing, typed=True)
    return replace(
        query,
        text=text,
        cues=tuple(_span_as_typed(text, typed, cue) for cue in query.cues),
        scopes=tuple(_span_as_typed(text, typed, scope) for scope in query.scopes),
    )


def _span_as_typed(text: str, typed: Typed, span: Span) -> Span:
    """Return where words of the parsed text were typed, without spaces around them."""
    start, end = typed.span(span)
    typed_words = text[start:end].strip()
    first = text.index(typed_words, start)
    return Span(first, first + len(typed_words))


def check_query(query: Query) -> None:
    """Raise a QueryError if a query is too long, has too many parts or is not valid Unicode."""
    check_text(query.text, MAX_QUERY_CHARS)
    if len(query.unwanted) > MAX_UNWANTED:
        raise QueryError(
            f"The query has {len(query.unwanted):,} unwanted parts; name at most {MAX_UNWANTED}."
        )
    parts = (*query.wanted, *query.unwanted)
    check_text(" ".join(parts), MAX_PARTS_CHARS)
    check_text(max(parts, key=len, default=""), MAX_PART_CHARS)


def check_text(text: str, longest: int) -> None:
    """Raise a QueryError for longer text, or text with half a surrogate pair."""
    if len(text) > longest:
        raise QueryError(
            f"The query has {len(text):,} characters; "
            f"shorten it to at most {longest:,}, a sentence or two."
        )
    # No encoding can write half a surrogate pair.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError("The query has a character that is not valid Unicode. Type it again.")


def split_query(text: str, phrases: Phrases, editing: bool = False, typed: bool = False) -> Query:
    """Split text whose words are tagged already; there must be at least one.

    For the flags, see `ScopeFinder`.
    """
    negations = ScopeFinder(phrases, editing, typed).negations()
    if not negations:
        return Query(text, (" ".join(text.split()),))

    sentence = QueryText(text, phrases, typed)
    stretches = wanted_stretches(phrases, negations)
    items = sentence.items(negations)
    return Query(
        text,
        wanted=sentence.wanted(stretches, negations[0]),
        unwanted=sentence.unwanted(items, stretches),
        cues=sentence.cues(negations),
        scopes=tuple(sentence.span(item.phrase.start, item.phrase.core) for item in items),
        others=tuple(chain.from_iterable(negation.other_kinds for negation in negations)),
    )
