"""The words of one part of a query, found again by what they mean."""

from dataclasses import dataclass
from functools import cache

from nt2vr.world.claims import Act, SubjectClaim
from nt2vr.world.meaning import Meaning, MeaningKind
from nt2vr.world.things import Names, Noun, actions, all_nouns, things
from nt2vr.world.wording import NUMBERS
from nt2vr.world.words import PhraseWord, words_in


def number_word(count: int) -> str:
    if count < len(NUMBERS):
        return NUMBERS[count]
    return f"{count}"


@dataclass(frozen=True)
class PartWords:
    """One part of a query, as typed, and words of it for what is claimed."""

    part: str

    def of_kind(self, kind: MeaningKind) -> list[PhraseWord]:
        return [word for word in words_in(self.part) if word.kind == kind]

    @property
    def starts_with_doing(self) -> bool:
        """Whether it begins as "singing a song" does."""
        return self.part.split()[0].endswith("ing")

    @property
    def with_article(self) -> str:
        """The part, with an article if it needs one: "a guitarist", "a dog running"."""
        words = words_in(self.part)
        nouns = self.of_kind("noun")
        if not nouns or words[0].kind not in ("noun", "adjective"):
            return self.part
        has_own_article = not self.part.startswith(words[0].typed)
        noun = nouns[0]
        if has_own_article or noun.meaning.plural or noun.typed in _uncounted():
            return self.part
        return Noun(self.part).with_article()

    def noun(self, subject: SubjectClaim) -> str:
        """Return the word that names somebody, as typed; otherwise that of the first such thing."""
        word = self.noun_word(subject.names)
        if word is not None:
            return word.typed
        return _first_noun(subject.names) or "somebody"

    def counted_noun(self, subject: SubjectClaim, count: int) -> str:
        """Return the singular or the plural of the word that names somebody."""
        typed = self.noun(subject)
        for thing in sorted(subject.names):
            for noun in things()[thing].nouns:
                if typed in (noun.word, noun.plural):
                    return noun.word if count == 1 else noun.plural
        return typed

    def noun_word(self, names: Names) -> PhraseWord | None:
        """Return the noun for some things, or else for some of them only."""
        nouns = [word for word in self.of_kind("noun") if word.names <= names]
        return min(nouns, key=lambda word: word.names != names, default=None)

    def object(self, act: Act) -> str:
        word = self.noun_word(act.objects) or self.noun_word(act.targets)
        if word is not None:
            return word.typed
        return _first_noun(act.objects)

    def verb(self, act: Act) -> str:
        """Return the verb that led to an act, as "singing"; "" if there is none."""
        for word in self.of_kind("verb"):
            if _may_mean(word.meaning, act):
                return word.doing
        return ""

    def mood(self, act: Act) -> str:
        """Return the adjective that led to an act: "happy"; "" if there is none."""
        for word in self.of_kind("adjective"):
            moods = word.meaning.adjective.get("acts", ())
            if any(mood.verbs == act.verbs for mood in moods):
                return word.typed
        return ""


@cache
def _uncounted() -> frozenset[str]:
    """Return the words that have no article: "coffee", "scissors"."""
    return frozenset(noun.word for noun in all_nouns() if not noun.is_countable)


def _first_noun(names: Names) -> str:
    if not names:
        return ""
    return things()[min(names)].noun.word


def _may_mean(meaning: Meaning, act: Act) -> bool:
    """Return whether a verb may have led to an act, for which only some of its senses may remain."""
    senses = meaning.names & actions().keys()
    return bool(act.verbs) and not senses.isdisjoint(act.verbs)
