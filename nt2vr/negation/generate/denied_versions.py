"""The versions of a caption with one thing or verb denied, whose parts are clear."""

from bisect import bisect_left
from collections.abc import Iterator

from nt2vr.negation.generate.caption_edits import edited_tokens
from nt2vr.negation.generate.denial import Sentence
from nt2vr.negation.generate.negator import denials
from nt2vr.negation.generate.subjects import is_plural_noun
from nt2vr.negation.parse.inflect import inflect
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import Query, Span, split_query
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import words

# Words that remain when "this is a clip of …" or "… is shown" is denied.
_SAYS_LITTLE = words("this it that shown played filmed displayed")
# Words of a place that belongs to a thing: "without a flag | in his hand", "without trees | in the
# background".
_BELONGING = words("his her its their background foreground")


def denied_versions(text: str, phrases: Phrases) -> Iterator[Sentence]:
    """Yield the versions of a caption with one thing or verb denied, if their parts are clear."""
    for denial in denials(phrases):
        denied_texts = denial.applied(text)
        denied_phrases = Phrases(edited_tokens(phrases, denial))
        query = split_query(denied_texts[0], denied_phrases)
        if not query.scopes or _says_little(query):
            continue
        if _may_be_wrong(denied_phrases, query.scopes[-1]):
            continue

        wanted = _without_place_of_thing(query, denied_phrases)
        unwanted = " and ".join(_participles(query, denied_phrases))
        for version in denied_texts:
            yield Sentence(version, wanted, unwanted)


def _says_little(query: Query) -> bool:
    first_part, *_ = (*query.wanted, query.text)
    first_word, _, _ = first_part.lower().partition(" ")
    return not _SAYS_LITTLE.isdisjoint([first_word, *query.unwanted])


def _may_be_wrong(phrases: Phrases, scope: Span) -> bool:
    """Return whether the words that are denied may end elsewhere than a scope does.

    An example is "(does not toss a child) in camouflage into the air".
    """
    starts = [token.start for token in phrases.tokens]
    first = bisect_left(starts, scope.start)
    after = bisect_left(starts, scope.end)
    for i in range(first + 1, after):
        # A clause begins.
        if phrases.is_finite(i) or phrases.word(i) in {"as", "while"}:
            return True

    if phrases.word(after) == "of" or phrases.tag(after) in {"WH", "ADJ", "VBN"}:
        return True
    return (
        _may_act(phrases, first, after)
        or _place_is_ambiguous(phrases, first, after)
        or _list_is_ambiguous(phrases, first, after)
    )


def _place_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether the place at word `after` may belong to the scope from word `first`."""
    place = phrases.place_phrase(after)
    if place is None:
        return False
    # covered | in cake
    if phrases.tag(first) == "VBN" or phrases.place_phrase(place.end):
        return True
    if place.object is None:
        return False
    # a player | in blue
    noun = phrases.noun_phrase(place.object)
    return noun is not None and phrases.tag(noun.head) == "ADJ"


def _may_act(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether a participle at word `after` may be of the last word of a scope."""
    last = after - 1
    if phrases.tag(after) != "VBG":
        return False
    if phrases.tag(first) == "NOUN" or is_plural_noun(phrases, last):
        return True
    return phrases.lemma_is_listed(last, "actors", "roles")


def _list_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether "and" or "or" at word `after` may add to the scope from word `first`."""
    if phrases.word(after) not in {"and", "or"}:
        return False
    noun = phrases.noun_phrase(after + 1)
    if noun is None:
        return False
    return not phrases.is_verb(first) or not phrases.is_verb(noun.end)


def _without_place_of_thing(query: Query, phrases: Phrases) -> str:
    """Leave a place that belongs to the denied thing out of the wanted part.

    An example is "without (trees) | in the background".
    """
    wanted = " ".join(query.wanted)
    scope_end = query.scopes[-1].end
    after = sum(token.end <= scope_end for token in phrases.tokens)
    place = phrases.place_phrase(after)
    if place is None or not place.object:
        return wanted
    # in his hand; in the background
    first_words = {phrases.word(place.object), phrases.lemma(place.object + 1)}
    if _BELONGING.isdisjoint(first_words):
        return wanted
    place_end = phrases.tokens[place.end - 1].end
    return wanted.replace(query.text[scope_end:place_end], "")


def _participles(query: Query, phrases: Phrases) -> Iterator[str]:
    """Yield the unwanted parts, "ride a bike" as "riding a bike"."""
    words_by_start = {token.start: token for token in phrases.tokens}
    for unwanted, scope in zip(query.unwanted, query.scopes, strict=True):
        verb = words_by_start[scope.start]
        if verb.tag in FINITE_TAGS | {"VB"} and unwanted.startswith(verb.text):
            yield inflect(verb.lemma, "VBG") + unwanted.removeprefix(verb.text)
        else:
            yield unwanted
