"""Lists that share one cue: "not wine or beer", "without a roof, windows or doors"."""

from nt2vr.negation.parse.forms import CueKind
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.presence import Presence
from nt2vr.negation.parse.tokens import FINITE_TAGS


class Lists:
    """Finds the further items of a negated list in one sentence."""

    def __init__(self, phrases: Phrases, presence: Presence) -> None:
        self.phrases, self.presence = phrases, presence

    def items(self, first: Phrase, kind: CueKind, wanted_before: bool) -> list[Phrase]:
        """Return the list items that share the cue of `first`, the first one."""
        items, pending, j = [first], list[Phrase](), first.end
        while True:
            k = j + (self.phrases.word(j) == ",")
            conjunction = self.phrases.word(k) if self.phrases.word(k) in {"and", "or"} else ""
            k += bool(conjunction)
            item = self._next_item(first, k) if k > j and self.phrases.word(k) != "no" else None
            if pending and item and self._starts_clause(item):
                return items  # in the absence of a dog, | a choir and a band play
            if item is None or not self._shares(first, item, conjunction, kind):
                break
            pending.append(item)
            j = item.end
            if conjunction:
                items, pending = items + pending, []
        closes = self.phrases.tag(j) in {"", "PUNCT", "CONJ", "ADP"}  # not: without snow, farmers | plough
        short = closes and all(item.end - item.start == 1 for item in pending)
        if wanted_before and first.kind == "noun" and short and not self._repeats(first):
            items += pending  # a beach, no dogs, cats
        return items

    def _next_item(self, first: Phrase, i: int) -> Phrase | None:
        phrases = self.phrases
        noun = phrases.noun_phrase(i)
        if first.kind == "noun" and phrases.tag(i) == "VBG" and phrases.word(i - 1) == "or" and noun and noun.head > i:
            return noun  # without a guitar or | marching band
        if first.kind == "noun" and phrases.tag(i) in {"VBG", "VBZ"}:  # tags of "filling" and "sprinkles"
            return Phrase("noun", i, i + 1, i + 1, i) if self._is_listed(i) else None
        finders = {"verb": phrases.verb_phrase, "noun": phrases.noun_phrase, "place": phrases.place_phrase}
        item = finders.get(first.kind, phrases.quality)(i)
        if item is None and (first.object is not None or first.end == first.start + 1):
            item = phrases.noun_phrase(i)  # playing the guitar or | the piano; without icing or | sprinkles
        return item

    def _repeats(self, first: Phrase) -> bool:
        """Return whether every item has its own cue, so that one without is wanted: "no dogs, no kids, | waves"."""
        words = self.phrases.words
        return words[first.start - 2 : first.start - 1] == [","] and words[first.start - 1] in words[: first.start - 2]

    def _starts_clause(self, item: Phrase) -> bool:
        return self.phrases.tag(item.end) in FINITE_TAGS and self.presence.after_tail(item.end) == item.end

    def _is_listed(self, i: int) -> bool:
        """Return whether word i is a noun by its place: "icing, | sprinkles, or | filling"."""
        phrases = self.phrases
        if phrases.tag(i) == "VBG":
            return phrases.tag(i + 1) in {"", "PUNCT"} and phrases.word(i - 1) == "or"
        return phrases.word(i - 1) == "," and "or" in phrases.words[i + 1 : i + 3]

    def _shares(self, first: Phrase, item: Phrase, conjunction: str, kind: CueKind) -> bool:
        phrases = self.phrases
        if item.kind == "verb":
            bare = first.end - first.start == 1 == item.end - item.start
            return phrases.tag(first.head) == phrases.tag(item.head) and (conjunction != "and" or bare)
        if not conjunction and phrases.is_actor(item) and phrases.tag(item.end) == "VBG":
            return False  # a party without balloons, | people dancing
        if phrases.tag(item.start) == "NUM" != phrases.tag(first.start):
            return False  # no clouds, | two dogs
        if phrases.tag(item.start) == "PRON" or (
            phrases.tag(item.end) in FINITE_TAGS and (phrases.tag(item.start) == "DET" or phrases.is_actor(item))
        ):  # a new clause
            return False
        if conjunction == "and" and phrases.word(item.end) in {"with", "without"}:
            return False  # without horns and | a bull with horns
        if conjunction == "and" and phrases.word(item.start) == "the" != phrases.word(first.start):
            return False  # without a hat and | the dog
        things = kind in {"no", "without"} and first.kind == item.kind == "noun"
        if things and conjunction == "and" and phrases.tag(item.start) == "ADJ" != phrases.tag(first.start):
            return False  # with no beard and | blue eyes
        if conjunction == "and" and phrases.tag(item.start) == "DET":
            return kind != "no" and phrases.is_actor(item) == (first.kind == "noun" and phrases.is_actor(first))
        return True
