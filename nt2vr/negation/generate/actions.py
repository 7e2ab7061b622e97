"""Self-contained subjects and verb phrases of captions, by the paper's Algorithm 1, compared by lemmas.

"A young man plays his guitar" and "a guy playing a guitar" are both man: play guitar. Verb phrases
that are cut off, passive, vague or meaningless without their caption are rejected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nt2vr.negation.parse.inflect import inflect, verb_of, with_article
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import listed, renamed
from nt2vr.settings import some_home

if TYPE_CHECKING:
    from nltk import Tree

GRAMMAR = r"""
    NP: {<DET|NUM|ADJ|POS|NOUN>*<NOUN>}                          # a noun-phrase chunk
    PP: {<ADP>+<NP|PRON>}                                        # a prepositional-phrase chunk
    VP: {<V.*><ADV>*<NP|PRON>?<ADV>*<ADP>?<PP>*<ADV>?}           # a verb-phrase chunk
"""

_NAMELESS = frozenset({"someone", "somebody"})  # pronouns as informative as "a person"


class Chunk(NamedTuple):
    """Words `start` to `end` (exclusive): an "NP", "PP" or "VP", or a single other word with its tag as `kind`."""

    kind: str
    start: int
    end: int
    last_noun: tuple[int, int] | None = None  # start and end of the last noun phrase inside
    places: tuple[int, ...] = ()  # first words of its prepositional phrases, except "of" phrases


@cache
def _parser() -> Any:
    # NLTK looks for a home folder in which it would put data, none of which is needed here.
    with some_home():
        from nltk import RegexpParser  # noqa: PLC0415  takes 0.3 s, and the page starts without

    return RegexpParser(GRAMMAR)


def chunks_of(phrases: Phrases) -> Sequence[Chunk]:
    """Split a sentence into chunks, in order."""
    if not phrases.tokens:
        return []
    tags = ("NOUN" if word in _NAMELESS else phrases.tag(i) for i, word in enumerate(phrases.words))
    tree = _parser().parse(list(enumerate(tags)))
    return [
        Chunk(node[1], node[0], node[0] + 1) if type(node) is tuple else _chunk(node, phrases)
        for node in tree
    ]


def _chunk(tree: "Tree", phrases: Phrases) -> Chunk:
    nouns = [_span(each) for each in tree.subtrees(lambda each: each.label() == "NP")]
    prepositions = [
        _span(child)[0] for child in tree if type(child) is not tuple and child.label() == "PP"
    ]
    places = tuple(i for i in prepositions if phrases.word(i) != "of")
    return Chunk(tree.label(), *_span(tree), nouns[-1] if nouns else None, places)


def _span(tree: Any) -> tuple[int, int]:
    leaves = tree.leaves()
    return leaves[0][0], leaves[-1][0] + 1


Pronoun = Literal["he", "she", "they", ""]

_SYNONYMS = renamed(
    "man=guy,gentleman,male,men woman=lady,female,women person=someone,somebody,people mother=mom father=dad "
    "child=kid dog=puppy cat=kitten"
)


@dataclass(frozen=True)
class Subject:
    """Subject of a verb; `text` is its name in a query ("a man", "children"), `is_human` covers every person."""

    text: str
    pronoun: Pronoun
    is_plural: bool
    is_human: bool

    @property
    def generic(self) -> "Subject":
        """The less specific subject: a person or people; animals and vehicles stay as they are."""
        if not self.is_human:
            return self
        return PEOPLE if self.is_plural else PERSON

    def may_be(self, other: "Subject") -> bool:
        """Return whether two captions of a video may mean the same one: "a man" may be "a person", but no "woman"."""
        return self.generic == other.generic and {self.pronoun, other.pronoun} != {"he", "she"}


PERSON = Subject("a person", "", is_plural=False, is_human=True)
PEOPLE = Subject("people", "they", is_plural=True, is_human=True)


def named(phrases: Phrases, start: int, end: int, *, is_plural: bool = False) -> Subject | None:
    """Parse words `start` to `end` (exclusive) as a subject ("the young men": "men"); None if they cannot act."""
    head = end - 1
    said = phrases.lemma(head)
    lemma = _SYNONYMS.get(said, said)
    if lemma not in listed("actors", "roles") or phrases.tag(head - 1) == "POS":
        return None
    modifiers = [phrases.word(i) for i in range(start, head) if phrases.tag(i) == "NOUN"]
    is_human = lemma in listed("men", "women", "he_or_she")
    if is_plural or is_plural_noun(phrases.word(head), said):
        text = " ".join([*modifiers, "people" if lemma == "person" else inflect(lemma, "NNS")])
        return Subject(text, "they", True, is_human)
    pronoun: Pronoun = "he" if lemma in listed("men") else "she" if lemma in listed("women") else ""
    return Subject(with_article(" ".join([*modifiers, lemma])), pronoun, False, is_human)


def also_called(lemma: str) -> frozenset[str]:
    """Return a noun with its hypernyms: a "guy" is a "man" and a "person"."""
    name = _SYNONYMS.get(lemma, lemma)
    return frozenset(
        (lemma, name, "person") if name in listed("men", "women", "he_or_she") else (lemma, name)
    )


def is_plural_noun(word: str, lemma: str) -> bool:
    """Return whether a noun is in the plural: "dogs" of "dog"."""
    return word in listed("plurals") or (
        word != lemma and (word.endswith("s") or word == inflect(lemma, "NNS"))
    )


def is_third_person(phrases: Phrases, verb: int) -> bool:
    """Return whether a base form has a third-person singular subject, as in "a man play guitar"; False if in doubt."""
    has_subject = False
    for j in range(verb - 1, -1, -1):
        tag, word, lemma = phrases.tag(j), phrases.word(j), phrases.lemma(j)
        if tag in {"PRON", "NOUN"}:
            if lemma in listed("collectives") or is_plural_noun(word, lemma):
                return False
            has_subject = True
        elif tag not in {"DET", "ADJ", "ADV", "NUM", "POS", "ADP", "OTHER"}:
            return has_subject and word != "and"
        elif tag == "NUM" and word != "one":
            return False
    return has_subject


_COMPOUND_NOUNS = frozenset(
    {"food coloring", "food colouring", "zip lining", "beat boxing"}
)  # no deeds
_MOST_WORDS = 8  # longer phrases read badly in a template


@dataclass(frozen=True)
class VerbPhrase:
    """An action without its subject."""

    text: str  # with its verb as a lemma: "play the guitar on a stage"
    key: tuple[
        str, ...
    ]  # lemmas without articles, for phrase-level retrieval: ("play", "guitar", "on", "stage")
    content: frozenset[str]  # content lemmas, for word-level retrieval: {"play", "guitar", "stage"}
    is_bare: bool  # a noun lacks its article, as in "take interview"
    is_shortened: bool  # words at its end, or its adjectives, were left out


def verb_phrases(phrases: Phrases, chunk: Chunk, after: str) -> Iterator[VerbPhrase]:
    """Yield a chunk's verb phrases before one of the kind `after`, complete, and without adjectives or places."""
    if not is_complete(phrases, chunk, after):
        return
    adverb = (chunk.end - 1,) if phrases.tag(chunk.end - 1) == "ADV" else ()
    for end in dict.fromkeys((*chunk.places, *adverb, chunk.end)):
        for adjectives in (True, False):
            phrase = _verb_phrase(
                phrases, chunk.start, end, adjectives=adjectives, is_shortened=end < chunk.end
            )
            if phrase:
                yield phrase


