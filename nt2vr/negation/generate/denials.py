"""Negated sentences from arbitrary captions, with their wanted and unwanted parts. Knows no videos.

Kinds:
    negated     a caption with one thing denied
    composed    A and not B
    without     A without a thing N
    absent      the same in other words, such as "lacking"; A may be a single thing
    not         not B alone
    fragment    a caption joined with a few words of another one, which teaches the words of
                negation rather than one generator's grammar
    typed       "A and not B" or "A without N" in the words of people who search
    typed not   "not B" in their words
    idiom       a sentence that denies nothing

In the examples of comments, a bar stands before the word in question.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import Literal, NamedTuple

from nt2vr.negation.generate.actions import Action, Subject, actions, also_called, is_plural_noun
from nt2vr.negation.generate.composer import fill_template
from nt2vr.negation.generate.content import NamedThing, Usage, agrees, things
from nt2vr.negation.generate.negator import affirm, denials
from nt2vr.negation.generate.wordings import (
    Wordings,
    bare,
    draw_exclusion,
    draw_idiom,
    draw_refusal,
    draw_request,
    mistyped,
    wordings_in,
)
from nt2vr.negation.parse.inflect import inflect, inflect_phrase, verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import Span, split_query
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import listed

DenialKind = Literal[
    "negated", "composed", "without", "not", "fragment", "typed", "idiom", "typed not", "absent"
]

# The share of "not B" sentences, typed or not, in which B is an action; in the others, B is a thing.
ACTION_SHARE = 0.6
# The share of "A and not B" sentences whose B is drawn from captions of the same subject.
SAME_SUBJECT_SHARE = 0.5
# The share of "A without N" sentences whose A is the full caption; in the others, A is one action.
FULL_CAPTION_SHARE = 0.5
# The share of "absent" sentences whose A is a thing.
THING_SHARE = 0.35
# The share of "typed" sentences that are requests and exclude nothing.
REQUEST_SHARE = 0.1
# The share of "A and not B" sentences that are joined as fragments are, not by nT2VR's templates.
JOINED_SHARE = 0.5
# How many captions are drawn to find something that the current one does not say.
MAX_DRAWS = 12
# Longer captions are not extended: models truncate texts to 77 tokens, small ones to fewer.
MAX_WORDS = 25
MAX_FRAGMENT_WORDS = 4

# Tags of words.
_THING_OPENERS = frozenset({"DET", "NUM", "ADJ", "NOUN"})
_CONTENT = frozenset({"NOUN", "ADJ", "VB", "VBZ", "VBP", "VBD", "VBG", "VBN"})
# A fragment contains none of the first, begins with none of the second, and ends with none of the
# third.
_NOT_IN_FRAGMENT = frozenset({"PUNCT", "NEG", "OTHER"})
_NOT_FIRST = frozenset({"CONJ", "PUNCT", "POS", "WH", "MD"})
_NOT_LAST = _NOT_FIRST | {"DET", "NUM", "ADP", "TO", "PRON"}

# Lemmas of auxiliaries.
_AUXILIARIES = frozenset({"be", "have", "do"})
# Words that remain when "this is a clip of …" or "… is shown" is denied.
_SAYS_LITTLE = frozenset({"this", "it", "that", "shown", "played", "filmed", "displayed"})
# Words of a place that belongs to a thing: "without a flag | in his hand", "without trees | in the
# background".
_BELONGING = frozenset({"his", "her", "its", "their", "background", "foreground"})


@dataclass(frozen=True)
class Denial:
    """A negated sentence.

    Attributes:
        kind: how it denies.
        text: the sentence.
        wanted: phrase the video should show; empty for "not B", an affirmative paraphrase for an
            idiom.
        unwanted: affirmative phrase it should not show; empty for an idiom, and for a mere request.
    """

    kind: DenialKind
    text: str
    wanted: str
    unwanted: str


class _UsualAction(NamedTuple):
    """An action in its usual wording: `text` with the verb as a lemma, `content` lemmas."""

    subject: Subject
    text: str
    content: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A caption and what is drawn from it.

    Attributes:
        text: without a final full stop.
        words: in lower case.
        tags: of the words.
        lemmas: of the words.
        names: lemmas, and hypernyms of its nouns.
        things: those that it names.
        denied: its versions with one thing or verb denied.
        actions: its actions.
    """

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    names: frozenset[str]
    things: tuple[NamedThing, ...]
    denied: tuple[Denial, ...]
    actions: tuple[_UsualAction, ...] = ()


