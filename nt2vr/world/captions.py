"""Captions of scenes in varied wordings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from nt2vr.world.claims import Act, Claim, Order, SubjectClaim
from nt2vr.world.lexicon import DAY, NIGHT, PARTS
from nt2vr.world.scenes import Deed, Figure, Scene, main_deeds
from nt2vr.world.things import places
from nt2vr.world.wording import (
    FORMS,
    SEQUENCES,
    Phrase,
    Verb,
    conjugate,
    draw_deed,
    draw_object,
    draw_phrase,
    name_doer,
    persons,
)

FULL_SHARE = 0.5  # captions of the complete scene; others omit figures, looks, deeds or the place
DETAIL = 0.35  # of looks that partial captions mention
FULL_DETAIL = 0.9  # of looks that captions of the complete scene mention
DOER_SHARE, WITH_SHARE, PART_SHARE, ADJECTIVE_SHARE = 0.1, 0.1, 0.35, 0.6
TOGETHER_SHARE, TWO_PEOPLE_SHARE, THERE_SHARE, FIRST_SHARE = 0.6, 0.4, 0.3, 0.15
BEHIND = "with {} in the background"
SECOND = {
    "is {ing}": "{ing}"
}  # form of a second verb, if not that of the first: "is eating and then | singing"
JOINTS = (" and ", ", and ", ", ")
AT_ONCE = (" while ", " as ")
IN_TURN = (", then ", ", and then ", " before ")
WORN = ("wearing {}", "with {} on", "in {}", "with {}")
BESIDE = ("next to {}", "near {}", "beside {}", BEHIND, ", there {is_} {}", "and {}")
IN_SKY = ("with {} in the sky", "under {}", ", there {is_} {} in the sky")


@dataclass(frozen=True)
class SceneCaption:
    """A sentence and its claim, which holds for its own scene and possibly for others."""

    text: str
    claim: Claim
    pieces: tuple[str, ...] = ()
    # those that can be denied, each with its piece, and `SubjectClaim` and act of the claim
    verbs: tuple[tuple[int, Verb, tuple[int, int]], ...] = ()
    with_things: tuple[
        tuple[int, str, tuple[int, int]], ...
    ] = ()  # likewise the words for what is worn or held
    behind: tuple[
        tuple[int, Phrase, int], ...
    ] = ()  # what is in the background, with its piece and `SubjectClaim`


def joined(pieces: Sequence[str]) -> str:
    return " ".join(" ".join(pieces).replace(" ,", ",").split()).strip(" ,")


class _Writer:
    """Writes one caption, piece by piece, together with its claim."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene, self.rng = scene, rng
        self.full = rng.random() < FULL_SHARE
        self.pieces: list[str] = []
        self.subjects: list[SubjectClaim] = []
        self.orders: list[Order] = []
        self.mains: list[
            tuple[Deed, tuple[int, int]]
        ] = []  # the first deed of each clause, and its act
        self.verbs: list[tuple[int, Verb, tuple[int, int]]] = []  # piece, verb and act
        self.with_things: list[tuple[int, str, tuple[int, int]]] = []  # piece, words and act
        self.behind: list[tuple[int, Phrase, int]] = []  # piece, phrase and number of its claim
        self.written: list[Figure] = []

    def says(self, share: float = DETAIL) -> bool:
        return self.full or self.rng.random() < share

    def claim_act(self, who: int, act: Act) -> tuple[int, int]:
        """Add an act to a claim; return where it is."""
        self.subjects[who] = replace(self.subjects[who], acts=(*self.subjects[who].acts, act))
        return who, len(self.subjects[who].acts) - 1

    def actor(self, figure: Figure, others: list[Figure]) -> None:
        """Write what an actor does, perhaps together with one of the others, which is taken off the list then."""
        gap, earlier = len(self.pieces), len(self.mains)
        self.pieces += [""] if self.written else []
        twin = next((other for other in others if _alike(figure, other)), None)
        if twin and self.rng.random() < TOGETHER_SHARE:
            others.remove(twin)
            self.together(figure, twin)
        else:
            targets = (
                self.scene.figures[deed.object]
                for deed in figure.deeds
                if isinstance(deed.object, int)
            )
            self.clause(figure, any(target in self.written for target in targets))
        if self.written:
            self.relate(gap, earlier)
        self.written.append(figure)

    def clause(self, figure: Figure, named: bool) -> None:
        who, main = len(self.subjects), main_deeds(figure)
        if len(main) > 1 and not self.says(0.5):
            main = [self.rng.choice(main)]
        layers = {deed.kind.layer: deed for deed in figure.deeds}
        mood, worn = (
            layers[each] if each in layers and self.says() else None for each in ("mood", "worn")
        )
        phrase, main, mood = self.subject(figure, main, mood)
        self.with_thing(who, worn, main)
        if mood and not main:
            main, mood = [mood], None
        form = self.rng.choice(FORMS)
        self.predicate(who, main, form, phrase.plural, named)
        if mood:
            words, act = draw_deed(mood, self.scene.figures, self.rng)
            self.claim_act(who, act)
            self.pieces += ["and", conjugate(words, SECOND.get(form, form), phrase.plural)]

    def subject(
        self, figure: Figure, main: list[Deed], mood: Deed | None
    ) -> tuple[Phrase, list[Deed], Deed | None]:
        """Name a figure, and return the phrase and those of the deeds that it does not say."""
        rng = self.rng
        adjective = (
            rng.choice(mood.kind.doers)[0] if mood and rng.random() < ADJECTIVE_SHARE else ""
        )
        phrase = draw_phrase(figure, rng, FULL_DETAIL if self.full else DETAIL, adjective)
        doers = main[0].doers if len(main) == 1 and figure.kind.role == "person" else ()
        if doers and rng.random() < DOER_SHARE:
            phrase, main = name_doer(figure, main[0].verb, *rng.choice(doers), adjective), []
        self.subjects.append(phrase.who)
        self.pieces.append(phrase.text)
        if mood and adjective:
            self.claim_act(len(self.subjects) - 1, Act(frozenset((mood.verb,))))
            mood = None
        return phrase, main, mood

    def with_thing(self, who: int, worn: Deed | None, main: list[Deed]) -> None:
        """Write what is worn, or perhaps "with" what a single deed is done to, which is taken off the list then."""
        deed = worn
        if (
            not worn
            and len(main) == 1
            and isinstance(main[0].object, str)
            and self.rng.random() < WITH_SHARE
        ):
            deed = main.pop()
        if deed:
            words, act = draw_object(deed, self.rng)
            self.with_things.append((len(self.pieces), words, self.claim_act(who, act)))
            self.pieces.append((self.rng.choice(WORN) if worn else "with {}").format(words))

    def predicate(
        self, who: int, deeds: Sequence[Deed], form: str, plural: bool, named: bool
    ) -> None:
        worded = [draw_deed(deed, self.scene.figures, self.rng, named) for deed in deeds]
        acts = [self.claim_act(who, act) for _, act in worded]
        verbs = [Verb(words, form, plural) for words, _ in worded]
        if len(verbs) == 2:
            self.sequence(verbs[0], verbs[1], acts)
        elif verbs:
            self.single(verbs[0], deeds[0], acts[0])
        self.mains += [*zip(deeds, acts, strict=True)][:1]

    def single(self, verb: Verb, deed: Deed, act: tuple[int, int]) -> None:
        part: Literal["", "start", "end"] = (
            "start" if deed.end <= 0.5 else "end" if deed.start >= 0.5 else ""
        )
        if part and self.rng.random() < PART_SHARE:
            who = self.subjects[act[0]]
            acts = (
                replace(each, part=part) if i == act[1] else each for i, each in enumerate(who.acts)
            )
            self.subjects[act[0]] = replace(who, acts=tuple(acts))
            self.pieces += [verb.text, self.rng.choice(PARTS[part])]
        else:
            self.verbs.append((len(self.pieces), verb, act))
            self.pieces.append(verb.text)

    def sequence(self, first: Verb, second: Verb, acts: Sequence[tuple[int, int]]) -> None:
        self.orders.append(Order(acts[0], acts[1]))
        match self.rng.choice(SEQUENCES):
            case "before":
                self.pieces += [first.text, "before", conjugate(second.phrase, "{ing}")]
            case "after":
                self.pieces += [second.text, "after", conjugate(first.phrase, "{ing}")]
            case joint:
                second, start = (
                    replace(second, form=SECOND.get(second.form, second.form)),
                    len(self.pieces),
                )
                self.verbs += [(start, first, acts[0]), (start + 2, second, acts[1])]
                self.pieces += [first.text, joint, second.text]

    def together(self, one: Figure, other: Figure) -> None:
        """Write that two do the same: "a man and a woman are dancing", "two people are dancing"."""
        deed, who = main_deeds(one)[0], len(self.subjects)
        if self.rng.random() < TWO_PEOPLE_SHARE:
            self.pieces.append("two people")
            self.subjects.append(SubjectClaim(persons(), least=2, most=2))
        else:
            phrases = [draw_phrase(figure, self.rng, DETAIL) for figure in (one, other)]
            self.pieces.append(" and ".join(phrase.text for phrase in phrases))
            self.subjects += [phrase.who for phrase in phrases]
        words, act = draw_deed(deed, self.scene.figures, self.rng)
        acts = [self.claim_act(number, act) for number in range(who, len(self.subjects))]
        self.pieces.append(conjugate(words, self.rng.choice(FORMS), plural=True))
        self.mains.append((deed, acts[0]))

    def relate(self, joint: int, earlier: int) -> None:
        """Fill the gap between two clauses, perhaps with a word of time if both have a verb, and claim the order."""
        choices: tuple[str, ...] = JOINTS
        if len(self.mains) > earlier > 0:
            (last, last_act), (deed, act) = self.mains[-2:]
            if last.end <= deed.start:
                choices = (*JOINTS, *IN_TURN, *IN_TURN)
            elif last.start < deed.end and deed.start < last.end:
                choices = (*JOINTS, *AT_ONCE)
        self.pieces[joint] = self.rng.choice(choices)
        if self.pieces[joint] in AT_ONCE + IN_TURN:
            self.orders.append(
                Order(last_act, act, "while" if self.pieces[joint] in AT_ONCE else "before")
            )

    def further(self, figure: Figure) -> None:
        """Write that there is something that does nothing."""
        phrase = draw_phrase(figure, self.rng, FULL_DETAIL if self.full else DETAIL)
        template = self.rng.choice(IN_SKY if figure.kind.role == "sky" else BESIDE)
        if template == BEHIND:
            self.behind.append((len(self.pieces), phrase, len(self.subjects)))
        self.subjects.append(phrase.who)
        self.pieces.append(template.format(phrase.text, is_="are" if phrase.plural else "is"))

    def where(self) -> tuple[list[str], Claim]:
        """Draw words for place and time of day, perhaps none, and claim them."""
        place, rng, night = places()[self.scene.place], self.rng, self.scene.night
        words = [rng.choice(place.phrases)] if self.says(0.6) else []
        claim = Claim(places=frozenset((place.name,) if words else ()))
        if not place.indoors and self.says(0.3) and (night or rng.random() < DETAIL):
            return [*words, rng.choice(NIGHT if night else DAY)], replace(claim, night=night)
        return words, claim

    def finish(self) -> SceneCaption:
        """Add place and time of day, and say what can be denied."""
        where, claim = self.where()
        claim = replace(claim, subjects=tuple(self.subjects), orders=tuple(self.orders))
        pieces = [*self.pieces, *where]
        if not self.mains and self.rng.random() < THERE_SHARE:
            pieces[0] = f"there {'are' if self.subjects[0].least > 1 else 'is'} {pieces[0]}"
        if where and self.rng.random() < FIRST_SHARE:
            pieces = [f"{' '.join(where)}, {self.pieces[0]}", *self.pieces[1:], ""]
        said = tuple(self.verbs), tuple(self.with_things), tuple(self.behind)
        return SceneCaption(joined(pieces), claim, tuple(pieces), *said)


def _alike(one: Figure, other: Figure) -> bool:
    done = main_deeds(one)
    is_pair = len(done) == one.count == other.count == 1 and {one.kind.role, other.kind.role} == {
        "person"
    }
    return is_pair and done == main_deeds(other) and not isinstance(done[0].object, int)


def describe(scene: Scene, rng: Random) -> SceneCaption:
    """Draw a caption of a scene, never with a negation."""
    writer = _Writer(scene, rng)
    actors = scene.actors
    rng.shuffle(actors)
    if not writer.full:
        actors = actors[: rng.randint(1, len(actors))]
    while actors:
        writer.actor(actors.pop(0), actors)
    for figure in scene.figures:
        if not figure.acts and writer.says(0.5):
            writer.further(figure)
    return writer.finish()


def captions(scene: Scene, count: int, seed: int = 0) -> list[str]:
    """Return `count` distinct captions of a scene; equal seeds give equal captions."""
    rng, texts = Random(f"{scene.seed}-{seed}"), dict[str, None]()
    while len(texts) < count:
        texts.setdefault(describe(scene, rng).text)
    return list(texts)
