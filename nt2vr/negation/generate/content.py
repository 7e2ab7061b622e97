"""Content of videos according to their captions: things, actions, and which videos show them.

Content in no caption counts as absent. Related words, "sing" and "song", are deliberately broad:
they exclude videos.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from nt2vr.negation.generate.actions import Action, Subject, also_called, is_plural_noun
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wordlists import lines_of, listed, words

_ARTICLES = words("a an the")
_PARTS = frozenset({"NOUN", "ADJ", "POS", "ADP", "DET", "VBG", "VBN"})
_MOST_WORDS = 5


@cache
def groups_in(file: str) -> tuple[frozenset[str], ...]:
    """Read groups of words, one a line."""
    return tuple(map(words, lines_of(f"wordings/{file}")))


class Thing(NamedTuple):
    """One noun phrase."""

    text: str  # "a red car"
    bare: str  # "red car"
    is_plural: bool
    head: str  # lemma, "car"
    names: frozenset[str]  # the head with hypernyms: "guy" has "man" and "person"
    modifiers: frozenset[str]  # {"red"}

    def is_a(self, other: "Thing") -> bool:
        """Return whether this thing is surely of the other kind: "a red car" is "a car", but not the reverse."""
        return other.head in self.names and other.modifiers <= self.modifiers


def things(phrases: Phrases) -> Iterator[Thing]:
    """Yield the things a caption names, in order; skips pronouns and vague nouns."""
    i = 0
    while i < len(phrases.tokens):
        noun = phrases.noun_phrase(i) if phrases.tag(i) in {"DET", "NUM", "ADJ", "NOUN"} else None
        if noun is None:
            i += 1
            continue
        if phrases.word(noun.head + 1) == "of" and phrases.lemma(noun.head) in listed(
            "collectives", "vague_nouns"
        ):
            i = noun.head + 2  # a group of | people
            continue
        if thing := _thing(phrases, noun):
            yield thing
        i = noun.end


def _thing(phrases: Phrases, noun: Phrase) -> Thing | None:
    head, lemma = phrases.word(noun.head), phrases.lemma(noun.head)
    first = phrases.after(noun.start, {"DET", "NUM"})
    said, tags = range(first, noun.end), {phrases.tag(i) for i in range(first, noun.end)}
    is_vague = not listed("vague_nouns").isdisjoint((lemma, head))
    is_odd = not head.isalpha() or phrases.tag(noun.head) != "NOUN"
    if any((is_vague, is_odd, len(said) > _MOST_WORDS, tags - _PARTS)):
        return None
    bare, is_plural = (
        " ".join(map(phrases.word, said)).replace(" '", "'"),
        is_plural_noun(head, lemma),
    )
    article = phrases.word(noun.start) if first == noun.start + 1 else ""
    text = f"{article} {bare}"
    if article not in _ARTICLES:
        if not is_plural and (listed("mass_nouns") - listed("bare_places")).isdisjoint(
            (lemma, head)
        ):
            return None
        text = bare
    modifiers = frozenset(phrases.word(i) for i in said if i != noun.head)
    return Thing(text, bare, is_plural, lemma, also_called(lemma), modifiers)


_MIN_CHARS = 4  # shortest stem to match: "guitar" in "guitarist", but not "car" in "card"


@lru_cache(10_000)  # Flickr8k's 40,460 captions need 3,605
def related(lemma: str) -> frozenset[str]:
    """Return `lemma` and the words that a caption may use instead."""
    return frozenset((lemma,)).union(
        *(group for group in groups_in("related.txt") if lemma in group)
    )


def derived_from(lemma: str, vocabulary: Collection[str]) -> set[str]:
    """Return the words of `vocabulary` that start with `lemma`: "wrestle" finds "wrestler" and "wrestling"."""
    stem = lemma.removesuffix("e")
    return {
        word
        for word in vocabulary
        if word == lemma or (len(stem) >= _MIN_CHARS and word.startswith(stem))
    }


Key = tuple[str, ...]

_MIN_BARE = (
    5  # videos without the article needed to accept it: "cook rice", but not "take interview"
)
_MIN_VIDEOS = 2  # that mention each word of B: a word of a single video is a name or a typo


@dataclass(frozen=True)
class VideoContent:
    """Content of one video according to its captions: actions, the lemmas of all words, and things named."""

    actions: Sequence[Action]
    lemmas: frozenset[str]
    things: Sequence[Thing] = ()


class Usage:
    """Counts of subjects' actions over many captions; the most frequent wording of each makes natural sentences."""

    def __init__(self) -> None:
        self._shown_by: dict[tuple[Subject, Key], dict[str, None]] = defaultdict(
            dict
        )  # ids, in order
        self._doers: dict[tuple[Subject, Key], dict[str, set[Subject]]] = defaultdict(
            dict
        )  # of a generic subject
        self._texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._bare_texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._complete: set[Key] = (
            set()
        )  # seen as complete phrases, not only as parts of longer ones

    def add(self, video_id: str, action: Action) -> None:
        """Count an action in a caption of a video, for its subject and the generic one (a person, people)."""
        subject, phrase = action
        texts = self._bare_texts if phrase.is_bare else self._texts
        for who in {subject: None, subject.generic: None}:
            self._shown_by[who, phrase.key][video_id] = None
            texts[who, phrase.key][phrase.text] += 1
        self._doers[subject.generic, phrase.key].setdefault(video_id, set()).add(subject)
        if not phrase.is_shortened:
            self._complete.add(phrase.key)

    def shown_by(self, subject: Subject, key: Key) -> dict[str, None]:
        """Return the videos whose captions attribute this action to the subject, in order."""
        return self._shown_by[subject, key]

    def shown_under_any_name(self, subject: Subject, key: Key) -> dict[str, None]:
        """Return the videos whose actor may be the subject under another name, in order."""
        doers = self._doers[subject.generic, key]
        return {
            video_id: None for video_id, names in doers.items() if any(map(subject.may_be, names))
        }

    def text(self, subject: Subject, key: Key) -> str:
        """Return the most frequent text of a verb phrase, the first by alphabet, preferably with articles; "" without.

        Rare texts are rejected if they lack an article, have a light verb or occur only within
        longer phrases.
        """
        for texts in (self._texts, self._bare_texts):
            for who in (subject, subject.generic):
                found = {
                    text: n
                    for text, n in texts.get((who, key), {}).items()
                    if agrees(subject, text)
                }
                usual = texts is self._texts or len(self._shown_by[who, key]) >= _MIN_BARE
                spoken = key in self._complete and sum(found.values()) >= (
                    2 if key[0] in listed("light_verbs") else 1
                )
                if usual and spoken:
                    return min(found, key=lambda text: (-found[text], text))
        return ""


