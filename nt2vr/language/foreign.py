"""Detection of queries in other languages, by script and function words."""

import re
import unicodedata
from collections.abc import Mapping

from nt2vr.language.wordlists import words

NOTICE = "This query does not seem to be English. The models and the reading of negations know English only."
_WORD = re.compile(r"[^\W\d_]+")
# Small and frequent words, and what is denied most often: people and pets. Two of one language are needed, since names
# hold one: "Leonardo da Vinci", "La La Land". One with a "!" is
# enough: it is in no English sentence and in few names.
_SMALL_WORDS: Mapping[str, frozenset[str]] = {
    "German": words(
        "ein! eine! einen! einem! einer eines kein! keine! keinen! keinem! ohne! nicht! nichts! niemand! und oder "
        "mit auf aus dem der das den die des ist sind wird im am zum zur nur aber! ich du wir er sie zwei vor unter "
        "über beim neben bei von für außer! statt anstatt! alle auch noch wie wo wer hund hunde katze katzen mann "
        "frau kinder menschen leute strand zeig zeige mir videos tanzt spielt musik schnee regen straße auto autos "
        "wasser haus baum bäume junge mädchen nacht"
    ),
    "French": words(
        "un une! le la les des du dans! sur avec! sans et est sont pas qui que aux au aucun! aucune! mais ou où deux "
        "homme femme chien chiens chat chats plage sous ne ni sauf! personne rien jamais gens enfant enfants tous "
        "tout toutes voiture voitures pour par chez lieu plutôt une! vidéo montre moi danse joue musique pluie "
        "neige fille garçon rue ville fleurs nuit mer maison arbre arbres parle mange"
    ),
    "Spanish": words(
        "un una unos los las la el del con sin y ni no hay que es son pero ningún! ninguna! ningun nadie! nada nunca "
        "en por dos hombre mujer perro! perros! gato gatos playa gente personas niños todos todas menos excepto! "
        "salvo vez lugar coches música donde quien quiero muéstrame ver vídeo video de baila lluvia nieve calle "
        "niña niño noche mar casa árboles coche"
    ),
    "Portuguese": words(
        "um uma os as o do da dos das no na com sem e não! nem que é são mas nenhum! nenhuma! ninguém! nada nunca em "
        "dois homem mulher cachorro cachorros cão cães gato gatos praia pessoas crianças todos todas menos exceto "
        "carros música vez quero ver sozinho chuva neve rua menina menino noite casa árvores carro"
    ),
    "Italian": words(
        "un una il lo gli con senza! e né! ne non che è sono ma nessun! nessuna! nessuno! niente! mai di nel nella! "
        "sulla! sul due uomo donna cane cani gatto gatti spiaggia persone gente bambini tutti tutte tranne! eccetto "
        "invece la le i voglio musica pioggia neve strada ragazza ragazzo notte mare macchina alberi auto"
    ),
    "Dutch": words(
        "een het de geen! niet! niets niemand! zonder! met op en of zijn is maar naar twee hond honden kat katten "
        "aan het strand wie dat alleen behalve! ook mensen man vrouw kinderen iedereen auto auto's in plaats van "
        "danst laat zien muziek sneeuw regen straat meisje jongen huis bomen zee"
    ),
    "Polish": words(
        "bez! nie nikt! nic i ani na w z ze jest są ale oprócz! lub pies psy psa psów kot koty kota człowiek ludzi "
        "ludzie kobieta mężczyzna dzieci się żaden! żadnych! żadnego zamiast tylko plaża plaży plaże tańczy pokaż"
    ),
    "Czech": words(
        "bez! ne není! nejsou žádný! žádná! žádné! žádní! nikdo! nic a i ani ale kromě! místo jen pes psi psa psů "
        "kočka kočky muž žena lidí lidé lidi děti na v s se pláž pláži tančí ľudí ľudia nie"
    ),
    "Danish, Norwegian, Swedish": words(
        "en et ett ei den det de og och men ikke! inte! icke ingen! inga! inget! intet uden! uten! utan! med på i av "
        "af er är som bare kun bara hund hunde hunder hundar kat katt katter mand mann man kvinde kvinne kvinna "
        "mennesker! människor! folk børn barn strand undtagen! unntatt! utom! förutom! i stedet hverken verken "
        "varken eller danser dansar"
    ),
    "Finnish": words(
        "ei eivät! ilman! ja mutta! on ole kukaan mitään vain paitsi! koira koiria! koiraa kissa kissoja kissaa mies "
        "nainen ihmisiä ihmiset lapsia ranta rannalla tanssii sijaan eikä tai"
    ),
    "Romanian": words(
        "un o fără! nu și și-a nici dar este sunt cu pe la în din fara nimeni! nimic niciun nicio doar câine! câini "
        "pisică pisici bărbat femeie oameni! copii plajă afară cine dansează decât"
    ),
    "Hungarian": words(
        "nélkül! nem nincs! nincsenek és de egy a az kutya macska ember emberek nő férfi senki csak kivéve"
    ),
    "Indonesian, Malay": words(
        "tanpa! tidak! bukan! ada dan atau tapi tetapi! yang di dengan kecuali! hanya orang anjing kucing pria "
        "wanita anak pantai seorang seekor bukannya jangan tak tiada sebuah lelaki perempuan menari bermain"
    ),
    "Vietnamese": words(
        "không! có và nhưng! một người! chó mèo đàn ông phụ nữ biển bãi trẻ em trên trong với của ngoại trừ chỉ thay "
        "vì ai"
    ),
    "Turkish": words(
        "bir ve olmayan! olmadan! yok! değil! hiç kimse! içinde! hariç! ile ama köpek kedi adam kadın insan bu için"  # noqa: RUF001
    ),
    "Filipino": words("walang! wala hindi ang mga sa ng na at aso pusa tao lalaki babae bata maliban"),
}
_ENGLISH_TOO = words(  # they count for no language
    "a an am as at auto bare brown con de den die do du folk for i in is la man me men no nu of on plus son ten to "
    "van video videos war was"
)
_SMALL = {language: {word.strip("!") for word in small} - _ENGLISH_TOO for language, small in _SMALL_WORDS.items()}
_SURE = {word[:-1] for small in _SMALL_WORDS.values() for word in small if word[-1] == "!"}
_BORROWED = re.compile(
    r"\b(?:pas de (?:deux|trois|chat ballet)|(?:tour|coup|fleur|joie|eau|chaise|papier|crème) "
    r"(?:de|du|d'|la)(?: la)? ?\w+|cirque du soleil|dulce de leche|pain au chocolat|"
    r"los angeles|las vegas|a la carte|à la \w+|día de (?:los )?muertos)",
    re.IGNORECASE,
)
_ENGLISH = words(
    "a an the and or of with without is are was not no to on at by for from this that there it his her their who "
    "which person people man woman boy girl dog cat playing walking running dancing singing wearing video image"
)
_GRAMMAR = words("the and of with without is are was not to at by for from this that there it his her their who which")
_LETTERS = re.compile(
    "[ąćęłńśźżěřůčďňťžășțăőűğışđơưảãạầấẩẫậằắẳẵặẻẽẹềếểễệỉĩịỏõọồốổỗộờớởỡợủũụừứửữựỳỹỷỵ]"
)  # in no word that English has borrowed


