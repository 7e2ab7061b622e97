"""What videos show according to their captions: actions, and who does them.

Content in no caption counts as absent.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nt2vr.negation.generate.actions import CaptionAction
from nt2vr.negation.generate.related import derived_from, related
from nt2vr.negation.generate.subjects import Subject
from nt2vr.negation.generate.things import NamedThing
from nt2vr.negation.parse.wordlists import listed, words

# Lemmas of an action.
Key = tuple[str, ...]
# An action of somebody.
SubjectAction = tuple[Subject, Key]
VideoIds = dict[str, None]  # in order
# Who does something, by video.
DoersByVideo = dict[str, set[Subject]]

# A phrase without an article is accepted if this many videos have it: "cook rice", but not "take
# interview".
_MIN_BARE = 5
# This many videos must mention each word of B: a word of a single video is a name or a typo.
_MIN_VIDEOS = 2
_POSSESSIVES = {"he": "his", "she": "her"}
_ALL_POSSESSIVES = words("his her their my our your")


@dataclass(frozen=True)
class VideoContent:
    """Content of one video according to its captions.

    Attributes:
        actions: who does what.
        lemmas: of all words.
        things: those that are named.
    """

    actions: Sequence[CaptionAction]
    lemmas: frozenset[str]
    things: Sequence[NamedThing] = ()


# By video id.
Contents = Mapping[str, VideoContent]


class _ActionUsage:
    """How captions tell of one action of one subject."""

    def __init__(self) -> None:
        self.videos: VideoIds = {}
        # Verb phrases, and verb phrases that lack an article.
        self.texts: Counter[str] = Counter()
        self.bare_texts: Counter[str] = Counter()


class Usage:
    """Counts of subjects' actions over many captions.

    The most frequent wording of each makes natural sentences.
    """

    def __init__(self) -> None:
        self._actions: dict[SubjectAction, _ActionUsage] = defaultdict(_ActionUsage)
        # For each action of a generic subject.
        self._doers: dict[SubjectAction, DoersByVideo] = defaultdict(dict)
        # Seen as complete phrases, not only as parts of longer ones.
        self._complete: set[Key] = set()

    def add(self, video_id: str, action: CaptionAction) -> None:
        """Count an action in a caption of a video, for its subject and the generic one."""
        subject, phrase = action
        for name in dict.fromkeys((subject, subject.generic)):
            usage = self._actions[name, phrase.key]
            usage.videos[video_id] = None
            texts = usage.bare_texts if phrase.is_bare else usage.texts
            texts[phrase.text] += 1
        self._doers[subject.generic, phrase.key].setdefault(video_id, set()).add(subject)
        if not phrase.is_shortened:
            self._complete.add(phrase.key)

    def shown_by(self, subject: Subject, key: Key) -> VideoIds:
        """Return the videos whose captions attribute this action to the subject, in order."""
        return self._actions[subject, key].videos

    def shown_under_any_name(self, subject: Subject, key: Key) -> VideoIds:
        """Return the videos whose actor may be the subject under another name, in order."""
        videos: VideoIds = {}
        for video_id, names in self._doers[subject.generic, key].items():
            if any(subject.may_be(name) for name in names):
                videos[video_id] = None
        return videos

    def text(self, subject: Subject, key: Key) -> str:
        """Return the most frequent text of a verb phrase, preferably with articles; or "".

        Of equally frequent ones, it is the first by alphabet. Rare texts are rejected if they lack
        an article, have a light verb or occur only within longer phrases.
        """
        if key not in self._complete:
            return ""
        usages = [self._actions[name, key] for name in (subject, subject.generic)]
        all_counts = [usage.texts for usage in usages]
        all_counts += [usage.bare_texts for usage in usages if len(usage.videos) >= _MIN_BARE]
        fewest = 2 if key[0] in listed("light_verbs") else 1
        for counts in all_counts:
            fitting = {text: counts[text] for text in counts if agrees(subject, text)}
            if sum(fitting.values()) >= fewest:
                return min(fitting, key=lambda text: (-fitting[text], text))
        return ""


def agrees(subject: Subject, text: str) -> bool:
    """Return whether "his", "her" and "their" in a verb phrase agree with the subject."""
    possessive = _POSSESSIVES.get(subject.pronoun, "their")
    other_possessives = _ALL_POSSESSIVES - {possessive}
    return other_possessives.isdisjoint(text.split())


class ContentIndex:
    """Finds the videos that show something, or may show it.

    Attributes:
        mentioned_in: videos by lemma.
        words: the content words of each action, however captions phrase it.
    """

    def __init__(self, videos: Contents) -> None:
        self.usage = Usage()
        self.mentioned_in: dict[str, set[str]] = defaultdict(set)
        self.words: dict[Key, frozenset[str]] = defaultdict(frozenset)
        for video_id, content in videos.items():
            for action in content.actions:
                self.usage.add(video_id, action)
                self.words[action.phrase.key] |= action.phrase.content
            for lemma in content.lemmas:
                self.mentioned_in[lemma].add(video_id)
        self._maybe_shown_by = cache(self._find_maybe_shown_by)

    def is_deniable(self, action: Key) -> bool:
        """Return whether captions of each video with this action would mention it.

        Its words must be common, too.
        """
        content = self.words[action]
        if content <= listed("unsaid"):
            return False
        return all(len(self.mentioned_in[word]) >= _MIN_VIDEOS for word in content)

    def maybe_shown_by(self, content: Collection[str]) -> frozenset[str]:
        """Return the videos whose captions have any of these words or a related one."""
        return frozenset().union(*map(self._maybe_shown_by, content))

    def _find_maybe_shown_by(self, lemma: str) -> frozenset[str]:
        videos = set()
        for word in related(lemma) | derived_from(lemma, self.mentioned_in):
            videos |= self.mentioned_in.get(word, set())
        return frozenset(videos)
