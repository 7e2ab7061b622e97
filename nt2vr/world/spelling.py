"""Did you mean: known words that differ from a typed one in a letter or two."""

from collections import defaultdict
from functools import cache

from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.inflect import is_known
from nt2vr.world.lexicon import lexicon

# Words that are offered.
MOST = 2
# Letters of a word that may be misspelt.
SHORTEST = 3
# Letters of a word from which two may be wrong.
LONG = 6


def similar_words(word: str) -> list[str]:
    """Return the known words that are spelt most like one, best first.

    None for a short word, and for one of the dictionary: the world may lack a table, but "table"
    is what was meant.
    """
    word = word.lower()
    if len(word) < SHORTEST or not word.isalpha() or is_known(word):
        return []
    most_edits = 2 if len(word) >= LONG else 1
    by_rank = defaultdict[tuple[int, bool, bool], list[str]](list)
    for candidate in _known_words():
        if abs(len(candidate) - len(word)) > most_edits or candidate == word:
            continue
        edits = num_edits(word, candidate)
        if edits <= most_edits:
            has_other_letters = sorted(candidate) != sorted(word)
            starts_otherwise = candidate[0] != word[0]
            by_rank[edits, has_other_letters, starts_otherwise].append(candidate)
    if not by_rank:
        return []
    best = by_rank[min(by_rank)]
    return sorted(best)[:MOST]


def num_edits(first: str, second: str) -> int:
    """Count the letters to add, remove, replace or swap with the next one."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        new_row = [i]
        for j, second_letter in enumerate(second, start=1):
            removed = row[j] + 1
            added = new_row[j - 1] + 1
            replaced = row[j - 1] + (letter != second_letter)
            cost = min(removed, added, replaced)
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == second_letter:
                cost = min(cost, before[j - 2] + 1)
            new_row.append(cost)
        before = row
        row = new_row
    return row[-1]


@cache
def _known_words() -> frozenset[str]:
    """Return the single words of the world and of negation."""
    phrases = {" ".join(words) for words in lexicon()}
    phrases.update(cues())
    return frozenset(phrase for phrase in phrases if phrase.isalpha() and len(phrase) >= SHORTEST)
