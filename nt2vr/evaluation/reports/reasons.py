"""Why clips are relevant to a composed query, and which were removed by which word, as in the paper's Figure 3.

It reads the captions that a report has as original queries, by their words. What was relevant is settled before, by
`Composer` or in a released file; this only tells why it may have been.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from nt2vr.evaluation.reports.report import Report
from nt2vr.models.card import DRAWINGS
from nt2vr.negation.generate.related import derived_from, related
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import words

CONTENT = VERB_TAGS - {"MD"} | {"NOUN", "ADJ"}
EMPTY = words("be do have person people man woman boy girl someone somebody thing something other one")
SHOWN = 3  # relevant clips, and words


@dataclass(frozen=True)
class Removed:
    """A word that removed videos whose captions have the wanted words, with one of them."""

    word: str
    videos: int  # number of these, also removed by other words
    video_id: str
    caption: str


@dataclass(frozen=True)
class Reasons:
    """Why a query has its relevant videos: the first of them, and the words that removed most."""

    relevant: Mapping[str, str]  # by video id, the caption that has most of the wanted words
    removed: tuple[Removed, ...]


def reasons_of(report: Report, place: int) -> Reasons | None:
    """Tell why videos are relevant or were removed; None if a query is not A and not B, or captions are unknown."""
    query, known = report.queries[place], _captions(report)
    if DRAWINGS in str(report.source.get("data", "")):  # whose truth is that of the scenes
        return None
    if query.kind != "composed" or not query.wanted or not query.unwanted or not known:
        return None
    wanted, unwanted = content_of(query.wanted), content_of(" and ".join(query.unwanted))
    relevant = {report.video_ids[row] for row in query.relevant}
    shown = [video_id for video_id in sorted(relevant, key=report.video_ids.index) if video_id in known][:SHOWN]
    fitting = {each: max(known[each], key=lambda caption: len(_found(wanted, caption))) for each in shown}
    removed: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for video_id, captions in known.items():
        if video_id in relevant or not any(len(_found(wanted, caption)) == len(wanted) for caption in captions):
            continue
        by_word = {word: caption for caption in reversed(captions) for word in _found(unwanted, caption).values()}
        for word, caption in by_word.items():
            removed[word].append((video_id, caption))
    most = sorted(removed, key=lambda word: (-len(removed[word]), word))[:SHOWN]
    return Reasons(fitting, tuple(Removed(word, len(removed[word]), *removed[word][0]) for word in most))


def content_of(text: str) -> frozenset[str]:
    """Return the lemmas of what a text names: nouns, verbs and qualities, without words that name nothing."""
    return frozenset(token.lemma for token in load_tagger().tag(text) if token.tag in CONTENT) - EMPTY


def _found(lemmas: Collection[str], caption: str) -> dict[str, str]:
    """Return the lemmas that a caption has, or has a related word for, with the word."""
    said = _words(caption)
    found = {lemma: {word for each in related(lemma) for word in derived_from(each, said)} for lemma in lemmas}
    return {lemma: min(some) for lemma, some in found.items() if some}


@lru_cache(100_000)
def _words(caption: str) -> frozenset[str]:
    return words(caption.lower().replace(",", " ").replace(".", " "))


@lru_cache(4)
def _captions(report: Report) -> Mapping[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for query in report.queries:
        if query.kind == "original":
            found[report.video_ids[query.relevant[0]]].append(query.text)
    return dict(found)
