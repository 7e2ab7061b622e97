"""Verb uses: the verbs of a caption, each with its subject, object and place in the text.

"a man is cutting a cake in a kitchen" has one verb use: cut, by a person, with the noun cake. Its verb
phrase is "cutting cake", as VFC writes it. Verbs whose phrase is not clear are left out, since another
verb in their place would often make no sentence.

In the examples of comments, a bar stands before the word in question.
"""

from itertools import zip_longest
from typing import NamedTuple

from nt2vr.negation.generate.chunks import Chunk, chunks_of
from nt2vr.negation.generate.subjects import subject_named
from nt2vr.negation.generate.verb_phrases import is_bare_noun, is_complete, needs_object
from nt2vr.negation.parse.inflect import Form, inflect, is_noun, verb_of
from nt2vr.negation.parse.phrases import Phrase, Phrases, phrases_of
from nt2vr.negation.parse.wordlists import listed, words

# The form that another verb needs, by the tag of a verb.
FORM_OF_TAG: dict[str, Form] = {"VBZ": "VBZ", "VBG": "VBG", "VBD": "VBD", "VBP": "VB"}

NOUNS_IN_ING = words("molding meeting clothing")
TAGS_BEFORE_NOUNS = frozenset({"DET", "ADJ", "NUM", "POS", "NOUN"})

# A verb phrase goes on if one of these follows its object, such as "red" in "paints it red".
TAGS_AFTER_OBJECT_THAT_GO_ON = frozenset({"VB", "ADJ", "VBN", "TO", "VBP", "DET", "NOUN"})
TAGS_AFTER_SECOND_VERB = frozenset({"DET", "NOUN", "PRON", "NUM", "ADJ"})

# A particle before these needs what follows: "looks down | at her cast".
PREPOSITIONS_AFTER_PARTICLES = words("at to for")


class VerbUse(NamedTuple):
    """A verb in a caption, and what it goes with."""

    # Characters of the verb in the caption, the end exclusive.
    start: int
    end: int

    # Form and lemma of the verb.
    form: Form
    verb: str

    # The preposition or particle between the verb and its noun; "" without one.
    preposition: str

    # Lemma of the object, or of the noun after the preposition; "" without one.
    noun: str

    # The words after the verb that its verb phrase has.
    rest: str

    # Who or what acts: "person", or a lemma; "" if that is unclear.
    subject: str

    # The noun lacks its article, so that it may be the subject: "cooking show", "dancing people".
    is_bare: bool

    @property
    def key(self) -> str:
        """The verb phrase as calibration counts it, the lemmas of verb and noun: "cut cake"."""
        return f"{self.verb} {self.noun}".rstrip()

    @property
    def phrase(self) -> str:
        """The verb phrase as VFC writes it: "cutting cake"."""
        return f"{inflect(self.verb, 'VBG')} {self.rest}".rstrip()


def verb_uses_of(caption: str) -> list[VerbUse]:
    """Return the verb uses of a caption whose phrases are clear and complete, in order."""
    phrases = phrases_of(caption)
    chunks = chunks_of(phrases)
    uses = []
    for chunk, next_chunk in zip_longest(chunks, chunks[1:]):
        if chunk.kind != "VP":
            continue
        next_kind = next_chunk.kind if next_chunk else ""
        use = _verb_use(phrases, chunk, next_kind)
        if use is not None:
            uses.append(use)
    return uses


def keys_of(caption: str) -> tuple[str, ...]:
    """Return the verb phrases of a caption as calibration counts them."""
    return tuple(use.key for use in verb_uses_of(caption))


def _verb_use(phrases: Phrases, chunk: Chunk, next_kind: str) -> VerbUse | None:
    """Return the use of a chunk's verb, before a chunk of kind `next_kind`; None if it is not clear."""
    start = chunk.start
    form = FORM_OF_TAG.get(phrases.tag(start))
    verb = verb_of(phrases.word(start))
    if form is None or not is_complete(phrases, chunk, next_kind):
        return None
    if not _is_action(phrases, i=start, verb=verb, form=form):
        return None

    preposition, after_preposition = _preposition(phrases, start + 1)
    is_particle = preposition in listed("verb_particles")
    if needs_object(verb) and preposition and not is_particle:
        # the picture he was making | in a game
        return None

    token = phrases.tokens[start]
    use = VerbUse(
        start=token.start,
        end=token.end,
        form=form,
        verb=verb,
        preposition=preposition,
        noun="",
        rest=preposition,
        subject=_subject(phrases, start),
        is_bare=False,
    )
    noun = None
    if after_preposition < chunk.end:
        noun = phrases.noun_phrase(after_preposition)
    if noun is not None:
        return _with_noun(phrases, use, noun, start=start)

    # starts | singing, they | cut
    if next_kind == "VP" or needs_object(verb):
        return None
    if _goes_on(phrases, after_preposition, preposition):
        return None
    return use


def _preposition(phrases: Phrases, i: int) -> tuple[str, int]:
    """Return the preposition or particle at or after the adverbs at word i, and the word after it."""
    particles = listed("verb_particles")
    while phrases.tag(i) == "ADV" and phrases.word(i) not in particles:
        i += 1
    if phrases.tag(i) == "ADP" or phrases.word(i) in particles:
        return phrases.word(i), i + 1
    return "", i


