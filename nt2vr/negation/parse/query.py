"""Query understanding: splits a sentence into wanted and unwanted parts.

The rules are in `nt2vr.negation.parse.scope`; this module turns their word positions back into
text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nt2vr.errors import QueryError
from nt2vr.negation.parse.foreign import notice_of
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.requests import Span as Span
from nt2vr.negation.parse.requests import read_typed
from nt2vr.negation.parse.scope import ScopeFinder
from nt2vr.negation.parse.tagger import Tagger
from nt2vr.negation.parse.wanted import Negation, Stretch
from nt2vr.negation.parse.wordlists import listed, words

MAX_QUERY_CHARS = 1000
MAX_PART_CHARS = 2 * MAX_QUERY_CHARS
MAX_PARTS_CHARS = 10 * MAX_QUERY_CHARS  # of all parts: a list's items repeat their shared verb
# before a part of a query, several in a row as one: "," "; and no" "-" of "-dog"
_MARK = r"(?:[,;|&+]|\b(?:and|or|nor|no|not|without|minus)\b|(?<!\S)[-!](?=\S))"
MARKS = re.compile(rf"{_MARK}(?:\W*{_MARK})*", re.IGNORECASE)
MAX_UNWANTED = (
    200  # parts, each of which is encoded and judged; words of a list in the longest sentence
)
NOT_BOTH = "“But not both” excludes nothing: clips that show both are found, too."

_PRONOUNS = words("it them")


@dataclass(frozen=True)
class Query:
    """A sentence split into its parts; `cues` and `scopes` serve to highlight how it was understood.

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
        """One sentence for the person on text that is hardly English, or excludes nothing; otherwise empty."""
        return notice_of(self.text) or (NOT_BOTH if "but not both" in self.text.lower() else "")

    @property
    def affirmed(self) -> "Query":
        """The query without its negation: what it excludes is wanted, too."""
        wanted = (*self.wanted, *self.unwanted)
        return Query(" and ".join(wanted), wanted)


def understand(text: str, tagger: Tagger, editing: bool = False) -> Query:
    """Split `text` into wanted and unwanted parts; blank text gives an empty query, and long text a QueryError.

    With `editing`, it says what should be different from a reference: see
    `nt2vr.negation.parse.editing`.
    """
    check_text(text, MAX_QUERY_CHARS)
    if not text.strip():
        return Query(text)
    # Each part but the first follows a mark, and finding marks takes no time, unlike reading the
    # sentence.
    if (count := sum(1 for _ in MARKS.finditer(text))) > MAX_UNWANTED:
        raise QueryError(f"The query has {count:,} parts; name at most {MAX_UNWANTED}.")
    typed = read_typed(text, editing)
    query = split_query(typed.text, Phrases(tagger.tag(typed.text)), editing, typed=True)

    def as_typed(span: Span) -> Span:
        start, end = typed.span(span)
        return Span(end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip()))

    return replace(
        query,
        text=text,
        cues=tuple(map(as_typed, query.cues)),
        scopes=tuple(map(as_typed, query.scopes)),
    )


def check_query(query: Query) -> None:
    """Refuse, with a QueryError, a query that is too long, has too many parts or is not valid Unicode."""
    check_text(query.text, MAX_QUERY_CHARS)
    if len(query.unwanted) > MAX_UNWANTED:
        raise QueryError(
            f"The query has {len(query.unwanted):,} unwanted parts; name at most {MAX_UNWANTED}."
        )
    check_text(" ".join((*query.wanted, *query.unwanted)), MAX_PARTS_CHARS)
    check_text(max((*query.wanted, *query.unwanted), key=len, default=""), MAX_PART_CHARS)


def check_text(text: str, longest: int) -> None:
    """Refuse, with a QueryError, longer text, or text with half a surrogate pair, which no encoding can write."""
    if len(text) > longest:
        raise QueryError(
            f"The query has {len(text):,} characters; shorten it to at most {longest:,}, a sentence or two."
        )
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError("The query has a character that is not valid Unicode. Type it again.")


def split_query(text: str, phrases: Phrases, editing: bool = False, typed: bool = False) -> Query:
    """Split text whose words are tagged already; there must be at least one. For the flags, see `ScopeFinder`."""
    sentence = _QueryText(text, phrases)
    finder = ScopeFinder(phrases, editing, typed)
    negations = finder.negations()
    if not negations:
        return Query(text, (" ".join(text.split()),))
    stretches = finder.wanted.stretches(negations)
    wanted = sentence.joined(stretches)
    if typed and stretches and negations[0].start < stretches[0].start:
        wanted = sentence.naming(wanted, negations[0])
    items = sentence.items(negations)
    cues = dict.fromkeys(sentence.span(negation.cue, negation.after_cue) for negation in negations)
    return Query(
        text,
        wanted=(wanted,) if wanted else (),
        unwanted=sentence.unwanted(items, stretches),
        cues=tuple(cues),
        scopes=tuple(sentence.span(item.start, item.core) for item, _ in items),
        others=tuple(kind for negation in negations for kind in negation.others),
    )


