"""Rule 1 of `scope`: the phrase after a cue that the cue denies."""

from dataclasses import replace

from nt2vr.negation.parse.negations import Cue
from nt2vr.negation.parse.phrases import Phrase, Phrases, noun_of
from nt2vr.negation.parse.tagged_words import CLAUSE_EDGES
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, words

# I don't want to see …
WATCHING = words("see watch hear want need like")
# Don't show me …
US = words("me us")
_CONTENT_TAGS = frozenset({"NOUN", "ADJ", "ADP", "NUM", "OTHER", *VERB_TAGS})


class DeniedPhraseFinder:
    """Finds the phrase after a cue; with `is_typed`, each cue that can denies something."""

    def __init__(self, phrases: Phrases, is_typed: bool) -> None:
        self.phrases = phrases
        self._is_typed = is_typed

    def find(self, cue: Cue) -> Phrase | None:
        """Return the denied phrase; it is the cue itself for "nobody" without a verb."""
        if cue.kind == "not":
            quality = self.phrases.quality(cue.end)
            # a not very crowded | beach
            if quality and self._describes_noun(cue, quality):
                return quality

        phrase = self._phrase_after(cue)
        if phrase is None or (cue.kind == "without" and self._is_odd(phrase)):
            return self._up_to_mark(cue)
        return self._without_showing(phrase, cue)

    def verb_before(self, cue: Cue, phrase: Phrase) -> int | None:
        """Return the verb before a cue if it is denied, too: "wearing no hat", "eats nothing"."""
        phrases = self.phrases
        before = cue.start - 1
        if not phrases.is_verb(before) or phrases.is_auxiliary(before):
            return None

        verb = phrases.lemma(before)
        if cue.kind == "no":
            if verb in listed("held"):
                return before
            return None

        is_object = cue.kind == "nobody" and phrase.start == cue.start
        has_exception = phrases.word(cue.end) in {"but", "except", "save", "other", "besides"}
        if is_object and verb not in {"be", "have"} and not has_exception:
            return before
        return None

    def _phrase_after(self, cue: Cue) -> Phrase | None:
        if cue.kind == "minus":
            return noun_of(cue.end, cue.end + 1)

        phrases = self.phrases
        start = self._skip_helpers(cue)
        if cue.kind == "nobody":
            return self._phrase_of_nobody(cue, start)

        start = self._skip_sign(start)
        # not shown | eating
        is_shown = cue.kind == "not" and phrases.is_listed(start, "shown")
        if is_shown and phrases.tag(start + 1) == "VBG":
            start += 1

        phrase = None
        if cue.kind in {"no", "order"}:
            phrase = phrases.noun_phrase(start)
        if phrase is None:
            phrase = phrases.any_phrase(start)
        if phrase is None:
            return None

        if phrase.kind == "noun" and cue.kind in {"no", "without", "order"}:
            phrase = self._without_predicate(phrase)
        return self._with_quality(phrase)

    def _phrase_of_nobody(self, cue: Cue, start: int) -> Phrase:
        phrases = self.phrases
        acts = phrases.verb_phrase(start) and phrases.after_tail(cue.end) == cue.end
        # none of them | men
        is_there = phrases.word(cue.start) == "none" and (
            start > cue.end or phrases.place_phrase(start)
        )
        if acts or is_there:
            phrase = phrases.any_phrase(self._skip_sign(start))
            if phrase:
                return phrase
        return replace(noun_of(cue.start, cue.end), head=cue.start)

    def _without_predicate(self, noun: Phrase) -> Phrase:
        """Cut off a last word that only says "in the picture": "no person | present"."""
        last = noun.end - 1
        if noun.start < last and self.phrases.after_predicate(last) > last:
            return replace(noun, end=last, head=last - 1)
        return noun

    def _with_quality(self, phrase: Phrase) -> Phrase:
        """Add the quality to something vague: "leave out anything | indoors"."""
        phrases = self.phrases
        end = phrase.end
        is_vague = phrases.is_listed(end - 1, "anything")
        if not is_vague or phrases.after_tail(end) != end:
            return phrase

        quality = phrases.quality(end)
        if quality is None:
            return phrase
        return replace(phrase, end=quality.end, setting=None)

    def _without_showing(self, phrase: Phrase, cue: Cue) -> Phrase:
        """Return what is denied to be shown: "does not include | a dog"; otherwise the phrase."""
        if phrase.kind != "verb":
            return phrase
        action = self._action_to_show(phrase)
        if action is not None:
            return action
        noun = self._noun_to_show(phrase)
        if noun is None or not self._is_about_picture(phrase, cue):
            return phrase
        return self._with_quality(noun)

    def _action_to_show(self, verb: Phrase) -> Phrase | None:
        """Return the action after "does not feature" or "don't want to see"."""
        phrases = self.phrases
        last = verb.end - 1
        asks = phrases.lemma(last) in WATCHING or phrases.word(last) in US
        if not asks and not (verb.head == last and self._depicts(verb)):
            return None
        if phrases.tag(verb.end) != "VBG":
            return None
        return phrases.verb_phrase(verb.end)

    def _noun_to_show(self, verb: Phrase) -> Phrase | None:
        """Return the object of "does not show us | a dog"."""
        phrases = self.phrases
        if verb.object is None or not phrases.is_listed(verb.head, "showing"):
            return None
        start = verb.object
        if phrases.word(start) in US:
            start += 1
        noun = phrases.noun_phrase(start)
        if noun is None or phrases.tag(start) != "PRON" or phrases.is_listed(start, "actors"):
            return noun
        return None

    def _is_about_picture(self, verb: Phrase, cue: Cue) -> bool:
        clause = self.phrases.clause_start(cue.start)
        return self._depicts(verb) or self.phrases.says_nothing(clause, cue.start)

    def _depicts(self, verb: Phrase) -> bool:
        return self.phrases.lemma_is_listed(verb.head, "depicting")

    def _skip_helpers(self, cue: Cue) -> int:
        """Return the first word after a cue that is neither "of them" nor an auxiliary."""
        phrases = self.phrases
        i = cue.end
        if phrases.word(i) == "of":
            group = phrases.noun_phrase(i + 1)
            # none of them, none of whom
            if group:
                i = group.end
            elif phrases.tag(i + 1) == "WH":
                i += 2

        while self._is_helper(cue, i):
            i += 1
        return i

    def _is_helper(self, cue: Cue, i: int) -> bool:
        phrases = self.phrases
        if cue.kind == "nobody" and phrases.tag(i) == "WH":
            return True
        if phrases.is_auxiliary(i) and not phrases.verb_phrase(i):
            return True
        if phrases.word(i) in {"gonna", "wanna"}:
            return True
        is_emphasis = phrases.word(i) in {"really", "actually", "exactly", "quite"}
        return is_emphasis and phrases.tag(i + 1) == "DET"

    def _skip_sign(self, i: int) -> int:
        """Return the word after "any sign of", or word i without such words."""
        phrases = self.phrases
        sign = i
        while phrases.is_listed(sign, "vague_articles"):
            sign += 1
        if phrases.is_listed(sign, "signs") and phrases.word(sign + 1) in {"of", "for"}:
            return sign + 2
        return i

    def _describes_noun(self, cue: Cue, quality: Phrase) -> bool:
        """Return whether a quality is one of a noun: "a not crowded beach"."""
        phrases = self.phrases
        if phrases.tag(cue.start - 1) == "DET" or phrases.is_listed(quality.end, "frames"):
            return True

        # an old but not rusty car
        end = cue.start
        if phrases.word(end - 1) in {"yet", "and", ","}:
            end -= 1
        start = phrases.before(end, {"ADJ", "ADV"})
        is_joined = end < cue.start or phrases.word(cue.start) == "but"
        precedes_noun = phrases.tag(quality.end) == "NOUN" and is_joined
        return precedes_noun and start < end and phrases.tag(start - 1) in {"DET", ""}

    def _is_odd(self, phrase: Phrase) -> bool:
        """Return whether a phrase after "without" is likely misread: "w/out | uniform"."""
        odd_tags = {"ADJ", "VBN", *FINITE_TAGS}
        return phrase.kind != "noun" and self.phrases.tag(phrase.start) in odd_tags

    def _up_to_mark(self, cue: Cue) -> Phrase | None:
        """Return the words up to the next mark, where no phrase fits: "w/out uniform"."""
        if not self._is_typed:
            return None
        phrases = self.phrases
        end = cue.end
        while phrases.tag(end) not in CLAUSE_EDGES | {"WH"} or phrases.joins_adjectives(end):
            end += 1
        has_content = any(phrases.tag(i) in _CONTENT_TAGS for i in range(cue.end, end))
        if not has_content or cue.kind not in {"not", "no", "without", "order"}:
            return None
        return noun_of(cue.end, end)