def _with_noun(phrases: Phrases, use: VerbUse, noun: Phrase, start: int) -> VerbUse | None:
    """Return the use of the verb at word `start` with its noun; None if its phrase goes on after the noun."""
    if not _ends_with_noun(phrases, noun, use.verb, use.preposition):
        return None

    noun_words = []
    for i in range(noun.start, noun.end):
        if phrases.tag(i) != "DET":
            noun_words.append(phrases.word(i))
    is_single_word = noun.start == noun.head
    is_compound = use.form == "VBG" and is_single_word and not phrases.is_auxiliary(start - 1)
    has_no_article = is_compound or is_bare_noun(phrases, start, noun.head)
    return use._replace(
        noun=_noun_lemma(phrases, noun),
        rest=" ".join([use.preposition, *noun_words]).lstrip(),
        is_bare=not use.preposition and has_no_article,
    )


def _noun_lemma(phrases: Phrases, noun: Phrase) -> str:
    """Return the lemma of a noun phrase's noun; of "a bowl of rice", rice."""
    is_amount = phrases.lemma_is_listed(noun.head, "collectives", "measures")
    if is_amount and phrases.word(noun.head + 1) == "of":
        return phrases.lemma(noun.end - 1)
    return phrases.lemma(noun.head)


def _is_action(phrases: Phrases, i: int, verb: str, form: Form) -> bool:
    """Return whether word i says what somebody does; a tagger also takes modifiers and nouns for verbs."""
    if not verb or verb in listed("not_actions"):
        return False
    # a | racing car, watching | racing cars
    if phrases.tag(i - 1) in {"DET", "ADJ", "NUM", "POS", "VBG"}:
        return False
    # Another verb could not be given a form that this one does not have.
    if inflect(verb, form) != phrases.word(i):
        return False
    if _is_noun(phrases, i, verb):
        return False
    # | make up
    return verb != "make" or phrases.word(i + 1) != "up"


def _is_noun(phrases: Phrases, i: int, verb: str) -> bool:
    """Return whether a verb may be a noun that the tagger mistook: "about some movie | matters"."""
    word = phrases.word(i)
    if word in listed("taken_for_verbs") | NOUNS_IN_ING:
        return True

    before = i - 1
    tag_before = phrases.tag(before)
    tag_before_that = phrases.tag(before - 1)
    follows_thing = tag_before == "NOUN" and not phrases.lemma_is_listed(before, "actors", "roles")
    if phrases.tag(i) == "VBG":
        # "about car | racing" is a noun, "of cars | racing" and "of a car | racing" are verbs.
        is_singular = phrases.word(before) == phrases.lemma(before)
        return follows_thing and is_singular and tag_before_that not in TAGS_BEFORE_NOUNS

    # waiters and | cooks
    is_joined_to_noun = tag_before == "CONJ" and tag_before_that == "NOUN"
    return (follows_thing or is_joined_to_noun) and is_noun(verb)


def _goes_on(phrases: Phrases, i: int, preposition: str) -> bool:
    """Return whether the words from i on belong to a verb without a noun: "talks about | cooking"."""
    if phrases.tag(i - 1) == "ADP" and i < len(phrases.tokens):
        return True

    # rubs | and kneads her dough
    is_joined_to_verb = phrases.tag(i) == "CONJ" and phrases.tag(i + 1) in FORM_OF_TAG
    if is_joined_to_verb and phrases.tag(i + 2) in TAGS_AFTER_SECOND_VERB:
        return True
    return bool(preposition) and phrases.word(i) in PREPOSITIONS_AFTER_PARTICLES


def _ends_with_noun(phrases: Phrases, noun: Phrase, verb: str, preposition: str) -> bool:
    """Return whether a verb phrase ends with its noun: not in "paints it red", "gives a woman a massage"."""
    next_tag = phrases.tag(noun.end)
    if phrases.tag(noun.head) == "PRON" or next_tag in TAGS_AFTER_OBJECT_THAT_GO_ON:
        return False
    # a water | cooling system
    if next_tag == "VBG" and phrases.tag(noun.end + 1) == "NOUN":
        return False
    if preposition:
        return True

    # watches a man | dancing
    may_act = phrases.is_actor(noun) or verb in listed("takes_clause")
    if phrases.is_verb(noun.end) and may_act:
        return False
    # pushes a car | out of a room
    return not phrases.is_listed(noun.end, "directions")


def _subject(phrases: Phrases, verb: int) -> str:
    """Return who acts: the last noun before the verb that is neither an object nor after a preposition."""
    i = verb - 1
    while phrases.tag(i) not in {"", "PRON"}:
        first = i
        if phrases.tag(i) == "NOUN":
            first = phrases.before(i, TAGS_BEFORE_NOUNS)
            # feeds an animal | that jumps
            precedes_clause = phrases.tag(i + 1) == "WH"
            if precedes_clause or not _is_object(phrases, first):
                subject = subject_named(phrases, first, i + 1)
                if subject and subject.is_human:
                    return "person"
                return phrases.lemma(i)
        i = first - 1
    if phrases.word(i) not in {"", "it"}:
        return "person"
    return ""


def _is_object(phrases: Phrases, first: int) -> bool:
    """Return whether the noun phrase that starts at word `first` follows a verb or a preposition."""
    before = first - 1
    if phrases.tag(before) == "ADP":
        return phrases.word(before) != "of"
    return phrases.is_main_verb(before)
