"""Detection of queries in other languages, by script and function words."""

import re
import unicodedata
from collections.abc import Mapping

from nt2vr.language.wordlists import words

NOTICE = "This query does not seem to be English. The models and the reading of negations know English only."
_WORD = re.compile(r"[^\W\d_]+")
# Small and frequent words. Two of one language are needed, since names hold one: "Leonardo da Vinci", "La La Land".
_SMALL_WORDS: Mapping[str, frozenset[str]] = {
    "German": words(
        "ein eine einen einem einer kein keine keinen keinem ohne nicht und oder mit auf aus dem der das ist sind im "
        "am zum zur nur aber ich zwei vor unter über beim neben"
    ),
    "French": words(
        "un une le la les des du dans sur avec sans et est sont pas qui aux aucun aucune mais ou deux homme femme "
        "chien plage sous ne où ni"
    ),
    "Spanish": words(
        "un una los las la el del con sin y no hay que es son pero ningún ninguna en por dos hombre mujer perro playa"
    ),
    "Portuguese": words(
        "um uma os as do da dos das no na com sem e não que é são mas nenhum nenhuma em dois homem cachorro"
    ),
    "Italian": words(
        "un una il lo gli con senza e non che è sono ma nessun nessuna di nel nella sulla due uomo cane spiaggia"
    ),
    "Dutch": words("een het de geen niet zonder met op en zijn maar naar twee hond aan het strand wie dat"),
    "Polish": words("bez nie i na w z jest są ale lub pies człowiek kobieta się"),
    "Turkish": words("bir ve olmayan yok değil ile köpek adam bu için"),
}
_SURE = words(  # one suffices: in no English sentence, and in few names
    "ein eine einen einem kein keine keinen keinem ohne nicht und une avec dans aucun aucune ningún ninguna "
    "perro senza nessun nessuna nella sulla uma não nenhum nenhuma geen niet zonder een olmayan değil"
)
_ENGLISH = words(
    "a an the and or of with without is are was not no to on at by for from this that there it his her their who "
    "which person people man woman boy girl dog cat playing walking running dancing singing wearing video image"
)


def notice_of(text: str) -> str:
    """Return one sentence if `text` is hardly English; "" if it is, or cannot be told."""
    found = [word.lower() for word in _WORD.findall(text)]
    return NOTICE if _mostly_other_script(text) or _has_other_small_words(found) else ""


def _mostly_other_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN")) for letter in letters)
    return 2 * latin < len(letters)


def _has_other_small_words(found: list[str]) -> bool:
    """Return whether small words of one language are frequent, and English ones are not."""
    english = sum(word in _ENGLISH for word in found)
    most = max(len(small.intersection(found)) for small in _SMALL_WORDS.values())
    sure = any(word in _SURE for word in found)
    return most > english and 3 * most >= len(found) > 1 and (most >= 2 or sure)
