"""A few words of a caption that say something which another caption does not."""

from collections.abc import Sequence
from random import Random

from nt2vr.negation.generate.denial import Sentence
from nt2vr.negation.generate.parsed_captions import SourceCaption
from nt2vr.negation.generate.subjects import also_called
from nt2vr.negation.generate.wordings import bare, templates_for
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import words

MAX_WORDS = 4

# Tags of words.
_THING_OPENERS = words("DET NUM ADJ NOUN")
_CONTENT = words("NOUN ADJ VB VBZ VBP VBD VBG VBN")
# A fragment contains none of the first, begins with none of the second, and ends with none of the
# third.
_NOT_IN_FRAGMENT = words("PUNCT NEG OTHER")
_NOT_FIRST = words("CONJ PUNCT POS WH MD")
_NOT_LAST = _NOT_FIRST | {"DET", "NUM", "ADP", "TO", "PRON"}

# Lemmas of auxiliaries.
_AUXILIARIES = words("be have do")


def join_fragment(caption: SourceCaption, source: SourceCaption, rng: Random) -> Sentence | None:
    """Join a caption with a few words of another one, which are unwanted; None if they say nothing new."""
    num_words = len(source.words)
    first = rng.randrange(num_words)
    end = first + rng.randint(1, MAX_WORDS)
    span = _trimmed(source, first, min(end, num_words))
    tags = source.tags[span]
    if not _says_something_new(tags, source.lemmas[span], caption.names):
        return None
    fragment = " ".join(source.words[span]).replace(" '", "'")
    template = rng.choice(_joints(tags))
    text = template.format(A=caption.text, F=fragment, f=bare(fragment))
    return Sentence(text, caption.text, fragment)


def _trimmed(caption: SourceCaption, start: int, end: int) -> slice:
    """Drop dangling words at both ends of a fragment: "riding a", "is riding a big" of a horse."""
    while start < end and _dangles_at_start(caption, start):
        start += 1
    while start < end and _dangles_at_end(caption, end - 1):
        end -= 1
    return slice(start, end)


def _dangles_at_start(caption: SourceCaption, i: int) -> bool:
    """Return whether word i cannot begin a fragment."""
    return caption.tags[i] in _NOT_FIRST or caption.lemmas[i] == "be"


def _dangles_at_end(caption: SourceCaption, i: int) -> bool:
    """Return whether word i cannot end a fragment."""
    tag, *following = caption.tags[i : i + 2]
    if tag in _NOT_LAST or caption.lemmas[i] == "be":
        return True
    return tag == "ADJ" and following in (["ADJ"], ["NOUN"])


def _says_something_new(
    tags: Sequence[str], lemmas: Sequence[str], names_in_caption: frozenset[str]
) -> bool:
    """Return whether words say something that a caption does not."""
    if not _NOT_IN_FRAGMENT.isdisjoint(tags):
        return False
    for tag, lemma in zip(tags, lemmas, strict=True):
        if tag not in _CONTENT or lemma in _AUXILIARIES:
            continue
        if also_called(lemma).isdisjoint(names_in_caption):
            return True
    return False


def _joints(tags: Sequence[str]) -> list[str]:
    """Return the templates by which a fragment may be joined."""
    if tags[0] == "VBG":
        return templates_for("joint of an action")
    has_noun = tags[0] in _THING_OPENERS and "NOUN" in tags
    if has_noun and FINITE_TAGS.isdisjoint(tags):
        return templates_for("joint of a thing")
    return templates_for("joint")
