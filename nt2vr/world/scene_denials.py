"""Negated sentences about scenes, of given content: the forms are in `assets/world/denials.tsv`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal

from nt2vr.negation.generate.composer import WITH_PRONOUN, WITHOUT_PRONOUN, Template
from nt2vr.negation.generate.denial import Denial
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.world.captions import NO_CAPTION, SceneCaption
from nt2vr.world.claims import Claim
from nt2vr.world.scenes import Scene
from nt2vr.world.small_words import DAY, NIGHT
from nt2vr.world.things import Noun, read_table
from nt2vr.world.wording import FORMS, Done, NounPhrase, conjugate

SceneDenialKind = Literal[
    "negated", "composed", "without", "list", "not", "except", "place", "typed", "idiom"
]
# Of "A and not B": by nT2VR's twelve templates, otherwise in free forms.
TEMPLATE_SHARE = 0.5


@dataclass(frozen=True)
class SceneDenial(Denial):
    """A negated sentence with the claims of its parts; an idiom has no unwanted one."""

    kind: SceneDenialKind  # type: ignore[assignment]
    wanted_claim: Claim
    unwanted_claims: tuple[Claim, ...]


DeniedContent = Noun | Done


def claim_of(denied: DeniedContent) -> Claim:
    if isinstance(denied, Done):
        return Claim.of_act(denied.act)
    return Claim.of_things(denied.names)


@cache
def forms(slot: str) -> tuple[str, ...]:
    """Return the forms of sentences for a slot of the table."""
    return tuple(row["form"] for row in read_table("denials") if row["slot"] == slot)


# Names of the fields for the first and for the second of two things: with an article, bare, in the
# plural, quoted.
_THING_FIELDS = (("N", "n", "ns", "o"), ("M", "m", "x", "p"))
_ACTION_FIELDS = ("F", "G")


def deny(
    kind: SceneDenialKind,
    slot: str,
    wanted: SceneCaption,
    denied: Sequence[DeniedContent],
    rng: Random,
) -> SceneDenial:
    """Fill a form of a slot: A without things or actions, or these alone if A is empty."""
    form = rng.choice(forms(slot))
    first = denied[0]
    if isinstance(first, Noun) and first.number == "many":
        form = form.replace("there is", "there are").replace("{N} is", "{N} are")

    fields = {"A": wanted.text}
    texts = []
    for position, content in enumerate(denied):
        if isinstance(content, Done):
            texts.append(content.doing)
            fields[_ACTION_FIELDS[position]] = content.doing
            fields["S"] = inflect_phrase(content.phrase, "VBZ")
        else:
            texts.append(content.with_article())
            fields |= _fields_of_thing(content, _THING_FIELDS[position])
    return SceneDenial(
        kind,
        text=form.format(**fields),
        wanted=wanted.text,
        unwanted=" or ".join(texts),
        wanted_claim=wanted.claim,
        unwanted_claims=tuple(claim_of(content) for content in denied),
    )


def _fields_of_thing(noun: Noun, names: tuple[str, str, str, str]) -> dict[str, str]:
    full, bare, plural, quoted = names
    word = noun.word.removeprefix("the ")
    # For a search engine.
    searched = f'"{word}"' if " " in word else word
    counted = word if noun.is_countable else f"bit of {word}"
    return {
        full: noun.with_article(),
        bare: word,
        plural: noun.plural,
        quoted: searched,
        "c": counted,
    }


def compose(phrase: NounPhrase, wanted: Done, unwanted: Done, rng: Random) -> SceneDenial:
    """Build "A and not B", by one of nT2VR's twelve templates or freely.

    The six templates with a pronoun are for people.
    """
    claim = phrase.claim_of(wanted.act)
    if rng.random() >= TEMPLATE_SHARE:
        form = rng.choice(FORMS[:3])
        text = f"{phrase.text} {conjugate(wanted.phrase, form)}"
        caption = SceneCaption(text, claim)
        return deny("composed", slot="action", wanted=caption, denied=[unwanted], rng=rng)

    templates: tuple[Template, ...] = WITHOUT_PRONOUN
    if phrase.pronoun in ("he", "she"):
        templates = WITH_PRONOUN + WITHOUT_PRONOUN
    template = rng.choice(templates)
    fields = {
        "S": phrase.text,
        "P": phrase.pronoun,
        "A": inflect_phrase(wanted.phrase, "VBZ"),
        "A_ing": wanted.doing,
        "B": unwanted.phrase,
        "B_ing": unwanted.doing,
        "does_not": rng.choice(("does not", "doesn't")),
        "is_": "is",
        "is_not": rng.choice(("is not", "isn't")),
    }
    return SceneDenial(
        "composed",
        text=template.text.format(**fields),
        wanted=template.wanted.format(**fields),
        unwanted=unwanted.doing,
        wanted_claim=claim,
        unwanted_claims=(claim_of(unwanted),),
    )


def except_member(kind: Noun, member: Noun, rng: Random) -> SceneDenial:
    wanted = kind.with_article()
    unwanted = member.with_article()
    return SceneDenial(
        "except",
        text=rng.choice(forms("except")).format(
            k=kind.word, K=wanted, N=unwanted, ns=member.plural
        ),
        wanted=wanted,
        unwanted=unwanted,
        wanted_claim=claim_of(kind),
        unwanted_claims=(claim_of(member),),
    )


def deny_time(scene: Scene, wanted: SceneCaption, rng: Random) -> SceneDenial:
    """Deny the time of day of a figure, of the place or of nothing."""
    usual_phrase = scene.location.phrases[0]
    _, _, bare_place = usual_phrase.partition(" ")
    at_place = SceneCaption(bare_place, Claim.at(scene.place))
    wanted = rng.choice((wanted, at_place, NO_CAPTION))
    denied = Claim(night=not scene.night)
    slot = "time" if wanted.text else "no time"
    return deny_setting(
        slot,
        wanted=wanted,
        phrases=DAY if scene.night else NIGHT,
        denied=denied,
        rng=rng,
    )


def deny_setting(
    slot: str, wanted: SceneCaption, phrases: Sequence[str], denied: Claim, rng: Random
) -> SceneDenial:
    unwanted = rng.choice(phrases)
    return SceneDenial(
        "place",
        text=rng.choice(forms(slot)).format(A=wanted.text, P=unwanted),
        wanted=wanted.text,
        unwanted=unwanted,
        wanted_claim=wanted.claim,
        unwanted_claims=(denied,),
    )
