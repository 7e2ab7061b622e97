"""Verb phrases of captions that make sense without their subject.

Those that are cut off, passive, vague or meaningless without their caption are rejected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nt2vr.negation.generate.chunks import Chunk
from nt2vr.negation.generate.subjects import is_plural_noun
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed

# Nouns whose second word looks like a verb.
_COMPOUND_NOUNS = frozenset({"food coloring", "food colouring", "zip lining", "beat boxing"})
# Longer phrases read badly in a template.
_MOST_WORDS = 8


@dataclass(frozen=True)
class VerbPhrase:
    """An action without its subject.

    Attributes:
        text: with its verb as a lemma: "play the guitar on a stage".
        key: lemmas without articles, for phrase-level retrieval: ("play", "guitar", "on", "stage").
        content: content lemmas, for word-level retrieval: {"play", "guitar", "stage"}.
        is_bare: whether a noun lacks its article, as in "take interview".
        is_shortened: whether words at its end, or its adjectives, were left out.
    """

    text: str
    key: tuple[str, ...]
    content: frozenset[str]
    is_bare: bool
    is_shortened: bool


def verb_phrases(phrases: Phrases, chunk: Chunk, after: str) -> Iterator[VerbPhrase]:
    """Yield a chunk's verb phrases before one of the kind `after`.

    They are complete, and without places, adverb or adjectives.
    """
    if not is_complete(phrases, chunk, after):
        return
    verb = chunk.start
    last = chunk.end - 1
    ends = list(chunk.places)
    if phrases.tag(last) == "ADV":
        ends.append(last)
    ends.append(chunk.end)
    for end in dict.fromkeys(ends):
        if end - verb > _MOST_WORDS:
            continue
        rest = range(verb + 1, end)
        phrase = _verb_phrase(phrases, verb=verb, rest=rest, is_shortened=end < chunk.end)
        if phrase:
            yield phrase

        without_adjectives = [i for i in rest if not _describes_noun(phrases, i)]
        if len(without_adjectives) == len(rest):
            continue
        phrase = _verb_phrase(phrases, verb=verb, rest=without_adjectives, is_shortened=True)
        if phrase:
            yield replace(phrase, text=_with_right_articles(phrase.text))


def needs_object(verb: str) -> bool:
    """Return whether a verb requires an object: "a man holds" says nothing."""
    return verb in listed("transitive_verbs", "light_verbs") and verb != "perform"


def is_complete(phrases: Phrases, chunk: Chunk, after: str) -> bool:
    """Return whether a chunk is a verb phrase that is not cut off, passive or an infinitive."""
    start = chunk.start
    end = chunk.end
    may_follow = {"", "CONJ", "PUNCT", "VP"}
    if end - start > 1:
        may_follow |= {"WH", "ADP", "TO"}
    if after not in may_follow:
        return False

    before = start - 1
    is_passive = phrases.tag(start) in {"VBN", "MD"} or phrases.is_auxiliary(start)
    depends = phrases.tag(before) in {"TO", "MD", "ADP"}
    if is_passive or depends or phrases.word(before) in {"being", "beat"}:
        return False
    if _ends_compound_noun(phrases, start) or _ends_compound_noun(phrases, end):
        return False

    last = end - 1
    if phrases.tag(last) != "ADP":
        return True
    # talking about | cooking
    return phrases.is_listed(last, "particles") and after != "VP"


def _ends_compound_noun(phrases: Phrases, i: int) -> bool:
    return f"{phrases.word(i - 1)} {phrases.word(i)}" in _COMPOUND_NOUNS


def _describes_noun(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) == "ADJ" and phrases.tag(phrases.after(i, {"ADJ"})) == "NOUN"


def _with_right_articles(text: str) -> str:
    """Write "a" or "an" as the next word requires."""
    text = re.sub(r"\ban? (?=\w)", "a ", text)
    return re.sub(r"\ba (?=[aeiou])", "an ", text)


def _verb_phrase(
    phrases: Phrases, verb: int, rest: Sequence[int], is_shortened: bool
) -> VerbPhrase | None:
    """Return a verb and some of the words after it as a phrase; None if they are vague."""
    lemma = verb_of(phrases.word(verb))
    if _is_vague(phrases, lemma, rest):
        return None

    words = [lemma]
    compared = []
    content_words = set()
    for i in rest:
        tag = phrases.tag(i)
        if tag == "POS":
            words.append("'s")
            continue
        words.append(f" {phrases.word(i)}")
        if tag == "DET":
            continue
        compared.append(phrases.lemma(i))
        if tag in {"NOUN", "ADJ", "NUM"}:
            content_words.add(phrases.lemma(i))
    content_words -= listed("no_content")
    if lemma not in listed("light_verbs"):
        content_words.add(lemma)
    if not content_words:
        return None
    return VerbPhrase(
        text="".join(words),
        key=(lemma, *compared),
        content=frozenset(content_words),
        is_bare=any(is_bare_noun(phrases, verb, i) for i in rest),
        is_shortened=is_shortened,
    )


def _is_vague(phrases: Phrases, verb: str, rest: Sequence[int]) -> bool:
    if not verb or verb in listed("unseen_verbs"):
        return True
    if not rest:
        return needs_object(verb) or verb in listed("weak_alone")
    match phrases.tag(rest[0]):
        case "ADP" if needs_object(verb):
            return True
        case "DET" | "ADJ" | "NUM" | "NOUN" if verb in listed("intransitive_verbs"):
            return True
    return any(_says_little(phrases, i) for i in rest)


def _says_little(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) in {"PRON", "OTHER"} or phrases.is_listed(i, "empty_words")


def is_bare_noun(phrases: Phrases, start: int, i: int) -> bool:
    """Return whether word i heads a singular count noun phrase without an article."""
    if phrases.tag(i) != "NOUN" or phrases.tag(i + 1) == "NOUN":
        return False
    if phrases.lemma_is_listed(i, "mass_nouns") or is_plural_noun(phrases, i):
        return False
    if phrases.word(i).endswith("ing"):
        return False
    first = max(start + 1, phrases.before(i, {"NOUN", "ADJ", "POS", "VBG", "VBN"}))
    return phrases.tag(first - 1) not in {"DET", "NUM"}
