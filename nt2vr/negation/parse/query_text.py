"""The text of a sentence's wanted and unwanted parts, from word positions."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nt2vr.negation.parse.negations import Negation, Negations
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.typed import Span
from nt2vr.negation.parse.wanted import Stretch
from nt2vr.negation.parse.wordlists import words

_PRONOUNS = words("it them")


class DeniedItem(NamedTuple):
    """A phrase and the negation that denies it."""

    phrase: Phrase
    negation: Negation


class QueryText:
    """Turns word positions of one sentence back into text."""

    def __init__(self, text: str, phrases: Phrases, is_typed: bool) -> None:
        self.text = text
        self.phrases = phrases
        self._is_typed = is_typed

    def span(self, start: int, end: int) -> Span:
        return Span(self.phrases.tokens[start].start, self.phrases.tokens[end - 1].end)

    def piece(self, start: int, end: int) -> str:
        """Return words `start` to `end`; one mark of quotation among them gets the other one."""
        if start >= end:
            return ""
        first, last = self.span(start, end)
        text = self.text[first:last]
        if self._is_typed and text.count('"') % 2:
            if self.text.startswith('"', last):
                text += '"'
            elif self.text[:first].endswith('"'):
                text = f'"{text}'
        return " ".join(text.split())

    def cues(self, negations: Negations) -> tuple[Span, ...]:
        spans = [self.span(negation.cue.start, negation.cue.end) for negation in negations]
        return tuple(dict.fromkeys(spans))

    def wanted(self, stretches: Sequence[Stretch], first: Negation) -> tuple[str, ...]:
        """Join stretches to one phrase by their links; return () if that names nothing, as "he".

        Args:
            stretches: the wanted words.
            first: the first negation of the sentence.
        """
        text = ""
        tags = set()
        for stretch in stretches:
            if text:
                text += stretch.link
            text += self.piece(stretch.start, stretch.end)
            tags.update(self.phrases.tags[stretch.start : stretch.end])
        if not stretches or tags == {"PRON"}:
            return ()
        if self._is_typed and first.start < stretches[0].start:
            text = self._naming_one(text, first)
        return (text,)

    def _naming_one(self, wanted: str, first: Negation) -> str:
        """Name "one" in the wanted part: "not a red car, a blue | one"."""
        if not first.items or first.items[0].kind != "noun":
            return wanted
        noun = self.phrases.words[first.items[0].core - 1]
        return re.sub(r"(\b(?:an?|the) \w+ )one\b", lambda match: f"{match[1]}{noun}", wanted)

    def items(self, negations: Negations) -> list[DeniedItem]:
        """Return all items, but pronouns only if there is nothing else.

        An example is "no snakes, I'm scared of them".
        """
        pronouns: list[DeniedItem] = []
        items: list[DeniedItem] = []
        for negation in negations:
            for phrase in negation.items:
                is_pronoun = _PRONOUNS.issuperset(self.phrases.words[phrase.start : phrase.core])
                items_of_kind = pronouns if is_pronoun else items
                items_of_kind.append(DeniedItem(phrase, negation))
        return items or pronouns

    def unwanted(
        self, items: Sequence[DeniedItem], stretches: Sequence[Stretch]
    ) -> tuple[str, ...]:
        """Return the items as searchable phrases; in those of verbs, "it" or "them" is named."""
        thing = ""
        if not _PRONOUNS.isdisjoint(self.phrases.words):
            thing = self._only_thing(stretches)

        texts = []
        for item in items:
            text = self._unwanted(item)
            if thing and item.phrase.kind == "verb":
                text = re.sub(r"\b(?:it|them)\b", lambda _: f"the {thing}", text)
            texts.append(text)
        return tuple(texts)

    def _only_thing(self, stretches: Sequence[Stretch]) -> str:
        """Return what "it" or "them" must mean: the only thing, people aside, in the stretches."""
        things: list[str] = []
        for stretch in stretches:
            things += self._things_in(stretch)
        return things[0] if len(things) == 1 else ""

    def _things_in(self, stretch: Stretch) -> Iterator[str]:
        phrases = self.phrases
        i = stretch.start
        while i < stretch.end:
            noun = None
            if phrases.tag(i) not in {"PRON", "VBG"}:
                noun = phrases.noun_phrase(i)
            if noun is None:
                i += 1
                continue
            # a video of | a guitar
            if phrases.is_listed(noun.head, "frames"):
                i = noun.head + 1
                continue
            if not phrases.lemma_is_listed(noun.head, "humans"):
                yield self.piece(phrases.after(i, {"DET"}), min(noun.end, stretch.end))
            i = noun.end

    def _unwanted(self, item: DeniedItem) -> str:
        """Return an item without "any" or "want to see", and with the verb that its list shares."""
        phrase, negation = item
        first = negation.items[0]
        before = ""
        start = self._after_request(item)
        if phrase is first:
            # wearing no | hat
            if negation.verb is not None:
                before = self.piece(negation.verb, negation.cue.start)
            if negation.thing:
                before = f"{before} {negation.thing}"
                start = max(phrase.start, negation.cue.end)
        elif phrase.kind == "noun" and first.object is not None:
            # playing the guitar or | the piano
            before = self.piece(first.start, first.object)
        return f"{before} {self.piece(start, phrase.core)}".strip()

    def _after_request(self, item: DeniedItem) -> int:
        """Return the first word of an item that is part of neither "any" nor "show me"."""
        phrases = self.phrases
        start = item.phrase.start
        last = item.phrase.core - 1
        skipped = {"any", "either", "to"}
        skips_verbs = False
        if item.phrase.kind == "verb" and self._is_by_speaker(item.negation.cue.start - 1):
            skipped.add("me")
            # In "two men, not watching", nobody asks to see something.
            skips_verbs = phrases.word(start) != "watching"

        for i in range(start, last):
            is_request = skips_verbs and phrases.lemma_is_listed(i, "requests")
            if not is_request and phrases.word(i) not in skipped:
                return i
        return max(start, last)

    def _is_by_speaker(self, i: int) -> bool:
        """Return whether word i ends "I" or "please": "I don't …", "please don't …"."""
        while self.phrases.is_auxiliary(i):
            i -= 1
        return i < 0 or self.phrases.is_listed(i, "speakers")
