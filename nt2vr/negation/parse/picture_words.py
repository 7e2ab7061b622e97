"""Words that only say that something is in the picture, or not: "visible in this image"."""

from nt2vr.negation.parse.tagged_words import TaggedWords
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import listed, listed_runs, words

# Tags of words by which a clause goes on: not visible | on a table, but not shown | eating.
_GOING_ON = words("NOUN DET ADJ NUM PRON OTHER POS") | VERB_TAGS
_SAYING_NOTHING = words("DET ADP PUNCT CONJ WH MD TO POS")


class PictureWords(TaggedWords):
    """A sentence, in which such words are skipped."""

    def after_frame(self, i: int) -> int:
        """Return the end of "in this image", "in sight", "anywhere in the picture" at word i."""
        while True:
            end = i + self.longest(listed_runs("fillers"), i)
            if end == i:
                end = self._after_medium(i)
            if end == i:
                return i
            i = end

    def _after_medium(self, i: int) -> int:
        if not self.is_listed(i, "about_frames"):
            return i
        medium = i + 1
        while self.is_listed(medium, "pointing"):
            medium += 1
        if not self.is_listed(medium, "frames"):
            return i
        if self.tag(medium + 1) in {"NOUN", "POS"} or self.word(medium + 1) == "of":
            return i
        return medium + 1

    def after_predicate(self, i: int) -> int:
        """Return the end of "visible", "to be seen here", "part of this scene" at word i."""
        present = listed("present", "appearing")
        end = i
        while self.is_listed(end, "helping") and self.word(end + 1):
            end += 1

        if self.word(end) in present:
            end += 1
        elif end == i or self.word(end - 1) not in present:
            after_frame = self.after_frame(end)
            if after_frame == end:
                return i
            end = after_frame

        end = self.after_frame(end)
        if self.tag(end) in _GOING_ON:
            return i
        return end

    def after_tail(self, i: int) -> int:
        """Return the end of "is visible in this image", "in sight" or "present" at word i."""
        predicate = i
        while self.is_auxiliary(predicate):
            predicate += 1
        end = self.after_predicate(predicate)
        if end == predicate:
            end = i
        return max(end, self.after_frame(i))

    def says_nothing(self, start: int, end: int) -> bool:
        """Return whether words name nothing to be seen: "in this image there is"."""
        saying_nothing = listed(
            "frames", "present", "appearing", "showing", "helping", "small_words"
        )
        for i in range(start, end):
            if self.tag(i) in _SAYING_NOTHING or self.word(i) in saying_nothing:
                continue
            if not self.is_auxiliary(i):
                return False
        return True
