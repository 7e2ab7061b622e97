"""Words that look like a denial and deny nothing: idioms, counts, titles and signs.

Idioms are in `assets/language/idioms.txt`: per line words that begin some, and after a colon what may follow each of
them, or complete idioms; "can't" is tokenized as "ca n't".
"""

from functools import cache

from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import Runs, lines_of, listed, words

_SIGNS = words("sign signs signpost poster sticker symbol label signboard notice tape banner mat doormat fence")
_ZONES = words("zone zones area section lane")
_DENIES_SIGN = words("with has have having is are 's")  # a street with | no parking signs
_MAX_SIGN_WORDS = 4
_ASKING = words("show include want give have play find use like need see care")
_WORKS = words("trailer lyrics karaoke remix soundtrack movie film song cover challenge meme theme parody")
_OPENING = words("never do ca wo nobody nothing ai")  # titles that are clauses: never let me go trailer
_SMALL = words("a an the of to in for and on at")
_MIN_NAME = 2  # capitalised words after the cue


@cache
def no_negation() -> Runs:
    """Return the idioms."""
    lines = (line.rpartition(": ") for line in lines_of("language/idioms.txt"))
    pairs = ((start, end) for starts, _, ends in lines for start in starts.split(", ") for end in ends.split(", "))
    return Runs(f"{start} {end}".strip() for start, end in pairs)


def length_of_sign(phrases: Phrases, i: int) -> int:
    """Return the number of words of "no smoking sign", "do not disturb sign" at word i; 0 if there is none."""
    order = phrases.word(i) == "do" and phrases.word(i + 1) in {"not", "n't"}
    if not order and (phrases.word(i) != "no" or phrases.word(i - 1) in _DENIES_SIGN):
        return 0
    start = i + 2 if order else i + 1
    fits = order or phrases.word(start).endswith("ing") or phrases.word(start) in listed("on_signs")
    for j in range(start + 1, start + 1 + _MAX_SIGN_WORDS):
        if phrases.word(j) in _SIGNS or (phrases.word(j) in _ZONES and not order):
            return j + 1 - i if fits else 0
    return 0


def length_of_work(phrases: Phrases, i: int) -> int:
    """Return the length of a title that is the query: "never let me go trailer"; 0 if word i starts none."""
    start = i - (phrases.word(i) in {"not", "n't"})
    start -= phrases.tag(start - 1) == "PRON"  # we | don't talk about bruno karaoke
    opens = start == 0 and not _OPENING.isdisjoint(phrases.words[: i + 1])
    if not opens or phrases.words[-1] not in _WORKS or phrases.word(i + 1) in _ASKING:
        return 0
    return len(phrases.words) - i if phrases.tag(i + 1) in VERB_TAGS and len(phrases.words) > i + 2 else 0


def length_of_name(phrases: Phrases, i: int) -> int:
    """Return the number of words of a capitalised title from the cue at word i on: "No Way Home"; 0 if none."""
    texts = [token.text for token in phrases.tokens]
    start = i - 1 if phrases.word(i) == "n't" else i
    if not texts[start][0].isupper() or (texts[start].isupper() and len(texts[start]) > 1):
        return 0
    end = i + 1
    while end < len(texts) and (texts[end][0].isupper() or (texts[end] in _SMALL and texts[end + 1 : end + 2])):
        end += 1
    while end > i + 1 and not texts[end - 1][0].isupper():
        end -= 1
    if texts[i + 1 : i + 2] and phrases.word(i + 1) in _ASKING:
        return 0  # Don't Show Me cats
    capitalised = sum(text[0].isupper() for text in texts[i + 1 : end])
    in_sentence = start > 0 and phrases.tag(start - 1) != "PUNCT" and any(text[0].islower() for text in texts[:start])
    others = texts[:start] + texts[end:]
    if in_sentence:
        return end - i if capitalised else 0
    least = _MIN_NAME + (phrases.word(i) in {"no", "without"})
    if phrases.word(end) in _WORKS or phrases.word(end) == "by":
        least = 1  # Nowhere Boy trailer, Without Me by Eminem
    return end - i if capitalised >= least and any(text[0].islower() for text in others) else 0
