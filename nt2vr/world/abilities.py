"""What things can be and do, by their names: the actions that suit subjects, objects and places."""

from collections.abc import Iterable

from nt2vr.world.claims import Act, SubjectClaim
from nt2vr.world.things import Names, actions, persons, things

_GAMES = frozenset({"throw", "catch", "bounce", "kick", "play ball", "game"})
# What is drawn of somebody "on" or "in" something. Where anything else is, the world cannot tell.
_PLACED = {"on": ("ride", "sled", "sit on"), "in": ("drive", "row", "sit on"), "under": ("hold",)}


def may_do(names: Names, act: Act) -> bool:
    """Return whether one of some things may do an act."""
    return not act.verbs or any(names & actions()[verb].subjects for verb in act.verbs)


def may_be(names: Names, adjectives: SubjectClaim) -> bool:
    """Return whether one of some things can be as adjectives say.

    The colour of a skin, or of many things, cannot be told.
    """
    able = names
    for act in adjectives.acts:
        for verb in act.verbs:
            able &= actions()[verb].subjects
    if not able:
        return False
    return not adjectives.colour or all(map(_has_colour, names))


def _has_colour(name: str) -> bool:
    """Return whether the colour of a thing can be told: the one it always has, or is given."""
    thing = things()[name]
    if thing.role == "person":
        return False
    return bool(thing.tint or thing.look)


def looking(names: Names, colour: str) -> Names:
    """Return those of some things that are always of a colour."""
    return frozenset(name for name in names if colour in things()[name].look)


def taking(verbs: Iterable[str], names: Names) -> Names:
    """Return those of some verbs that take one of some things for their object."""
    return frozenset(verb for verb in verbs if names & actions()[verb].objects)


def verbs_with(names: Names, verbs: Names) -> Names:
    """Return what verbs mean of some things; none if nobody does it to them.

    "Playing basketball" is throwing or bouncing it, and who sits on a horse rides it.
    """
    if verbs == {"sit on"}:
        verbs = taking(_PLACED["on"], names) or verbs
    if taking(verbs, names):
        return verbs
    if verbs == {"play"}:
        return frozenset(verb for verb in _GAMES if names <= actions()[verb].objects)
    return frozenset()


def verbs_of_place(preposition: str, subject_names: Names, names: Names) -> Names:
    """Return what subjects may do that are, say, "on" some things."""
    verbs = _PLACED.get(preposition, ())
    return frozenset(verb for verb in verbs if may_do_to(verb, subject_names, names))


def may_do_to(verb: str, subject_names: Names, names: Names) -> bool:
    kind = actions()[verb]
    if subject_names and not subject_names & kind.subjects:
        return False
    return bool(names & kind.objects)


def is_stopping(subject: SubjectClaim) -> bool:
    """Return whether a person starts or stops: what does "a woman stops" stop?"""
    if subject.names.isdisjoint(persons()):
        return False
    return any(act.verbs and act.verbs <= {"start", "stop"} for act in subject.acts)


def is_mood(verbs: Names) -> bool:
    return all(actions()[verb].layer == "mood" for verb in verbs)
