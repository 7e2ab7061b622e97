"""Captions of scenes in varied wordings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from nt2vr.negation.parse.inflect import is_or_are
from nt2vr.world.claim_draft import ClaimDraft
from nt2vr.world.claims import Act, ActOrder, ActPosition, Claim, SubjectClaim
from nt2vr.world.scenes import Action, Figure, Scene, main_actions
from nt2vr.world.small_words import DAY, NIGHT, PARTS
from nt2vr.world.things import Layer, persons
from nt2vr.world.wording import (
    FORMS,
    SEQUENCES,
    NounPhrase,
    Verb,
    conjugate,
    draw_action,
    draw_object,
    draw_phrase,
    join_in_turn,
    name_doer,
)

# Captions of the complete scene; others omit figures, looks, actions or the place.
FULL_SHARE = 0.5
# Of what partial captions mention: looks, a second action, things that do nothing, place and time.
DETAIL = 0.35
SECOND_ACTION_SHARE = 0.5
THING_SHARE = 0.5
PLACE_SHARE = 0.6
TIME_SHARE = 0.3
# Of looks that captions of the complete scene mention.
FULL_DETAIL = 0.9
# Of persons with one action: "a drummer".
DOER_SHARE = 0.1
# Of single actions with a thing: "a man with a guitar".
WITH_SHARE = 0.1
# Of actions in one half of the clip.
PART_SHARE = 0.35
# Of moods: "a happy man".
ADJECTIVE_SHARE = 0.6
# Of pairs that do the same.
TOGETHER_SHARE = 0.6
# Of those: "two people are dancing".
TWO_PEOPLE_SHARE = 0.4
# Of captions without a verb: "there is a dog".
THERE_SHARE = 0.3
# Of captions with a place or time, which come first.
FIRST_SHARE = 0.15
IN_BACKGROUND = " in the background"
BEHIND = f"with {{}}{IN_BACKGROUND}"

JOINTS = (" and ", ", and ", ", ")
AT_ONCE = (" while ", " as ")
IN_TURN = (", then ", ", and then ", " before ")
WORN = ("wearing {}", "with {} on", "in {}", "with {}")
BESIDE = ("next to {}", "near {}", "beside {}", BEHIND, ", there {is_} {}", "and {}")
IN_SKY = ("with {} in the sky", "under {}", ", there {is_} {} in the sky")


# Number of a subject, and of its act; None for the subject as a whole.
Position = tuple[int, int | None]


class Deniable(NamedTuple):
    """A piece of a caption that can be denied.

    Attributes:
        piece: its number.
        words: a verb, or words for what is worn, held or in the background.
        position: of the act, or of the subject in the background.
    """

    piece: int
    words: Verb | str
    position: Position


@dataclass(frozen=True)
class SceneCaption:
    """A sentence and its claim, which holds for its own scene and possibly for others.

    Attributes:
        text: the sentence.
        claim: what it says.
        pieces: the parts of the sentence.
        deniable: the verbs that can be denied, then what is worn or held, and what is behind.
    """

    text: str
    claim: Claim
    pieces: tuple[str, ...] = ()
    deniable: tuple[Deniable, ...] = ()


NO_CAPTION = SceneCaption("", Claim())


def joined(pieces: Sequence[str]) -> str:
    """Join the pieces of a sentence."""
    text = " ".join(pieces).replace(" ,", ",")
    return " ".join(text.split()).strip(" ,")


class _SaidAction(NamedTuple):
    """An action that a clause is about, where its act is claimed, and the verb for it."""

    action: Action
    act: ActPosition
    verb: Verb


@dataclass
class _Clause:
    """What a clause is to say of a figure; actions that are said with a noun are taken off.

    Attributes:
        figure: its subject.
        main: what it does, in turn.
        mood: how it feels.
        worn: the action of wearing something.
    """

    figure: Figure
    main: list[Action]
    mood: Action | None
    worn: Action | None

    @property
    def doers(self) -> list[tuple[str, str]]:
        """Words for a person who does one thing, each with the object it needs."""
        if self.figure.is_person and len(self.main) == 1:
            return self.main[0].doers
        return []


class _Writer:
    """Writes one caption, piece by piece, together with its claim."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene = scene
        self.rng = rng
        self.is_full = self.happens(FULL_SHARE)
        # The share of looks that are mentioned.
        self.detail = FULL_DETAIL if self.is_full else DETAIL
        self.pieces: list[str] = []
        self.draft = ClaimDraft()
        self.clauses: list[_SaidAction] = []
        self.verbs: list[Deniable] = []
        self.with_things: list[Deniable] = []
        self.behind: list[Deniable] = []
        self.written: list[Figure] = []

    def says(self, share: float = DETAIL) -> bool:
        """Draw whether something is mentioned that captions of the complete scene always mention."""
        return self.is_full or self.happens(share)

    def happens(self, share: float) -> bool:
        """Draw whether this is one of a share of cases."""
        return self.rng.random() < share

    def write_actor(self, figure: Figure, further: list[Figure]) -> None:
        """Write what an actor does, perhaps together with a further one.

        That one is then taken off the list.
        """
        gap = len(self.pieces)
        num_clauses_before = len(self.clauses)
        if self.written:
            self.pieces.append("")

        twin = next((actor for actor in further if _do_the_same(figure, actor)), None)
        if twin is not None and self.happens(TOGETHER_SHARE):
            further.remove(twin)
            self._write_together(figure, twin)
        else:
            self._write_clause(figure)
        if self.written:
            self._join_clauses(gap, num_clauses_before)
        self.written.append(figure)

    def _write_clause(self, figure: Figure) -> None:
        main = main_actions(figure)
        if len(main) > 1 and not self.says(SECOND_ACTION_SHARE):
            main = [self.rng.choice(main)]
        clause = _Clause(
            figure,
            main=main,
            mood=self._mentioned(figure, "mood"),
            worn=self._mentioned(figure, "worn"),
        )

        phrase = self._write_subject(clause)
        self._write_thing(clause)
        if clause.mood and not clause.main:
            clause.main = [clause.mood]
            clause.mood = None
        form = self.rng.choice(FORMS)
        self._write_predicate(clause, form, phrase.plural)
        if clause.mood:
            words, act = draw_action(clause.mood, self.scene, self.rng)
            self.draft.add_act(act)
            self.pieces += ["and", conjugate(words, _without_helper(form), phrase.plural)]

    def _mentioned(self, figure: Figure, layer: Layer) -> Action | None:
        """Return the action of a layer, if there is one and the caption mentions it."""
        for action in reversed(figure.actions):
            if action.kind.layer == layer:
                return action if self.says() else None
        return None

    def _write_subject(self, clause: _Clause) -> NounPhrase:
        """Name a figure, perhaps by its mood and by what it does."""
        mood = clause.mood
        adjective = ""
        if mood and self.happens(ADJECTIVE_SHARE):
            adjective, _ = self.rng.choice(mood.kind.doers)
            clause.mood = None
        phrase = draw_phrase(clause.figure, self.rng, self.detail, mood=adjective)

        doers = clause.doers
        if doers and self.happens(DOER_SHARE):
            word, needed = self.rng.choice(doers)
            act = Act.of(clause.main[0].verb, needed)
            phrase = name_doer(clause.figure.count, word, act=act, adjective=adjective)
            clause.main = []

        self.draft.subjects.append(phrase.subject)
        self.pieces.append(phrase.text)
        if mood and adjective:
            self.draft.add_act(Act.of(mood.verb))
        return phrase

    def _write_thing(self, clause: _Clause) -> None:
        """Write what is worn, or perhaps "with" what a single action is done to."""
        action = clause.worn
        if action is None:
            has_thing = len(clause.main) == 1 and clause.main[0].thing
            if not has_thing or not self.happens(WITH_SHARE):
                return
            action = clause.main.pop()

        words, act = draw_object(action, self.rng)
        position = self.draft.add_act(act)
        self.with_things.append(Deniable(len(self.pieces), words, position))
        template = self.rng.choice(WORN) if clause.worn else "with {}"
        self.pieces.append(template.format(words))

    def _write_predicate(self, clause: _Clause, form: str, is_plural: bool) -> None:
        """Write what a figure does: one thing, or two in turn."""
        named = [figure.thing for figure in self.written]
        was_named = any(self.scene.target_of(action) in named for action in clause.figure.actions)
        said = []
        for action in clause.main:
            words, act = draw_action(action, self.scene, self.rng, was_named=was_named)
            position = self.draft.add_act(act)
            said.append(_SaidAction(action, position, Verb(words, form, is_plural)))
        if not said:
            return

        self.clauses.append(said[0])
        if len(said) == 2:
            self._write_sequence(*said)
        else:
            self._write_verb(said[0])

    def _write_verb(self, said: _SaidAction) -> None:
        """Write a verb, perhaps with the half of the clip in which the action is done."""
        part = said.action.part
        if part and self.happens(PART_SHARE):
            self.draft.limit_act(said.act, part)
            self.pieces += [said.verb.text, self.rng.choice(PARTS[part])]
        else:
            self._write_deniable(said.verb, said.act)

    def _write_deniable(self, verb: Verb, act: ActPosition) -> None:
        """Write a verb that can be denied."""
        self.verbs.append(Deniable(len(self.pieces), verb, act))
        self.pieces.append(verb.text)

    def _write_sequence(self, first: _SaidAction, second: _SaidAction) -> None:
        """Write two verbs, one after the other."""
        self.draft.orders.append(ActOrder(first.act, second.act))
        joint = self.rng.choice(SEQUENCES)
        if joint in ("before", "after"):
            self.pieces += join_in_turn(first.verb, second.verb, joint)
            return

        self._write_deniable(first.verb, first.act)
        self.pieces.append(joint)
        bare_verb = replace(second.verb, form=_without_helper(second.verb.form))
        self._write_deniable(bare_verb, second.act)

    def _write_together(self, first: Figure, second: Figure) -> None:
        """Write that two do the same: "a man and a woman are dancing", "two people are dancing"."""
        if self.happens(TWO_PEOPLE_SHARE):
            text = "two people"
            subjects = [SubjectClaim(persons(), least=2, most=2)]
        else:
            phrases = [draw_phrase(figure, self.rng, DETAIL) for figure in (first, second)]
            text = " and ".join(phrase.text for phrase in phrases)
            subjects = [phrase.subject for phrase in phrases]

        (action,) = main_actions(first)
        words, act = draw_action(action, self.scene, self.rng)
        verb = Verb(words, self.rng.choice(FORMS), plural=True)
        self.clauses.append(_SaidAction(action, (len(self.draft.subjects), 0), verb))
        for subject in subjects:
            self.draft.subjects.append(replace(subject, acts=(act,)))
        self.pieces += [text, verb.text]

    def _join_clauses(self, gap: int, num_clauses_before: int) -> None:
        """Fill the gap between two clauses, perhaps with a word of time, and claim the order.

        A word of time needs a verb in both clauses.
        """
        has_verbs = len(self.clauses) > num_clauses_before > 0
        if not has_verbs:
            self.pieces[gap] = self.rng.choice(JOINTS)
            return

        last, new = self.clauses[-2:]
        order = ActOrder(last.act, new.act, "before")
        joints = list(JOINTS)
        if order.holds(last.action, new.action):
            joints += IN_TURN * 2
        else:
            order = order._replace(kind="while")
            if order.holds(last.action, new.action):
                joints += AT_ONCE

        joint = self.rng.choice(joints)
        self.pieces[gap] = joint
        if joint not in JOINTS:
            self.draft.orders.append(order)

    def write_thing(self, figure: Figure) -> None:
        """Write that there is something that does nothing."""
        phrase = draw_phrase(figure, self.rng, self.detail)
        templates = IN_SKY if figure.kind.role == "sky" else BESIDE
        template = self.rng.choice(templates)
        if template == BEHIND:
            position = (len(self.draft.subjects), None)
            thing = Deniable(len(self.pieces), f"{phrase.text}{IN_BACKGROUND}", position)
            self.behind.append(thing)
        self.draft.subjects.append(phrase.subject)
        self.pieces.append(template.format(phrase.text, is_=is_or_are(phrase.plural)))

    def _draw_setting(self) -> list[str]:
        """Draw words for place and time of day, perhaps none, and claim them."""
        place = self.scene.location
        words = []
        if self.says(PLACE_SHARE):
            words.append(self.rng.choice(place.phrases))
            self.draft.places = frozenset((place.name,))
        if place.indoors or not self.says(TIME_SHARE):
            return words

        is_night = self.scene.night
        if is_night or self.happens(DETAIL):
            words.append(self.rng.choice(NIGHT if is_night else DAY))
            self.draft.night = is_night
        return words

    def finish(self) -> SceneCaption:
        """Add place and time of day, and say what can be denied."""
        setting = self._draw_setting()
        pieces = self.pieces + setting
        if not self.clauses and self.happens(THERE_SHARE):
            verb = is_or_are(self.draft.subjects[0].least > 1)
            pieces[0] = f"there {verb} {pieces[0]}"
        if setting and self.happens(FIRST_SHARE):
            first, *later = self.pieces
            first = f"{' '.join(setting)}, {first}"
            pieces = [first, *later]
        return SceneCaption(
            text=joined(pieces),
            claim=self.draft.claim(),
            pieces=tuple(pieces),
            deniable=(*self.verbs, *self.with_things, *self.behind),
        )


