"""The verbs of captions, each with what it goes with: the verb phrases of VFC."""

from itertools import zip_longest
from typing import NamedTuple

from nt2vr.negation.generate.actions import (
    Chunk,
    chunks_of,
    is_bare_noun,
    is_complete,
    named,
    needs_object,
)
from nt2vr.negation.parse.inflect import Form, inflect, is_noun, verb_of
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, words

_FORMS: dict[str, Form] = {"VBZ": "VBZ", "VBG": "VBG", "VBD": "VBD", "VBP": "VB"}
_NOUNS_IN_ING = words("molding meeting clothing")
_BEFORE_NOUNS = frozenset({"DET", "ADJ", "NUM", "POS", "NOUN"})
_TARGETS = words("at to for")  # after a particle: looks down at her cast


class Frame(NamedTuple):
    """A verb and what it goes with."""

    start: int  # first character of the verb
    end: int  # character after it
    form: Form
    verb: str  # lemma
    preposition: str  # or particle, between the verb and its noun
    noun: str  # lemma of the object or the noun after the preposition; empty for neither
    rest: str  # the words after the verb as a verb phrase has them
    subject: str  # "person", or the lemma of who or what else acts; empty if unclear
    is_bare: bool  # the noun lacks its article (cooking show, dancing people), so may be the verb's subject

    @property
    def key(self) -> str:
        """The verb phrase as calibration counts it: lemmas of verb and noun."""
        return f"{self.verb} {self.noun}".rstrip()

    @property
    def phrase(self) -> str:
        """The verb phrase as VFC writes it: "cutting cake"."""
        return f"{inflect(self.verb, 'VBG')} {self.rest}".rstrip()


def frames_of(caption: str) -> list[Frame]:
    """Return the verbs of a caption whose phrases are complete, in order."""
    phrases = Phrases(load_tagger().tag(caption))
    chunks = chunks_of(phrases)
    pairs = zip_longest(chunks, chunks[1:])
    return [
        frame
        for chunk, after in pairs
        if chunk.kind == "VP" and (frame := _frame(phrases, chunk, after))
    ]


def _frame(phrases: Phrases, chunk: Chunk, after: Chunk | None) -> Frame | None:
    start, kind = chunk.start, after.kind if after else ""
    form, verb = _FORMS.get(phrases.tag(start)), verb_of(phrases.word(start))
    if (
        form is None
        or not is_complete(phrases, chunk, kind)
        or not _is_deed(phrases, start, verb, form)
    ):
        return None
    place, preposition = start + 1, ""
    while phrases.tag(place) == "ADV" and phrases.word(place) not in listed("verb_particles"):
        place += 1
    if phrases.tag(place) == "ADP" or phrases.word(place) in listed("verb_particles"):
        place, preposition = place + 1, phrases.word(place)
    if needs_object(verb) and preposition not in {"", *listed("verb_particles")}:
        return None  # the picture he was making in a game
    token, subject = phrases.tokens[start], _subject(phrases, start)
    fields = (token.start, token.end, form, verb, preposition)
    if noun := phrases.noun_phrase(place) if place < chunk.end else None:
        said = [phrases.word(i) for i in range(noun.start, noun.end) if phrases.tag(i) != "DET"]
        rest = " ".join([preposition, *said]).lstrip()
        is_compound = (
            form == "VBG" and noun.start == noun.head and not phrases.is_auxiliary(start - 1)
        )
        is_bare = not preposition and (is_compound or is_bare_noun(phrases, start, noun.head))
        is_whole = _is_whole(phrases, noun, verb, preposition)
        return Frame(*fields, _named(phrases, noun), rest, subject, is_bare) if is_whole else None
    is_open = (
        kind == "VP" or needs_object(verb) or _goes_on(phrases, place, preposition)
    )  # starts singing; they cut
    return None if is_open else Frame(*fields, "", preposition, subject, False)


def _named(phrases: Phrases, noun: Phrase) -> str:
    """Return the lemma of a noun; of "a bowl of rice", rice."""
    is_amount = phrases.lemma(noun.head) in listed("collectives", "measures")
    return phrases.lemma(
        noun.end - 1 if is_amount and phrases.word(noun.head + 1) == "of" else noun.head
    )