def agrees(subject: Subject, text: str) -> bool:
    """Return whether "his", "her" and "their" in a verb phrase agree with the subject."""
    own = {"he": "his", "she": "her"}.get(subject.pronoun, "their")
    return not ({"his", "her", "their", "my", "our", "your"} - {own}) & set(text.split())


class ContentIndex:
    """Finds the videos that show something, or may show it; `mentioned_in` maps lemmas to videos."""

    def __init__(self, videos: Mapping[str, VideoContent]) -> None:
        self.usage = Usage()
        self.mentioned_in: dict[str, set[str]] = defaultdict(set)
        self._words: dict[Key, frozenset[str]] = defaultdict(frozenset)
        for video_id, content in videos.items():
            for action in content.actions:
                self.usage.add(video_id, action)
                self._words[action.phrase.key] |= action.phrase.content
            for lemma in content.lemmas:
                self.mentioned_in[lemma].add(video_id)
        self._maybe_shown_by = cache(self._find_maybe_shown_by)

    def words_of(self, action: Key) -> frozenset[str]:
        """Return the content words of an action, however captions phrase it."""
        return self._words[action]

    def is_deniable(self, action: Key) -> bool:
        """Return whether captions of every video with this action would mention it, and its words are common."""
        content = self._words[action]
        return not content <= listed("unsaid") and all(
            len(self.mentioned_in[word]) >= _MIN_VIDEOS for word in content
        )

    def maybe_shown_by(self, content: Collection[str]) -> frozenset[str]:
        """Return the videos whose captions have any of these words or a related one."""
        return frozenset().union(*map(self._maybe_shown_by, content))

    def _find_maybe_shown_by(self, lemma: str) -> frozenset[str]:
        lemmas = related(lemma) | derived_from(lemma, self.mentioned_in)
        return frozenset().union(*(self.mentioned_in.get(word, ()) for word in lemmas))
