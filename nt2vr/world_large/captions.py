"""Captions of scenes in varied wordings, each with its claim and what a negation could deny in it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world_large.claims import Act, Claim, Order, Who
from nt2vr.world_large.nouns import NUMBERS, Phrase, draw_noun, draw_phrase, meanings
from nt2vr.world_large.places import places
from nt2vr.world_large.scenes import Deed, Figure, Scene
from nt2vr.world_large.things import Noun, things, those

FULL_SHARE = 0.5  # captions of the complete scene; others omit figures, looks, deeds or the place
DETAIL = 0.35  # of looks that partial captions mention
FULL_DETAIL = 0.9  # of looks that captions of the complete scene mention
DOER_SHARE, WITH_SHARE, PART_SHARE, ADJECTIVE_SHARE = 0.1, 0.1, 0.35, 0.6
TOGETHER_SHARE, TWO_PEOPLE_SHARE, THERE_SHARE, FIRST_SHARE = 0.6, 0.4, 0.3, 0.15
SEQUENCES = ("before", "after", "and then", ", then", "and afterwards")
BEHIND = "with {} in the background"
JOINTS = (" and ", ", and ", ", ")
AT_ONCE = (" while ", " as ")
IN_TURN = (", then ", ", and then ", " before ")
WORN = ("wearing {}", "with {} on", "in {}", "with {}")
BESIDE = ("next to {}", "near {}", "beside {}", BEHIND, ", there {is_} {}", "and {}")
IN_SKY = ("with {} in the sky", "under {}", ", there {is_} {} in the sky")
NIGHT, DAY = ("at night", "in the dark", "after dark"), ("during the day", "in daylight")
PARTS = {"start": ("at the beginning", "at the start"), "end": ("at the end", "in the end")}
FORMS = ("is {ing}", "is {ing}", "{ing}", "{s}", "{s}")


@dataclass(frozen=True)
class Verb:
    """A verb of a caption: a phrase with the verb as a lemma, and its form: "is {ing}", "{ing}" or "{s}"."""

    phrase: str
    form: str
    plural: bool = False

    @property
    def text(self) -> str:
        """The phrase in its form."""
        return conjugate(self.phrase, self.form, self.plural)

    @property
    def denied(self) -> tuple[str, ...]:
        """The phrase in its form, denied."""
        if self.form == "{ing}":
            return (f"not {self.text}",)
        if self.form == "{s}":
            return (
                (f"do not {self.phrase}", f"don't {self.phrase}")
                if self.plural
                else (
                    f"does not {self.phrase}",
                    f"doesn't {self.phrase}",
                )
            )
        be = "are" if self.plural else "is"
        doing = inflect_phrase(self.phrase, "VBG")
        return f"{be} not {doing}", f"{be}n't {doing}"


# What a caption says: verbs with their piece and act, things worn or held likewise, things behind with their claim
_Said = tuple[
    tuple[tuple[int, Verb, tuple[int, int]], ...],
    tuple[tuple[int, str, tuple[int, int]], ...],
    tuple[tuple[int, Phrase, int], ...],
]


@dataclass(frozen=True)
class Deniable:
    """A piece of a caption that can be denied.

    Attributes:
        piece: its position.
        texts: what to say instead.
        unwanted: what is denied then, as a phrase.
        wanted_claim, unwanted_claim: claims of the rest and of the denied part.
    """

    piece: int
    texts: tuple[str, ...]
    unwanted: str
    wanted_claim: Claim
    unwanted_claim: Claim


@dataclass(frozen=True)
class SceneCaption:
    """A sentence and its claim, which holds for its own scene and possibly for others."""

    text: str
    claim: Claim
    pieces: tuple[str, ...] = ()
    said: _Said = ((), (), ())

    def deniables(self) -> list[Deniable]:
        """Return what can be denied: verbs, things worn or held, and things in the background."""
        verbs, with_things, behind = self.said
        claim = self.claim
        found = []
        for piece, verb, (who, number) in verbs:
            denied = Claim((Who(acts=(claim.whos[who].acts[number],)),))
            doing = conjugate(verb.phrase, "{ing}")
            found.append(Deniable(piece, verb.denied, doing, _without_act(claim, (who, number)), denied))
        for piece, words, (who, number) in with_things:
            act = claim.whos[who].acts[number]
            denied = Claim((Who(act.objects, colour=act.colour),))
            found.append(Deniable(piece, (f"without {words}",), words, _without_act(claim, (who, number)), denied))
        for piece, phrase, number in behind:
            words = f"without {phrase.text} in the background"
            rest = replace(claim, whos=claim.whos[:number] + claim.whos[number + 1 :])
            found.append(Deniable(piece, (words,), phrase.text, rest, Claim((phrase.who,))))
        return found


def conjugate(phrase: str, form: str, plural: bool = False) -> str:
    """Put the verb that begins a phrase into "is {ing}", "{ing}" or "{s}", for one or for several."""
    if form == "{s}":
        return phrase if plural else inflect_phrase(phrase, "VBZ")
    doing = inflect_phrase(phrase, "VBG")
    return doing if form == "{ing}" else f"{'are' if plural else 'is'} {doing}"


def joined(pieces: Sequence[str]) -> str:
    """Join the pieces of a caption."""
    return " ".join(" ".join(pieces).replace(" ,", ",").split()).strip(" ,")


def draw_object(deed: Deed, rng: random.Random) -> tuple[str, Act]:
    """Name the thing that somebody holds, wears or rides, with its article; the act leaves the verb open."""
    noun = draw_noun(things()[str(deed.object)], rng)
    colour = deed.colour if deed.colour and rng.random() < DETAIL else ""
    is_the = deed.verb == "play" and not colour and "instrument" not in noun.word
    words = f"the {noun.word}" if is_the else noun.with_article(colour)
    return words, Act(objects=meanings()[noun.word], colour=colour)


def draw_deed(deed: Deed, figures: Sequence[Figure], rng: random.Random, named: bool = False) -> tuple[str, Act]:
    """Word a deed, with the verb as a lemma, and claim it; `named` targets were mentioned before: "the dog"."""
    phrase, verbs = rng.choice(deed.kind.phrases), frozenset((deed.verb,))
    if deed.object is None:
        return phrase, Act(verbs)
    if isinstance(deed.object, str):
        words, act = draw_object(deed, rng)
        return phrase.format(o=words), replace(act, verbs=verbs)
    target = figures[deed.object]
    noun = draw_noun(target.kind, rng, target.count > 1)
    if target.count > 1:
        words = f"{rng.choice(('the', 'some', NUMBERS[target.count]))} {noun.plural}"
    else:
        words = f"the {noun.word}" if named else noun.with_article()
    return phrase.format(o=words), Act(verbs, targets=meanings()[noun.word])


@cache
def persons() -> frozenset[str]:
    """Names of all persons."""
    return frozenset(those(("person",)))


def doers_of(deed: Deed) -> list[tuple[str, str]]:
    """Return words for who does a deed, and the object that they need: "drummer" and "drum"."""
    return [(word, needed) for word, needed in deed.kind.doers if needed in ("", deed.object)]


def main_deeds(figure: Figure) -> list[Deed]:
    """Return what a figure does one after the other, moods and clothes aside."""
    return sorted((deed for deed in figure.doings if deed.kind.layer == "main"), key=lambda deed: deed.start)


class _Writer:
    """Writes one caption, piece by piece, together with its claim."""

    def __init__(self, scene: Scene, rng: random.Random) -> None:
        self.scene, self.rng = scene, rng
        self.full = rng.random() < FULL_SHARE
        self.pieces: list[str] = []
        self.whos: list[Who] = []
        self.orders: list[Order] = []
        self.mains: list[tuple[Deed, tuple[int, int]]] = []  # the first deed of each clause, and its act
        self.verbs: list[tuple[int, Verb, tuple[int, int]]] = []  # piece, verb and act
        self.with_things: list[tuple[int, str, tuple[int, int]]] = []  # piece, words and act
        self.behind: list[tuple[int, Phrase, int]] = []  # piece, phrase and number of its claim

    def says(self, share: float = DETAIL) -> bool:
        """Decide whether to mention a detail."""
        return self.full or self.rng.random() < share

    def claim_act(self, who: int, act: Act) -> tuple[int, int]:
        """Add an act to a claim; return where it is."""
        self.whos[who] = replace(self.whos[who], acts=(*self.whos[who].acts, act))
        return who, len(self.whos[who].acts) - 1

    def clause(self, figure: Figure, named: bool) -> None:
        """Write what a figure is and does."""
        rng, who, main = self.rng, len(self.whos), main_deeds(figure)
        if len(main) > 1 and not self.says(0.5):
            main = [rng.choice(main)]
        mood, worn = (next((d for d in figure.deeds if d.kind.layer == each), None) for each in ("mood", "worn"))
        mood, worn = (deed if deed and self.says() else None for deed in (mood, worn))
        adjective = rng.choice(mood.kind.doers)[0] if mood and rng.random() < ADJECTIVE_SHARE else ""
        phrase = draw_phrase(figure, rng, FULL_DETAIL if self.full else DETAIL, adjective)
        if len(main) == 1 and figure.kind.role == "person" and doers_of(main[0]) and rng.random() < DOER_SHARE:
            phrase, main = _doer(figure, main[0], adjective, rng), []
        self.whos.append(phrase.who)
        self.pieces.append(phrase.text)
        if mood and adjective:
            self.claim_act(who, Act(frozenset((mood.verb,))))
            mood = None
        if worn:
            words, act = draw_object(worn, rng)
            self.with_things.append((len(self.pieces), words, self.claim_act(who, act)))
            self.pieces.append(rng.choice(WORN).format(words))
        elif len(main) == 1 and isinstance(main[0].object, str) and rng.random() < WITH_SHARE:
            words, act = draw_object(main.pop(), rng)
            self.with_things.append((len(self.pieces), words, self.claim_act(who, act)))
            self.pieces.append(f"with {words}")
        if mood and not main:
            main, mood = [mood], None
        form = rng.choice(FORMS)
        worded = [draw_deed(deed, self.scene.figures, rng, named) for deed in main]
        acts = [self.claim_act(who, act) for _, act in worded]
        verbs = [Verb(words, form, phrase.plural) for words, _ in worded]
        if len(verbs) == 2:
            self.sequence(verbs[0], verbs[1], acts)
        elif verbs:
            self.single(verbs[0], main[0], acts[0])
        if mood:
            words, act = draw_deed(mood, self.scene.figures, rng)
            self.claim_act(who, act)
            self.pieces += ["and", conjugate(words, _second(form), phrase.plural)]
        if main:
            self.mains.append((main[0], acts[0]))

    def single(self, verb: Verb, deed: Deed, act: tuple[int, int]) -> None:
        """Write one verb, and perhaps when."""
        part: Literal["", "start", "end"] = "start" if deed.end <= 0.5 else "end" if deed.start >= 0.5 else ""
        if part and self.rng.random() < PART_SHARE:
            who = self.whos[act[0]]
            acts = (replace(each, part=part) if i == act[1] else each for i, each in enumerate(who.acts))
            self.whos[act[0]] = replace(who, acts=tuple(acts))
            self.pieces += [verb.text, self.rng.choice(PARTS[part])]
        else:
            self.verbs.append((len(self.pieces), verb, act))
            self.pieces.append(verb.text)

    def sequence(self, first: Verb, second: Verb, acts: Sequence[tuple[int, int]]) -> None:
        """Write two verbs in their order."""
        self.orders.append(Order(acts[0], acts[1]))
        match self.rng.choice(SEQUENCES):
            case "before":
                self.pieces += [first.text, "before", conjugate(second.phrase, "{ing}")]
            case "after":
                self.pieces += [second.text, "after", conjugate(first.phrase, "{ing}")]
            case joint:
                second = replace(second, form=_second(second.form))
                start = len(self.pieces)
                self.verbs += [(start, first, acts[0]), (start + 2, second, acts[1])]
                self.pieces += [first.text, joint, second.text]

    def together(self, one: Figure, other: Figure) -> None:
        """Write that two do the same: "a man and a woman are dancing", "two people are dancing"."""
        deed, who = main_deeds(one)[0], len(self.whos)
        if self.rng.random() < TWO_PEOPLE_SHARE:
            self.pieces.append("two people")
            self.whos.append(Who(persons(), least=2, most=2))
        else:
            phrases = [draw_phrase(figure, self.rng, DETAIL) for figure in (one, other)]
            self.pieces.append(" and ".join(phrase.text for phrase in phrases))
            self.whos += [phrase.who for phrase in phrases]
        words, act = draw_deed(deed, self.scene.figures, self.rng)
        acts = [self.claim_act(number, act) for number in range(who, len(self.whos))]
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
            self.orders.append(Order(last_act, act, "while" if self.pieces[joint] in AT_ONCE else "before"))

    def further(self, figure: Figure) -> None:
        """Write that there is something that does nothing."""
        phrase = draw_phrase(figure, self.rng, FULL_DETAIL if self.full else DETAIL)
        template = self.rng.choice(IN_SKY if figure.kind.role == "sky" else BESIDE)
        if template == BEHIND:
            self.behind.append((len(self.pieces), phrase, len(self.whos)))
        self.whos.append(phrase.who)
        self.pieces.append(template.format(phrase.text, is_="are" if phrase.plural else "is"))

    def finish(self) -> SceneCaption:
        """Add place and time of day, and say what can be denied."""
        scene, rng, place = self.scene, self.rng, places()[self.scene.place]
        where = [rng.choice(place.phrases)] if self.says(0.6) else []
        night = scene.night if not place.indoors and self.says(0.3) else None
        if night is not None and (night or rng.random() < DETAIL):
            where.append(rng.choice(NIGHT if night else DAY))
        else:
            night = None
        claim = Claim(tuple(self.whos), frozenset((place.name,) if where and where[0] in place.phrases else ()), night)
        claim = replace(claim, orders=tuple(self.orders))
        pieces = [*self.pieces, *where]
        if not self.mains and rng.random() < THERE_SHARE:
            pieces[0] = f"there {'are' if self.whos[0].least > 1 else 'is'} {pieces[0]}"
        if where and rng.random() < FIRST_SHARE:
            pieces = [*self.pieces, ""]
            pieces[0] = f"{' '.join(where)}, {pieces[0]}"
        said = (tuple(self.verbs), tuple(self.with_things), tuple(self.behind))
        return SceneCaption(joined(pieces), claim, tuple(pieces), said)


def _second(form: str) -> str:
    """Return the form of a second verb: "is eating and then | singing"."""
    return "{ing}" if form == "is {ing}" else form


def _without_act(claim: Claim, act: tuple[int, int]) -> Claim:
    """Leave an act out of a claim, with the orders it is part of."""
    number, left_out = act
    who = claim.whos[number]
    who = replace(who, acts=who.acts[:left_out] + who.acts[left_out + 1 :])

    def moved(place: tuple[int, int]) -> tuple[int, int]:
        return (number, place[1] - 1) if place[0] == number and place[1] > left_out else place

    orders = tuple(
        Order(moved(first), moved(second), kind) for first, second, kind in claim.orders if act not in (first, second)
    )
    return replace(claim, whos=(*claim.whos[:number], who, *claim.whos[number + 1 :]), orders=orders)


def _doer(figure: Figure, deed: Deed, adjective: str, rng: random.Random) -> Phrase:
    """Name a person by what it does: "a drummer"."""
    word, needed = rng.choice(doers_of(deed))
    act = Act(frozenset((deed.verb,)), frozenset((needed,) if needed else ()))
    noun = Noun(word, f"{word}s")
    who = Who(persons(), (act,))
    if figure.count > 1:
        text = f"{NUMBERS[figure.count]} {adjective} {noun.plural}"
        return Phrase(text, replace(who, least=figure.count, most=figure.count), True, "they")
    return Phrase(noun.with_article(adjective), who)


def _alike(one: Figure, other: Figure) -> bool:
    """Return whether two persons do the same one thing."""
    first, second = main_deeds(one), main_deeds(other)
    is_pair = len(first) == len(second) == one.count == other.count == 1
    return (
        is_pair
        and {one.kind.role, other.kind.role} == {"person"}
        and first[0] == second[0]
        and not isinstance(first[0].object, int)
    )


def describe(scene: Scene, rng: random.Random) -> SceneCaption:
    """Draw a caption of a scene, never with a negation."""
    writer = _Writer(scene, rng)
    actors = [figure for figure in scene.figures if figure.acts]
    rng.shuffle(actors)
    if not writer.full:
        actors = actors[: rng.randint(1, len(actors))]
    written: list[Figure] = []
    while actors:
        figure, gap, earlier = actors.pop(0), len(writer.pieces), len(writer.mains)
        if written:
            writer.pieces.append("")
        twin = next((other for other in actors if _alike(figure, other)), None)
        if twin and rng.random() < TOGETHER_SHARE:
            actors.remove(twin)
            writer.together(figure, twin)
        else:
            targets = [deed.object for deed in figure.deeds if isinstance(deed.object, int)]
            writer.clause(figure, any(scene.figures[target] in written for target in targets))
        if written:
            writer.relate(gap, earlier)
        written.append(figure)
    for figure in scene.figures:
        if not figure.acts and writer.says(0.5):
            writer.further(figure)
    return writer.finish()


def captions(scene: Scene, count: int, seed: int = 0) -> list[str]:
    """Return `count` distinct captions of a scene; equal seeds give equal captions."""
    rng = random.Random(f"{scene.seed}-{seed}")
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts.setdefault(describe(scene, rng).text)
    return list(texts)