def _is_deed(phrases: Phrases, i: int, verb: str, form: Form) -> bool:
    """Return whether word i is a verb, and not a slip, a modifier ("watching racing cars") or a noun."""
    return (
        bool(verb)
        and verb not in listed("no_deeds")
        and phrases.tag(i - 1) not in {"DET", "ADJ", "NUM", "POS", "VBG"}
        and inflect(verb, form) == phrases.word(i)
        and not _is_noun(phrases, i, verb)
        and (verb, phrases.word(i + 1)) != ("make", "up")
    )


def _goes_on(phrases: Phrases, i: int, preposition: str) -> bool:
    """Return whether the words from i on belong to a verb without a noun: "talks about | cooking"."""
    is_open = phrases.tag(i - 1) == "ADP" and i < len(phrases.tokens)
    is_joined = phrases.tag(i) == "CONJ" and phrases.tag(i + 1) in _FORMS
    shares_object = is_joined and phrases.tag(i + 2) in {
        "DET",
        "NOUN",
        "PRON",
        "NUM",
        "ADJ",
    }  # rubs | and kneads her
    return is_open or shares_object or (bool(preposition) and phrases.word(i) in _TARGETS)


def _is_whole(phrases: Phrases, noun: Phrase, verb: str, preposition: str) -> bool:
    """Return whether a verb phrase ends with its noun: not in "paints it red", "gives a woman a massage"."""
    following = phrases.tag(noun.end)
    if phrases.tag(noun.head) == "PRON" or following in {
        "VB",
        "ADJ",
        "VBN",
        "TO",
        "VBP",
        "DET",
        "NOUN",
    }:
        return False
    if following == "VBG" and phrases.tag(noun.end + 1) == "NOUN":
        return False  # a water | cooling system
    if preposition:
        return True
    watches = following in VERB_TAGS and (phrases.is_actor(noun) or verb in listed("takes_clause"))
    return not watches and phrases.word(noun.end) not in listed(
        "directions"
    )  # watches a man | dancing


def _is_noun(phrases: Phrases, i: int, verb: str) -> bool:
    """Return whether a verb may be a noun that the tagger mistook: "about some movie | matters"."""
    word = phrases.word(i)
    follows_thing = phrases.tag(i - 1) == "NOUN" and phrases.lemma(i - 1) not in listed(
        "actors", "roles"
    )
    is_joined = phrases.tag(i - 1) == "CONJ" and phrases.tag(i - 2) == "NOUN"  # waiters and | cooks
    is_object = phrases.tag(i - 1) == "VBG"  # watching wrestling | matches
    if word in listed("taken_for_verbs") | _NOUNS_IN_ING:
        return True
    if phrases.tag(i) == "VBG":  # about car | racing, but: of cars | racing
        is_one = phrases.word(i - 1) == phrases.lemma(i - 1)
        return follows_thing and is_one and phrases.tag(i - 2) not in _BEFORE_NOUNS
    return (follows_thing or is_joined or is_object) and is_noun(verb)


def _subject(phrases: Phrases, verb: int) -> str:
    """Return who acts: the last noun before the verb that is neither an object nor after a preposition."""
    j = verb - 1
    while phrases.tag(j) not in {"", "PRON"}:
        first = j
        if phrases.tag(j) == "NOUN":
            first = phrases.before(j, _BEFORE_NOUNS)
            if not _is_object(phrases, first) or phrases.tag(j + 1) == "WH":
                subject = named(phrases, first, j + 1)
                return "person" if subject and subject.is_human else phrases.lemma(j)
        j = first - 1
    return "person" if phrases.word(j) not in {"", "it"} else ""


def _is_object(phrases: Phrases, first: int) -> bool:
    before = phrases.tag(first - 1)
    follows_verb = before in VERB_TAGS and not phrases.is_auxiliary(first - 1)
    return (before == "ADP" and phrases.word(first - 1) != "of") or follows_verb
