"""Negated sentences about scenes, with the exact truth of their parts.

Eight kinds: "negated", a caption with a verb or a "with" denied; "composed", A and not B; "without", A without a thing
N; "list", A without two; "not", B alone denied; "except", a kind without one of it; "place", A but not there; "typed",
"composed" or "without" as people type them. A denial applies to everybody in the clip: "a man sings and does not
dance" requires that nobody dances. "idiom" denies nothing. The forms are in `assets/world/denials.tsv`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nt2vr.language.inflect import inflect_phrase
from nt2vr.language.subjects import Subject
from nt2vr.querygen.denials import Denial
from nt2vr.querygen.idioms import draw_idiom
from nt2vr.querygen.templates import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.querygen.things import Thing as NamedThing
from nt2vr.querygen.wordings import word
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.nouns import Phrase, draw_phrase, meanings
from nt2vr.world.places import places
from nt2vr.world.scene_caption import SceneCaption, joined
from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import Noun, read_table, words_of_kind
from nt2vr.world.wording import FORMS, conjugate, draw_deed

SceneDenialKind = Literal["negated", "composed", "without", "list", "not", "except", "place", "typed", "idiom"]
TEMPLATE_SHARE = 0.5  # of "A and not B": by nT2VR's twelve templates, otherwise in free forms


@dataclass(frozen=True)
class SceneDenial(Denial):
    """A negated sentence with the claims of its parts; an idiom has no unwanted one."""

    kind: SceneDenialKind  # type: ignore[assignment]
    wanted_claim: Claim
    unwanted_claims: tuple[Claim, ...]

    def fits(self, scene: Scene) -> bool:
        """Return whether the scene shows the wanted part and none of the unwanted ones."""
        return self.wanted_claim.holds(scene) and not any(claim.holds(scene) for claim in self.unwanted_claims)


@dataclass(frozen=True)
class Named:
    """A thing to be denied: its noun and what it names."""

    noun: Noun

    @property
    def claim(self) -> Claim:
        """That there is one."""
        return Claim((Who(meanings()[self.noun.word]),))

    @property
    def text(self) -> str:
        """Its name with the article."""
        return self.noun.with_article()

    @property
    def bare(self) -> str:
        """Its name without the article."""
        return self.noun.word.removeprefix("the ")

    @property
    def quoted(self) -> str:
        """Its name as one word of a search engine."""
        return f'"{self.bare}"' if " " in self.bare else self.bare


@dataclass(frozen=True)
class Done:
    """A deed to be denied: its phrase, with the verb as a lemma, and its act."""

    phrase: str
    act: Act

    @property
    def claim(self) -> Claim:
        """That somebody does it."""
        return Claim((Who(acts=(self.act,)),))

    @property
    def doing(self) -> str:
        """Its phrase as a participle."""
        return inflect_phrase(self.phrase, "VBG")


@dataclass(frozen=True)
class Said:
    """A wanted part: its text and claim."""

    text: str
    claim: Claim


@cache
def forms(slot: str) -> tuple[str, ...]:
    """Sentence patterns of one slot."""
    return tuple(row["form"] for row in read_table("denials") if row["slot"] == slot)


def _fields(*denied: Named | Done) -> dict[str, str]:
    """Fill the fields of a form: {N} or {F} for the first thing or deed, {M} or {G} for the second."""
    found: dict[str, str] = {}
    for each, (full, bare, plural, quoted, doing) in zip(denied, (("N", "n", "ns", "o", "F"), "MmxpG"), strict=False):
        if isinstance(each, Done):
            found |= {doing: each.doing, "S": inflect_phrase(each.phrase, "VBZ")}
        else:
            single = each.bare if each.noun.number == "one" else f"bit of {each.bare}"
            found |= {full: each.text, bare: each.bare, plural: each.noun.plural, quoted: each.quoted, "c": single}
    return found


def deny(
    kind: SceneDenialKind, slot: str, wanted: Said, denied: Sequence[Named | Done], rng: random.Random
) -> SceneDenial:
    """Fill a form of a slot: A without things or deeds, or one of them alone if A is empty."""
    form = rng.choice(forms(slot))
    if isinstance(denied[0], Named) and denied[0].noun.number == "many":
        form = form.replace("there is", "there are").replace("{N} is", "{N} are")
    unwanted = " or ".join(each.doing if isinstance(each, Done) else each.text for each in denied)
    text = form.format(A=wanted.text, **_fields(*denied))
    return SceneDenial(kind, text, wanted.text, unwanted, wanted.claim, tuple(each.claim for each in denied))


def deny_place(wanted: Said, place: str, rng: random.Random) -> SceneDenial:
    """Build "A but not at the beach"."""
    where = rng.choice(places()[place].phrases)
    text = rng.choice(forms("place")).format(A=wanted.text, P=where)
    return SceneDenial("place", text, wanted.text, where, wanted.claim, (Claim(places=frozenset((place,))),))


def deny_one_of(kind: str, member: Named, rng: random.Random) -> SceneDenial:
    """Build "any bird except a penguin"."""
    noun = words_of_kind(kind)[0]
    text = rng.choice(forms("except")).format(k=noun.word, K=noun.with_article(), N=member.text, ns=member.noun.plural)
    wanted = Claim((Who(meanings()[noun.word]),))
    return SceneDenial("except", text, noun.with_article(), member.text, wanted, (member.claim,))


def compose(subject: Phrase, wanted: Done, unwanted: Done, rng: random.Random) -> SceneDenial:
    """Build "A and not B", by one of nT2VR's twelve templates (the six with a pronoun are for people) or freely."""
    claim = Claim((Who(subject.who.names, (wanted.act,), subject.who.colour, subject.who.size),))
    if rng.random() >= TEMPLATE_SHARE:
        said = Said(f"{subject.text} {conjugate(wanted.phrase, rng.choice(FORMS[:3]))}", claim)
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
    return SceneDenial("composed", *parts, claim, (unwanted.claim,))


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied; a few captions have none."""
    found = []
    for each in caption.deniables():
        before, after = caption.pieces[: each.piece], caption.pieces[each.piece + 1 :]
        for words in each.texts:
            text, rest = joined((*before, words, *after)), joined((*before, *after))
            found.append(SceneDenial("negated", text, rest, each.unwanted, each.wanted_claim, (each.unwanted_claim,)))
    return found


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
