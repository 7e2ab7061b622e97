"""Why a clip is a miss, in the words of the query: "no girl", "one dog, not two"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nt2vr.negation.parse.inflect import is_or_are
from nt2vr.world.claims import MANY, Act, Claim, SubjectClaim, names_in, visible_in
from nt2vr.world.meaning import tokens_of
from nt2vr.world.part_claims import PartClaim
from nt2vr.world.part_words import PartWords, number_word
from nt2vr.world.reader import NOTHING
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.small_words import TOGETHER
from nt2vr.world.things import persons, places

PREPOSITIONS = frozenset("on in at by under near inside outside behind".split())
SOMETHING = "lacks something"


def miss_reasons(part: str, wanted: PartClaim, scene: Scene) -> list[str]:
    """Say what a scene lacks of a wanted part, the subject first; nothing if it shows it."""
    words = PartWords(part)
    if wanted.claim is None:
        # The part is not understood as a whole.
        return _absences(words, scene)
    if wanted.claim == NOTHING:
        lacking = [f"no {word.typed}" for word in words.of_kind("lacking")]
        return lacking + _absences(words, scene) or [SOMETHING]
    if wanted.shown_in(scene) is False:
        return _Comparison(words, scene).reasons(wanted.claim) or [SOMETHING]
    return []


def _absences(words: PartWords, scene: Scene) -> list[str]:
    """Say which things that are named are not seen."""
    seen = names_in(scene)
    return [f"no {word.typed}" for word in words.of_kind("noun") if word.names.isdisjoint(seen)]


@dataclass(frozen=True)
class _Comparison:
    """Compares a wanted part with a scene that lacks something of it."""

    words: PartWords
    scene: Scene

    def reasons(self, claim: Claim) -> list[str]:
        reasons: list[str] = []
        for subject in claim.subjects:
            reasons += self._of_subject(subject)
        if claim.places and self.scene.place not in claim.places:
            reasons.append(self._other_place(claim))
        if claim.night not in (None, self.scene.night):
            reasons.append("not at night" if claim.night else "at night")
        if not reasons and claim.orders:
            reasons.append("not in that order")
        return reasons

    def _of_subject(self, subject: SubjectClaim) -> Iterator[str]:
        """Yield what is missing of somebody or something: itself, its looks, its acts, its number."""
        scene = self.scene
        candidates = SubjectClaim(subject.names).fitting(visible_in(scene), scene)
        if subject.names and not candidates:
            yield f"no {self.words.noun(subject)}"
            yield from self._acts_of_nobody(subject)
            return

        with_looks = replace(subject, acts=()).fitting(candidates, scene)
        if not with_looks:
            yield self._other_looks(subject, candidates)
            return
        doer = self.words.noun_word(subject.names)
        if doer is not None and doer.meaning.act is not None:
            yield f"no {doer.typed}"
            return

        for act in subject.acts:
            if not self._is_done(act, with_looks):
                yield self._other_act(subject, act, with_looks)
        yield from self._other_number(subject, subject.fitting(with_looks, scene))

    def _is_done(self, act: Act, figures: Sequence[Figure]) -> bool:
        return any(act.is_done_by(figure, self.scene) for figure in figures)

    def _acts_of_nobody(self, subject: SubjectClaim) -> Iterator[str]:
        """Yield what nobody does, and with what."""
        for act in subject.acts:
            doing = self.words.verb(act)
            if doing and act.verbs.isdisjoint(self.scene.verbs):
                yield f"no one {doing}"
            if self._lacks_object(act):
                yield f"no {self.words.object(act)}"

    def _lacks_object(self, act: Act) -> bool:
        """Return whether what an act is done with is not seen."""
        return bool(act.objects) and act.objects.isdisjoint(names_in(self.scene))

    def _other_looks(self, subject: SubjectClaim, figures: Sequence[Figure]) -> str:
        noun = self.words.noun(subject)
        word = self.words.noun_word(subject.names)
        verb = is_or_are(word is not None and word.meaning.plural)
        quality = subject.colour
        if subject.size and subject.size not in {figure.size for figure in figures}:
            quality = subject.size
        elif subject.names and subject.names <= persons():
            quality = f"in {subject.colour}"
        return f"{noun} {verb} not {quality}"

    def _other_act(self, subject: SubjectClaim, act: Act, figures: Sequence[Figure]) -> str:
        """Say why nobody does, holds or wears what is wanted."""
        thing = self.words.object(act)
        if self._lacks_object(act):
            return f"no {thing}"
        colourless = replace(act, colour="")
        if act.colour and self._is_done(colourless, figures):
            return f"{thing} is not {act.colour}"

        doing = self.words.verb(act)
        is_possession = not doing or act.verbs <= {"wear", "hold"}
        if act.objects and is_possession:
            return f"{self.words.noun(subject)} without {thing}"
        quality = doing or self.words.mood(act)
        if not quality:
            return SOMETHING
        return f"not {quality}"

    def _other_number(self, subject: SubjectClaim, fitting: Sequence[Figure]) -> Iterator[str]:
        """Yield how many there are, if these are too few or too many."""
        count = sum(figure.count for figure in fitting)
        # Unless the number is that of all, there may be more of them.
        most = subject.most if subject.total else MANY
        if not fitting or subject.least <= count <= most:
            return
        limit = number_word(subject.most)
        if count < subject.least:
            limit = number_word(subject.least)
            if subject.total and subject.most >= TOGETHER:
                limit = f"at least {limit}"
        noun = self.words.counted_noun(subject, count)
        yield f"{number_word(count)} {noun}, not {limit}"

    def _other_place(self, claim: Claim) -> str:
        typed = self.words.of_kind("place")
        for word in typed:
            if word.names >= claim.places and word.first not in PREPOSITIONS:
                return f"no {word.typed}"

        phrases: list[str] = []
        for place in sorted(claim.places):
            phrases += places()[place].phrases
        texts = {word.text for word in typed}
        matching = [phrase for phrase in phrases if tokens_of(phrase) in texts]
        # The typed phrase comes first: "in the park" rather than "at the park".
        matching.sort(key=lambda phrase: phrase not in self.words.part)
        if matching:
            return f"not {matching[0]}"
        if len(claim.places) == 1:
            return f"not {phrases[0]}"
        typed_places = " ".join(word.typed for word in typed)
        return f"not {typed_places or 'there'}"