def _without_helper(form: str) -> str:
    """Return the form of a second verb: "is eating and then | singing"."""
    return form.removeprefix("is ")


def _do_the_same(first: Figure, second: Figure) -> bool:
    """Return whether two are single persons that do the same one thing, to no other figure."""
    for figure in (first, second):
        if not figure.is_person or figure.count > 1:
            return False
    done = main_actions(first)
    if len(done) != 1 or done[0].target is not None:
        return False
    return done == main_actions(second)


def describe(scene: Scene, rng: Random) -> SceneCaption:
    """Draw a caption of a scene, never with a negation."""
    writer = _Writer(scene, rng)
    actors = scene.actors
    rng.shuffle(actors)
    if not writer.is_full:
        actors = actors[: rng.randint(1, len(actors))]
    while actors:
        writer.write_actor(actors.pop(0), actors)
    for figure in scene.figures:
        if not figure.is_actor and writer.says(THING_SHARE):
            writer.write_thing(figure)
    return writer.finish()


def captions(scene: Scene, count: int, seed: int = 0) -> list[str]:
    """Return `count` distinct captions of a scene; equal seeds give equal captions."""
    rng = Random(f"{scene.seed}-{seed}")
    texts: list[str] = []
    while len(texts) < count:
        text = describe(scene, rng).text
        if text not in texts:
            texts.append(text)
    return texts
