"""Query understanding: splits a sentence into wanted and unwanted parts.

The rules are in `nt2vr.negation.parse.scope`; this module turns their word positions back into
text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nt2vr.errors import QueryError
from nt2vr.negation.parse.foreign import notice_of
from nt2vr.negation.parse.negations import Negation
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.requests import Span as Span
from nt2vr.negation.parse.requests import Typed, read_typed
from nt2vr.negation.parse.scope import ScopeFinder
from nt2vr.negation.parse.tagger import Tagger
from nt2vr.negation.parse.wanted import Stretch
from nt2vr.negation.parse.wordlists import listed, words

MAX_QUERY_CHARS = 1000
MAX_PART_CHARS = 2 * MAX_QUERY_CHARS
# Of all parts: a list's items repeat their shared verb.
MAX_PARTS_CHARS = 10 * MAX_QUERY_CHARS
# Marks before a part of a query, several in a row as one: "," "; and no" "-" of "-dog".
_MARK = r"(?:[,;|&+]|\b(?:and|or|nor|no|not|without|minus)\b|(?<!\S)[-!](?=\S))"
MARKS = re.compile(rf"{_MARK}(?:\W*{_MARK})*", re.IGNORECASE)
# Each part is encoded and judged; the longest sentence has a list of so many words.
MAX_UNWANTED = 200
NOT_BOTH = "“But not both” excludes nothing: clips that show both are found, too."

_PRONOUNS = words("it them")


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
        wanted = (*self.wanted, *self.unwanted)
        return Query(" and ".join(wanted), wanted)


def understand(text: str, tagger: Tagger, editing: bool = False) -> Query:
    """Split `text` into wanted and unwanted parts; blank text gives an empty query.

    With `editing`, it says what should be different from a reference: see
    `nt2vr.negation.parse.editing`.

    Raises:
        QueryError: if the text is too long or has too many parts.
    """
    check_text(text, MAX_QUERY_CHARS)
    if not text.strip():
        return Query(text)
    # Each part but the first follows a mark. Counting marks takes no time, unlike parsing.
    num_parts = sum(1 for _ in MARKS.finditer(text))
    if num_parts > MAX_UNWANTED:
        raise QueryError(f"The query has {num_parts:,} parts; name at most {MAX_UNWANTED}.")

    typed = read_typed(text, editing)
    query = split_query(typed.text, Phrases(tagger.tag(typed.text)), editing, typed=True)
    return replace(
        query,
        text=text,
        cues=tuple(_span_as_typed(text, typed, cue) for cue in query.cues),
        scopes=tuple(_span_as_typed(text, typed, scope) for scope in query.scopes),
    )


def _span_as_typed(text: str, typed: Typed, span: Span) -> Span:
    """Return where words of the parsed text were typed, without spaces around them."""
    start, end = typed.span(span)
    typed_words = text[start:end]
    return Span(end - len(typed_words.lstrip()), start + len(typed_words.rstrip()))


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
    sentence = _QueryText(text, phrases)
    finder = ScopeFinder(phrases, editing, typed)
    negations = finder.negations()
    if not negations:
        return Query(text, (" ".join(text.split()),))

    stretches = finder.wanted.stretches(negations)
    wanted = sentence.joined(stretches)
    if typed and stretches and negations[0].start < stretches[0].start:
        wanted = sentence.naming_one(wanted, negations[0])

    items = sentence.items(negations)
    cues = [sentence.span(negation.cue.start, negation.cue.end) for negation in negations]
    other_kinds: list[str] = []
    for negation in negations:
        other_kinds += negation.other_kinds
    return Query(
        text,
        wanted=(wanted,) if wanted else (),
        unwanted=sentence.unwanted(items, stretches),
        cues=tuple(dict.fromkeys(cues)),
        scopes=tuple(sentence.span(phrase.start, phrase.core) for phrase, _ in items),
        others=tuple(other_kinds),
    )


class _DeniedItem(NamedTuple):
    """A phrase and the negation that denies it."""

    phrase: Phrase
    negation: Negation


class _QueryText:
    """Turns word positions of one sentence back into text."""

    def __init__(self, text: str, phrases: Phrases) -> None:
        self.text = text
        self.phrases = phrases

    def span(self, start: int, end: int) -> Span:
        return Span(self.phrases.tokens[start].start, self.phrases.tokens[end - 1].end)

    def piece(self, start: int, end: int) -> str:
        if start >= end:
            return ""
        span = self.span(start, end)
        return " ".join(self.text[span.start : span.end].split())

    def joined(self, stretches: Sequence[Stretch]) -> str:
        """Join stretches to one phrase by their links; "he" alone names nothing to be seen."""
        pieces: list[str] = []
        tags: set[str] = set()
        for stretch in stretches:
            if pieces:
                pieces.append(stretch.link)
            pieces.append(self.piece(stretch.start, stretch.end))
            tags.update(self.phrases.tag(i) for i in range(stretch.start, stretch.end))
        if tags == {"PRON"}:
            return ""
        return "".join(pieces)

    def naming_one(self, wanted: str, first: Negation) -> str:
        """Name "one" in the wanted part: "not a red car, a blue | one"."""
        if not first.items or first.items[0].kind != "noun":
            return wanted
        noun = self.phrases.words[first.items[0].core - 1]
        return re.sub(r"(\b(?:an?|the) \w+ )one\b", lambda match: f"{match[1]}{noun}", wanted)

    def items(self, negations: Sequence[Negation]) -> list[_DeniedItem]:
        """Return all items, but pronouns only if there is nothing else.

        An example is "no snakes, I'm scared of them".
        """
        items: list[_DeniedItem] = []
        for negation in negations:
            items += [_DeniedItem(phrase, negation) for phrase in negation.items]
        naming = [item for item in items if not self._is_pronoun(item.phrase)]
        return naming or items

    def _is_pronoun(self, phrase: Phrase) -> bool:
        return _PRONOUNS.issuperset(self.phrases.words[phrase.start : phrase.core])

    def unwanted(
        self, items: Sequence[_DeniedItem], stretches: Sequence[Stretch]
    ) -> tuple[str, ...]:
        """Return the items as searchable phrases; in those of verbs, "it" or "them" is named."""
        texts = [self._unwanted(item) for item in items]
        if _PRONOUNS.isdisjoint(self.phrases.words):
            return tuple(texts)
        thing = self._only_thing(stretches)
        if not thing:
            return tuple(texts)

        for i, item in enumerate(items):
            if item.phrase.kind == "verb":
                texts[i] = re.sub(r"\b(?:it|them)\b", lambda _: f"the {thing}", texts[i])
        return tuple(texts)

    def _only_thing(self, stretches: Sequence[Stretch]) -> str:
        """Return what "it" or "them" must mean: the only thing, people aside, in the stretches."""
        things: list[str] = []
        for stretch in stretches:
            things += self._things_in(stretch)
        return things[0] if len(things) == 1 else ""

    def _things_in(self, stretch: Stretch) -> Iterator[str]:
        phrases = self.phrases
        i = stretch.start
        while i < stretch.end:
            noun = None
            if phrases.tag(i) not in {"PRON", "VBG"}:
                noun = phrases.noun_phrase(i)
            if noun is None:
                i += 1
                continue
            # a video of | a guitar
            if phrases.word(noun.head) in listed("frames"):
                i = noun.head + 1
                continue
            if phrases.lemma(noun.head) not in listed("humans"):
                yield self.piece(phrases.after(i, {"DET"}), min(noun.end, stretch.end))
            i = noun.end

    def _unwanted(self, item: _DeniedItem) -> str:
        """Return an item without "any" or "want to see", and with the verb that its list shares."""
        phrase, negation = item
        first = negation.items[0]
        before = ""
        start = self._after_request(item)
        if phrase is first:
            if negation.verb is not None:
                before = self.piece(negation.verb, negation.cue.start)
            # wearing no | hat
            if negation.thing:
                before = f"{before} {negation.thing}"
                start = max(phrase.start, negation.cue.end)
        elif phrase.kind == "noun" and first.object is not None:
            # playing the guitar or | the piano
            before = self.piece(first.start, first.object)
        return f"{before} {self.piece(start, phrase.core)}".strip()

    def _after_request(self, item: _DeniedItem) -> int:
        """Return the first word of an item that is part of neither "any" nor "show me"."""
        phrases = self.phrases
        i = item.phrase.start
        asks = item.phrase.kind == "verb" and self._is_by_speaker(item.negation.cue.start - 1)
        skipped = {"any", "to", "me"} if asks else {"any", "to"}
        # two men, not | watching
        skips_verbs = asks and phrases.word(i) != "watching"
        while i + 1 < item.phrase.core:
            is_request = skips_verbs and phrases.lemma(i) in listed("requests")
            if not is_request and phrases.word(i) not in skipped:
                break
            i += 1
        return i

    def _is_by_speaker(self, i: int) -> bool:
        """Return whether word i ends "I" or "please": "I don't …", "please don't …"."""
        while self.phrases.is_auxiliary(i):
            i -= 1
        return i < 0 or self.phrases.word(i) in listed("speakers")