def needs_object(verb: str) -> bool:
    """Return whether a verb requires an object: "a man holds" says nothing."""
    return verb in listed("transitive_verbs", "light_verbs") and verb != "perform"


def is_complete(phrases: Phrases, chunk: Chunk, after: str) -> bool:
    """Return whether a chunk is a verb phrase that is not cut off, passive or an infinitive."""
    start, end = chunk.start, chunk.end
    is_passive = phrases.tag(start) in {"VBN", "MD"} or phrases.is_auxiliary(start)
    depends = phrases.tag(start - 1) in {"TO", "MD", "ADP"} or phrases.word(start - 1) in {
        "being",
        "beat",
    }
    pairs = (" ".join(phrases.words[max(0, i - 1) : i + 1]) for i in (start, end))
    is_compound = not _COMPOUND_NOUNS.isdisjoint(pairs)
    may_follow = {"", "CONJ", "PUNCT", "VP"} | ({"WH", "ADP", "TO"} if end - start > 1 else set())
    ends_in_particle = phrases.word(end - 1) in listed("particles") and after != "VP"
    is_open = phrases.tag(end - 1) == "ADP" and not ends_in_particle  # talking about | cooking
    return after in may_follow and not any((is_passive, depends, is_compound, is_open))


def _verb_phrase(
    phrases: Phrases, start: int, end: int, *, adjectives: bool, is_shortened: bool
) -> VerbPhrase | None:
    verb, rest = verb_of(phrases.word(start)), range(start + 1, end)
    describing = {
        i
        for i in rest
        if phrases.tag(i) == "ADJ" and phrases.tag(phrases.after(i, {"ADJ"})) == "NOUN"
    }
    said = [i for i in rest if adjectives or i not in describing]
    is_same = not adjectives and len(said) == len(rest)
    if is_same or end - start > _MOST_WORDS or _is_vague(phrases, verb, said):
        return None
    text = verb + "".join("'s" if phrases.tag(i) == "POS" else f" {phrases.word(i)}" for i in said)
    if not adjectives:
        is_shortened = True
        text = re.sub(
            r"\ban? (?=\w)(?=([aeiou])?)", lambda match: "an " if match[1] else "a ", text
        )
    compared = [i for i in said if phrases.tag(i) not in {"DET", "POS"}]
    named = frozenset(
        phrases.lemma(i) for i in compared if phrases.tag(i) in {"NOUN", "ADJ", "NUM"}
    )
    content = (named - listed("no_content")) | ({verb} - listed("light_verbs"))
    key = (verb, *map(phrases.lemma, compared))
    is_bare = any(is_bare_noun(phrases, start, i) for i in said)
    return VerbPhrase(text, key, content, is_bare, is_shortened) if content else None


