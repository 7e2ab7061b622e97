"""How captions put what somebody does, most often: so that a sentence made of it reads as they do."""

from collections import Counter, defaultdict

from nt2vr.language.subjects import Subject
from nt2vr.querygen.actions import Action
from nt2vr.querygen.verb_phrases import LIGHT_VERBS

Key = tuple[str, ...]

_LEAST_BARE = 5  # videos that do without an article, for it to be usage: "cook rice", but not "take interview"


class Usage:
    """What subjects do, counted over many captions."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._shown_by: dict[tuple[Subject, Key], dict[str, None]] = defaultdict(dict)  # ids, in order
        self._texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._bare_texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._whole: set[Key] = set()  # not only what is left of a longer phrase

    def add(self, video_id: str, action: Action) -> None:
        """Count what a caption of a video says, also for whoever it is, less precisely."""
        subject, phrase = action
        texts = self._bare_texts if phrase.is_bare else self._texts
        for who in {subject: None, subject.generic: None}:
            self._shown_by[who, phrase.key][video_id] = None
            texts[who, phrase.key][phrase.text] += 1
        if not phrase.is_shortened:
            self._whole.add(phrase.key)

    def shown_by(self, subject: Subject, key: Key) -> dict[str, None]:
        """Return the videos whose captions say this of the subject, in order."""
        return self._shown_by[subject, key]

    def text(self, subject: Subject, key: Key) -> str:
        """Return how captions put a verb phrase most often, with its articles if they ever do.

        Of texts that lead together it is the first in the alphabet. It is "" if it is rare where it should be common:
        without an article, with a verb that says little, or only as part of a longer phrase.
        """
        for texts in (self._texts, self._bare_texts):
            for who in (subject, subject.generic):
                found = {text: n for text, n in texts.get((who, key), {}).items() if agrees(subject, text)}
                usual = texts is self._texts or len(self._shown_by[who, key]) >= _LEAST_BARE
                spoken = key in self._whole and sum(found.values()) >= (2 if key[0] in LIGHT_VERBS else 1)
                if usual and spoken:
                    return min(found, key=lambda text: (-found[text], text))
        return ""


def agrees(subject: Subject, text: str) -> bool:
    """Whether "his", "her" and "their" in a verb phrase can be the subject's."""
    own = {"he": "his", "she": "her"}.get(subject.pronoun, "their")
    return not ({"his", "her", "their", "my", "our", "your"} - {own}) & set(text.split())
