"""Grammatical subjects: name in a query, number and pronoun, for agreement."""

from dataclasses import dataclass
from typing import Literal

from nt2vr.negation.parse.inflect import inflect
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed, renamed, words

Pronoun = Literal["he", "she", "they", ""]

PLURALS = words("people men women children kids guys police everyone they we you i these those both many some")
_HE = words("man boy father husband king prince actor policeman fisherman businessman")
_SHE = words("woman girl mother wife queen princess actress bride")
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
    lemma = phrases.lemma(head)
    is_plural = is_plural or is_plural_noun(phrases.word(head), lemma)
    lemma = _SYNONYMS.get(lemma, lemma)
    if lemma not in listed("actors", "roles") or phrases.tag(head - 1) == "POS":
        return None
    modifiers = [phrases.word(i) for i in range(start, head) if phrases.tag(i) == "NOUN"]
    if is_plural:
        text = " ".join([*modifiers, "people" if lemma == "person" else inflect(lemma, "NNS")])
    else:
        name = " ".join([*modifiers, lemma])
        text = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    pronoun: Pronoun = "they" if is_plural else "he" if lemma in _HE else "she" if lemma in _SHE else ""
    return Subject(text, pronoun, is_plural, lemma in _HE | _SHE | listed("he_or_she"))


def also_called(lemma: str) -> frozenset[str]:
    """Return a noun with its hypernyms: a "guy" is a "man" and a "person"."""
    name = _SYNONYMS.get(lemma, lemma)
    return frozenset((lemma, name, "person") if name in _HE | _SHE | listed("he_or_she") else (lemma, name))


def is_plural_noun(word: str, lemma: str) -> bool:
    """Return whether a noun is in the plural: "dogs" of "dog"."""
    return word in PLURALS or (word != lemma and (word.endswith("s") or word == inflect(lemma, "NNS")))


def is_third_person(phrases: Phrases, verb: int) -> bool:
    """Return whether a base form has a third-person singular subject, as in "a man play guitar"; False if in doubt."""
    head = None
    for j in range(verb - 1, -1, -1):
        tag, word = phrases.tag(j), phrases.word(j)
        if tag in {"WH", "PUNCT", "CONJ"} and head is not None:
            return word != "and"
        if tag in {"PRON", "NOUN"}:
            if word in PLURALS or phrases.lemma(j) in listed("collectives") or is_plural_noun(word, phrases.lemma(j)):
                return False
            head = j
        elif tag not in {"DET", "ADJ", "ADV", "NUM", "POS", "ADP", "OTHER"}:
            return head is not None
        elif tag == "NUM" and word != "one":
            return False
    return head is not None