def _is_vague(phrases: Phrases, verb: str, rest: Sequence[int]) -> bool:
    if not verb or verb in listed("unseen_verbs"):
        return True
    match phrases.tag(rest[0]) if rest else "":
        case "":
            return needs_object(verb) or verb in listed("weak_alone")
        case "ADP" if needs_object(verb):
            return True
        case "DET" | "ADJ" | "NUM" | "NOUN" if verb in listed("intransitive_verbs"):
            return True
    says_little = listed("empty_words").intersection(map(phrases.word, rest))
    return bool(says_little or {"PRON", "OTHER"}.intersection(map(phrases.tag, rest)))


def is_bare_noun(phrases: Phrases, start: int, i: int) -> bool:
    """Return whether word i heads a singular count noun phrase without an article."""
    if (
        phrases.tag(i) != "NOUN"
        or phrases.tag(i + 1) == "NOUN"
        or phrases.lemma(i) in listed("mass_nouns")
    ):
        return False
    if is_plural_noun(phrases.word(i), phrases.lemma(i)) or phrases.word(i).endswith("ing"):
        return False
    first = max(start + 1, phrases.before(i, {"NOUN", "ADJ", "POS", "VBG", "VBN"}))
    return phrases.tag(first - 1) not in {"DET", "NUM"}


class Action(NamedTuple):
    """A subject and its verb phrase."""

    subject: Subject
    phrase: VerbPhrase


def actions(phrases: Phrases) -> list[Action]:
    """Return the actions in a tagged caption; none if the caption is negated."""
    if any(
        phrases.tag(i) == "NEG" or word in {"no", "without", "nobody"}
        for i, word in enumerate(phrases.words)
    ):
        return []
    found, chunks = list[Action](), chunks_of(phrases)
    subject: Subject | None = None
    for n, (chunk, following) in enumerate(zip_longest(chunks, chunks[1:])):
        subject = _subject_after(phrases, subject, chunks[:n], chunk, following)
        if chunk.kind == "VP" and subject:
            after = following.kind if following else ""
            found += [Action(subject, phrase) for phrase in verb_phrases(phrases, chunk, after)]
    return found


def _subject_after(
    phrases: Phrases,
    subject: Subject | None,
    earlier: Sequence[Chunk],
    chunk: Chunk,
    following: Chunk | None,
) -> Subject | None:
    before = earlier[-1].kind if earlier else ""
    match chunk.kind:
        case "NP":
            return _subject_of_noun(phrases, subject, earlier, chunk, following)
        case "PUNCT" | "PRON" | "OTHER" | "TO":
            return None
        case _ if phrases.word(chunk.start) in {"as", "when"}:
            return None
        case "WH" if before == "VP":  # feeds an animal that | jumps
            return _actor_at_end(phrases, earlier[-1]) or (
                subject if phrases.word(chunk.start) == "who" else None
            )
        case "VP" if before in {"VP", "PP"} and phrases.tag(chunk.start) not in FINITE_TAGS:
            return _before_participle(phrases, subject, earlier)
    return subject


def _subject_of_noun(
    phrases: Phrases,
    first: Subject | None,
    earlier: Sequence[Chunk],
    chunk: Chunk,
    following: Chunk | None,
) -> Subject | None:
    """Parse a noun phrase as a subject, "a group of girls" as girls; with `first` if "and" joins them, as people."""
    start, end, is_plural = chunk.start, chunk.end, False
    if (
        following
        and phrases.lemma(end - 1) in listed("collectives")
        and phrases.word(following.start) == "of"
    ):
        start, end, is_plural = following.start + 1, following.end, True
    subject = named(phrases, start, end, is_plural=is_plural)
    is_joined = [each.kind for each in earlier[-2:]] in (["NP", "CONJ"], ["PP", "CONJ"])
    if not is_joined:
        return subject
    return PEOPLE if first and subject and first.is_human and subject.is_human else None


def _actor_at_end(phrases: Phrases, chunk: Chunk) -> Subject | None:
    """Return the actor at the end of a verb phrase: "a man talks to | a woman | holding a baby"."""
    return named(phrases, *chunk.last_noun) if chunk.last_noun else None


def _before_participle(
    phrases: Phrases, subject: Subject | None, before: Sequence[Chunk]
) -> Subject | None:
    """Return the subject of a participle without a conjunction: of "a man meets a woman | smiling", the woman."""
    after_verb = next((chunk for chunk in before[-2:] if chunk.kind == "VP"), None)
    if after_verb is None:
        return subject
    if before[-1].kind == "VP" and (actor := _actor_at_end(phrases, before[-1])):
        return actor
    # It may be a thing: people meet with words | floating around them
    return None if "with" in phrases.words[after_verb.start : before[-1].end] else subject
