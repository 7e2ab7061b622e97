"""Reasons for verdicts, in a few words: "shows a dog", "no girl", "one dog, not two"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from nt2vr.errors import listed
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.inflect import is_or_are
from nt2vr.negation.parse.query import Query
from nt2vr.world.claims import MANY, Act, Claim, SubjectClaim, names_in, visible_in
from nt2vr.world.lexicon import TOGETHER, Meaning, tokens_of
from nt2vr.world.query_claims import PartClaim, read_query
from nt2vr.world.reader import NOTHING
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.things import Noun, actions, all_nouns, places, things
from nt2vr.world.verdicts import scene_of
from nt2vr.world.wording import persons
from nt2vr.world.words import PhraseWord, words_in

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
PREPOSITIONS = frozenset("on in at by under near inside outside behind".split())
PEOPLE = frozenset({"man", "woman", "boy", "girl"})
SOMETHING = "lacks something"
MAX_REASONS = 2048


def lacking(query: Query, video: Video) -> list[str]:
    """Say what a clip of the world lacks of what is wanted, the subject first; nothing for other clips."""
    return [] if video.scene is None else list(_lacking(query, video))


# Each tile and the sentence above its column ask for the same reasons.
@lru_cache(MAX_REASONS)
def _lacking(query: Query, video: Video) -> tuple[str, ...]:
    scene = scene_of(video)
    if scene is None:
        return ()
    reasons: list[str] = []
    for part, wanted in zip(query.wanted, read_query(query).wanted, strict=True):
        if wanted.claim is None:
            reasons += _missing_nouns(part, scene)
        elif wanted.claim == NOTHING:
            reasons += [*_words_of_no_clip(part), *_missing_nouns(part, scene)] or [SOMETHING]
        elif wanted.shown_in(scene) is False:
            reasons += _PartInScene(part, scene).lacking(wanted.claim) or [SOMETHING]
    return tuple(dict.fromkeys(reasons))


def shown(query: Query, video: Video) -> list[str]:
    """Say what a clip of the world shows of what is unwanted; nothing for other clips."""
    scene = scene_of(video)
    if scene is None:
        return []
    reasons = []
    unwanted = read_query(query).unwanted
    parts = [*query.unwanted, *query.others]
    for number, denied in enumerate(unwanted):
        if denied.shown_in(scene):
            part = parts[min(number, len(parts) - 1)]
            reasons.append(_PartInScene(part, scene).shown(denied))
    return list(dict.fromkeys(reasons))


def _words_of_no_clip(part: str) -> Iterator[str]:
    """Yield what no clip of the world shows of a part."""
    for word in words_in(part):
        if word.meaning.kind == "lacking":
            yield f"no {word.typed}"


def _missing_nouns(part: str, scene: Scene) -> Iterator[str]:
    """Yield what is not there of a part that the world does not understand as a whole."""
    names = names_in(scene)
    for word in words_in(part):
        if word.meaning.kind == "noun" and word.meaning.names.isdisjoint(names):
            yield f"no {word.typed}"


def _number(count: int) -> str:
    if count < len(NUMBERS):
        return NUMBERS[count]
    return f"{count}"


@dataclass(frozen=True)
class _PartInScene:
    """Compares one part of a query with a scene, in the words of that part."""

    part: str
    scene: Scene

    @property
    def visible(self) -> Sequence[Figure]:
        return visible_in(self.scene)

    # What is wanted

    def lacking(self, claim: Claim) -> list[str]:
        reasons: list[str] = []
        for subject in claim.subjects:
            reasons += self._lacks(subject)
        if claim.places and self.scene.place not in claim.places:
            reasons.append(self._not_there(claim))
        if claim.night not in (None, self.scene.night):
            reasons.append("not at night" if claim.night else "at night")
        if not reasons and claim.orders:
            reasons.append("not in that order")
        return reasons

    def _lacks(self, subject: SubjectClaim) -> Iterator[str]:
        """Yield what is missing of somebody or something."""
        figures = []
        for figure in self.visible:
            if not subject.names or figure.thing in subject.names:
                figures.append(figure)
        if subject.names and not figures:
            yield f"no {self._noun(subject)}"
            yield from self._lacking_acts(subject)
            return
        at_rest = replace(subject, acts=())
        with_looks = [figure for figure in figures if at_rest.fits(figure, self.scene.figures)]
        if not with_looks:
            yield self._other_looks(subject, figures)
            return
        doer = self._noun_word(subject.names)
        if doer is not None and doer.meaning.act is not None:
            yield f"no {doer.typed}"
            return
        for act in subject.acts:
            if not any(self._does(figure, act) for figure in with_looks):
                yield self._other_act(subject, act, with_looks)
        fitting = [figure for figure in with_looks if subject.fits(figure, self.scene.figures)]
        count = sum(figure.count for figure in fitting)
        # Unless the number is that of all, there may be more of them.
        most = subject.most if subject.total else MANY
        if fitting and not subject.least <= count <= most:
            yield self._other_number(subject, count)

    def _does(self, figure: Figure, act: Act) -> bool:
        return act.is_done_by(figure, self.scene.figures)

    def _lacking_acts(self, subject: SubjectClaim) -> Iterator[str]:
        """Yield what nobody does, and with what."""
        names = names_in(self.scene)
        for act in subject.acts:
            verb = self._verb(act)
            if verb and act.verbs.isdisjoint(self.scene.verbs):
                yield f"no one {verb.doing}"
            if act.objects and act.objects.isdisjoint(names):
                yield f"no {self._object(act)}"

    def _other_looks(self, subject: SubjectClaim, figures: Sequence[Figure]) -> str:
        word = self._noun_word(subject.names)
        is_plural = word is not None and word.meaning.plural
        start = f"{self._noun(subject)} {is_or_are(is_plural)} not"
        if subject.size and all(figure.size != subject.size for figure in figures):
            return f"{start} {subject.size}"
        if subject.names and subject.names <= persons():
            return f"{start} in {subject.colour}"
        return f"{start} {subject.colour}"

    def _other_number(self, subject: SubjectClaim, count: int) -> str:
        wanted = subject.least if count < subject.least else subject.most
        is_open = subject.most in (MANY, TOGETHER) and count < subject.least
        if is_open and subject.total:
            limit = f"at least {_number(wanted)}"
        else:
            limit = _number(wanted)
        return f"{_number(count)} {self._counted_noun(subject, count)}, not {limit}"

    def _other_act(self, subject: SubjectClaim, act: Act, figures: Sequence[Figure]) -> str:
        """Say why nobody does, holds or wears what is wanted."""
        thing = self._object(act)
        if act.objects and act.objects.isdisjoint(names_in(self.scene)):
            return f"no {thing}"
        colourless = replace(act, colour="", looks=frozenset())
        if act.colour and any(self._does(figure, colourless) for figure in figures):
            return f"{thing} is not {act.colour}"
        verb = self._verb(act)
        if act.objects and (not verb or act.verbs <= {"wear", "hold"}):
            return f"{self._noun(subject)} without {thing}"
        if verb:
            return f"not {verb.doing}"
        mood = self._adjective(act)
        return f"not {mood}" if mood else SOMETHING

    def _not_there(self, claim: Claim) -> str:
        for word in self._words("place"):
            if word.meaning.names >= claim.places and word.text[0] not in PREPOSITIONS:
                return f"no {word.typed}"
        phrases = []
        for place in claim.places:
            for text in places()[place].phrases:
                phrases.append(text)
        typed = {word.text for word in self._words("place")}
        matching = [text for text in phrases if tokens_of(text) in typed]
        if matching:
            # The typed phrase comes first: "in the park" rather than "at the park".
            in_part = [text for text in matching if text in self.part]
            phrase = (in_part or matching)[0]
            return f"not {phrase}"
        if len(claim.places) == 1:
            (place,) = claim.places
            return f"not {places()[place].phrases[0]}"
        typed_places = " ".join(word.typed for word in self._words("place"))
        return f"not {typed_places or 'there'}"

    # What is unwanted

    def shown(self, denied: PartClaim) -> str:
        claim = next(reading for reading in denied.readings if reading.holds(self.scene))
        if claim.places and not claim.subjects:
            return f"is {self._where()}"
        if claim.night is not None and not claim.subjects:
            if claim.night:
                return "is at night"
            return "is by day"
        if len(claim.subjects) != 1:
            return f"shows {self._part_with_article()}"
        (subject,) = claim.subjects
        if denied.subjects or not subject.names:
            return self._shown_act(denied, subject)
        if subject.acts and self.part.split()[0].endswith("ing"):
            return f"is {self.part}"
        if subject.acts:
            return f"shows {self._part_with_article()}"
        return f"shows {self._figures(subject)}"

    def _where(self) -> str:
        return places()[self.scene.place].phrases[0]

    def _shown_act(self, denied: PartClaim, subject: SubjectClaim) -> str:
        acts = subject.acts or (denied.act,)
        verb = next((self._verb(act) for act in acts if self._verb(act)), None)
        if verb:
            if self.part.split()[0].endswith("ing"):
                return f"is {self.part}"
            return f"is {verb.doing}"
        if subject.names:
            return f"shows {self._figures(subject)}"
        mood = next((self._adjective(act) for act in acts if self._adjective(act)), "")
        if mood:
            return f"is {mood}"
        return f"shows {self.part}"

    def _figures(self, subject: SubjectClaim) -> str:
        """Name what fits, as it is: "a dog", "two dogs", "a red car"."""
        texts: dict[str, str] = {}
        for figure in self.visible:
            if not subject.fits(figure, self.scene.figures):
                continue
            noun = self._general_noun(figure) or figure.kind.nouns[0]
            looks = " ".join(filter(None, (subject.size, subject.colour)))
            text = noun.with_article(looks)
            if figure.count > 1:
                text = " ".join(filter(None, (_number(figure.count), looks, noun.plural)))
            texts.setdefault(figure.thing, text)
        if texts:
            return listed(*texts.values())
        return self.part

    def _part_with_article(self) -> str:
        """Return the part, with an article if it needs one: "a guitarist", "a dog running"."""
        first = next(iter(words_in(self.part)), None)
        is_bare = first is not None and self.part.startswith(first.typed)
        nouns = self._words("noun")
        if first is None or not is_bare or first.meaning.kind not in ("noun", "adjective"):
            return self.part
        if not nouns or nouns[0].meaning.plural or nouns[0].typed in _uncounted():
            return self.part
        return Noun(self.part, plural="").with_article()

    def _general_noun(self, figure: Figure) -> Noun | None:
        """Return "man" for an astronaut where men are unwanted; None where the thing's own name says more."""
        typed = {word.typed for word in self._words("noun")}
        for name in figure.kind.is_a & PEOPLE:
            noun = things()[name].nouns[0]
            if typed & {noun.word, noun.plural}:
                return noun
        return None

    # Words of the part

    def _words(self, kind: str) -> list[PhraseWord]:
        return [word for word in words_in(self.part) if word.meaning.kind == kind]

    def _noun(self, subject: SubjectClaim) -> str:
        """Return the word that names somebody, as typed; otherwise that of the first such thing."""
        word = self._noun_word(subject.names)
        if word is not None:
            return word.typed
        if subject.names:
            return things()[min(subject.names)].nouns[0].word
        return "somebody"

    def _noun_word(self, names: frozenset[str]) -> PhraseWord | None:
        nouns = self._words("noun")
        exact = (word for word in nouns if word.meaning.names == names)
        similar = (word for word in nouns if names and word.meaning.names <= names)
        return next(exact, None) or next(similar, None)

    def _counted_noun(self, subject: SubjectClaim, count: int) -> str:
        """Return the singular or the plural of the word that names somebody."""
        typed = self._noun(subject)
        for thing in sorted(subject.names):
            for noun in things()[thing].nouns:
                if typed in (noun.word, noun.plural):
                    return noun.word if count == 1 else noun.plural
        return typed

    def _object(self, act: Act) -> str:
        word = self._noun_word(act.objects) or self._noun_word(act.targets)
        if word is not None:
            return word.typed
        if act.objects:
            return things()[min(act.objects)].nouns[0].word
        return ""

    def _verb(self, act: Act) -> PhraseWord | None:
        matching = (word for word in self._words("verb") if _may_mean(word.meaning, act))
        return next(matching, None)

    def _adjective(self, act: Act) -> str:
        for word in self._words("adjective"):
            moods = word.meaning.adjective.get("acts", ())
            if any(mood.verbs == act.verbs for mood in moods):
                return word.typed
        return ""


@cache
def _uncounted() -> frozenset[str]:
    """Return the words that have no article: "coffee", "scissors"."""
    return frozenset(noun.word for noun in all_nouns() if noun.number != "one")


def _may_mean(meaning: Meaning, act: Act) -> bool:
    """Return whether a verb may have led to an act, for which only some of its senses may remain."""
    senses = meaning.names & actions().keys()
    return bool(act.verbs) and not senses.isdisjoint(act.verbs)
