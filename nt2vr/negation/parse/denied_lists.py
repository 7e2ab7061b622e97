"""Rule 2 of `scope`: the list items that share one cue."""

from dataclasses import replace

from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.negations import CueKind
from nt2vr.negation.parse.phrases import Phrase, Phrases, noun_of
from nt2vr.negation.parse.wordlists import listed


def list_items(
    phrases: Phrases, first: Phrase, kind: CueKind, has_wanted_before: bool
) -> list[Phrase]:
    """Return the list items that share the cue of `first`, beginning with `first`."""
    items = [first]
    # Items after commas, which are denied only if a conjunction follows or they form a run.
    pending = []
    end = first.end
    while next_item := _next_item(phrases, first, kind=kind, end=end):
        item, conjunction = next_item
        pending.append(item)
        end = item.end
        if conjunction:
            items += pending
            pending = []

    if _is_run(phrases, first, pending=pending, end=end, has_wanted_before=has_wanted_before):
        items += pending
    return items


def _is_run(
    phrases: Phrases, first: Phrase, pending: list[Phrase], end: int, has_wanted_before: bool
) -> bool:
    """Return whether commas join denied words: "no dogs, cats, birds"."""
    # Not: without snow, farmers | plough
    if first.kind != "noun" or phrases.tag(end) not in {"", "PUNCT", "CONJ", "ADP"}:
        return False
    if not all(item.is_word for item in pending):
        return False

    # neither dogs, cats nor
    if has_wanted_before or len(pending) > 1 or phrases.word(end) == "nor":
        return True
    # avoid rain, snow
    cue = first.start - 1
    is_order = phrases.is_listed(cue, "denying_things") and phrases.word(cue) != "no"
    return is_order and first.is_word


def _next_item(
    phrases: Phrases, first: Phrase, kind: CueKind, end: int
) -> tuple[Phrase, str] | None:
    """Return the item after word `end` and the conjunction before it, if any."""
    start = end
    if phrases.word(start) == ",":
        start += 1
    conjunction = ""
    if phrases.word(start) in {"and", "or"}:
        conjunction = phrases.word(start)
        start += 1
    if start == end or phrases.word(start) == "no":
        return None
    # not at night and | without a kite; but of "not at night or without a lamp", both are denied
    if conjunction != "or" and cues().get(phrases.word(start)) == "without":
        return None
    # adds no milk, and | hands
    if first.kind == "verb" and phrases.words[end:start] == [",", "and"]:
        return None

    item = _item(phrases, first, start)
    if item is None or not _shares_cue(
        phrases, first, item=item, conjunction=conjunction, kind=kind
    ):
        return None
    return item, conjunction


def _item(phrases: Phrases, first: Phrase, i: int) -> Phrase | None:
    """Return the phrase at word i that is of the same kind as the first item."""
    finders = {
        "verb": phrases.verb_phrase,
        "noun": phrases.noun_phrase,
        "place": phrases.place_phrase,
        "quality": phrases.quality,
    }
    item = finders[first.kind](i)
    if item is not None:
        return item

    # no straps or | padding
    if first.kind == "noun" and phrases.tag(i) == "VBG" and phrases.word(i - 1) == "or":
        action = phrases.verb_phrase(i)
        if action:
            return replace(action, kind="noun")
    # playing the guitar or | the piano; without icing or | sprinkles
    if first.object is not None or first.is_word:
        return phrases.noun_phrase(i)
    return None


def _shares_cue(
    phrases: Phrases, first: Phrase, item: Phrase, conjunction: str, kind: CueKind
) -> bool:
    is_verb = item.kind == "verb"
    if is_verb and phrases.tag(first.head) != phrases.tag(item.head):
        return False
    if not is_verb and _starts_clause(phrases, item):
        return False
    if conjunction != "and":
        return True

    if is_verb:
        return first.is_word and item.is_word
    if phrases.tag(item.start) != "DET":
        return True
    first_acts = first.kind == "noun" and phrases.is_actor(first)
    return kind != "no" and phrases.is_actor(item) == first_acts


def _starts_clause(phrases: Phrases, item: Phrase) -> bool:
    """Return whether a phrase starts a clause, as in "without horns and | a bull with horns"."""
    tag = phrases.tag(item.start)
    if tag == "PRON" or phrases.word(item.end) in {"with", "without", "who"}:
        return True
    if not phrases.is_finite(item.end):
        return False
    return tag == "DET" or phrases.is_actor(item)


def split_runs(phrases: Phrases, item: Phrase) -> list[Phrase]:
    """Split a list that lacks its commas: "no | taxis | buses"."""
    parts = []
    start = item.start
    if item.kind == "noun":
        for i in range(start + 1, item.core):
            if _is_plural(phrases, i - 1) and _is_plural(phrases, i):
                parts.append(noun_of(start, i))
                start = i
    parts.append(replace(item, start=start))
    return parts


def _is_plural(phrases: Phrases, i: int) -> bool:
    word = phrases.word(i)
    if phrases.tag(i) != "NOUN" or word in listed("plural_first"):
        return False
    return word.endswith("s") and phrases.lemma(i) != word
