"""Negated sentences drawn for scenes, with their relevant and hard scenes."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import Claim, seen_in
from nt2vr.world.negation import (
    Done,
    SceneDenial,
    SceneDenialKind,
    claim_of,
    compose,
    deny,
    deny_one_of,
    deny_place,
    deny_time,
    idiom,
    negate,
    type_out,
)
from nt2vr.world.nouns import draw_noun, draw_phrase, meanings
from nt2vr.world.sampling import sample_scene
from nt2vr.world.scenes import Scene, main_deeds
from nt2vr.world.table import SceneTable
from nt2vr.world.things import Noun, places, things, words_of_kind
from nt2vr.world.wording import FORMS, conjugate, draw_deed

DEED_SHARE = 0.6  # of "not B": B is a deed, otherwise a thing
BARE_SHARE, CAPTION_SHARE = 0.3, 0.3  # of A: a figure alone, a whole caption; otherwise a figure with its deed
TWO_DEEDS_SHARE = 0.3  # of lists
TIME_SHARE = 0.4  # of places outdoors: a time of day is denied
NEAR_TRIES, TRIES = 12, 60  # scenes drawn to find a B that occurs together with A, and then any B


class SceneDenials:
    """Negated sentences for known scenes."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Prepare sentences for, and search in, these scenes."""
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

    def draw(self, row: int, kind: SceneDenialKind, rng: random.Random) -> SceneDenial:
        """Draw a sentence that scene `row` satisfies; "negated" ones contradict it instead.

        If possible, the unwanted part occurs together with the wanted one in another scene.
        """
        scene = self._scenes[row]
        match kind:
            case "negated":
                found = (self.negated(row, rng) for _ in range(TRIES))
                return next(filter(None, found), None) or self.draw(row, "without", rng)
            case "composed":
                return self._composed(row, rng)
            case "without":
                said = self._said(scene, rng)
                return deny(kind, "thing", said, self._absent(row, said.claim, rng, Noun, 1), rng)
            case "list":
                said = self._said(scene, rng)
                sort, slot = (Done, "two deeds") if rng.random() < TWO_DEEDS_SHARE else (Noun, "two things")
                return deny(kind, slot, said, self._absent(row, said.claim, rng, sort, 2), rng)
            case "not":
                sort, slot = (Done, "no deed") if rng.random() < DEED_SHARE else (Noun, "no thing")
                return deny(kind, slot, SceneCaption("", Claim()), self._absent(row, Claim(), rng, sort, 1), rng)
            case "except":
                return self._except(row, rng)
            case "place":
                return self._place(row, rng)
            case "typed":
                alike: SceneDenialKind = "composed" if rng.random() < DEED_SHARE else "without"
                return type_out(self.draw(row, alike, rng), self.draw(row, alike, rng), rng)
            case "idiom":
                actor = rng.choice([figure for figure in scene.figures if main_deeds(figure)] or [None])
                if actor is None:
                    return self.draw(row, "without", rng)
                deed = rng.choice(main_deeds(actor))
                return idiom(describe(scene, rng), actor, deed, scene, rng)

    def negated(self, row: int, rng: random.Random) -> SceneDenial | None:
        """Deny one thing in the caption that `describe` draws from an equal generator; None if nothing can be."""
        found = negate(describe(self._scenes[row], rng))
        return rng.choice(found) if found else None

    def _said(self, scene: Scene, rng: random.Random) -> SceneCaption:
        """Draw a wanted part that holds for a scene."""
        draw = rng.random()
        if draw < CAPTION_SHARE:
            return describe(scene, rng)
        figure = rng.choice([figure for figure in scene.figures if figure.acts])
        phrase, done = draw_phrase(figure, rng, 0.2), main_deeds(figure)
        if not done or draw < CAPTION_SHARE + BARE_SHARE:
            return SceneCaption(phrase.text, Claim((phrase.who,)))
        words, act = draw_deed(rng.choice(done), scene.figures, rng)
        text = f"{phrase.text} {conjugate(words, rng.choice(FORMS), phrase.plural)}"
        return SceneCaption(text, Claim((replace(phrase.who, acts=(act,)),)))

    def _composed(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "A and not B" of one actor."""
        scene = self._scenes[row]
        actors = [figure for figure in scene.figures if figure.count == 1 and main_deeds(figure)]
        if not actors:
            return self.draw(row, "without", rng)
        figure = rng.choice(actors)
        words, act = draw_deed(rng.choice(main_deeds(figure)), scene.figures, rng)
        phrase = draw_phrase(figure, rng, 0.2)
        claim = Claim((replace(phrase.who, acts=(act,)),))
        (unwanted,) = self._absent(row, claim, rng, Done, 1, figure.kind.role)
        return compose(phrase, Done(words, act), unwanted, rng)  # type: ignore[arg-type]

    def _except(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "any K but N" for a kind that the scene shows and a member that it does not."""
        scene = self._scenes[row]
        shown = {figure.thing for figure in seen_in(scene)}
        of = [kind for name in sorted(shown) for kind in sorted(things()[name].kinds) if words_of_kind(kind)]
        rng.shuffle(of)
        for kind in of:
            members = sorted(name for name, thing in things().items() if kind in thing.kinds)
            rng.shuffle(members)
            for name in members:
                noun = things()[name].nouns[0]
                if not meanings()[noun.word] & shown:
                    return deny_one_of(words_of_kind(kind)[0], noun, rng)
        return self.draw(row, "without", rng)

    def _place(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "A but not there", or, outdoors, "A but not at night" of a figure, of the place or of nothing."""
        scene = self._scenes[row]
        figure = rng.choice([figure for figure in scene.figures if figure.acts])
        phrase = draw_phrase(figure, rng)
        claim = Claim((phrase.who,))
        where = places()[scene.place]
        if not where.indoors and rng.random() < TIME_SHARE:
            the_place = SceneCaption(where.phrases[0].partition(" ")[2], Claim(places=frozenset((where.name,))))
            said = rng.choice((SceneCaption(phrase.text, claim), the_place, SceneCaption("", Claim())))
            return deny_time(said, not scene.night, rng)
        near = [other.place for other in self._others(row, claim, rng) if other.place != scene.place]
        place = near[0] if near else rng.choice([name for name in places() if name != scene.place])
        return deny_place(SceneCaption(phrase.text, claim), place, rng)

    def _absent(
        self, row: int, wanted: Claim, rng: random.Random, sort: type[Noun] | type[Done], count: int, role: str = ""
    ) -> list[Noun | Done]:
        """Draw things or deeds that a scene does not show, if possible from scenes that show the wanted part."""
        scene, found = self._scenes[row], list[Noun | Done]()
        near = self._others(row, wanted, rng)
        attempt = 0
        while len(found) < count:
            attempt += 1
            other = next(near, None) or sample_scene(rng)
            role = role if attempt < TRIES else ""  # a barrel does nothing but roll
            some: list[Noun | Done] = [*_named(other, rng)] if sort is Noun else [*_done(other, rng, role)]
            rng.shuffle(some)
            for each in some:
                known = set(map(claim_of, found))
                if claim_of(each) not in known and not claim_of(each).holds(scene):
                    found.append(each)
                    break
        return found

    def _others(self, row: int, claim: Claim, rng: random.Random) -> Iterator[Scene]:
        """Yield some other scenes for which a claim holds."""
        rows = np.flatnonzero(self.table.holding(claim))
        for _ in range(NEAR_TRIES if len(rows) > 1 else 0):
            if (other := int(rows[rng.randrange(len(rows))])) != row:
                yield self._scenes[other]


def _named(scene: Scene, rng: random.Random) -> Iterator[Noun]:
    """Yield the things of a scene but persons, as they may be denied."""
    for figure in seen_in(scene):
        if figure.kind.role != "person":
            yield draw_noun(figure.kind, rng)


def _done(scene: Scene, rng: random.Random, role: str = "") -> Iterator[Done]:
    """Yield what the actors of a scene do, perhaps only those of a role."""
    for figure in scene.figures:
        if not role or figure.kind.role == role:
            yield from (Done(*draw_deed(deed, scene.figures, rng)) for deed in figure.doings if deed.verb != "wear")
