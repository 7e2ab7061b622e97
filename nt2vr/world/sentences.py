"""Negated sentences about scenes, with the exact truth of their parts.

Eight kinds: "negated", a caption with a verb or a "with" denied; "composed", A and not B;
"without", A without a thing N; "list", A without two; "not", B alone denied; "except", a kind
without one of it; "place", A but not there or not at night; "typed", "composed" or "without" as
people type them. A denial applies to everybody in the clip: "a man sings and does not dance"
requires that nobody dances. "idiom" denies nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from nt2vr.negation.generate.idioms import draw_idiom
from nt2vr.negation.generate.subjects import Subject
from nt2vr.negation.generate.wordings import draw_exclusion
from nt2vr.world.captions import NO_CAPTION, SceneCaption, describe
from nt2vr.world.casting import sample_scene
from nt2vr.world.claims import Claim, SceneMask, SceneTable, names_in, visible_in
from nt2vr.world.negated_captions import negate
from nt2vr.world.scene_denials import (
    DeniedContent,
    SceneDenial,
    SceneDenialKind,
    claim_of,
    compose,
    deny,
    deny_setting,
    deny_time,
    except_member,
)
from nt2vr.world.scenes import Figure, Scene, main_actions
from nt2vr.world.things import Noun, places, things, words_of_kind
from nt2vr.world.wording import FORMS, Done, conjugate, draw_action, draw_noun, draw_phrase

Content = TypeVar("Content", bound=DeniedContent)
# Of "not B": B is an action, otherwise a thing.
ACTION_SHARE = 0.6
# Of A: a figure alone, a whole caption; otherwise a figure with its action.
BARE_SHARE = 0.3
CAPTION_SHARE = 0.3
TWO_ACTIONS_SHARE = 0.3  # of lists
# Of places outdoors: a time of day is denied.
TIME_SHARE = 0.4
# Scenes drawn to find a B that occurs together with A.
NEAR_TRIES = 12
# Scenes drawn to find any B.
TRIES = 60
# Of looks that a wanted part mentions.
DETAIL = 0.2


class SceneDenials:
    """Negated sentences for known scenes."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self.table = SceneTable(scenes)

    def fitting(self, sentence: SceneDenial) -> SceneMask:
        """Mask of the scenes with the wanted and without any unwanted part: (N,)."""
        return self.table.holding(sentence.wanted_claim) & ~self.showing_unwanted(sentence)

    def showing_both(self, sentence: SceneDenial) -> SceneMask:
        """Mask of the hard scenes, which show the wanted and an unwanted part: (N,)."""
        return self.table.holding(sentence.wanted_claim) & self.showing_unwanted(sentence)

    def showing_unwanted(self, sentence: SceneDenial) -> SceneMask:
        """Mask of the scenes with an unwanted part: (N,)."""
        return self.table.holding_any(sentence.unwanted_claims)

    def draw(self, row: int, kind: SceneDenialKind, rng: Random) -> SceneDenial:
        """Draw a sentence that scene `row` satisfies; "negated" ones contradict it instead.

        If possible, the unwanted part occurs together with the wanted one in another scene.
        """
        return _DRAWN[kind](self, row, rng)

    def _negated(self, row: int, rng: Random) -> SceneDenial:
        for _ in range(TRIES):
            denial = self.negated(row, rng)
            if denial:
                return denial
        return self._without(row, rng)

    def negated(self, row: int, rng: Random) -> SceneDenial | None:
        """Deny one thing in the caption that `describe` draws from an equal generator.

        None if nothing can be denied.
        """
        denials = negate(describe(self._scenes[row], rng))
        return rng.choice(denials) if denials else None

    def _without(self, row: int, rng: Random) -> SceneDenial:
        wanted = self._draw_wanted(row, rng)
        absent = self._absent_things(row, wanted.claim, rng)
        return deny("without", slot="thing", wanted=wanted, denied=absent, rng=rng)

    def _list(self, row: int, rng: Random) -> SceneDenial:
        wanted = self._draw_wanted(row, rng)
        if rng.random() < TWO_ACTIONS_SHARE:
            actions = self._absent_actions(row, wanted.claim, rng, count=2)
            return deny("list", slot="two actions", wanted=wanted, denied=actions, rng=rng)
        nouns = self._absent_things(row, wanted.claim, rng, count=2)
        return deny("list", slot="two things", wanted=wanted, denied=nouns, rng=rng)

    def _not(self, row: int, rng: Random) -> SceneDenial:
        if rng.random() < ACTION_SHARE:
            actions = self._absent_actions(row, NO_CAPTION.claim, rng)
            return deny("not", slot="no action", wanted=NO_CAPTION, denied=actions, rng=rng)
        nouns = self._absent_things(row, NO_CAPTION.claim, rng)
        return deny("not", slot="no thing", wanted=NO_CAPTION, denied=nouns, rng=rng)

    def _typed(self, row: int, rng: Random) -> SceneDenial:
        """Word a sentence as people type it; a list excludes two unwanted parts."""
        draw = self._composed if rng.random() < ACTION_SHARE else self._without
        first = draw(row, rng)
        second = draw(row, rng)
        is_other = second.unwanted_claims != first.unwanted_claims
        further = second.unwanted if is_other and second.kind == first.kind else ""
        is_action = first.kind == "composed"
        text, is_list = draw_exclusion(first.wanted, first.unwanted, further, is_action, rng)
        if is_list:
            first = replace(
                first,
                unwanted=f"{first.unwanted} and {second.unwanted}",
                unwanted_claims=first.unwanted_claims + second.unwanted_claims,
            )
        return replace(first, kind="typed", text=text)

    def _idiom(self, row: int, rng: Random) -> SceneDenial:
        """Draw a sentence that denies nothing, about a caption, an action or a figure."""
        scene = self._scenes[row]
        actors = [figure for figure in scene.figures if main_actions(figure)]
        if not actors:
            # The generator has drawn an actor wherever sentences were drawn before.
            rng.choice([None])
            return self._without(row, rng)

        topics = _draw_topics(scene, rng.choice(actors), rng)
        while True:
            topic = rng.choice(topics)
            idiom = draw_idiom(topic.text, topic.actions, topic.things, rng)
            if idiom:
                return SceneDenial(
                    kind="idiom",
                    text=idiom.text,
                    wanted=idiom.wanted,
                    unwanted="",
                    wanted_claim=topic.claim,
                    unwanted_claims=(),
                )

    def _draw_wanted(self, row: int, rng: Random) -> SceneCaption:
        """Draw a caption, a figure or a figure with its action."""
        scene = self._scenes[row]
        draw = rng.random()
        if draw < CAPTION_SHARE:
            return describe(scene, rng)

        figure = rng.choice(scene.actors)
        phrase = draw_phrase(figure, rng, DETAIL)
        main = main_actions(figure)
        if not main or draw < CAPTION_SHARE + BARE_SHARE:
            return SceneCaption(phrase.text, phrase.claim)
        words, act = draw_action(rng.choice(main), scene, rng)
        verb = conjugate(words, rng.choice(FORMS), phrase.plural)
        return SceneCaption(f"{phrase.text} {verb}", phrase.claim_of(act))

    def _composed(self, row: int, rng: Random) -> SceneDenial:
        scene = self._scenes[row]
        actors = [figure for figure in scene.figures if figure.count == 1 and main_actions(figure)]
        if not actors:
            return self._without(row, rng)
        figure = rng.choice(actors)
        wanted = draw_action(rng.choice(main_actions(figure)), scene, rng)
        phrase = draw_phrase(figure, rng, DETAIL)
        claim = phrase.claim_of(wanted.act)
        (unwanted,) = self._absent_actions(row, claim, rng, role=figure.kind.role)
        return compose(phrase, wanted=wanted, unwanted=unwanted, rng=rng)

    def _except(self, row: int, rng: Random) -> SceneDenial:
        """Draw "any K but N" for a kind that the scene shows and a member that it does not."""
        present = names_in(self._scenes[row])
        kinds: list[str] = []
        for name in sorted(present):
            kinds += filter(words_of_kind, sorted(things()[name].kinds))
        rng.shuffle(kinds)
        for kind in kinds:
            members = [thing for thing in things().values() if kind in thing.kinds]
            members.sort(key=lambda thing: thing.name)
            rng.shuffle(members)
            for member in members:
                if member.noun.names.isdisjoint(present):
                    usual_word = words_of_kind(kind)[0]
                    return except_member(usual_word, member.noun, rng)
        return self._without(row, rng)

    def _place(self, row: int, rng: Random) -> SceneDenial:
        """Draw "A but not there", or, outdoors, "A but not at night"."""
        scene = self._scenes[row]
        phrase = draw_phrase(rng.choice(scene.actors), rng)
        wanted = SceneCaption(phrase.text, phrase.claim)
        if not scene.location.indoors and rng.random() < TIME_SHARE:
            return deny_time(scene, wanted, rng)

        place = self._other_place(row, wanted.claim, rng)
        phrases = places()[place].phrases
        return deny_setting("place", wanted, phrases, denied=Claim.at(place), rng=rng)

    def _other_place(self, row: int, claim: Claim, rng: Random) -> str:
        """Draw another place, if possible one where a claim holds in some scene."""
        own_place = self._scenes[row].place
        # All scenes are drawn, although the first may be enough: what is drawn later depends on it.
        for scene in list(self._others(row, claim, rng)):
            if scene.place != own_place:
                return scene.place
        return rng.choice([name for name in places() if name != own_place])

    def _absent_things(self, row: int, wanted: Claim, rng: Random, count: int = 1) -> list[Noun]:
        """Draw things that a scene does not show, if possible from scenes with the wanted part."""
        absent: list[Noun] = []
        scenes = self._others_or_any(row, wanted, rng)
        while len(absent) < count:
            nouns = list(_named(next(scenes), rng))
            absent += self._draw_new(nouns, absent=absent, row=row, rng=rng)
        return absent

    def _absent_actions(
        self, row: int, wanted: Claim, rng: Random, count: int = 1, role: str = ""
    ) -> list[Done]:
        """Draw actions that a scene does not show, if possible from scenes with the wanted part."""
        absent: list[Done] = []
        for attempt, scene in enumerate(self._others_or_any(row, wanted, rng), start=1):
            # A barrel does nothing but roll.
            if attempt == TRIES:
                role = ""
            actions = list(_done(scene, rng, role))
            absent += self._draw_new(actions, absent=absent, row=row, rng=rng)
            if len(absent) == count:
                break
        return absent

    def _draw_new(
        self, contents: list[Content], absent: Sequence[Content], row: int, rng: Random
    ) -> list[Content]:
        """Draw one that a scene does not show and that is not absent already, if there is one."""
        rng.shuffle(contents)
        for content in contents:
            claim = claim_of(content)
            is_denied = claim in map(claim_of, absent)
            if not is_denied and not claim.holds(self._scenes[row]):
                return [content]
        return []

    def _others_or_any(self, row: int, claim: Claim, rng: Random) -> Iterator[Scene]:
        """Draw other scenes for which a claim holds, then any scenes, endlessly."""
        yield from self._others(row, claim, rng)
        while True:
            yield sample_scene(rng)

    def _others(self, row: int, claim: Claim, rng: Random) -> Iterator[Scene]:
        """Draw other scenes for which a claim holds."""
        rows = np.flatnonzero(self.table.holding(claim))
        if len(rows) < 2:
            return
        for _ in range(NEAR_TRIES):
            drawn_row = int(rng.choice(rows))
            if drawn_row != row:
                yield self._scenes[drawn_row]


