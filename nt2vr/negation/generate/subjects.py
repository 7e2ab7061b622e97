"""Subjects of verbs: who acts in a caption, by name, number and pronoun."""

from dataclasses import dataclass
from typing import Literal

from nt2vr.negation.parse.inflect import inflect, with_article
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed, renamed

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

    # the young men: "men"
    modifiers = [phrases.word(i) for i in range(start, head) if phrases.tag(i) == "NOUN"]
    is_human = lemma in listed("men", "women", "he_or_she")
    if is_plural or is_plural_noun(phrases, head):
        noun = "people" if lemma == "person" else inflect(lemma, "NNS")
        text = " ".join([*modifiers, noun])
        return Subject(text, pronoun="they", is_plural=True, is_human=is_human)

    pronoun: Pronoun = ""
    if lemma in listed("men"):
        pronoun = "he"
    elif lemma in listed("women"):
        pronoun = "she"
    text = with_article(" ".join([*modifiers, lemma]))
    return Subject(text, pronoun, is_plural=False, is_human=is_human)


def also_called(lemma: str) -> frozenset[str]:
    """Return a noun with its hypernyms: a "guy" is a "man" and a "person"."""
    name = _SYNONYMS.get(lemma, lemma)
    if name in listed("men", "women", "he_or_she"):
        return frozenset((lemma, name, "person"))
    return frozenset((lemma, name))


def is_plural_noun(phrases: Phrases, i: int) -> bool:
    """Return whether noun i is in the plural: "dogs" of "dog"."""
    if phrases.is_listed(i, "plurals"):
        return True
    word = phrases.word(i)
    lemma = phrases.lemma(i)
    if word == lemma:
        return False
    return word.endswith("s") or word == inflect(lemma, "NNS")


def is_third_person(phrases: Phrases, verb: int) -> bool:
    """Return whether a base form has a third-person singular subject: "a man play guitar".

    If in doubt, it has none.
    """
    has_subject = False
    for i in range(verb - 1, -1, -1):
        match phrases.tag(i):
            case "PRON" | "NOUN":
                if phrases.lemma_is_listed(i, "collectives") or is_plural_noun(phrases, i):
                    return False
                has_subject = True
            case "NUM":
                if phrases.word(i) != "one":
                    return False
            case "DET" | "ADJ" | "ADV" | "POS" | "ADP" | "OTHER":
                pass
            case _:
                return has_subject and phrases.word(i) != "and"
    return has_subject
