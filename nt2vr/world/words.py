"""Words of a phrase with their meanings, compounds as one."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect, inflect_phrase, verb_of
from nt2vr.negation.parse.wordlists import listed
from nt2vr.world.lexicon import lexicon, longest, verbs
from nt2vr.world.meaning import Meaning, MeaningKind, Words, adjective, gaps_in, tokens_of
from nt2vr.world.things import Names, actions, all_nouns, meanings, persons
from nt2vr.world.word_tables import emojis

UNKNOWN = Meaning("vague", value="unknown")
# Phrases whose words are kept: verdicts on a query's clips read its parts some 1,500 times.
MAX_PHRASES = 1024

_MEDIA = frozenset("movie movies video videos clip clips footage scene scenes".split())
# First words for places that are no names of places.
_NO_NAMES = frozenset("in on at by under near indoors outdoors inside outside underwater".split())
_SUBJECTS = frozenset(
    "man men woman women boy boys girl girls person people lady ladies guy guys".split()
)


class PhraseWord(NamedTuple):
    """One word, or several that have a meaning together."""

    meaning: Meaning  # UNKNOWN if it has none
    text: Words
    gap: str = ","  # between it and the word before

    @property
    def kind(self) -> MeaningKind:
        return self.meaning.kind

    @property
    def names(self) -> Names:
        return self.meaning.names

    @property
    def first(self) -> str:
        """The first of the words."""
        return self.text[0]

    @property
    def typed(self) -> str:
        """The words, separated by spaces."""
        return " ".join(self.text)

    @property
    def doing(self) -> str:
        """A verb, with what belongs to it, in its -ing form; for "asleep", "sleeping"."""
        verb, *rest = self.text
        if verb.endswith("ing"):
            return self.typed
        base = verb_of(verb)
        names = self.names & actions().keys()
        if names and not base:
            phrase = actions()[min(names)].phrases[0]
            return inflect_phrase(phrase.format(o="").strip(), "VBG")
        doing = inflect(base or verb, "VBG")
        return " ".join((doing, *rest))

    @property
    def is_glued(self) -> bool:
        """Whether it follows another word without an article or a comma between."""
        return not self.gap.strip(" -") and self.first not in emojis()


@lru_cache(MAX_PHRASES)
def words_in(phrase: str) -> tuple[PhraseWord, ...]:
    """Return the longest words that have a meaning, from left to right, and words without one."""
    return tuple(_read_words(phrase))


def _read_words(phrase: str) -> Iterator[PhraseWord]:
    tokens = tokens_of(phrase)
    gaps = gaps_in(phrase)
    before = Meaning("filler")
    start = 0
    while start < len(tokens):
        text = _longest_entry(tokens, start)
        end = start + len(text)
        last = text[-1]
        meaning = lexicon().get(text, UNKNOWN)
        if last == "orange" and _is_colour(tokens, end):
            meaning = adjective(colour="orange")
        if before.kind == "noun" and last in _nouns_or_verbs():
            meaning = UNKNOWN
            # a chef cooks; not: boys fish
            if last.endswith("s") and not before.plural:
                meaning = verbs().get(text, UNKNOWN)
        yield PhraseWord(meaning, text, gaps[start])
        before = meaning
        start = end


def _longest_entry(tokens: Words, start: int) -> Words:
    """Return the most words from a position on that the lexicon has together, at least one."""
    text = tokens[start : start + longest()]
    while len(text) > 1 and text not in lexicon():
        text = text[:-1]
    return text


@cache
def _nouns_or_verbs() -> Names:
    """Return the nouns that are verbs as well: "fish", "pets"."""
    verb_words: set[str] = set()
    for action in actions().values():
        for phrase in action.phrases:
            verb = phrase.split()[0]
            verb_words |= {verb, inflect_phrase(verb, "VBZ")}
    noun_words = {*meanings(), *(noun.plural for noun in all_nouns())}
    return frozenset(verb_words & noun_words)


def _is_colour(tokens: Words, after: int) -> bool:
    """Return whether the "orange" before a token is a colour: "in orange", "an orange cat"."""
    if tokens[after - 2 : after - 1] == ("in",):
        return True
    for length in range(1, 4):
        following = lexicon().get(tokens[after : after + length], UNKNOWN)
        if following.kind in ("noun", "filler", "shirt"):
            return True
    return False


def has_lacking(words: Sequence[PhraseWord]) -> bool:
    """Return whether words name what the world lacks, and do not describe what follows."""
    for word, following in zip_longest(words, words[1:]):
        if word.kind != "lacking":
            continue
        if following is None or not following.is_glued:
            return True
        if following.kind not in ("noun", "vague", "lacking"):
            return True
    return False


class KnownWords(NamedTuple):
    """Words that have a meaning, and whether others were left out."""

    words: list[PhraseWord]
    is_vague: bool


def known_words(words: Sequence[PhraseWord]) -> KnownWords:
    """Return the words that have a meaning, compounds as one.

    Of unknown words, those that may be adjectives are left out: "a fluffy dog" is a dog. Nothing is
    read after others, nor what they may belong to: a "horse trailer" is no horse, and who "runs
    errands" need not run.
    """
    kinds = {word.kind for word in words}
    if kinds & {"vague", "lacking"} and kinds & {"or", "time"}:
        return KnownWords([], is_vague=True)

    meaningful: list[PhraseWord] = []
    is_vague = False
    for word, following in zip_longest(words, words[1:]):
        if word.kind not in ("vague", "lacking"):
            if word.is_glued and meaningful:
                compound = _compound(meaningful.pop(), word)
                meaningful += compound.words
                is_vague |= compound.is_vague
            else:
                meaningful.append(word)
            continue

        is_vague = True
        is_unknown = word.meaning == UNKNOWN
        if is_unknown and following and _describes(word.first, following):
            continue
        _drop_described(meaningful, word)
        if is_unknown:
            break
    return KnownWords(meaningful, is_vague)


def _drop_described(words: list[PhraseWord], word: PhraseWord) -> None:
    """Drop the last words that may belong to a word which is left out."""
    if words and word.is_glued:
        before = words[-1]
        if before.kind == "noun" and _may_be_head(word.first, before):
            words.pop()
    while words and words[-1].kind in ("verb", "adjective", "filler"):
        words.pop()


def _describes(word: str, following: PhraseWord) -> bool:
    """Return whether an unknown word may be an adjective of the next one."""
    if not following.is_glued or following.kind not in ("noun", "adjective", "place"):
        return False
    is_inflected = word.endswith(("ing", "s")) and not word.endswith(("ous", "less"))
    return not is_inflected and word not in listed("function_words", "stop_words")


def _may_be_head(word: str, before: PhraseWord) -> bool:
    """Return whether a noun may describe an unknown word: "horse | racing"."""
    # a dog | fetching
    if word.endswith("ing"):
        has_article = before.gap.split()[-1:] in (["a"], ["an"], ["the"])
        if has_article or before.names <= persons():
            return False
    return word not in listed("function_words", "stop_words")


def _compound(first: PhraseWord, second: PhraseWord) -> KnownWords:
    """Join two words in a row if they are one.

    "A woman dancer" is both, and so is "an elephant herd"; "a baseball bat" is no more than a bat,
    if it is one.
    """
    match first.kind, second.kind:
        case "noun", "noun":
            return _compound_of_nouns(first, second)
        # a dog park
        case "noun", "place" if _is_bare_place(second):
            return _with_second(first, second)
        # street food
        case "place", "noun" if _is_bare_place(first):
            return _with_second(first, second)
        # a city street
        case "place", "place" if _is_bare_place(first) and _is_bare_place(second):
            street = second.meaning._replace(names=first.names | second.names)
            return KnownWords([PhraseWord(street, second.text, first.gap)], is_vague=True)
        # a movie star
        case _, "noun" if first.text[-1] in _MEDIA:
            return KnownWords([], is_vague=True)
    return KnownWords([first, second], is_vague=False)


def _is_bare_place(word: PhraseWord) -> bool:
    """Return whether a word for a place is its name alone: not "in the park" or "outdoors"."""
    return word.first not in _NO_NAMES


def _compound_of_nouns(first: PhraseWord, second: PhraseWord) -> KnownWords:
    modifier = first.meaning
    head = second.meaning
    if head.least == 1 and not modifier.names | head.names <= persons():
        return _with_second(first, second)

    names = modifier.names & head.names
    if not names or (modifier.act is not None and head.act is not None):
        return KnownWords([], is_vague=True)
    both = head._replace(
        names=names,
        act=modifier.act or head.act,
        least=max(modifier.least, head.least),
        value=modifier.value or head.value,
    )
    return KnownWords([PhraseWord(both, second.text, first.gap)], is_vague=False)


def _with_second(first: PhraseWord, second: PhraseWord) -> KnownWords:
    """Return both words if the first is a subject, otherwise the second, which it describes."""
    if first.text[-1] in _SUBJECTS:
        return KnownWords([first, second], is_vague=False)
    return KnownWords([second], is_vague=True)
