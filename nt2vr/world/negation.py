"""Negated sentences about scenes, with the exact truth of their parts.

Eight kinds: "negated", a caption with a verb or a "with" denied; "composed", A and not B; "without", A without a thing
N; "list", A without two; "not", B alone denied; "except", a kind without one of it; "place", A but not there or not at
night; "typed", "composed" or "without" as people type them. A denial applies to everybody in the clip: "a man sings
and does not dance" requires that nobody dances. "idiom" denies nothing. The forms are in `assets/world/denials.tsv`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nt2vr.negation.generate.denials import Denial
from nt2vr.negation.generate.idioms import draw_idiom
from nt2vr.negation.generate.templates import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.negation.generate.things import Thing as NamedThing
from nt2vr.negation.generate.wordings import word
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.subjects import Subject
from nt2vr.world.captions import SceneCaption, joined
from nt2vr.world.claims import Act, Claim, Order, Who
from nt2vr.world.lexicon import DAY, NIGHT
from nt2vr.world.nouns import Phrase, draw_phrase, meanings
from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import Noun, places, read_table
from nt2vr.world.wording import FORMS, conjugate, draw_deed

SceneDenialKind = Literal["negated", "composed", "without", "list", "not", "except", "place", "typed", "idiom"]
TEMPLATE_SHARE = 0.5  # of "A and not B": by nT2VR's twelve templates, otherwise in free forms


@dataclass(frozen=True)
class SceneDenial(Denial):
    """A negated sentence with the claims of its parts; an idiom has no unwanted one."""

    kind: SceneDenialKind  # type: ignore[assignment]
    wanted_claim: Claim
    unwanted_claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Done:
    """A deed to be denied: its phrase, with the verb as a lemma, and its act."""

    phrase: str
    act: Act

    @property
    def doing(self) -> str:
        """Its phrase as a participle."""
        return inflect_phrase(self.phrase, "VBG")


def claim_of(denied: Noun | Done) -> Claim:
    """Return the claim that there is a thing, or that somebody does a deed."""
    if isinstance(denied, Done):
        return Claim((Who(acts=(denied.act,)),))
    return Claim((Who(meanings()[denied.word]),))


@cache
def forms(slot: str) -> tuple[str, ...]:
    """Sentence patterns of one slot."""
    return tuple(row["form"] for row in read_table("denials") if row["slot"] == slot)


def _fields(*denied: Noun | Done) -> dict[str, str]:
    """Fill the fields of a form: {N} or {F} for the first thing or deed, {M} or {G} for the second."""
    found: dict[str, str] = {}
    for each, (full, bare, plural, quoted, doing) in zip(denied, (("N", "n", "ns", "o", "F"), "MmxpG"), strict=False):
        if isinstance(each, Done):
            found |= {doing: each.doing, "S": inflect_phrase(each.phrase, "VBZ")}
        else:
            word = each.word.removeprefix("the ")
            term = f'"{word}"' if " " in word else word  # for a search engine
            single = word if each.number == "one" else f"bit of {word}"
            found |= {full: each.with_article(), bare: word, plural: each.plural, quoted: term, "c": single}
    return found


def deny(
    kind: SceneDenialKind, slot: str, wanted: SceneCaption, denied: Sequence[Noun | Done], rng: random.Random
) -> SceneDenial:
    """Fill a form of a slot: A without things or deeds, or one of them alone if A is empty."""
    form = rng.choice(forms(slot))
    if isinstance(denied[0], Noun) and denied[0].number == "many":
        form = form.replace("there is", "there are").replace("{N} is", "{N} are")
    unwanted = " or ".join(each.doing if isinstance(each, Done) else each.with_article() for each in denied)
    text = form.format(A=wanted.text, **_fields(*denied))
    return SceneDenial(kind, text, wanted.text, unwanted, wanted.claim, tuple(map(claim_of, denied)))


def deny_place(wanted: SceneCaption, place: str, rng: random.Random) -> SceneDenial:
    """Build "A but not at the beach"."""
    where = rng.choice(places()[place].phrases)
    text = rng.choice(forms("place")).format(A=wanted.text, P=where)
    return SceneDenial("place", text, wanted.text, where, wanted.claim, (Claim(places=frozenset((place,))),))


def deny_time(wanted: SceneCaption, night: bool, rng: random.Random) -> SceneDenial:
    """Build "A but not at night", or "not by day"; of an empty A, "not at night"."""
    when = rng.choice(NIGHT if night else DAY)
    text = rng.choice(forms("time" if wanted.text else "no time")).format(A=wanted.text, P=when)
    return SceneDenial("place", text, wanted.text, when, wanted.claim, (Claim(night=night),))


def deny_one_of(kind: Noun, one: Noun, rng: random.Random) -> SceneDenial:
    """Build "any bird except a penguin"."""
    wanted, unwanted = kind.with_article(), one.with_article()
    text = rng.choice(forms("except")).format(k=kind.word, K=wanted, N=unwanted, ns=one.plural)
    return SceneDenial("except", text, wanted, unwanted, claim_of(kind), (claim_of(one),))


def compose(subject: Phrase, wanted: Done, unwanted: Done, rng: random.Random) -> SceneDenial:
    """Build "A and not B", by one of nT2VR's twelve templates (the six with a pronoun are for people) or freely."""
    claim = Claim((Who(subject.who.names, (wanted.act,), subject.who.colour, subject.who.size),))
    if rng.random() >= TEMPLATE_SHARE:
        said = SceneCaption(f"{subject.text} {conjugate(wanted.phrase, rng.choice(FORMS[:3]))}", claim)
        return deny("composed", "deed", said, (unwanted,), rng)
    template = rng.choice(WITH_PRONOUN + WITHOUT_PRONOUN if subject.pronoun in ("he", "she") else WITHOUT_PRONOUN)
    fields = {
        "S": subject.text,
        "P": subject.pronoun,
        "A": inflect_phrase(wanted.phrase, "VBZ"),
        "A_ing": wanted.doing,
        "B": unwanted.phrase,
        "B_ing": unwanted.doing,
        "does_not": rng.choice(("does not", "doesn't")),
        "is_": "is",
        "is_not": rng.choice(("is not", "isn't")),
    }
    parts = (template.text.format(**fields), template.wanted.format(**fields), unwanted.doing)
    return SceneDenial("composed", *parts, claim, (claim_of(unwanted),))


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied: verbs, things worn or held, things behind; a few have none."""
    claim, found = caption.claim, list[SceneDenial]()

    def add(piece: int, texts: Sequence[str], unwanted: str, rest: Claim, denied: Claim) -> None:
        before, after = caption.pieces[:piece], caption.pieces[piece + 1 :]
        wanted = joined((*before, *after))
        for words in texts:
            text = joined((*before, words, *after))
            found.append(SceneDenial("negated", text, wanted, unwanted, rest, (denied,)))

    for piece, verb, (who, number) in caption.verbs:
        denied = Claim((Who(acts=(claim.whos[who].acts[number],)),))
        add(piece, verb.denied, conjugate(verb.phrase, "{ing}"), _without_act(claim, who, number), denied)
    for piece, words, (who, number) in caption.with_things:
        act = claim.whos[who].acts[number]
        denied = Claim((Who(act.objects, colour=act.colour),))
        add(piece, (f"without {words}",), words, _without_act(claim, who, number), denied)
    for piece, phrase, who in caption.behind:
        rest = replace(claim, whos=claim.whos[:who] + claim.whos[who + 1 :])
        text = f"without {phrase.text} in the background"
        add(piece, (text,), phrase.text, rest, Claim((phrase.who,)))
    return found


def _without_act(claim: Claim, number: int, left_out: int) -> Claim:
    """Leave an act of a `Who` out of a claim, with the orders it is part of."""
    who = claim.whos[number]
    who = replace(who, acts=who.acts[:left_out] + who.acts[left_out + 1 :])

    def moved(place: tuple[int, int]) -> tuple[int, int]:
        return (number, place[1] - 1) if place[0] == number and place[1] > left_out else place

    orders = tuple(
        Order(moved(first), moved(second), kind)
        for first, second, kind in claim.orders
        if (number, left_out) not in (first, second)
    )
    return replace(claim, whos=(*claim.whos[:number], who, *claim.whos[number + 1 :]), orders=orders)


def type_out(first: SceneDenial, second: SceneDenial, rng: random.Random) -> SceneDenial:
    """Word a sentence as people type it; a list excludes the unwanted part of a second sentence of its kind, too."""
    is_other = second.kind == first.kind and second.unwanted_claims != first.unwanted_claims
    text, with_other = word(
        first.wanted, first.unwanted, second.unwanted if is_other else "", first.kind == "composed", rng
    )
    if with_other:
        both = first.unwanted_claims + second.unwanted_claims
        first = replace(first, unwanted=f"{first.unwanted} and {second.unwanted}", unwanted_claims=both)
    return replace(first, kind="typed", text=text)


def idiom(caption: SceneCaption, figure: Figure, deed: Deed, scene: Scene, rng: random.Random) -> SceneDenial:
    """Build a sentence that denies nothing: of a caption, of a figure with its deed, or of a figure."""
    phrase = draw_phrase(figure, rng)
    words, act = draw_deed(deed, scene.figures, rng)
    doing = Claim((Who(phrase.who.names, (act,), least=phrase.who.least, most=phrase.who.most),))
    subject = Subject(phrase.text, "", is_plural=phrase.plural, is_human=figure.kind.role == "person")
    named = NamedThing(phrase.text, phrase.text, phrase.plural, "", frozenset(), frozenset())
    found = None
    while found is None:
        match rng.choice(("caption", "deed", "thing")):
            case "caption":
                found, claim = draw_idiom(caption.text, (), (), rng), caption.claim
            case "deed":
                found, claim = draw_idiom("", ((subject, words),), (), rng), doing
            case _:
                found, claim = draw_idiom("", (), (named,), rng), Claim((phrase.who,))
    return SceneDenial("idiom", found.text, found.meaning, "", claim, ())
