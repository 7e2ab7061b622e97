"""Index of video content according to captions. Content in no caption counts as absent."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nt2vr.language.wordlists import words
from nt2vr.querygen.actions import Action
from nt2vr.querygen.related import derived_from, related
from nt2vr.querygen.things import Thing
from nt2vr.querygen.usage import Key, Usage

_MIN_VIDEOS = 2  # that mention each word of B: a word of a single video is a name or a typo
# Often visible without being mentioned in captions
_UNSAID = words("stand sit smile gesture look walk lay lie move hold hand use wear wait turn step come go stay talk")


@dataclass(frozen=True)
class VideoContent:
    """Content of one video according to its captions: actions, the lemmas of all words, and things named."""

    actions: Sequence[Action]
    lemmas: frozenset[str]
    things: Sequence[Thing] = ()


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
        return not content <= _UNSAID and all(len(self.mentioned_in[word]) >= _MIN_VIDEOS for word in content)

    def maybe_shown_by(self, content: Collection[str]) -> frozenset[str]:
        """Return the videos whose captions have any of these words or a related one."""
        return frozenset().union(*map(self._maybe_shown_by, content))

    def _find_maybe_shown_by(self, lemma: str) -> frozenset[str]:
        lemmas = related(lemma) | derived_from(lemma, self.mentioned_in)
        return frozenset().union(*(self.mentioned_in.get(word, ()) for word in lemmas))
