"""Negated sentences from arbitrary captions, with their wanted and unwanted parts. Knows no videos.

`denial` says which kinds there are.

In the examples of comments, a bar stands before the word in question.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from random import Random

from nt2vr.negation.generate.composer import fill_template
from nt2vr.negation.generate.content import Usage, agrees
from nt2vr.negation.generate.denial import Denial, DenialKind, Sentence
from nt2vr.negation.generate.fragments import join_fragment
from nt2vr.negation.generate.idioms import Wordings, draw_idiom
from nt2vr.negation.generate.parsed_captions import (
    ParsedCaption,
    SourceCaption,
    UsualAction,
    parse_caption,
    usual_actions,
)
from nt2vr.negation.generate.subjects import Subject
from nt2vr.negation.generate.things import NamedThing
from nt2vr.negation.generate.wordings import (
    draw_exclusion,
    draw_refusal,
    draw_request,
    lacking,
    mistyped,
    templates_for,
)
from nt2vr.negation.parse.inflect import finite, inflect_phrase, is_or_are

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

# Draws a sentence for a caption; None if the caption allows none.
DrawSentence = Callable[[SourceCaption, Random], Sentence | None]


class CaptionDenials:
    """Draws negated sentences for captions of any domain; negated captions give none."""

    def __init__(
        self, captions: Iterable[str] = (), parsed: Iterable[ParsedCaption] | None = None
    ) -> None:
        """Parse the captions, about 700 per second on one core.

        Those that are given as `parse_caption` returns them need not be parsed.
        """
        if parsed is None:
            parsed = map(parse_caption, captions)
        parsed_captions = list(parsed)
        usage = Usage()
        for number, parsed_caption in enumerate(parsed_captions):
            for action in parsed_caption.actions:
                usage.add(str(number), action)

        # None for captions that give no sentence.
        self._captions: list[SourceCaption | None] = []
        self._actions_of: dict[Subject, list[UsualAction]] = defaultdict(list)
        for caption, caption_actions in parsed_captions:
            if caption is not None:
                caption = replace(caption, actions=tuple(usual_actions(caption_actions, usage)))
                for usual_action in caption.actions:
                    self._actions_of[usual_action.subject].append(usual_action)
            self._captions.append(caption)
        self._sources = [caption for caption in self._captions if caption is not None]
        self._with_things = [caption for caption in self._sources if caption.things]
        self._with_actions = [caption for caption in self._sources if caption.actions]

    def __len__(self) -> int:
        return len(self._captions)

    def draw(
        self,
        caption_index: int,
        kind: DenialKind,
        rng: Random,
        wordings: Wordings = "trained",
    ) -> Denial | None:
        """Draw a sentence for a caption, an idiom in `wordings`.

        None if the caption allows none of this kind. The unwanted part comes from other captions
        and is absent from this one, except for "negated" sentences.
        """
        caption = self._captions[caption_index]
        if caption is None:
            return None
        draw_by_kind: Mapping[DenialKind, DrawSentence] = {
            "negated": _negated,
            "composed": self._composed,
            "without": self._without,
            "absent": self._absent,
            "not": self._not,
            "fragment": self._fragment,
            "typed": self._typed,
            "typed not": self._typed_not,
            "idiom": partial(_idiom, wordings=wordings),
        }
        sentence = draw_by_kind[kind](caption, rng)
        return Denial(kind, *sentence) if sentence else None

    def _composed(self, caption: SourceCaption, rng: Random) -> Sentence | None:
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
        if rng.random() >= JOINED_SHARE:
            return sentence._replace(unwanted=unwanted.doing)
        clause = _clause(wanted, rng, may_be_finite=False)
        template = rng.choice(templates_for("joint of an action"))
        text = template.format(A=clause, F=unwanted.doing)
        return Sentence(text, wanted=clause, unwanted=unwanted.doing)

    def _draw_unwanted_action(
        self, caption: SourceCaption, wanted: UsualAction, rng: Random
    ) -> UsualAction | None:
        """Draw an action that the caption does not tell of, for the subject of a wanted one."""
        # All actions of a subject may be those of the caption, so the second half is of anybody.
        num_of_subject = 0
        if rng.random() < SAME_SUBJECT_SHARE:
            num_of_subject = MAX_DRAWS // 2
        for attempt in range(MAX_DRAWS):
            if attempt < num_of_subject:
                action = rng.choice(self._actions_of[wanted.subject])
            else:
                action = self._draw_action(rng)
            # runs and does not run on the beach
            is_part = wanted.content <= action.content
            is_told = action.content <= caption.names
            if not is_part and not is_told and agrees(wanted.subject, action.text):
                return action
        return None

    def _draw_action(self, rng: Random) -> UsualAction:
        return rng.choice(rng.choice(self._with_actions).actions)

    def _without(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Draw "A without N", by the templates of query sets and by freer ones."""
        wanted = self._wanted(caption, rng)
        thing = self._draw_thing(caption, rng)
        if not wanted or thing is None:
            return None
        return Sentence(lacking("freely without", thing, rng, wanted), wanted, thing.text)

    def _absent(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Draw "A without N" in words such as "lacking"; A may be a thing of the caption."""
        if caption.things and rng.random() < THING_SHARE:
            wanted = rng.choice(caption.things).text
        else:
            wanted = self._wanted(caption, rng)
        thing = self._draw_thing(caption, rng)
        if not wanted or thing is None:
            return None
        text = mistyped(lacking("absent", thing, rng, wanted), rng)
        return Sentence(text, wanted, thing.text)

    def _wanted(self, caption: SourceCaption, rng: Random) -> str:
        """Return the full caption or one of its actions; "" if it is too long and has none."""
        is_long = len(caption.words) > MAX_WORDS
        if caption.actions and (is_long or rng.random() >= FULL_CAPTION_SHARE):
            return _clause(rng.choice(caption.actions), rng)
        return "" if is_long else caption.text

    def _not(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Draw "not B" for an action or a thing; "nobody" only for actions of people."""
        match self._draw_unwanted(caption, rng):
            case UsualAction() as action:
                return Sentence(_no_action(action, rng), "", action.doing)
            case NamedThing() as thing:
                return Sentence(lacking("no thing", thing, rng), "", thing.text)
        return None

    def _typed_not(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Word "not B" as people type it."""
        match self._draw_unwanted(caption, rng):
            case UsualAction() as action:
                use = "of a person" if action.subject.is_human else "of an animal"
                return Sentence(draw_refusal(action.doing, use, rng), "", action.doing)
            case NamedThing() as thing:
                return Sentence(draw_refusal(thing.text, "of a thing", rng), "", thing.text)
        return None

    def _draw_unwanted(
        self, caption: SourceCaption, rng: Random
    ) -> UsualAction | NamedThing | None:
        """Draw an action or a thing that the caption does not tell of."""
        if self._with_actions and rng.random() < ACTION_SHARE:
            for _ in range(MAX_DRAWS):
                action = self._draw_action(rng)
                if not action.content <= caption.names:
                    return action
        return self._draw_thing(caption, rng)

    def _fragment(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Join a caption with a few words of another one."""
        if len(caption.words) > MAX_WORDS:
            return None
        for _ in range(MAX_DRAWS):
            sentence = join_fragment(caption, rng.choice(self._sources), rng)
            if sentence:
                return sentence
        return None

    def _typed(self, caption: SourceCaption, rng: Random) -> Sentence | None:
        """Word "A and not B" or "A without N" as people type it, or merely ask for A."""
        is_action = rng.random() < ACTION_SHARE
        draw = self._composed if is_action else self._without
        denial = draw(caption, rng)
        if denial is None:
            return None
        _, wanted, unwanted = denial
        if rng.random() < REQUEST_SHARE:
            return Sentence(draw_request(wanted, rng), wanted, "")

        second = draw(caption, rng)
        further = ""
        if second and second.unwanted != unwanted:
            further = second.unwanted
        text, is_list = draw_exclusion(wanted, unwanted, further, is_action, rng)
        if is_list:
            unwanted = f"{unwanted} and {further}"
        return Sentence(text, wanted, unwanted)

    def _draw_thing(self, caption: SourceCaption, rng: Random) -> NamedThing | None:
        """Draw a thing that the caption does not name."""
        if not self._with_things:
            return None
        for _ in range(MAX_DRAWS):
            thing = rng.choice(rng.choice(self._with_things).things)
            if not thing.names & caption.names:
                return thing
        return None


def _negated(caption: SourceCaption, rng: Random) -> Sentence | None:
    if caption.denied:
        return rng.choice(caption.denied)
    return None


def _idiom(caption: SourceCaption, rng: Random, wordings: Wordings) -> Sentence | None:
    if len(caption.words) > MAX_WORDS:
        return None
    clauses = [(action.subject, action.text) for action in caption.actions]
    things = [thing.text for thing in caption.things]
    return draw_idiom(caption.text, clauses, things, rng, wordings)


def _no_action(action: UsualAction, rng: Random) -> str:
    templates = templates_for("no action")
    if action.subject.is_human:
        template = rng.choice(templates)
    else:
        template = templates[0]
    return template.format(B_ing=action.doing, B_s=inflect_phrase(action.text, "VBZ"))


def _clause(action: UsualAction, rng: Random, may_be_finite: bool = True) -> str:
    """Phrase an action as "is singing", "singing" or, perhaps, "sings"."""
    subject = action.subject
    forms = [f"{is_or_are(subject.is_plural)} {action.doing}", action.doing]
    if may_be_finite:
        forms.append(finite(action.text, subject.is_plural))
    return f"{subject.text} {rng.choice(forms)}"