class CaptionDenials:
    """Draws negated sentences for captions of any domain; negated captions give none."""

    def __init__(
        self, captions: Iterable[str] = (), parsed: Iterable["ParsedCaption"] | None = None
    ) -> None:
        """Parse the captions, about 700 per second on one core.

        Those that are given as `parse_caption` returns them need not be parsed.
        """
        parsed_captions = list(map(parse_caption, captions) if parsed is None else parsed)
        usage = Usage()
        for number, parsed_caption in enumerate(parsed_captions):
            for action in parsed_caption.actions:
                usage.add(str(number), action)

        self._captions: list[_Parsed | None] = []
        for caption, caption_actions in parsed_captions:
            if caption is not None:
                caption = replace(caption, actions=tuple(_usual_actions(caption_actions, usage)))
            self._captions.append(caption)
        self._sources = [caption for caption in self._captions if caption is not None]
        self._with_things = [caption for caption in self._sources if caption.things]
        self._with_actions = [caption for caption in self._sources if caption.actions]
        self._actions_of: dict[Subject, list[_UsualAction]] = defaultdict(list)
        for caption in self._with_actions:
            for usual_action in caption.actions:
                self._actions_of[usual_action.subject].append(usual_action)

    def __len__(self) -> int:
        return len(self._captions)

    def draw(
        self,
        caption_index: int,
        kind: DenialKind,
        rng: random.Random,
        wordings: Wordings = "trained",
    ) -> Denial | None:
        """Draw a sentence for a caption, an idiom in `wordings`.

        None if the caption allows none of this kind. The unwanted part comes from other captions
        and is absent from this one, except for "negated" sentences.
        """
        caption = self._captions[caption_index]
        if caption is None:
            return None
        if kind == "idiom":
            return _idiom(caption, rng, wordings)
        draw_by_kind = {
            "negated": _negated,
            "composed": self._composed,
            "without": self._without,
            "absent": self._absent,
            "not": self._not,
            "fragment": self._fragment,
            "typed": self._typed,
            "typed not": self._typed_not,
        }
        return draw_by_kind[kind](caption, rng)

    def _composed(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A and not B", by nT2VR's templates or joined freely."""
        if not caption.actions:
            return None
        wanted = rng.choice(caption.actions)
        unwanted = self._draw_unwanted_action(caption, wanted, rng)
        if unwanted is None:
            return None

        sentence = fill_template(
            wanted.subject, wanted=wanted.text, unwanted=unwanted.text, rng=rng
        )
        doing = inflect_phrase(unwanted.text, "VBG")
        if rng.random() >= JOINED_SHARE:
            return Denial(
                kind="composed",
                text=sentence.text,
                wanted=sentence.wanted,
                unwanted=doing,
            )
        clause = _clause(wanted, rng, may_be_finite=False)
        template = rng.choice(templates_for("joint of an action"))
        return Denial(
            kind="composed",
            text=template.format(A=clause, F=doing),
            wanted=clause,
            unwanted=doing,
        )

    def _draw_unwanted_action(
        self, caption: _Parsed, wanted: _UsualAction, rng: random.Random
    ) -> _UsualAction | None:
        """Draw an action that the caption does not tell of, for the subject of a wanted one."""
        of_subject: list[_UsualAction] = []
        if rng.random() < SAME_SUBJECT_SHARE:
            of_subject = self._actions_of[wanted.subject]
        for attempt in range(MAX_DRAWS):
            # All actions of a subject may be those of the caption, so the second half is of anybody.
            if of_subject and attempt < MAX_DRAWS // 2:
                action = rng.choice(of_subject)
            else:
                action = rng.choice(rng.choice(self._with_actions).actions)
            # runs and does not run on the beach
            is_part = wanted.content <= action.content
            is_told = action.content <= caption.names
            if not is_part and not is_told and agrees(wanted.subject, action.text):
                return action
        return None

    def _without(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A without N", by the templates of query sets and by freer ones."""
        wanted = self._wanted(caption, rng)
        thing = self._draw_thing(caption, rng)
        if not wanted or thing is None:
            return None
        return Denial(
            kind="without",
            text=lacking("freely without", thing, rng, wanted),
            wanted=wanted,
            unwanted=thing.text,
        )

    def _absent(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "A without N" in words such as "lacking"; A may be a thing of the caption."""
        if caption.things and rng.random() < THING_SHARE:
            wanted = rng.choice(caption.things).text
        else:
            wanted = self._wanted(caption, rng)
        thing = self._draw_thing(caption, rng)
        if not wanted or thing is None:
            return None
        text = mistyped(lacking("absent", thing, rng, wanted), rng)
        return Denial(
            kind="absent",
            text=text,
            wanted=wanted,
            unwanted=thing.text,
        )

    def _wanted(self, caption: _Parsed, rng: random.Random) -> str:
        """Return the full caption or one of its actions; "" if it is too long and has none."""
        wanted = caption.text if len(caption.words) <= MAX_WORDS else ""
        if caption.actions and (not wanted or rng.random() >= FULL_CAPTION_SHARE):
            return _clause(rng.choice(caption.actions), rng)
        return wanted

    def _not(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Draw "not B" for an action or a thing; "nobody" only for actions of people."""
        action = self._draw_other_action(caption, rng)
        if action:
            doing = inflect_phrase(action.text, "VBG")
            templates = templates_for("no action")
            if action.subject.is_human:
                template = rng.choice(templates)
            else:
                template = templates[0]
            text = template.format(B_ing=doing, B_s=inflect_phrase(action.text, "VBZ"))
            return Denial(
                kind="not",
                text=text,
                wanted="",
                unwanted=doing,
            )

        thing = self._draw_thing(caption, rng)
        if thing is None:
            return None
        return Denial(
            kind="not",
            text=lacking("no thing", thing, rng),
            wanted="",
            unwanted=thing.text,
        )

    def _typed_not(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Word "not B" as people type it."""
        action = self._draw_other_action(caption, rng)
        if action:
            doing = inflect_phrase(action.text, "VBG")
            use = "of a person" if action.subject.is_human else "of an animal"
            return Denial(
                kind="typed not",
                text=draw_refusal(doing, use, rng),
                wanted="",
                unwanted=doing,
            )

        thing = self._draw_thing(caption, rng)
        if thing is None:
            return None
        return Denial(
            kind="typed not",
            text=draw_refusal(thing.text, "of a thing", rng),
            wanted="",
            unwanted=thing.text,
        )

    def _draw_other_action(self, caption: _Parsed, rng: random.Random) -> _UsualAction | None:
        """Draw an action that the caption does not tell of; None where a thing is denied instead."""
        if not self._with_actions or rng.random() >= ACTION_SHARE:
            return None
        for _ in range(MAX_DRAWS):
            action = rng.choice(rng.choice(self._with_actions).actions)
            if not action.content <= caption.names:
                return action
        return None

    def _fragment(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Join a caption with a few words of another one."""
        if len(caption.words) > MAX_WORDS:
            return None
        for _ in range(MAX_DRAWS):
            source = rng.choice(self._sources)
            start = rng.randrange(len(source.words))
            size = rng.randint(1, MAX_FRAGMENT_WORDS)
            positions = _trimmed(source, start, min(start + size, len(source.words)))
            if not _is_new(source, positions, caption):
                continue
            tags = [source.tags[i] for i in positions]
            fragment = " ".join(source.words[i] for i in positions).replace(" '", "'")
            template = rng.choice(_joints(tags))
            text = template.format(A=caption.text, F=fragment, f=bare(fragment))
            return Denial(
                kind="fragment",
                text=text,
                wanted=caption.text,
                unwanted=fragment,
            )
        return None

    def _typed(self, caption: _Parsed, rng: random.Random) -> Denial | None:
        """Word "A and not B" or "A without N" as people type it, or merely ask for A."""
        is_action = rng.random() < ACTION_SHARE
        draw = self._without
        if is_action:
            draw = self._composed
        denial = draw(caption, rng)
        if denial is None:
            return None
        wanted = denial.wanted
        if rng.random() < REQUEST_SHARE:
            return Denial(
                kind="typed",
                text=draw_request(wanted, rng),
                wanted=wanted,
                unwanted="",
            )

        second = draw(caption, rng)
        further = ""
        if second and second.unwanted != denial.unwanted:
            further = second.unwanted
        text, is_list = draw_exclusion(wanted, denial.unwanted, further, is_action, rng)
        unwanted = denial.unwanted
        if is_list:
            unwanted = f"{unwanted} and {further}"
        return Denial(
            kind="typed",
            text=text,
            wanted=wanted,
            unwanted=unwanted,
        )

    def _draw_thing(self, caption: _Parsed, rng: random.Random) -> NamedThing | None:
        """Draw a thing that the caption does not name."""
        if not self._with_things:
            return None
        for _ in range(MAX_DRAWS):
            thing = rng.choice(rng.choice(self._with_things).things)
            if not thing.names & caption.names:
                return thing
        return None


def _negated(caption: _Parsed, rng: random.Random) -> Denial | None:
    if caption.denied:
        return rng.choice(caption.denied)
    return None


def _idiom(caption: _Parsed, rng: random.Random, wordings: Wordings) -> Denial | None:
    if len(caption.words) > MAX_WORDS:
        return None
    clauses = [(action.subject, action.text) for action in caption.actions]
    wording = draw_idiom(caption.text, clauses, caption.things, rng, wordings)
    if wording is None:
        return None
    return Denial(
        kind="idiom",
        text=wording.text,
        wanted=wording.meaning,
        unwanted="",
    )


def templates_for(use: str) -> list[str]:
    """Return the templates of `assets/wordings/denials.json` for one use.

    One given twice is twice as likely. {A} is wanted; {N} is a thing, {B_ing} and {B_s} an action, {F}
    a fragment; {n} and {f} lack the article.
    """
    templates: list[str] = wordings_in("denials.json")[use]
    return templates


def lacking(use: str, thing: NamedThing, rng: random.Random, wanted: str = "") -> str:
    """Fill a random template for a thing that is not there; "there is" agrees with it."""
    template = rng.choice(templates_for(use))
    if thing.is_plural:
        template = template.replace("there is", "there are")
    return template.format(A=wanted, N=thing.text, n=thing.bare)


def _clause(action: _UsualAction, rng: random.Random, may_be_finite: bool = True) -> str:
    """Phrase an action as "is singing", "singing" or, perhaps, "sings"."""
    doing = inflect_phrase(action.text, "VBG")
    if action.subject.is_plural:
        forms = [f"are {doing}", doing, action.text]
    else:
        forms = [f"is {doing}", doing, inflect_phrase(action.text, "VBZ")]
    if not may_be_finite:
        forms.pop()
    return f"{action.subject.text} {rng.choice(forms)}"


class ParsedCaption(NamedTuple):
    """What sentences are drawn from; None for a caption that is empty, or negated itself."""

    caption: _Parsed | None
    actions: list[Action]


def parse_caption(caption: str) -> ParsedCaption:
    """Parse what sentences are drawn from."""
    text = " ".join(caption.split()).rstrip(" .,;:!?")
    phrases = Phrases(load_tagger().tag(text))
    caption_actions = actions(phrases)
    if not phrases.tokens or affirm(text, phrases) is not None:
        return ParsedCaption(None, caption_actions)

    lemmas = tuple(intern(token.lemma) for token in phrases.tokens)
    names = set(lemmas)
    for i, lemma in enumerate(lemmas):
        names |= also_called(lemma)
        if phrases.tag(i) in VERB_TAGS:
            names.add(verb_of(phrases.word(i)))
    parsed = _Parsed(
        text,
        words=tuple(map(intern, phrases.words)),
        tags=tuple(token.tag for token in phrases.tokens),
        lemmas=lemmas,
        names=frozenset(names),
        things=tuple(things(phrases)),
        denied=tuple(_denied(text, phrases)),
    )
    return ParsedCaption(parsed, caption_actions)


def _denied(text: str, phrases: Phrases) -> Iterator[Denial]:
    """Yield the versions of a caption with one thing or verb denied, if their parts are clear."""
    for denied_texts, denied_phrases in denials(text, phrases):
        denied_text = denied_texts[0]
        query = split_query(denied_text, denied_phrases)
        wanted = " ".join(query.wanted)
        first_word = (wanted or denied_text).lower().partition(" ")[0]
        says_little = first_word in _SAYS_LITTLE or not _SAYS_LITTLE.isdisjoint(query.unwanted)
        if not query.scopes or says_little:
            continue
        if _may_be_wrong(denied_phrases, query.scopes[-1]):
            continue

        parts = []
        for unwanted, scope in zip(query.unwanted, query.scopes, strict=True):
            parts.append(_participle(unwanted, scope, denied_phrases))
        wanted = _without_place_of_thing(
            wanted, text=denied_text, phrases=denied_phrases, scope=query.scopes[-1]
        )
        for version in denied_texts:
            yield Denial(
                kind="negated",
                text=version,
                wanted=wanted,
                unwanted=" and ".join(parts),
            )


def _may_be_wrong(phrases: Phrases, scope: Span) -> bool:
    """Return whether the words that are denied may end elsewhere than a scope does.

    An example is "(does not toss a child) in camouflage into the air".
    """
    inside = [i for i, token in enumerate(phrases.tokens) if scope.start <= token.start < scope.end]
    first = inside[0]
    after = inside[-1] + 1
    if any(_starts_clause(phrases, i) for i in inside[1:]):
        return True
    if _may_act(phrases, first, after - 1):
        return True
    if phrases.word(after) == "of" or phrases.tag(after) in {"WH", "ADJ", "VBN"}:
        return True
    if _place_is_ambiguous(phrases, first, after):
        return True
    return _list_is_ambiguous(phrases, first, after)


def _starts_clause(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) in FINITE_TAGS or phrases.word(i) in {"as", "while"}


def _place_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether the place at word `after` may belong to the scope from word `first`."""
    place = phrases.place_phrase(after)
    if place is None:
        return False
    # covered | in cake
    if phrases.tag(first) == "VBN" or phrases.place_phrase(place.end):
        return True
    # a player | in blue
    noun = None
    if place.object:
        noun = phrases.noun_phrase(place.object)
    return noun is not None and phrases.tag(noun.head) == "ADJ"


def _may_act(phrases: Phrases, first: int, last: int) -> bool:
    """Return whether a participle after a scope may be of its last word."""
    if phrases.tag(last + 1) != "VBG":
        return False
    lemma = phrases.lemma(last)
    is_actor = lemma in listed("actors", "roles") or is_plural_noun(phrases.word(last), lemma)
    return is_actor or phrases.tag(first) == "NOUN"


def _list_is_ambiguous(phrases: Phrases, first: int, after: int) -> bool:
    """Return whether "and" or "or" at word `after` may add to the scope from word `first`."""
    noun = phrases.noun_phrase(after + 1)
    if phrases.word(after) not in {"and", "or"} or noun is None:
        return False
    return phrases.tag(first) not in VERB_TAGS or phrases.tag(noun.end) not in VERB_TAGS


def _without_place_of_thing(wanted: str, text: str, phrases: Phrases, scope: Span) -> str:
    """Leave a place that belongs to the thing in a scope out of the wanted part.

    An example is "without (trees) | in the background".
    """
    after = sum(token.end <= scope.end for token in phrases.tokens)
    place = phrases.place_phrase(after)
    if place is None or not place.object:
        return wanted
    if _BELONGING.isdisjoint((phrases.word(place.object), phrases.lemma(place.object + 1))):
        return wanted
    place_text = text[phrases.tokens[after - 1].end : phrases.tokens[place.end - 1].end]
    return wanted.replace(place_text, "")


def _participle(unwanted: str, scope: Span, phrases: Phrases) -> str:
    """Turn the "ride a bike" of a scope into "riding a bike"."""
    verb = next(token for token in phrases.tokens if token.start == scope.start)
    is_verb = verb.tag in FINITE_TAGS or verb.tag == "VB"
    if not is_verb or not unwanted.startswith(verb.text):
        return unwanted
    return f"{inflect(verb.lemma, 'VBG')}{unwanted[len(verb.text) :]}"


def _usual_actions(caption_actions: Sequence[Action], usage: Usage) -> Iterator[_UsualAction]:
    """Yield the actions of a caption in the usual wordings."""
    content = {}
    for subject, phrase in caption_actions:
        content[subject, phrase.key] = phrase.content
    for (subject, key), lemmas in content.items():
        text = usage.text(subject, key)
        if text:
            yield _UsualAction(subject, text, lemmas)


def _trimmed(caption: _Parsed, start: int, end: int) -> range:
    """Drop dangling words at both ends of a fragment: "riding a", "is riding a big" of a horse."""
    while start < end and (caption.tags[start] in _NOT_FIRST or caption.lemmas[start] == "be"):
        start += 1
    while start < end and _dangles(caption, end - 1):
        end -= 1
    return range(start, end)


def _dangles(caption: _Parsed, i: int) -> bool:
    """Return whether word i cannot end a fragment."""
    if caption.tags[i] in _NOT_LAST or caption.lemmas[i] == "be":
        return True
    is_last = i + 1 == len(caption.tags)
    return caption.tags[i] == "ADJ" and not is_last and caption.tags[i + 1] in {"ADJ", "NOUN"}


def _is_new(source: _Parsed, positions: range, caption: _Parsed) -> bool:
    """Return whether a fragment of another caption says something that a caption does not."""
    if any(source.tags[i] in _NOT_IN_FRAGMENT for i in positions):
        return False
    content = {source.lemmas[i] for i in positions if source.tags[i] in _CONTENT} - _AUXILIARIES
    return any(not also_called(lemma) & caption.names for lemma in content)


def _joints(tags: Sequence[str]) -> list[str]:
    """Return the templates by which a fragment may be joined."""
    if tags[0] == "VBG":
        return templates_for("joint of an action")
    has_noun = tags[0] in _THING_OPENERS and "NOUN" in tags
    if has_noun and FINITE_TAGS.isdisjoint(tags):
        return templates_for("joint of a thing")
    return templates_for("joint")
