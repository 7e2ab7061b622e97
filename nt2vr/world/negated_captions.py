"""Captions of scenes with one thing denied: a verb, a thing worn or held, or a thing behind."""

from dataclasses import replace

from nt2vr.world.captions import IN_BACKGROUND, Position, SceneCaption, joined
from nt2vr.world.claims import ActOrder, ActPosition, Claim, SubjectClaim
from nt2vr.world.scene_denials import SceneDenial
from nt2vr.world.wording import Verb


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied; a few have none."""
    negated = []
    for piece, words, position in caption.deniable:
        before = caption.pieces[:piece]
        after = caption.pieces[piece + 1 :]
        rest = _without(caption.claim, position)
        denied = _denied(caption.claim, position)
        if isinstance(words, Verb):
            texts = words.denied
            unwanted = words.doing
        else:
            texts = (f"without {words}",)
            unwanted = words.removesuffix(IN_BACKGROUND)
        for text in texts:
            denial = SceneDenial(
                "negated",
                text=joined((*before, text, *after)),
                wanted=joined((*before, *after)),
                unwanted=unwanted,
                wanted_claim=rest,
                unwanted_claims=(denied,),
            )
            negated.append(denial)
    return negated


def _denied(claim: Claim, position: Position) -> Claim:
    """Return the claim of what is denied: an act, a thing that is worn or held, or a subject."""
    subject_number, act_number = position
    subject = claim.subjects[subject_number]
    if act_number is None:
        return Claim((subject,))
    act = subject.acts[act_number]
    # What is worn or held is claimed without a verb.
    if act.verbs:
        return Claim.of_act(act)
    return Claim((SubjectClaim(act.objects, colour=act.colour),))


def _without(claim: Claim, left_out: Position) -> Claim:
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
            orders.append(ActOrder(_moved_up(first, act), _moved_up(second, act), kind))
    return replace(claim, subjects=tuple(subjects), orders=tuple(orders))


def _moved_up(position: ActPosition, left_out: ActPosition) -> ActPosition:
    """Return the position of an act without an act of its subject."""
    subject, number = position
    if subject == left_out[0] and position > left_out:
        return subject, number - 1
    return position
