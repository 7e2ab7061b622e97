"""A typed sentence taken apart: what the video should show, what it should not, and which words say so.

The rules are in `nt2vr.language.scope`; here words become text again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nt2vr.errors import QueryError
from nt2vr.language.phrases import Phrase, Phrases
from nt2vr.language.scope import Negation, ScopeFinder
from nt2vr.language.tagger import Tagger
from nt2vr.language.wordlists import words

MAX_QUERY_CHARS = 1000

_THINGS = {"nobody": "people", "no one": "people", "noone": "people", "none": "people", "nothing": "anything"}
_REQUESTS = words("want show see include display")
_SPEAKERS = words("i we you please , .")  # who does not want to see; no part of the video


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a query's text."""

    start: int
    end: int


@dataclass(frozen=True)
class Query:
    """What a sentence asks for; `cues` and `scopes` are for showing how it was understood.

    Attributes:
        text: the sentence as typed.
        wanted: clean phrases to be seen; () where the sentence only negates.
        unwanted: clean affirmative phrases that shall not be seen, one per thing.
        cues: where the negating words stand.
        scopes: where each unwanted stretch stands, in the order of `unwanted`.
    """

    text: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    cues: tuple[Span, ...] = ()
    scopes: tuple[Span, ...] = ()


def understand(text: str, tagger: Tagger) -> Query:
    """Take `text` apart into wanted and unwanted parts; blank text gives an empty query.

    Raises:
        QueryError: if it is longer than MAX_QUERY_CHARS.
    """
    if len(text) > MAX_QUERY_CHARS:
        raise QueryError(
            f"The query has {len(text):,} characters; shorten it to at most {MAX_QUERY_CHARS:,}, a sentence or two."
        )
    if not text.strip():
        return Query(text)
    return taken_apart(text, Phrases(tagger.tag(text)))


def taken_apart(text: str, phrases: Phrases) -> Query:
    """Do the same with the words of `text`, tagged already; there is at least one."""
    sentence = _Sentence(text, phrases)
    finder = ScopeFinder(phrases)
    negations = finder.negations()
    if not negations:
        return Query(text, (" ".join(text.split()),))
    kept = finder.kept(negations)
    if all(sentence.phrases.tag(i) == "PRON" for stretch in kept for i in range(stretch.start, stretch.end)):
        kept = []  # "he" alone names nothing to be seen
    wanted = sentence.joined([(link, start, end) for start, end, link in kept])
    items = [(item, negation) for negation in negations for item in negation.items]
    return Query(
        text,
        wanted=(wanted,) if wanted else (),
        unwanted=tuple(sentence.unwanted(item, negation) for item, negation in items),
        cues=tuple(sentence.span(negation.cue, negation.after_cue) for negation in negations),
        scopes=tuple(sentence.span(item.start, item.core) for item, _ in items),
    )


class _Sentence:
    """Turns words of one sentence into its text."""

    def __init__(self, text: str, phrases: Phrases) -> None:
        self.text, self.phrases = text, phrases

    def span(self, start: int, end: int) -> Span:
        return Span(self.phrases.tokens[start].start, self.phrases.tokens[end - 1].end)

    def piece(self, start: int, end: int) -> str:
        return " ".join(self.text[slice(*self.span(start, end))].split()) if start < end else ""

    def joined(self, stretches: Sequence[tuple[str, int, int]]) -> str:
        """Return the stretches as one phrase, each after its link but the first."""
        return "".join((link if i else "") + self.piece(start, end) for i, (link, start, end) in enumerate(stretches))

    def unwanted(self, item: Phrase, negation: Negation) -> str:
        """The item as a phrase to search for, without "any" or "want to see"; a verb shared in a list is repeated."""
        phrases, first = self.phrases, negation.items[0]
        if item.start < negation.after_cue:
            thing = _THINGS[" ".join(phrases.words[negation.cue : negation.after_cue])]
            return f"{thing} {self.piece(negation.after_cue, item.core)}".strip()
        start = item.start
        asks = item.kind == "verb" and self._speaks(negation.cue - 1)
        while start + 1 < item.core and (
            phrases.word(start) in {"any", "to"}
            or (asks and (phrases.lemma(start) in _REQUESTS or phrases.word(start) == "me"))
        ):
            start += 1
        before = ""
        if item is first:
            before = self.piece(negation.start, negation.cue)  # wearing no | hat
        elif item.kind == "noun" and first.object is not None:
            before = self.piece(first.start, first.object)  # playing the guitar or | the piano
        return f"{before} {self.piece(start, item.core)}".strip()

    def _speaks(self, i: int) -> bool:
        """Whether it is the person who typed that does not want: "I don't …", "please don't …"."""
        while self.phrases.is_auxiliary(i):
            i -= 1
        return i < 0 or self.phrases.word(i) in _SPEAKERS
