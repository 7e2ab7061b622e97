"""Negated sentences about scenes, with the exact truth of their parts.

Eight kinds: "negated", a caption with a verb or a "with" denied; "composed", A and not B;
"without", A without a thing N; "list", A without two; "not", B alone denied; "except", a kind
without one of it; "place", A but not there or not at night; "typed", "composed" or "without" as
people type them. A denial applies to everybody in the clip: "a man sings and does not dance"
requires that nobody dances. "idiom" denies nothing. The forms are in `assets/world/denials.tsv`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nt2vr.negation.generate.actions import Subject
from nt2vr.negation.generate.composer import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.negation.generate.content import Thing as NamedThing
from nt2vr.negation.generate.denials import Denial
from nt2vr.negation.generate.wordings import draw_idiom, word
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.captions import SceneCaption, describe, joined
from nt2vr.world.claims import Act, Claim, Order, SceneTable, SubjectClaim, seen_in, shown_in
from nt2vr.world.lexicon import DAY, NIGHT
from nt2vr.world.sampling import sample_scene
from nt2vr.world.scenes import Scene, main_deeds
from nt2vr.world.things import Noun, places, read_table, things, words_of_kind
from nt2vr.world.wording import (
    FORMS,
    Phrase,
    conjugate,
    draw_deed,
    draw_noun,
    draw_phrase,
    meanings,
)

SceneDenialKind = Literal[
    "negated", "composed", "without", "list", "not", "except", "place", "typed", "idiom"
]
TEMPLATE_SHARE = 0.5  # of "A and not B": by nT2VR's twelve templates, otherwise in free forms


@dataclass(frozen=True)
class SceneDenial(Denial):
    """A negated sentence with the claims of its parts; an idiom has no unwanted one."""

    kind: SceneDenialKind  # type: ignore[assignment]
    wanted_claim: Claim
    unwanted_claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Done:
    """A deed to be denied: its phrase, with the verb as a lemma, and its act."""

    phrase: str
    act: Act

    @property
    def doing(self) -> str:
        return inflect_phrase(self.phrase, "VBG")


def claim_of(denied: Noun | Done) -> Claim:
    return Claim(
        (
            SubjectClaim(acts=(denied.act,))
            if isinstance(denied, Done)
            else SubjectClaim(meanings()[denied.word]),
        )
    )


@cache
def forms(slot: str) -> tuple[str, ...]:
    return tuple(row["form"] for row in read_table("denials") if row["slot"] == slot)


def deny(
    kind: SceneDenialKind, slot: str, said: SceneCaption, denied: list[Noun | Done], rng: Random
) -> SceneDenial:
    """Fill a form of a slot: A without things or deeds, or one of them alone if A is empty."""
    form, fields = rng.choice(forms(slot)), {"A": said.text}
    if isinstance(denied[0], Noun) and denied[0].number == "many":
        form = form.replace("there is", "there are").replace("{N} is", "{N} are")
    # {N} or {F} is the first thing or deed, {M} or {G} the second
    for each, (full, bare, plural, quoted, doing) in zip(
        denied, (("N", "n", "ns", "o", "F"), "MmxpG"), strict=False
    ):
        if isinstance(each, Done):
            fields |= {doing: each.doing, "S": inflect_phrase(each.phrase, "VBZ")}
        else:
            word = each.word.removeprefix("the ")
            term = f'"{word}"' if " " in word else word  # for a search engine
            single = word if each.number == "one" else f"bit of {word}"
            fields |= {
                full: each.with_article(),
                bare: word,
                plural: each.plural,
                quoted: term,
                "c": single,
            }
    unwanted = " or ".join(
        each.doing if isinstance(each, Done) else each.with_article() for each in denied
    )
    claims = tuple(map(claim_of, denied))
    return SceneDenial(kind, form.format(**fields), said.text, unwanted, said.claim, claims)


def compose(subject: Phrase, wanted: Done, unwanted: Done, rng: Random) -> SceneDenial:
    """Build "A and not B", by one of nT2VR's twelve templates (the six with a pronoun are for people) or freely."""
    claim = Claim(
        (SubjectClaim(subject.who.names, (wanted.act,), subject.who.colour, subject.who.size),)
    )
    if rng.random() >= TEMPLATE_SHARE:
        said = SceneCaption(
            f"{subject.text} {conjugate(wanted.phrase, rng.choice(FORMS[:3]))}", claim
        )
        return deny("composed", "deed", said, [unwanted], rng)
    template = rng.choice(
        WITH_PRONOUN + WITHOUT_PRONOUN if subject.pronoun in ("he", "she") else WITHOUT_PRONOUN
    )
    fields = {
        "S": subject.text,
        "P": subject.pronoun,
        "A": inflect_phrase(wanted.phrase, "VBZ"),
        "A_ing": wanted.doing,
        "B": unwanted.phrase,
        "B_ing": unwanted.doing,
        "does_not": rng.choice(("does not", "doesn't")),
        "is_": "is",
        "is_not": rng.choice(("is not", "isn't")),
    }
    parts = (template.text.format(**fields), template.wanted.format(**fields), unwanted.doing)
    return SceneDenial("composed", *parts, claim, (claim_of(unwanted),))


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied: verbs, things worn or held, things behind; a few have none."""
    claim, found = caption.claim, list[SceneDenial]()

    def add(piece: int, texts: Sequence[str], unwanted: str, rest: Claim, denied: Claim) -> None:
        before, after = caption.pieces[:piece], caption.pieces[piece + 1 :]
        wanted = joined((*before, *after))
        for words in texts:
            text = joined((*before, words, *after))
            found.append(SceneDenial("negated", text, wanted, unwanted, rest, (denied,)))

    for piece, verb, (who, number) in caption.verbs:
        denied = Claim((SubjectClaim(acts=(claim.subjects[who].acts[number],)),))
        add(
            piece,
            verb.denied,
            conjugate(verb.phrase, "{ing}"),
            _without_act(claim, who, number),
            denied,
        )
    for piece, words, (who, number) in caption.with_things:
        act = claim.subjects[who].acts[number]
        denied = Claim((SubjectClaim(act.objects, colour=act.colour),))
        add(piece, (f"without {words}",), words, _without_act(claim, who, number), denied)
    for piece, phrase, who in caption.behind:
        rest = replace(claim, subjects=claim.subjects[:who] + claim.subjects[who + 1 :])
        text = f"without {phrase.text} in the background"
        add(piece, (text,), phrase.text, rest, Claim((phrase.who,)))
    return found


def _without_act(claim: Claim, number: int, left_out: int) -> Claim:
    """Leave an act of a `Who` out of a claim, with the orders it is part of."""
    who = claim.subjects[number]
    who = replace(who, acts=who.acts[:left_out] + who.acts[left_out + 1 :])

    def moved(place: tuple[int, int]) -> tuple[int, int]:
        return (number, place[1] - 1) if place[0] == number and place[1] > left_out else place

    left = (
        order for order in claim.orders if (number, left_out) not in (order.first, order.second)
    )
    orders = tuple(Order(moved(first), moved(second), kind) for first, second, kind in left)
    return replace(
        claim,
        subjects=(*claim.subjects[:number], who, *claim.subjects[number + 1 :]),
        orders=orders,
    )


DEED_SHARE = 0.6  # of "not B": B is a deed, otherwise a thing
BARE_SHARE, CAPTION_SHARE = (
    0.3,
    0.3,
)  # of A: a figure alone, a whole caption; otherwise a figure with its deed
TWO_DEEDS_SHARE = 0.3  # of lists
TIME_SHARE = 0.4  # of places outdoors: a time of day is denied
NEAR_TRIES, TRIES = 12, 60  # scenes drawn to find a B that occurs together with A, and then any B


class SceneDenials:
    """Negated sentences for known scenes."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self.table = SceneTable(scenes)

    def fitting(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the scenes with the wanted and without any unwanted part: (N,)."""
        return self.table.holding(sentence.wanted_claim) & ~self.showing_unwanted(sentence)

    def showing_both(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the hard scenes, which show the wanted and an unwanted part: (N,)."""
        return self.table.holding(sentence.wanted_claim) & self.showing_unwanted(sentence)

    def showing_unwanted(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the scenes with an unwanted part: (N,)."""
        return self.table.holding_any(sentence.unwanted_claims)

    def draw(self, row: int, kind: SceneDenialKind, rng: Random) -> SceneDenial:
        """Draw a sentence that scene `row` satisfies; "negated" ones contradict it instead.

        If possible, the unwanted part occurs together with the wanted one in another scene.
        """
        drawn: SceneDenial = getattr(self, f"_{kind}")(row, rng)
        return drawn

    def _negated(self, row: int, rng: Random) -> SceneDenial:
        found = (self.negated(row, rng) for _ in range(TRIES))
        return next(filter(None, found), None) or self._without(row, rng)

    def _without(self, row: int, rng: Random) -> SceneDenial:
        said = self._said(row, rng)
        return deny("without", "thing", said, self._absent(row, said.claim, rng, Noun, 1), rng)

    def _list(self, row: int, rng: Random) -> SceneDenial:
        said = self._said(row, rng)
        sort, slot = (Done, "two deeds") if rng.random() < TWO_DEEDS_SHARE else (Noun, "two things")
        return deny("list", slot, said, self._absent(row, said.claim, rng, sort, 2), rng)

    def _not(self, row: int, rng: Random) -> SceneDenial:
        sort, slot = (Done, "no deed") if rng.random() < DEED_SHARE else (Noun, "no thing")
        return deny(
            "not", slot, SceneCaption("", Claim()), self._absent(row, Claim(), rng, sort, 1), rng
        )

    def _typed(self, row: int, rng: Random) -> SceneDenial:
        """Word a sentence as people type it; a list excludes the unwanted part of a second one of its kind, too."""
        draw = self._composed if rng.random() < DEED_SHARE else self._without
        first, second = draw(row, rng), draw(row, rng)
        is_other = second.kind == first.kind and second.unwanted_claims != first.unwanted_claims
        further = second.unwanted if is_other else ""
        text, with_other = word(
            first.wanted, first.unwanted, further, first.kind == "composed", rng
        )
        if with_other:
            both = first.unwanted_claims + second.unwanted_claims
            first = replace(
                first, unwanted=f"{first.unwanted} and {second.unwanted}", unwanted_claims=both
            )
        return replace(first, kind="typed", text=text)

    def _idiom(self, row: int, rng: Random) -> SceneDenial:
        scene = self._scenes[row]
        actor = rng.choice([figure for figure in scene.figures if main_deeds(figure)] or [None])
        if actor is None:
            return self._without(row, rng)
        deed = rng.choice(main_deeds(actor))
        caption, phrase = describe(scene, rng), draw_phrase(actor, rng)
        words, act = draw_deed(deed, scene.figures, rng)
        doing = SubjectClaim(phrase.who.names, (act,), least=phrase.who.least, most=phrase.who.most)
        subject = Subject(
            phrase.text, "", is_plural=phrase.plural, is_human=actor.kind.role == "person"
        )
        named = NamedThing(phrase.text, phrase.text, phrase.plural, "", frozenset(), frozenset())
        choices = (
            (caption.text, (), (), caption.claim),
            ("", ((subject, words),), (), Claim((doing,))),
            ("", (), (named,), Claim((phrase.who,))),
        )
        while True:
            text, done, things_named, claim = rng.choice(choices)
            if found := draw_idiom(text, done, things_named, rng):
                return SceneDenial("idiom", found.text, found.meaning, "", claim, ())

    def negated(self, row: int, rng: Random) -> SceneDenial | None:
        """Deny one thing in the caption that `describe` draws from an equal generator; None if nothing can be."""
        found = negate(describe(self._scenes[row], rng))
        return rng.choice(found) if found else None

    def _said(self, row: int, rng: Random) -> SceneCaption:
        scene, draw = self._scenes[row], rng.random()
        if draw < CAPTION_SHARE:
            return describe(scene, rng)
        figure = rng.choice(scene.actors)
        phrase, done = draw_phrase(figure, rng, 0.2), main_deeds(figure)
        if not done or draw < CAPTION_SHARE + BARE_SHARE:
            return SceneCaption(phrase.text, Claim((phrase.who,)))
        words, act = draw_deed(rng.choice(done), scene.figures, rng)
        text = f"{phrase.text} {conjugate(words, rng.choice(FORMS), phrase.plural)}"
        return SceneCaption(text, Claim((replace(phrase.who, acts=(act,)),)))

    def _composed(self, row: int, rng: Random) -> SceneDenial:
        scene = self._scenes[row]
        actors = [figure for figure in scene.figures if figure.count == 1 and main_deeds(figure)]
        if not actors:
            return self._without(row, rng)
        figure = rng.choice(actors)
        words, act = draw_deed(rng.choice(main_deeds(figure)), scene.figures, rng)
        phrase = draw_phrase(figure, rng, 0.2)
        claim = Claim((replace(phrase.who, acts=(act,)),))
        (unwanted,) = self._absent(row, claim, rng, Done, 1, figure.kind.role)
        return compose(phrase, Done(words, act), unwanted, rng)  # type: ignore[arg-type]

    def _except(self, row: int, rng: Random) -> SceneDenial:
        """Draw "any K but N" for a kind that the scene shows and a member that it does not."""
        scene = self._scenes[row]
        shown = shown_in(scene)
        of = [
            kind
            for name in sorted(shown)
            for kind in sorted(things()[name].kinds)
            if words_of_kind(kind)
        ]
        rng.shuffle(of)
        for kind in of:
            members = sorted(name for name, thing in things().items() if kind in thing.kinds)
            rng.shuffle(members)
            for name in members:
                noun = things()[name].nouns[0]
                if not meanings()[noun.word] & shown:
                    some = words_of_kind(kind)[0]
                    wanted, unwanted = some.with_article(), noun.with_article()
                    text = rng.choice(forms("except")).format(
                        k=some.word, K=wanted, N=unwanted, ns=noun.plural
                    )
                    return SceneDenial(
                        "except", text, wanted, unwanted, claim_of(some), (claim_of(noun),)
                    )
        return self._without(row, rng)

    def _place(self, row: int, rng: Random) -> SceneDenial:
        """Draw "A but not there", or, outdoors, "A but not at night" of a figure, of the place or of nothing."""
        scene = self._scenes[row]
        phrase = draw_phrase(rng.choice(scene.actors), rng)
        said, where = SceneCaption(phrase.text, Claim((phrase.who,))), places()[scene.place]
        if not where.indoors and rng.random() < TIME_SHARE:
            the_place = SceneCaption(
                where.phrases[0].partition(" ")[2], Claim(places=frozenset((where.name,)))
            )
            said = rng.choice((said, the_place, SceneCaption("", Claim())))
            slot, denied = "time" if said.text else "no time", Claim(night=not scene.night)
            phrases: Sequence[str] = NIGHT if denied.night else DAY
        else:
            near = [
                other.place
                for other in self._others(row, said.claim, rng)
                if other.place != scene.place
            ]
            place = (
                near[0] if near else rng.choice([name for name in places() if name != scene.place])
            )
            slot, denied, phrases = (
                "place",
                Claim(places=frozenset((place,))),
                places()[place].phrases,
            )
        unwanted = rng.choice(phrases)
        text = rng.choice(forms(slot)).format(A=said.text, P=unwanted)
        return SceneDenial("place", text, said.text, unwanted, said.claim, (denied,))

    def _absent(
        self,
        row: int,
        wanted: Claim,
        rng: Random,
        sort: type[Noun] | type[Done],
        count: int,
        role: str = "",
    ) -> list[Noun | Done]:
        """Draw things or deeds that a scene does not show, if possible from scenes that show the wanted part."""
        scene, found = self._scenes[row], list[Noun | Done]()
        near = self._others(row, wanted, rng)
        attempt = 0
        while len(found) < count:
            attempt += 1
            other = next(near, None) or sample_scene(rng)
            role = role if attempt < TRIES else ""  # a barrel does nothing but roll
            some: list[Noun | Done] = (
                [*_named(other, rng)] if sort is Noun else [*_done(other, rng, role)]
            )
            rng.shuffle(some)
            known = [claim_of(each) for each in found]
            new = (
                each
                for each in some
                if claim_of(each) not in known and not claim_of(each).holds(scene)
            )
            found += islice(new, 1)
        return found

    def _others(self, row: int, claim: Claim, rng: Random) -> Iterator[Scene]:
        rows = np.flatnonzero(self.table.holding(claim))
        for _ in range(NEAR_TRIES if len(rows) > 1 else 0):
            if (other := int(rows[rng.randrange(len(rows))])) != row:
                yield self._scenes[other]


def _named(scene: Scene, rng: Random) -> Iterator[Noun]:
    for figure in seen_in(scene):
        if figure.kind.role != "person":
            yield draw_noun(figure.kind, rng)


def _done(scene: Scene, rng: Random, role: str = "") -> Iterator[Done]:
    for figure in scene.figures:
        if not role or figure.kind.role == role:
            yield from (
                Done(*draw_deed(deed, scene.figures, rng))
                for deed in figure.doings
                if deed.verb != "wear"
            )
