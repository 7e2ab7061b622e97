"""Captions of scenes with one thing denied: a verb, a thing worn or held, or a thing behind."""

from dataclasses import replace

from nt2vr.world.captions import SceneCaption, joined
from nt2vr.world.claims import ActOrder, ActPosition, Claim
from nt2vr.world.scene_denials import SceneDenial


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied; a few have none."""
    negated = []
    for deniable in caption.deniable:
        before = caption.pieces[: deniable.piece]
        after = caption.pieces[deniable.piece + 1 :]
        rest = _without(caption.claim, deniable.position)
        for text in deniable.denials:
            denial = SceneDenial(
                "negated",
                text=joined((*before, text, *after)),
                wanted=joined((*before, *after)),
                unwanted=deniable.unwanted,
                wanted_claim=rest,
                unwanted_claims=(deniable.claim,),
            )
            negated.append(denial)
    return negated


def _without(claim: Claim, left_out: tuple[int, int | None]) -> Claim:
    """Leave a subject out of a claim, or an act of it with the orders that the act is part of."""
    subject_number, act_number = left_out
    subjects = list(claim.subjects)
    if act_number is None:
        del subjects[subject_number]
        return replace(claim, subjects=tuple(subjects))

    subject = subjects[subject_number]
    acts = list(subject.acts)
    del acts[act_number]
    subjects[subject_number] = replace(subject, acts=tuple(acts))

    act = (subject_number, act_number)
    orders = []
    for first, second, kind in claim.orders:
        if act not in (first, second):
            first_left = _moved_up(first, act)
            second_left = _moved_up(second, act)
            orders.append(ActOrder(first_left, second_left, kind))
    return replace(claim, subjects=tuple(subjects), orders=tuple(orders))


def _moved_up(position: ActPosition, left_out: ActPosition) -> ActPosition:
    """Return the position of an act without an act of its subject."""
    subject, number = position
    same_subject, left_out_number = left_out
    if subject == same_subject and number > left_out_number:
        return subject, number - 1
    return position
