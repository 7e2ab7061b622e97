"""Facets of a query, to group and filter by: negation cue, topic of the unwanted part."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from nt2vr.evaluation.benchmark import JudgedQuery, cue_of
from nt2vr.evaluation.reports.report import Report
from nt2vr.negation.parse.query import MAX_QUERY_CHARS
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS, Token
from nt2vr.negation.parse.wordlists import words
from nt2vr.world.claims import Claim
from nt2vr.world.reader import read_claim
from nt2vr.world.things import WEAR

PartKind = Literal["deed", "thing", "attribute", ""]
VERBS = VERB_TAGS - {"MD"}
WORN = words("wear dress have")  # verbs of what somebody looks like
LIGHT = words("be do have go get make take play wear hold use perform")  # verbs that say little beside their object
COLOURS = words("black white grey gray red yellow green blue purple violet pink brown beige golden silver")
ORACLE = "oracle"  # reference of benchmarks on the built-in world


@dataclass(frozen=True)
class Facets:
    """Groups of one query.

    Attributes:
        cue: its first negation word; "" if it has none.
        part: whether its first unwanted part is a deed ("playing the drum"), a thing or place ("a dog"), or an
            attribute, which includes what somebody wears; "" if it has none, or it is unknown.
        concepts: lemmas of the content words of all unwanted parts; in the built-in world the names of its vocabulary.
    """

    cue: str = ""
    part: PartKind = ""
    concepts: tuple[str, ...] = ()


def facets_of(report: Report) -> tuple[Facets, ...]:
    """Return the facets of each query of a report; the first call takes a millisecond per different unwanted part."""
    return _facets(report.queries, ORACLE in report.references)


@lru_cache(4)
def _facets(queries: tuple[JudgedQuery, ...], in_world: bool) -> tuple[Facets, ...]:
    return tuple(query_facets(query, in_world) for query in queries)


def query_facets(query: JudgedQuery, in_world: bool = False) -> Facets:
    """Return the facets of a query; `in_world` reads its parts by the vocabulary of the built-in world."""
    cue = query.cue or cue_of(query.text) if query.kind != "original" else ""
    parts = [_read(part, in_world) for part in query.unwanted if part.strip()]
    concepts = dict.fromkeys(concept for _, some in parts for concept in some)
    return Facets(cue, parts[0][0] if parts else "", tuple(concepts))


@lru_cache(20_000)
def _read(part: str, in_world: bool) -> tuple[PartKind, tuple[str, ...]]:
    claim = read_claim(part) if in_world else None
    if claim is not None and (names := _names(claim)):
        return _kind_of_claim(claim), names
    tokens = load_tagger().tag(part[:MAX_QUERY_CHARS])
    return _kind(tokens), _lemmas(tokens)


def _kind(tokens: Sequence[Token]) -> PartKind:
    said = [token for token in tokens if token.tag != "PUNCT"]
    if not said:
        return ""
    if said[0].tag == "DET":
        return "thing" if len(said) > 1 else ""
    verb = next((token for token in said[:2] if token.tag in VERBS and token.lemma != "be"), None)
    if verb is not None:
        return "attribute" if verb.lemma in WORN else "deed"
    if len(said) == 1 and said[0].lemma in COLOURS:
        return "attribute"  # the tagger takes "red" for a noun
    if len(said) == 1 and said[0].text.endswith("ing"):
        return "deed"  # and "painting", too
    return "thing" if any(token.tag in {"NOUN", "PRON"} for token in said) else "attribute"


def _lemmas(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the lemmas of nouns, verbs, adjectives and words that are not English, without light verbs."""
    lemmas = dict.fromkeys(token.lemma for token in tokens if token.tag in {"NOUN", "ADJ", "OTHER"} | VERBS)
    return tuple(lemma for lemma in lemmas if lemma not in LIGHT) or tuple(lemmas)


def _kind_of_claim(claim: Claim) -> PartKind:
    if any(act.verbs - {WEAR} for who in claim.whos for act in who.acts):
        return "deed"
    return "attribute" if any(who.acts or who.colour or who.size for who in claim.whos) else "thing"


def _names(claim: Claim) -> tuple[str, ...]:
    """Return the vocabulary's names of what a claim requires; what several names would satisfy has none."""
    done = [names for who in claim.whos for act in who.acts for names in (act.verbs - {WEAR}, act.objects)]
    groups = [names for names in (*done, claim.places) if names] or [who.names for who in claim.whos]
    named = tuple(next(iter(names)) for names in groups if len(names) == 1)
    return tuple(name for name in named if name not in LIGHT) or named
