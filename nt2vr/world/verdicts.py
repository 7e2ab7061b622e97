"""Verdicts on clips of the built-in world, and what the world can say about a query."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed
from nt2vr.search.judge import Verdict
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.meant import read_as_meant
from nt2vr.world.query_claims import read_query
from nt2vr.world.scenes import Action, Figure, Scene, main_actions
from nt2vr.world.things import ACTING, Names, plural_of, roles_of
from nt2vr.world.words import UNKNOWN, PhraseWord, words_in

# Scenes that are kept: those of the built-in gallery, which searches judge again and again.
MAX_SCENES = 1024
MAX_VERDICTS = 4096


def judge(query: Query, scene: Scene) -> Verdict | None:
    """Judge a clip.

    Returns:
        "violation" if it shows an unwanted part, "miss" if it lacks a wanted one, otherwise
        "right"; None if that cannot be told.
    """
    claims = read_query(query)
    unwanted = [part.shown_in(scene) for part in claims.unwanted]
    if True in unwanted:
        return "violation"
    wanted = [part.shown_in(scene) for part in claims.wanted]
    if False in wanted:
        return "miss"
    if None in wanted or None in unwanted:
        return None
    return "right" if wanted or unwanted else None


def judge_video(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a video of the built-in world, optionally next to a reference from it.

    The verdict is None for any other video.
    """
    if video.scene is None:
        return None
    return _judge_clip(query, video, reference)


# Columns of an answer have many clips in common, and visitors many queries.
@lru_cache(MAX_VERDICTS)
def _judge_clip(query: Query, video: Video, reference: Video | None) -> Verdict | None:
    scene = scene_of(video)
    if scene is None:
        return None
    if reference is None:
        return judge(query, scene)
    before = scene_of(reference)
    if before is None:
        return None
    return judge_edit(query, before, scene)


@lru_cache(MAX_SCENES)
def scene_of(video: Video) -> Scene | None:
    """Return the scene of a video, with what its pictures wear; None outside the built-in world."""
    if video.scene is None:
        return None
    try:
        return Scene.from_dict(video.scene).dressed
    except (KeyError, TypeError):
        return None


def judge_edit(query: Query, before: Scene, scene: Scene) -> Verdict | None:
    """Judge a clip next to a reference.

    A clip that the text calls right must also show the actors that the text does not change, doing
    the same as in the reference; otherwise it is a "miss". Places, looks, things and further actors
    do not count. A change of an actor leaves the rest of it: "reading instead of dancing" asks for
    the same dancer.
    """
    verdict = judge(query, scene)
    has_parts = bool(query.wanted or query.unwanted)
    if verdict == "violation" or (verdict is None and has_parts):
        return verdict

    required = Claim(tuple(_required(query, before)))
    if not required.holds(scene):
        return "miss"
    return verdict or "right"


def _required(query: Query, before: Scene) -> Iterator[SubjectClaim]:
    """Yield the wanted subjects, each as the actor that it changes, and the unchanged actors."""
    unwanted = _subjects_of(query.unwanted)
    removed = []
    for actor in before.actors:
        if any(subject.fits(actor, before) for subject in unwanted):
            removed.append(actor)
    removed_names = frozenset(actor.thing for actor in removed)
    remaining = [actor for actor in before.actors if actor.thing not in removed_names]

    for subject in _subjects_of(query.wanted):
        changed = _take_changed(subject, remaining, removed)
        yield _completed(subject, changed=changed, before=before, removed_names=removed_names)
    for actor in remaining:
        yield _completed(SubjectClaim(), changed=actor, before=before, removed_names=removed_names)


def _subjects_of(parts: tuple[str, ...]) -> list[SubjectClaim]:
    subjects: list[SubjectClaim] = []
    for part in parts:
        claim = read_as_meant(part)
        if claim and not claim.vague:
            subjects += claim.subjects
    return subjects


def _take_changed(
    subject: SubjectClaim, remaining: list[Figure], removed: list[Figure]
) -> Figure | None:
    """Take the actor that a description changes off its list.

    It is a remaining actor, or a removed one, first of its kind: a student replaces a boy, not a
    train.
    """
    for actor in remaining:
        if actor.thing in subject.names:
            remaining.remove(actor)
            return actor
    if not removed:
        return None

    roles = roles_of(subject.names)
    is_thing = bool(roles) and roles.isdisjoint(ACTING) and not subject.acts
    # "A chair" replaces nobody.
    if is_thing:
        return None
    replaced = min(removed, key=lambda actor: actor.kind.role not in roles)
    removed.remove(replaced)
    return replaced


def _completed(
    subject: SubjectClaim, changed: Figure | None, before: Scene, removed_names: Names
) -> SubjectClaim:
    """Complete a description by what an actor of the reference is and does.

    Clothes leave its actions as they are.
    """
    if changed is None:
        return subject
    names = subject.names or frozenset((changed.thing,))
    acts = list(subject.acts)
    if all(act.verbs <= {"wear"} for act in subject.acts):
        acts += [_act_of(action, before, removed_names) for action in main_actions(changed)]
    return replace(subject, names=names, acts=tuple(acts))


def _act_of(action: Action, before: Scene, removed_names: Names) -> Act:
    """Describe an action; one that was done to a removed actor may be done to anybody."""
    act = Act.of(action.verb, action.thing)
    if action.target is None:
        return act
    return replace(act, targets=frozenset((before.target_of(action),)) - removed_names)


class UnknownWord(NamedTuple):
    """A word that the world lacks, and words for what it has instead."""

    word: str
    near: tuple[str, ...]


def unknown_words(query: Query) -> list[UnknownWord]:
    """List the words of a query that the world lacks, or knows only by what they are a sort of."""
    unknown = {}
    for part in (*query.wanted, *query.unwanted):
        for word in words_in(part):
            near = word.meaning.near
            if near and word.meaning.plural:
                near = tuple(map(plural_of, near))
            if near or _is_unknown(word):
                unknown[word.typed] = UnknownWord(word.typed, near)
    return list(unknown.values())


def _is_unknown(word: PhraseWord) -> bool:
    if word.meaning != UNKNOWN or not word.first.isalpha():
        return False
    return word.first not in listed("function_words", "stop_words")
