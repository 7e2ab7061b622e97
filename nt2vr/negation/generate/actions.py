"""Self-contained subjects and verb phrases of captions, by the paper's Algorithm 1.

They are compared by lemmas: "a young man plays his guitar" and "a guy playing a guitar" are both
man: play guitar. Verb phrases that are cut off, passive, vague or meaningless without their caption
are rejected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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

# Pronouns that say as much as "a person", and are read as nouns.
_NAMELESS = frozenset({"someone", "somebody"})


class Chunk(NamedTuple):
    """Words `start` to `end` (exclusive).

    Attributes:
        kind: "NP", "PP" or "VP", or the tag of a single other word.
        start: first word.
        end: exclusive.
        last_noun: start and end of the last noun phrase inside.
        places: first words of its prepositional phrases, except "of" phrases.
    """

    kind: str
    start: int
    end: int
    last_noun: tuple[int, int] | None = None
    places: tuple[int, ...] = ()


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
    numbered_tags = []
    for i, word in enumerate(phrases.words):
        tag = "NOUN" if word in _NAMELESS else phrases.tag(i)
        numbered_tags.append((i, tag))

    chunks = []
    for node in _parser().parse(numbered_tags):
        if type(node) is tuple:
            i, tag = node
            chunks.append(Chunk(tag, i, i + 1))
        else:
            chunks.append(_chunk(node, phrases))
    return chunks


def _chunk(tree: "Tree", phrases: Phrases) -> Chunk:
    start, end = _span(tree)
    nouns = [_span(noun) for noun in tree.subtrees(lambda subtree: subtree.label() == "NP")]
    places = []
    for child in tree:
        if type(child) is tuple or child.label() != "PP":
            continue
        place, _ = _span(child)
        if phrases.word(place) != "of":
            places.append(place)
    last_noun = nouns[-1] if nouns else None
    return Chunk(
        kind=tree.label(),
        start=start,
        end=end,
        last_noun=last_noun,
        places=tuple(places),
    )


def _span(tree: Any) -> tuple[int, int]:
    leaves = tree.leaves()
    first, _ = leaves[0]
    last, _ = leaves[-1]
    return first, last + 1


Pronoun = Literal["he", "she", "they", ""]

_SYNONYMS = renamed(
    "man=guy,gentleman,male,men woman=lady,female,women person=someone,somebody,people "
    "mother=mom father=dad child=kid dog=puppy cat=kitten"
)


@dataclass(frozen=True)
class Subject:
    """Subject of a verb.

    Attributes:
        text: its name in a query: "a man", "children".
        pronoun: "he", "she", "they" or "".
        is_plural: whether it is several.
        is_human: of every person.
    """

    text: str
    pronoun: Pronoun
    is_plural: bool
    is_human: bool

    @property
    def generic(self) -> "Subject":
        """The less specific subject: a person or people; others stay as they are."""
        if not self.is_human:
            return self
        return PEOPLE if self.is_plural else PERSON

    def may_be(self, other: "Subject") -> bool:
        """Return whether two captions of a video may mean the same one.

        "A man" may be "a person", but not "a woman".
        """
        return self.generic == other.generic and {self.pronoun, other.pronoun} != {"he", "she"}


PERSON = Subject(
    text="a person",
    pronoun="",
    is_plural=False,
    is_human=True,
)
PEOPLE = Subject(
    text="people",
    pronoun="they",
    is_plural=True,
    is_human=True,
)


def subject_named(
    phrases: Phrases, start: int, end: int, *, is_plural: bool = False
) -> Subject | None:
    """Parse words `start` to `end` (exclusive) as a subject; None if they cannot act."""
    head = end - 1
    head_lemma = phrases.lemma(head)
    lemma = _SYNONYMS.get(head_lemma, head_lemma)
    if lemma not in listed("actors", "roles") or phrases.tag(head - 1) == "POS":
        return None

    modifiers = []
    for i in range(start, head):
        if phrases.tag(i) == "NOUN":
            modifiers.append(phrases.word(i))
    is_human = lemma in listed("men", "women", "he_or_she")
    # the young men: "men"
    if is_plural or is_plural_noun(phrases.word(head), head_lemma):
        noun = "people" if lemma == "person" else inflect(lemma, "NNS")
        return Subject(
            text=" ".join([*modifiers, noun]),
            pronoun="they",
            is_plural=True,
            is_human=is_human,
        )

    pronoun: Pronoun = ""
    if lemma in listed("men"):
        pronoun = "he"
    elif lemma in listed("women"):
        pronoun = "she"
    return Subject(
        text=with_article(" ".join([*modifiers, lemma])),
        pronoun=pronoun,
        is_plural=False,
        is_human=is_human,
    )


def also_called(lemma: str) -> frozenset[str]:
    """Return a noun with its hypernyms: a "guy" is a "man" and a "person"."""
    name = _SYNONYMS.get(lemma, lemma)
    if name in listed("men", "women", "he_or_she"):
        return frozenset((lemma, name, "person"))
    return frozenset((lemma, name))


def is_plural_noun(word: str, lemma: str) -> bool:
    """Return whether a noun is in the plural: "dogs" of "dog"."""
    if word in listed("plurals"):
        return True
    if word == lemma:
        return False
    return word.endswith("s") or word == inflect(lemma, "NNS")


def is_third_person(phrases: Phrases, verb: int) -> bool:
    """Return whether a base form has a third-person singular subject: "a man play guitar".

    If in doubt, it has none.
    """
    has_subject = False
    for i in range(verb - 1, -1, -1):
        tag = phrases.tag(i)
        word = phrases.word(i)
        if tag in {"PRON", "NOUN"}:
            lemma = phrases.lemma(i)
            if lemma in listed("collectives") or is_plural_noun(word, lemma):
                return False
            has_subject = True
        elif tag not in {"DET", "ADJ", "ADV", "NUM", "POS", "ADP", "OTHER"}:
            return has_subject and word != "and"
        elif tag == "NUM" and word != "one":
            return False
    return has_subject


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
    ends = list(chunk.places)
    if phrases.tag(chunk.end - 1) == "ADV":
        ends.append(chunk.end - 1)
    ends.append(chunk.end)
    for end in dict.fromkeys(ends):
        positions = range(chunk.start, end)
        phrase = _verb_phrase(phrases, positions, is_shortened=end < chunk.end)
        if phrase:
            yield phrase
        phrase = _verb_phrase_without_adjectives(phrases, positions)
        if phrase:
            yield phrase


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

    is_passive = phrases.tag(start) in {"VBN", "MD"} or phrases.is_auxiliary(start)
    depends = phrases.tag(start - 1) in {"TO", "MD", "ADP"}
    if is_passive or depends or phrases.word(start - 1) in {"being", "beat"}:
        return False
    if _ends_compound_noun(phrases, start) or _ends_compound_noun(phrases, end):
        return False

    # talking about | cooking
    ends_in_particle = phrases.word(end - 1) in listed("particles") and after != "VP"
    return ends_in_particle or phrases.tag(end - 1) != "ADP"


def _ends_compound_noun(phrases: Phrases, i: int) -> bool:
    return " ".join(phrases.words[max(0, i - 1) : i + 1]) in _COMPOUND_NOUNS


def _verb_phrase(phrases: Phrases, positions: range, is_shortened: bool) -> VerbPhrase | None:
    """Return words that begin with a verb as a phrase; None if they are vague."""
    if len(positions) > _MOST_WORDS:
        return None
    verb, *rest = positions
    return _verb_phrase_of(phrases, start=verb, rest=rest, is_shortened=is_shortened)


def _verb_phrase_without_adjectives(phrases: Phrases, positions: range) -> VerbPhrase | None:
    """Return a phrase without its adjectives; None if it has none."""
    if len(positions) > _MOST_WORDS:
        return None
    verb, *rest = positions
    without_adjectives = [i for i in rest if not _describes_noun(phrases, i)]
    if len(without_adjectives) == len(rest):
        return None
    phrase = _verb_phrase_of(phrases, start=verb, rest=without_adjectives, is_shortened=True)
    if phrase is None:
        return None
    return replace(phrase, text=_with_right_articles(phrase.text))


def _describes_noun(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) == "ADJ" and phrases.tag(phrases.after(i, {"ADJ"})) == "NOUN"


def _with_right_articles(text: str) -> str:
    """Write "a" or "an" as the next word requires."""

    def article(match: re.Match[str]) -> str:
        if match[1]:
            return "an "
        return "a "

    return re.sub(r"\ban? (?=\w)(?=([aeiou])?)", article, text)


def _verb_phrase_of(
    phrases: Phrases, start: int, rest: Sequence[int], is_shortened: bool
) -> VerbPhrase | None:
    """Return a verb and some of the words after it as a phrase."""
    verb = verb_of(phrases.word(start))
    if _is_vague(phrases, verb, rest):
        return None

    words = [verb]
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
    if verb not in listed("light_verbs"):
        content_words.add(verb)
    if not content_words:
        return None
    return VerbPhrase(
        text="".join(words),
        key=(verb, *compared),
        content=frozenset(content_words),
        is_bare=any(is_bare_noun(phrases, start, i) for i in rest),
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
    return phrases.tag(i) in {"PRON", "OTHER"} or phrases.word(i) in listed("empty_words")


def is_bare_noun(phrases: Phrases, start: int, i: int) -> bool:
    """Return whether word i heads a singular count noun phrase without an article."""
    if phrases.tag(i) != "NOUN" or phrases.tag(i + 1) == "NOUN":
        return False
    word = phrases.word(i)
    lemma = phrases.lemma(i)
    if lemma in listed("mass_nouns") or is_plural_noun(word, lemma) or word.endswith("ing"):
        return False
    first = max(start + 1, phrases.before(i, {"NOUN", "ADJ", "POS", "VBG", "VBN"}))
    return phrases.tag(first - 1) not in {"DET", "NUM"}


class CaptionAction(NamedTuple):
    """What a caption says that somebody does: a subject and its verb phrase."""

    subject: Subject
    phrase: VerbPhrase


def actions(phrases: Phrases) -> list[CaptionAction]:
    """Return the actions in a tagged caption; none if the caption is negated."""
    if any(_is_negation(phrases, i) for i in range(len(phrases.words))):
        return []
    caption_actions: list[CaptionAction] = []
    chunks = chunks_of(phrases)
    subject: Subject | None = None
    for number, (chunk, following) in enumerate(zip_longest(chunks, chunks[1:])):
        subject = _subject_after(
            phrases, subject, earlier=chunks[:number], chunk=chunk, following=following
        )
        if chunk.kind == "VP" and subject:
            after = following.kind if following else ""
            for phrase in verb_phrases(phrases, chunk, after):
                caption_actions.append(CaptionAction(subject, phrase))
    return caption_actions


def _is_negation(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) == "NEG" or phrases.word(i) in {"no", "without", "nobody"}


def _subject_after(
    phrases: Phrases,
    subject: Subject | None,
    earlier: Sequence[Chunk],
    chunk: Chunk,
    following: Chunk | None,
) -> Subject | None:
    """Return the subject of verbs after a chunk, given that before it."""
    before = earlier[-1].kind if earlier else ""
    first_word = phrases.word(chunk.start)
    match chunk.kind:
        case "NP":
            return _subject_of_noun(
                phrases, first=subject, earlier=earlier, chunk=chunk, following=following
            )
        case "PUNCT" | "PRON" | "OTHER" | "TO":
            return None
        case _ if first_word in {"as", "when"}:
            return None
        case "WH" if before == "VP":
            # feeds an animal that | jumps
            actor = _actor_at_end(phrases, earlier[-1])
            if actor:
                return actor
            return subject if first_word == "who" else None
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
    """Parse a noun phrase as a subject, "a group of girls" as girls.

    If "and" joins it with the `first` subject, they are people.
    """
    is_group = False
    if following and phrases.lemma(chunk.end - 1) in listed("collectives"):
        is_group = phrases.word(following.start) == "of"
    if following and is_group:
        subject = subject_named(
            phrases, start=following.start + 1, end=following.end, is_plural=True
        )
    else:
        subject = subject_named(phrases, chunk.start, chunk.end)

    kinds_before = [before.kind for before in earlier[-2:]]
    if kinds_before not in (["NP", "CONJ"], ["PP", "CONJ"]):
        return subject
    if first and subject and first.is_human and subject.is_human:
        return PEOPLE
    return None


def _actor_at_end(phrases: Phrases, chunk: Chunk) -> Subject | None:
    """Return the actor at the end of a verb phrase: "a man talks to | a woman | holding a baby"."""
    if chunk.last_noun:
        return subject_named(phrases, *chunk.last_noun)
    return None


def _before_participle(
    phrases: Phrases, subject: Subject | None, before: Sequence[Chunk]
) -> Subject | None:
    """Return the subject of a participle without a conjunction.

    Of "a man meets a woman | smiling", it is the woman.
    """
    after_verb = next((chunk for chunk in before[-2:] if chunk.kind == "VP"), None)
    if after_verb is None:
        return subject
    if before[-1].kind == "VP":
        actor = _actor_at_end(phrases, before[-1])
        if actor:
            return actor
    # It may be a thing: people meet with words | floating around them
    if "with" in phrases.words[after_verb.start : before[-1].end]:
        return None
    return subject
