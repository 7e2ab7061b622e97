"""The claim of one part of a query, and whether a scene shows it."""

from dataclasses import replace
from typing import NamedTuple

from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.scenes import Scene
from nt2vr.world.things import meanings


class PartClaim(NamedTuple):
    """The claim of one part of a query, and perhaps who must not do or wear it.

    Attributes:
        claim: None if it cannot be told.
        subjects: those who are denied an act.
        act: the act.
        by_any: whether one who does it is enough: "neither the man nor the woman".
        other_reading: the claim with a thing read as the place of that name, or vice versa. One of
            the two readings is enough.
    """

    claim: Claim | None
    subjects: tuple[SubjectClaim, ...] = ()
    act: Act = Act()
    by_any: bool = False
    other_reading: Claim | None = None

    @property
    def readings(self) -> tuple[Claim, ...]:
        """The claims of which one is enough; none if it cannot be told."""
        return tuple(filter(None, (self.claim, self.other_reading)))

    def shown_in(self, scene: Scene) -> bool | None:
        """Return whether a scene shows it; None if that cannot be told."""
        if self.claim is None:
            return None
        if not any(claim.holds(scene) for claim in self.readings):
            return False
        if self.claim.vague:
            return None
        if not self.subjects:
            return True

        done = {_does(subject, self.act, scene) for subject in self.subjects}
        if done == {True} or (self.by_any and True in done):
            return True
        # A hat may be somebody else's.
        if self.act.verbs and done == {False}:
            return False
        return None


def _does(subject: SubjectClaim, act: Act, scene: Scene) -> bool | None:
    """Return whether a subject does something; None if one does and another one does not.

    Where nobody does all that the subject does, somebody of its kind counts: a man who sings, of "a
    man reading".
    """
    fitting = subject.fitting(scene.figures, scene)
    if not fitting and not subject.names >= meanings()["person"]:
        fitting = replace(subject, acts=()).fitting(scene.figures, scene)
    done = {act.is_done_by(figure, scene) for figure in fitting}
    if done == {True, False}:
        return None
    return True in done