class _QueryText:
    def __init__(self, text: str, phrases: Phrases) -> None:
        self.text, self.phrases = text, phrases

    def span(self, start: int, end: int) -> Span:
        return Span(self.phrases.tokens[start].start, self.phrases.tokens[end - 1].end)

    def piece(self, start: int, end: int) -> str:
        return " ".join(self.text[slice(*self.span(start, end))].split()) if start < end else ""

    def joined(self, stretches: Sequence[Stretch]) -> str:
        """Join stretches to one phrase by their links; "he" alone names nothing to be seen."""
        if {self.phrases.tag(i) for start, end, _ in stretches for i in range(start, end)} == {
            "PRON"
        }:
            return ""
        return "".join(
            (link if i else "") + self.piece(start, end)
            for i, (start, end, link) in enumerate(stretches)
        )

    def naming(self, wanted: str, first: Negation) -> str:
        """Say in the wanted part what "one" is: "not a red car, a blue | one"."""
        if not first.items or first.items[0].kind != "noun":
            return wanted
        noun = self.phrases.words[first.items[0].core - 1]
        return re.sub(r"(\b(?:an?|the) \w+ )one\b", lambda match: f"{match[1]}{noun}", wanted)

    def items(self, negations: Sequence[Negation]) -> list[tuple[Phrase, Negation]]:
        """Return all items, but pronouns only if there is nothing else: "no snakes, I'm scared of them"."""
        items = [(item, negation) for negation in negations for item in negation.items]
        names = [
            each
            for each in items
            if not _PRONOUNS.issuperset(self.phrases.words[each[0].start : each[0].core])
        ]
        return names or items

    def unwanted(
        self, items: Sequence[tuple[Phrase, Negation]], stretches: Sequence[Stretch]
    ) -> tuple[str, ...]:
        """Return the items as searchable phrases; of verbs, say what "it" or "them" is: "playing the violin"."""
        texts = [self._unwanted(item, negation) for item, negation in items]
        if not _PRONOUNS & {*self.phrases.words} or not (named := self._named_once(stretches)):
            return tuple(texts)
        for i, (item, _) in enumerate(items):
            if item.kind == "verb":
                texts[i] = re.sub(r"\b(?:it|them)\b", lambda _: f"the {named}", texts[i])
        return tuple(texts)

    def _named_once(self, stretches: Sequence[Stretch]) -> str:
        """Return the noun that "it" or "them" outside must mean: of the only thing, people aside, in the stretches."""
        phrases, found = self.phrases, list[str]()
        for stretch in stretches:
            i = stretch.start
            while i < stretch.end:
                noun = phrases.noun_phrase(i) if phrases.tag(i) not in {"PRON", "VBG"} else None
                if noun is None or phrases.word(noun.head) in listed(
                    "frames"
                ):  # a video of | a guitar
                    i = noun.head + 1 if noun else i + 1
                    continue
                if phrases.lemma(noun.head) not in listed("humans"):
                    found.append(self.piece(phrases.after(i, {"DET"}), min(noun.end, stretch.end)))
                i = noun.end
        return found[0] if len(found) == 1 else ""

    def _unwanted(self, item: Phrase, negation: Negation) -> str:
        """Return an item without "any" or "want to see", and with the verb that its list shares."""
        first, before, start = negation.items[0], "", self._after_request(item, negation)
        if item is first:
            before = self.piece(negation.verb, negation.cue) if negation.verb is not None else ""
            if negation.thing:  # wearing no | hat
                before, start = f"{before} {negation.thing}", max(item.start, negation.after_cue)
        elif item.kind == "noun" and first.object is not None:
            before = self.piece(first.start, first.object)  # playing the guitar or | the piano
        return f"{before} {self.piece(start, item.core)}".strip()

    def _after_request(self, item: Phrase, negation: Negation) -> int:
        phrases, i = self.phrases, item.start
        asks = item.kind == "verb" and self._speaks(negation.cue - 1)
        skipped = {"any", "to", "me"} if asks else {"any", "to"}
        asks &= phrases.word(i) != "watching"  # two men, not | watching
        while i + 1 < item.core and (
            phrases.word(i) in skipped or (asks and phrases.lemma(i) in listed("requests"))
        ):
            i += 1
        return i

    def _speaks(self, i: int) -> bool:
        """Return whether the sentence speaks for the person typing at word i: "I don't …", "please don't …"."""
        while self.phrases.is_auxiliary(i):
            i -= 1
        return i < 0 or self.phrases.word(i) in listed("speakers")
