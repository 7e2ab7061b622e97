"""Misspelt words of negation: "excpet", "niether", "dosent". One slip away from a cue, and no English word itself."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from nt2vr.negation.parse.wordlists import renamed, words

_CUES = words(
    "without except excluding exclude excludes excepting instead neither nothing nobody never lacking missing "
    "besides minus anything everything everyone anybody everybody"
)
_CONTRACTED = words(  # without the apostrophe
    "doesnt dont isnt arent wasnt werent didnt couldnt wouldnt shouldnt hasnt havent hadnt cant wont"
)
_WORDS = words(  # of English, one slip away from a cue; a test compares them with the dictionary
    "nether bedsides beside noshing noting notching massing messing mussing misting misusing licking locking lucking "
    "laking larking lacing excerpt notting excluded excerpting neve dint"
)
# Two slips, or letters left out on purpose
_USUAL = renamed(
    "interested=intrested,intersted,interrested out=otu,oout not=nto,noot nothing=nuthin,nuffin,nufin "
    "nobody=nobodys,no1,nooone excluding=exlcudign except=exepct,exspect,exepted "
    "without=wihtou,withought,whitout,wivout,whitouth,wout neither=nethier,niehter,neighter "
    "rather=rahter,ratehr,raher,rathr never=nvr,nevr,neva,nver other=ohter,otehr,othr only=onli,olny,onyl "
    "people=ppl,poeple,peple,peolpe,pepole"
)
_USUAL_CONTRACTED = renamed(
    "don't=dnt,dunt doesn't=dosnt,dosent didn't=dint aren't=arnt shouldn't=shoudnt haven't=havnt"
) | {"isnot": "is not", "dosnot": "does not", "doesnot": "does not", "donot": "do not"}
_SURE_CHARS = 6  # shorter words have too many neighbours: only swapped or doubled letters count
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _slips(word: str) -> Iterator[str]:
    """Yield a word with two letters swapped, a letter doubled or, in longer words, missing, wrong or added."""
    yield word + word[-1]
    if len(word) >= _SURE_CHARS:
        yield from (word + letter for letter in _LETTERS if letter not in "sd")
    for i in range(1, len(word)):
        yield word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :]
        yield word[:i] + word[i - 1 :]
        if len(word) >= _SURE_CHARS:
            yield word[:i] + word[i + 1 :]
            for letter in _LETTERS:
                yield word[:i] + letter + word[i:]
                yield word[:i] + letter + word[i + 1 :]


def _neighbours(cues: Iterable[str]) -> dict[str, str]:
    return {slip: cue for cue in cues for slip in _slips(cue) if slip not in cues}


_MISSPELT = _neighbours(_CUES)
_MISSPELT_CONTRACTED = _neighbours(_CONTRACTED)


@lru_cache(10_000)
def cue_of(word: str) -> str:
    """Return the cue that a lower-case word is a misspelling of; otherwise the word."""
    if usual := _USUAL.get(word):
        return usual
    return word if word in _WORDS else _MISSPELT.get(word, word)


@lru_cache(10_000)
def contraction(word: str) -> str | None:
    """Return the contraction that a word is a misspelling of: "doesn't" for "does'nt" or "dosent"; None otherwise."""
    letters = "".join(filter(str.isalpha, word))
    if usual := _USUAL_CONTRACTED.get(letters):
        return usual
    misplaced = letters in _CONTRACTED and word not in {letters, f"{letters[:-1]}'t"}
    slip = _MISSPELT_CONTRACTED.get(letters) if letters[-1:] == "t" and letters not in _WORDS else None
    right = letters if misplaced else slip
    return f"{right[:-1]}'t" if right else None
