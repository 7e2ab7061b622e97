"""Captions of scenes with one thing denied: a verb, a thing worn or held, or a thing behind."""

from collections.abc import Iterator
from dataclasses import replace

from nt2vr.world.captions import SceneCaption, joined
from nt2vr.world.claims import ActOrder, ActPosition, Claim, SubjectClaim
from nt2vr.world.scene_denials import SceneDenial


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied; a few have none."""
    return [
        *_without_verbs(caption),
        *_without_things(caption),
        *_without_background(caption),
    ]


def _without_verbs(caption: SceneCaption) -> Iterator[SceneDenial]:
    for piece, verb, position in caption.verbs:
        rest = _without_act(caption.claim, position)
        denied = Claim.of_act(caption.claim.act_at(position))
        unwanted = verb.doing
        for text in verb.denied:
            yield _denial_of_piece(
                caption, piece=piece, text=text, unwanted=unwanted, rest=rest, denied=denied
            )


def _without_things(caption: SceneCaption) -> Iterator[SceneDenial]:
    for piece, words, position in caption.with_things:
        rest = _without_act(caption.claim, position)
        act = caption.claim.act_at(position)
        denied = Claim((SubjectClaim(act.objects, colour=act.colour),))
        yield _denial_of_piece(
            caption, piece=piece, text=f"without {words}", unwanted=words, rest=rest, denied=denied
        )


def _without_background(caption: SceneCaption) -> Iterator[SceneDenial]:
    for piece, phrase, number in caption.behind:
        subjects = list(caption.claim.subjects)
        del subjects[number]
        rest = replace(caption.claim, subjects=tuple(subjects))
        text = f"without {phrase.text} in the background"
        yield _denial_of_piece(
            caption, piece=piece, text=text, unwanted=phrase.text, rest=rest, denied=phrase.claim
        )


def _denial_of_piece(
    caption: SceneCaption, piece: int, text: str, unwanted: str, rest: Claim, denied: Claim
) -> SceneDenial:
    """Return a caption with another text for one of its pieces, which denies it."""
    before = caption.pieces[:piece]
    after = caption.pieces[piece + 1 :]
    return SceneDenial(
        "negated",
        text=joined((*before, text, *after)),
        wanted=joined((*before, *after)),
        unwanted=unwanted,
        wanted_claim=rest,
        unwanted_claims=(denied,),
    )


def _without_act(claim: Claim, left_out: ActPosition) -> Claim:
    """Leave an act of a subject out of a claim, with the orders it is part of."""
    number, act_number = left_out
    subjects = list(claim.subjects)
    acts = list(subjects[number].acts)
    del acts[act_number]
    subjects[number] = replace(subjects[number], acts=tuple(acts))

    orders = []
    for first, second, kind in claim.orders:
        if left_out not in (first, second):
            first_left = _moved_up(first, left_out)
            second_left = _moved_up(second, left_out)
            orders.append(ActOrder(first_left, second_left, kind))
    return replace(claim, subjects=tuple(subjects), orders=tuple(orders))


def _moved_up(position: ActPosition, left_out: ActPosition) -> ActPosition:
    """Return the position of an act without an act of its subject."""
    subject, number = position
    same_subject, left_out_number = left_out
    if subject == same_subject and number > left_out_number:
        return subject, number - 1
    return position
