"""A claim while a phrase is read, or a caption written."""

from dataclasses import replace

from nt2vr.world.claims import Act, ActOrder, ActPosition, Claim, SubjectClaim
from nt2vr.world.scenes import ClipPart
from nt2vr.world.things import Names

ANYBODY = SubjectClaim()


class ClaimDraft:
    """The subjects, places, night and orders of a claim so far."""

    def __init__(self, is_vague: bool = False) -> None:
        """Start empty; a vague claim is seen wherever the phrase is true, but not only there."""
        self.is_vague = is_vague
        self.subjects: list[SubjectClaim] = []
        self.places: Names = frozenset()
        self.night: bool | None = None
        self.orders: list[ActOrder] = []
        self.last_act: ActPosition | None = None
        # Relation in time of the last act to the next one.
        self.joint = ""

    @property
    def subject(self) -> SubjectClaim:
        """The last subject; anybody at first."""
        if self.subjects:
            return self.subjects[-1]
        return ANYBODY

    @property
    def has_time(self) -> bool:
        """Whether acts are related in time."""
        return bool(self.orders or self.joint)

    def replace_subject(self, subject: SubjectClaim) -> None:
        self.subjects[-1] = subject

    def add_act(self, act: Act) -> ActPosition:
        """Say what the last subject does, or anybody if there is none; return where that is."""
        if not self.subjects:
            self.subjects.append(ANYBODY)
        self.set_acts(*self.subject.acts, act)
        return self.relate_act()

    def drop_act(self) -> None:
        """Forget the last act of the last subject; none is done before or while another one."""
        self.set_acts(*self.subject.acts[:-1])
        self.last_act = None

    def revise_act(self, act: Act) -> None:
        """Replace the last act of the last subject."""
        self.set_acts(*self.subject.acts[:-1], act)

    def set_acts(self, *acts: Act) -> None:
        """Replace the acts of the last subject."""
        self.subjects[-1] = replace(self.subject, acts=acts)

    def relate_act(self) -> ActPosition:
        """Note where the last act is, and its relation in time to the one before."""
        new_act = (len(self.subjects) - 1, len(self.subject.acts) - 1)
        if self.last_act is not None and self.joint:
            order = ActOrder(self.last_act, new_act)
            if self.joint == "after":
                order = ActOrder(new_act, self.last_act)
            elif self.joint == "while":
                order = order._replace(kind="while")
            self.orders.append(order)
        self.last_act = new_act
        self.joint = ""
        return new_act

    def limit_act(self, position: ActPosition, part: ClipPart) -> None:
        """Say that an act is at the start or at the end of the clip."""
        subject_number, number = position
        subject = self.subjects[subject_number]
        acts = list(subject.acts)
        acts[number] = replace(acts[number], part=part)
        self.subjects[subject_number] = replace(subject, acts=tuple(acts))

    def claim(self) -> Claim:
        return Claim(
            subjects=tuple(self.subjects),
            places=self.places,
            night=self.night,
            orders=tuple(self.orders),
            vague=self.is_vague,
        )
