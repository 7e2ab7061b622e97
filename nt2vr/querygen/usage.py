"""Most frequent wording of each action in captions, for natural generated sentences."""

from collections import Counter, defaultdict

from nt2vr.language.subjects import Subject
from nt2vr.language.wordlists import listed
from nt2vr.querygen.actions import Action

Key = tuple[str, ...]

_MIN_BARE = 5  # videos without the article needed to accept it: "cook rice", but not "take interview"


class Usage:
    """Counts of subjects' actions over many captions."""

    def __init__(self) -> None:
        self._shown_by: dict[tuple[Subject, Key], dict[str, None]] = defaultdict(dict)  # ids, in order
        self._doers: dict[tuple[Subject, Key], dict[str, set[Subject]]] = defaultdict(dict)  # of a generic subject
        self._texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._bare_texts: dict[tuple[Subject, Key], Counter[str]] = defaultdict(Counter)
        self._complete: set[Key] = set()  # seen as complete phrases, not only as parts of longer ones

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
        return {video_id: None for video_id, names in doers.items() if any(map(subject.may_be, names))}

    def text(self, subject: Subject, key: Key) -> str:
        """Return the most frequent text of a verb phrase, preferring texts with articles; "" if there is none.

        Ties go to the alphabetically first text. Rare texts are rejected if they lack an article, have a light verb
        or occur only within longer phrases.
        """
        for texts in (self._texts, self._bare_texts):
            for who in (subject, subject.generic):
                found = {text: n for text, n in texts.get((who, key), {}).items() if agrees(subject, text)}
                usual = texts is self._texts or len(self._shown_by[who, key]) >= _MIN_BARE
                spoken = key in self._complete and sum(found.values()) >= (2 if key[0] in listed("light_verbs") else 1)
                if usual and spoken:
                    return min(found, key=lambda text: (-found[text], text))
        return ""


def agrees(subject: Subject, text: str) -> bool:
    """Return whether "his", "her" and "their" in a verb phrase agree with the subject."""
    own = {"he": "his", "she": "her"}.get(subject.pronoun, "their")
    return not ({"his", "her", "their", "my", "our", "your"} - {own}) & set(text.split())
