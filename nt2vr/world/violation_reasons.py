"""Why a clip is a violation, in the words of the query: "shows a dog", "is singing"."""

from dataclasses import dataclass

from nt2vr.errors import listed
from nt2vr.world.claims import SubjectClaim, visible_in
from nt2vr.world.part_claims import PartClaim
from nt2vr.world.part_words import PartWords, number_word
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.things import Noun, things

PEOPLE = frozenset({"man", "woman", "boy", "girl"})


def violation_reason(part: str, unwanted: PartClaim, scene: Scene) -> str:
    """Say what a scene shows of an unwanted part that it shows."""
    return _Violation(PartWords(part), scene).reason(unwanted)


@dataclass(frozen=True)
class _Violation:
    """An unwanted part and a scene that shows it."""

    words: PartWords
    scene: Scene

    def reason(self, unwanted: PartClaim) -> str:
        claim = next(reading for reading in unwanted.readings if reading.holds(self.scene))
        if len(claim.subjects) == 1:
            return self._of_subject(unwanted, claim.subjects[0])
        if claim.subjects:
            return f"shows {self.words.with_article}"
        if claim.places:
            return f"is {self.scene.location.phrases[0]}"
        return "is at night" if claim.night else "is by day"

    def _of_subject(self, unwanted: PartClaim, subject: SubjectClaim) -> str:
        if unwanted.subjects or not subject.names:
            return self._act(unwanted, subject)
        if not subject.acts:
            return f"shows {self._figures(subject)}"
        if self.words.starts_with_doing:
            return f"is {self.words.part}"
        return f"shows {self.words.with_article}"

    def _act(self, unwanted: PartClaim, subject: SubjectClaim) -> str:
        acts = subject.acts or (unwanted.act,)
        doing = next(filter(None, map(self.words.verb, acts)), "")
        if doing and self.words.starts_with_doing:
            return f"is {self.words.part}"
        if doing:
            return f"is {doing}"
        if subject.names:
            return f"shows {self._figures(subject)}"
        mood = next(filter(None, map(self.words.mood, acts)), "")
        if mood:
            return f"is {mood}"
        return f"shows {self.words.part}"

    def _figures(self, subject: SubjectClaim) -> str:
        """Name what fits, as it is: "a dog", "two dogs", "a red car"."""
        looks = f"{subject.size} {subject.colour}".strip()
        texts: dict[str, str] = {}
        for figure in subject.fitting(visible_in(self.scene), self.scene):
            texts.setdefault(figure.thing, self._figure(figure, looks))
        return listed(*texts.values()) or self.words.part

    def _figure(self, figure: Figure, looks: str) -> str:
        noun = self._general_noun(figure) or figure.kind.noun
        if figure.count == 1:
            return noun.with_article(looks)
        looks_of_many = f"{looks} {noun.plural}".lstrip()
        return f"{number_word(figure.count)} {looks_of_many}"

    def _general_noun(self, figure: Figure) -> Noun | None:
        """Return "man" for an astronaut where men are unwanted; None where its own name says more."""
        typed = {word.typed for word in self.words.of_kind("noun")}
        for name in figure.kind.is_a & PEOPLE:
            noun = things()[name].noun
            if typed & {noun.word, noun.plural}:
                return noun
        return None