_DRAWN: Mapping[SceneDenialKind, Callable[[SceneDenials, int, Random], SceneDenial]] = {
    "negated": SceneDenials._negated,
    "composed": SceneDenials._composed,
    "without": SceneDenials._without,
    "list": SceneDenials._list,
    "not": SceneDenials._not,
    "except": SceneDenials._except,
    "place": SceneDenials._place,
    "typed": SceneDenials._typed,
    "idiom": SceneDenials._idiom,
}


class _Topic(NamedTuple):
    """What an idiom is about: a caption, actions or things."""

    claim: Claim
    text: str = ""
    actions: tuple[tuple[Subject, str], ...] = ()
    things: tuple[str, ...] = ()


def _draw_topics(scene: Scene, actor: Figure, rng: Random) -> tuple[_Topic, ...]:
    """Draw a caption, what an actor does, and the actor."""
    action = rng.choice(main_actions(actor))
    caption = describe(scene, rng)
    phrase = draw_phrase(actor, rng)
    words, act = draw_action(action, scene, rng)
    # An idiom about the action does not say what the actor looks like.
    doer = replace(phrase.subject, acts=(act,), colour="", size="")
    subject = Subject(
        text=phrase.text,
        pronoun="",
        is_plural=phrase.plural,
        is_human=actor.is_person,
    )
    return (
        _Topic(caption.claim, text=caption.text),
        _Topic(Claim((doer,)), actions=((subject, words),)),
        _Topic(phrase.claim, things=(phrase.text,)),
    )


def _named(scene: Scene, rng: Random) -> Iterator[Noun]:
    """Draw a word for each thing of a scene that is no person."""
    for figure in visible_in(scene):
        if not figure.is_person:
            yield draw_noun(figure.kind, rng)


def _done(scene: Scene, rng: Random, role: str) -> Iterator[Done]:
    """Draw words for each action of the figures of a role, or of all, clothes aside."""
    for figure in scene.figures:
        if role and figure.kind.role != role:
            continue
        for action in figure.doings:
            if action.verb != "wear":
                yield draw_action(action, scene, rng)
