"""Self-contained verb phrases of captions, as text and as comparable lemmas.

Built for precision, not recall: phrases that are cut off, passive, vague or meaningless without their caption are
rejected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nt2vr.negation.parse.chunks import Chunk
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.subjects import is_plural_noun
from nt2vr.negation.parse.wordlists import listed, words

_PARTICLES = words("up down off out around away over along together back outside upside")
_COMPOUND_NOUNS = frozenset({"food coloring", "food colouring", "zip lining", "beat boxing"})  # no deeds
_MOST_WORDS = 8  # longer phrases read badly in a template


@dataclass(frozen=True)
class VerbPhrase:
    """An action without its subject."""

    text: str  # with its verb as a lemma: "play the guitar on a stage"
    key: tuple[str, ...]  # lemmas without articles, for phrase-level retrieval: ("play", "guitar", "on", "stage")
    content: frozenset[str]  # content lemmas, for word-level retrieval: {"play", "guitar", "stage"}
    is_bare: bool  # a noun lacks its article, as in "take interview"
    is_shortened: bool  # words at its end, or its adjectives, were left out


def verb_phrases(phrases: Phrases, chunk: Chunk, after: str) -> Iterator[VerbPhrase]:
    """Yield the verb phrases in a chunk: complete, and without adjectives or places ("sing on a big stage": "sing").

    `after` is the kind of the next chunk, "" at the end of the sentence.
    """
    if not is_complete(phrases, chunk, after):
        return
    adverb = (chunk.end - 1,) if phrases.tag(chunk.end - 1) == "ADV" else ()
    for end in dict.fromkeys((*chunk.places, *adverb, chunk.end)):
        for adjectives in (True, False):
            phrase = _verb_phrase(phrases, chunk.start, end, adjectives=adjectives, is_shortened=end < chunk.end)
            if phrase:
                yield phrase


def needs_object(verb: str) -> bool:
    """Return whether a verb requires an object: "a man holds" says nothing."""
    return verb in listed("transitive_verbs", "light_verbs") and verb != "perform"


def is_complete(phrases: Phrases, chunk: Chunk, after: str) -> bool:
    """Return whether a chunk is a verb phrase that is not cut off, passive or an infinitive."""
    start, end = chunk.start, chunk.end
    if phrases.tag(start) in {"VBN", "MD"} or phrases.is_auxiliary(start):
        return False
    if phrases.tag(start - 1) in {"TO", "MD", "ADP"} or phrases.word(start - 1) in {"being", "beat"}:
        return False
    if any(f"{phrases.word(i - 1)} {phrases.word(i)}" in _COMPOUND_NOUNS for i in (start, end)):
        return False  # the end: adds food | coloring
    if after not in {"", "CONJ", "PUNCT", "VP"} and not (after in {"WH", "ADP", "TO"} and end - start > 1):
        return False
    ends_open = phrases.tag(end - 1) == "ADP" and (phrases.word(end - 1) not in _PARTICLES or after == "VP")
    return not ends_open  # talking about | cooking


def _verb_phrase(phrases: Phrases, start: int, end: int, *, adjectives: bool, is_shortened: bool) -> VerbPhrase | None:
    """Parse words as a verb phrase; None if it says too little, or nothing without its caption ("holds it")."""
    verb = verb_of(phrases.word(start))
    rest = [i for i in range(start + 1, end) if adjectives or not _describes_noun(phrases, i)]
    if end - start > _MOST_WORDS or _is_vague(phrases, verb, rest):
        return None
    compared = [i for i in rest if phrases.tag(i) not in {"DET", "POS"}]
    content = {phrases.lemma(i) for i in compared if phrases.tag(i) in {"NOUN", "ADJ", "NUM"}} - listed("no_content")
    if verb not in listed("light_verbs"):
        content |= {verb}
    if not content:
        return None
    text = verb + "".join("'s" if phrases.tag(i) == "POS" else f" {phrases.word(i)}" for i in rest)
    if not adjectives:
        if len(rest) == end - start - 1:
            return None
        is_shortened = True
        text = re.sub(r"\ban? (?=\w)(?=([aeiou])?)", lambda match: "an " if match[1] else "a ", text)
    key = (verb, *(phrases.lemma(i) for i in compared))
    is_bare = any(is_bare_noun(phrases, start, i) for i in rest)
    return VerbPhrase(text, key, frozenset(content), is_bare, is_shortened)


def _is_vague(phrases: Phrases, verb: str, rest: Sequence[int]) -> bool:
    """Return whether a verb with the words `rest` after it means little without its caption."""
    if not verb or verb in listed("unseen_verbs"):
        return True
    if not rest:
        return needs_object(verb) or verb in listed("weak_alone")
    if phrases.tag(rest[0]) == "ADP" and needs_object(verb):
        return True
    if phrases.tag(rest[0]) in {"DET", "ADJ", "NUM", "NOUN"} and verb in listed("intransitive_verbs"):
        return True
    return any(phrases.tag(i) in {"PRON", "OTHER"} or phrases.word(i) in listed("empty_words") for i in rest)


def _describes_noun(phrases: Phrases, i: int) -> bool:
    """Return whether word i is an adjective before a noun."""
    j = i
    while phrases.tag(j) == "ADJ":
        j += 1
    return j > i and phrases.tag(j) == "NOUN"


def is_bare_noun(phrases: Phrases, start: int, i: int) -> bool:
    """Return whether word i heads a singular count noun phrase without an article."""
    if phrases.tag(i) != "NOUN" or phrases.tag(i + 1) == "NOUN" or phrases.lemma(i) in listed("mass_nouns"):
        return False
    if is_plural_noun(phrases.word(i), phrases.lemma(i)) or phrases.word(i).endswith("ing"):
        return False
    first = i
    while first - 1 > start and phrases.tag(first - 1) in {"NOUN", "ADJ", "POS", "VBG", "VBN"}:
        first -= 1
    return phrases.tag(first - 1) not in {"DET", "NUM"}