def notice_of(text: str) -> str:
    """Return one sentence if `text` is hardly English; "" if it is, or cannot be told."""
    found = [word.lower() for word in _WORD.findall(_BORROWED.sub(" ", text))]
    other = _mostly_other_script(text) or _has_other_small_words(found) or _has_other_letters(text)
    return NOTICE if other else ""


def _mostly_other_script(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    latin = sum(unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN")) for letter in letters)
    return 2 * latin < len(letters)


def _has_other_small_words(found: list[str]) -> bool:
    """Return whether small words of one language are frequent, and English ones are not."""
    english = sum(word in _ENGLISH for word in found)
    most = max(len(small.intersection(found)) for small in _SMALL.values())
    sure = any(word in _SURE for word in found)
    if sure and len(found) > 1 and _GRAMMAR.isdisjoint(found) and 4 * most >= len(found):
        return True
    return most > english and 3 * most >= len(found) > 1 and (most >= 2 or sure)


def _has_other_letters(text: str) -> bool:
    """Return whether half of the words in lower case, or two, are spelt with letters that English never uses."""
    lower = [word for word in _WORD.findall(text) if word.islower()]
    spelt = sum(_LETTERS.search(word) is not None for word in lower)
    return 2 * spelt >= len(lower) > 0 < spelt or spelt >= 2
