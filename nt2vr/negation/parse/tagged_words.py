"""The tagged words of a sentence, to be looked up by position."""

from collections.abc import Collection, Iterable, Sequence

from nt2vr.negation.parse.tokens import FINITE_TAGS, HELPERS, VERB_TAGS, Token, normalised
from nt2vr.negation.parse.wordlists import Runs, listed, words

# Forms of be, do and have.
HELPING_WORDS = words("'s s 've ve 'd d re m r").union(HELPERS)
# Tags of what is around a clause.
CLAUSE_EDGES = frozenset({"", "PUNCT", "CONJ"})


class TaggedWords:
    """The words of one sentence; look-ups outside of it return ""."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.words = [normalised(token.text) for token in tokens]
        self._words = dict(enumerate(self.words))
        self.tags = [token.tag for token in tokens]
        self._tags = dict(enumerate(self.tags))

    def tag(self, i: int) -> str:
        return self._tags.get(i, "")

    def word(self, i: int) -> str:
        return self._words.get(i, "")

    def text(self, start: int, end: int) -> str:
        """Return words `start` to `end` (exclusive), separated by spaces."""
        return " ".join(self.words[start:end])

    def lemma(self, i: int) -> str:
        if 0 <= i < len(self.tokens):
            return self.tokens[i].lemma
        return ""

    def is_listed(self, i: int, *lists: str) -> bool:
        """Return whether word i is in one of some lists of `words.toml`."""
        return self.word(i) in listed(*lists)

    def lemma_is_listed(self, i: int, *lists: str) -> bool:
        return self.lemma(i) in listed(*lists)

    def any_form_is_listed(self, i: int, *lists: str) -> bool:
        """Return whether word i or its lemma is in one of some lists."""
        return self.is_listed(i, *lists) or self.lemma_is_listed(i, *lists)

    def is_verb(self, i: int) -> bool:
        return self._tags.get(i) in VERB_TAGS

    def is_main_verb(self, i: int) -> bool:
        return self.is_verb(i) and not self.is_auxiliary(i)

    def acts(self, positions: Iterable[int]) -> bool:
        """Return whether one of some words is a main verb."""
        return any(map(self.is_main_verb, positions))

    def is_finite(self, i: int) -> bool:
        return self._tags.get(i) in FINITE_TAGS

    def is_end(self, i: int) -> bool:
        """Return whether the sentence, or a part of it between marks, ends before word i."""
        return self.tag(i) in {"", "PUNCT"}

    def is_clause_edge(self, i: int) -> bool:
        return self.tag(i) in CLAUSE_EDGES

    def after(self, i: int, tags: Collection[str]) -> int:
        """Return the first word from word i on that has none of these tags."""
        while self.tag(i) in tags:
            i += 1
        return i

    def before(self, i: int, tags: Collection[str]) -> int:
        """Return the first of the words right before word i with these tags."""
        while self.tag(i - 1) in tags:
            i -= 1
        return i

    def clause_start(self, i: int) -> int:
        while not self.is_clause_edge(i - 1):
            i -= 1
        return i

    def starts_clause(self, i: int) -> bool:
        return self.is_clause_edge(i - 1) or self.word(i - 1) == "please"

    def is_prefix(self, i: int) -> bool:
        """Return whether mark i is attached to the next word only, as in "beach -man"."""
        if i + 1 == len(self.tokens):
            return False
        mark = self.tokens[i]
        follower = self.tokens[i + 1]
        follows_word = i > 0 and self.tokens[i - 1].end == mark.start
        is_attached = mark.end == follower.start and not follows_word
        return is_attached and follower.text[0].isalnum()

    def is_auxiliary(self, i: int) -> bool:
        """Return whether word i is a modal, "be", or "do" and "have" before a verb or negation."""
        if not self.is_verb(i):
            return False
        word = self.words[i]
        if self.tag(i) == "MD" or word in {"ai", "ca", "wo"}:
            return True
        # Most words end here, before their lemma is looked up, which takes time.
        if word not in HELPING_WORDS:
            return False
        lemma = self.lemma(i)
        if lemma not in {"do", "have"}:
            return lemma == "be"
        follower = i + 1
        if self.tag(follower) == "ADV":
            follower += 1
        return self.is_verb(follower) or self.tag(follower) == "NEG"

    def longest(self, runs: Runs, i: int) -> int:
        """Return how many words the longest of `runs` at word i has; 0 if none is there."""
        first = self.word(i)
        # Few words begin a run of several.
        if (first, self.word(i + 1)) not in runs.pairs:
            return int(first in runs)
        run = self.words[i : i + runs.longest]
        while run and " ".join(run) not in runs:
            run.pop()
        return len(run)
