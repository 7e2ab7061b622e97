"""Sentences made of frames and fillers, with the words that must be wanted and unwanted.

Issues come in kinds, and single hand-written sentences no longer find them: a frame is a kind's
wording, of which up to 13 sentences are made. Words are compared by stem.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nltk.stem import PorterStemmer

FILLERS = {
    # One who acts.
    "P": "man woman boy girl chef singer teenager player dancer runner",
    # Many.
    "a": "dogs cats birds horses cars bicycles trees flowers boats children balloons cows",
    # A thing.
    "t": "hat umbrella guitar helmet backpack scarf ladder camera ball bag kettle bottle",
    # An action.
    "d": "singing dancing swimming jumping smiling running cooking reading talking skating",
    "v": "sing dance swim jump smile run cook read talk skate",
    # A place.
    "l": "beach park kitchen street garden stadium forest office",
    # A thing without a plural.
    "m": "rain|snow|fog|traffic|smoke|litter",
    # A thing with an odd tag.
    "k": "sunglasses|make up|swing sets|running shoes|selfie sticks|street lights|ice cream|washing lines",
    "f": "face hair hands mouth back",
    "s": "tennis football golf chess hockey",
    "w": "live|swim|sleep|hide|hunt",
    "e": "water|cages|caves|trees|cities",
    "n": "Model 300|Series 5|Boeing 737|Type 42",
}
# kind: (sentence, wanted, unwanted); a digit tells fillers of one kind apart, words after "!" must
# not be wanted
FRAMES: dict[str, Sequence[tuple[str, str, str]]] = {
    "A lists": [
        ("no {a1}, {a2}, {a3}", "", "{a1} {a2} {a3}"),
        ("exclude {m1}, {m2}, {m3}", "", "{m1} {m2} {m3}"),
        ("hide {a1}, {a2}, {a3}", "", "{a1} {a2} {a3}"),
        ("avoid {a1}, {a2} and {a3}", "", "{a1} {a2} {a3}"),
        ("I don't want {a1}, {a2}, {a3}", "", "{a1} {a2} {a3}"),
        ("anything except {a1}, {a2}, {a3}", "", "{a1} {a2} {a3}"),
        ("a {l} without {a1}, {a2} or {a3}", "{l}", "{a1} {a2} {a3}"),
        ("a {l}, no {a1}, {a2}", "{l}", "{a1} {a2}"),
    ],
    "B two subjects": [
        ("{P1} with no {t1}, {P2} with {t2}", "{P1} {P2} {t2}", "{t1}"),
        ("a {P1} without a {t1}, a {P2} with a {t2}", "{P1} {P2} {t2}", "{t1}"),
        ("a {P1} who isn't {d1} and a {P2} who is {d2}", "{P1} {P2} {d2}", "{d1}"),
        ("a {P1} is not {d1} while a {P2} is {d2}", "{P1} {P2} {d2}", "{d1}"),
    ],
    "C requests": [
        ("I don't want {d}", "!want", "{d}"),
        ("we don't need {d}", "!need", "{d}"),
        ("I don't like {a}", "!like", "{a}"),
        ("please don't show me {d}", "!show", "{d}"),
        ("I don't want to see any {a}", "!want !see", "{a}"),
    ],
    "D the verb's place": [
        ("animals that don't {w} in {e}", "animals !{e}", "{w}"),
        ("birds which never {w} in {e}", "birds !{e}", "{w}"),
    ],
    "E odd complements": [
        ("a {P} without {k}", "{P}", "{k}"),
        ("a {l} w/out {k}", "{l}", "{k}"),
        ("a {l} free of {k}", "{l}", "{k}"),
        ("a {P} who never {v}s", "{P}", "{v}"),
        ("exclude {k}", "", "{k}"),
        ("everything except {k}", "", "{k}"),
    ],
    "F remarks": [
        ("no wait, not {a1}, {a2}", "{a2}", "{a1}"),
        ("if it has {a} I don't want it", "!want", "{a}"),
        ("{a1}, keep {a2} away", "{a1}", "{a2}"),
        ("{a1} but {a2} excluded", "{a1}", "{a2}"),
        ("so tired of {a1}, show me {a2}", "{a2}", "{a1}"),
        ("a {t1}, no, not a {t1}, a {t2}", "{t2}", "{t1}"),
        ("{a1} ({a2} excepted)", "{a1}", "{a2}"),
        ("none of the {a} are {d}", "{a}", "{d}"),
        ("{a1} please, no {a2}, thanks", "{a1} !please !thanks", "{a2}"),
        ("can you find me {a1} but not {a2}?", "{a1} !find", "{a2}"),
    ],
    "G operators": [
        ("{a1} -{a2}", "{a1}", "{a2}"),
        ("{P} -wearing:{t}", "{P}", "{t}"),
        ("no-{a2} {l}", "{l}", "{a2}"),
        ("{a1} NOT ({a2} OR {a3})", "{a1}", "{a2} {a3}"),
        ("{l} -'{k}'", "{l}", "{k}"),
        ("{l} !{a}", "{l}", "{a}"),
        ('{l} -"{k}"', "{l}", "{k}"),
    ],
    "H slang": [
        ("nobody: absolutely nobody: {a}", "{a}", ""),
        ("no cap this {P} is {d}", "{P} {d}", ""),
        ("can't stop {d}", "{d}", ""),
        ("not only {a1} but also {a2}", "{a1} {a2}", ""),
        ("why not {d} in the {l}", "{d} {l}", ""),
    ],
    "I whose": [
        ("no one's {f} is visible", "", "{f}"),
        ("a {P} with their {f} not visible", "{P}", "{f}"),
        ("me without my {t}", "", "{t}"),
        ("a {P} whose {f} isn't shown", "{P}", "{f}"),
    ],
    "J counts and doubles": [
        ("exactly two {a}, not more", "two {a}", ""),
        ("a {P} who doesn't lack a {t}", "{P} {t}", ""),
        ("a {P} w/o {t1} & no {t2}", "{P}", "{t1} {t2}"),
        ("neither {a1}, {a2} nor {a3}", "", "{a1} {a2} {a3}"),
        ("a {P}, {t}: none", "{P}", "{t}"),
        ("a {l} without any kind of {m}", "{l}", "{m}"),
        ("{a1} or {a2} but not both", "{a1} {a2}", ""),
        ("a {P} not without a {t}", "{P} {t}", ""),
    ],
    "K beside it": [
        ("a {t1}, but no {t2} beside it", "{t1}", "{t2}"),
        ("a {t1} with no {t2} next to it", "{t1}", "{t2}"),
        ("a {P}, and there is no {t} near them", "{P}", "{t}"),
    ],
    "L presence": [
        ("a {P} in a {l}, but {d} does not occur", "{P} {l}", "{d}"),
        ("a {P} is {d}, and a {t} is not involved", "{P} {d}", "{t}"),
        ("a {t1} in a {l}, but a {t2} is not beside it", "{t1} {l}", "{t2}"),
        ("no {s} is being played, as people are {d}", "people {d}", "{s}"),
        ("a {P} {d}, while a {t} is nowhere to be seen", "{P} {d}", "{t}"),
        ("a {t} is not visible, but a {P} is {d}", "{P} {d}", "{t}"),
        ("a {l} where {a} are absent", "{l}", "{a}"),
        ("a {t} is missing from the {l}", "{l}", "{t}"),
    ],
    "M names": [
        ("a {P}, neither a {n} wagon nor a van", "{P}", "{n} wagon van"),
        ("a {l} with no {n} van", "{l}", "{n} van"),
    ],
    "N plain": [
        ("a {P} {d} without a {t}", "{P} {d}", "{t}"),
        ("a {P} is {d1} and not {d2}", "{P} {d1}", "{d2}"),
        ("a {P} does not {v} and is {d}", "{P} {d}", "{v}"),
        ("a {P} in a {l} with no {a}", "{P} {l}", "{a}"),
        ("there are no {a} in the {l}", "{l}", "{a}"),
        ("{a1} instead of {a2}", "{a1}", "{a2}"),
        ("{a1} rather than {a2} in a {l}", "{a1} {l}", "{a2}"),
        ("a {P} with a {t1} but no {t2}", "{P} {t1}", "{t2}"),
        ("nobody is {d} in the {l}", "{l}", "{d}"),
        ("all animals except {a}", "animals", "{a}"),
        ("a {P} who is neither {d1} nor {d2}", "{P}", "{d1} {d2}"),
        ("a couple {d}, neither wearing {a}", "couple {d} !wearing", "wearing {a}"),
        ("a {P} {d1}, never once {d2}", "{P} {d1} !once", "{d2}"),
        ("two {P}s, neither {P} holds {a}", "{P} !holds", "holds {a}"),
        ("a {P} stops {d1}, not {d2}", "{P}", "{d2}"),
        ("a {P} who does not have {a}", "{P} !does", "{a}"),
        ("{a1}, none of which are near {a2}", "{a1}", "near {a2}"),
        ("a {P} nowhere near {a}", "{P}", "{a}"),
        ("a {P} {d} without petting a {t}", "{P} {d}", "petting {t}"),
        ("a {l}; a {t}, however, is not visible", "{l}", "{t}"),
        ("a small {t1} and a large one, no {t2}", "{t1} large one", "{t2}"),
    ],
}
PER_FRAME = 13
_STEM = PorterStemmer().stem
_SMALL = frozenset({"a", "the", "up"})


class Framed(NamedTuple):
    """A sentence with words that must be wanted, unwanted, and not wanted."""

    kind: str
    text: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    banned: tuple[str, ...]


def framed() -> Iterator[Framed]:
    """Make 1,171 sentences, always the same."""
    for kind, frames in FRAMES.items():
        for frame, wanted, unwanted in frames:
            framed_by_text: dict[str, Framed] = {}
            for number in range(4 * PER_FRAME):
                fields = _fields(random.Random(f"{frame} {number}"))
                sentence = _filled(kind, frame, wanted, unwanted, fields)
                framed_by_text.setdefault(sentence.text, sentence)
            yield from list(framed_by_text.values())[:PER_FRAME]


def _fields(rng: random.Random) -> dict[str, str]:
    """Draw fillers: "thing1", "thing2", … and, for the first of each kind, "thing"."""
    fields = {}
    for name, words in FILLERS.items():
        drawn = _draw(words, rng)
        fields[name] = drawn[0]
        for number, word in enumerate(drawn, 1):
            fields[f"{name}{number}"] = word
    return fields


def _filled(kind: str, frame: str, wanted: str, unwanted: str, fields: Mapping[str, str]) -> Framed:
    """Fill a frame; words of the wanted part with "!" may not be in it."""
    required = []
    banned = []
    for word in wanted.format(**fields).split():
        if word.startswith("!"):
            banned.append(word.strip("!"))
        else:
            required.append(word.strip("!"))
    denied = unwanted.format(**fields).split()
    return Framed(kind, frame.format(**fields), tuple(required), tuple(denied), tuple(banned))


def _draw(words: str, rng: random.Random) -> list[str]:
    """Draw up to three of the words or phrases that a text separates by spaces, or by "|"."""
    separator = "|" if "|" in words else " "
    alternatives = words.split(separator)
    return rng.sample(alternatives, min(3, len(alternatives)))


def stems(texts: Sequence[str]) -> set[str]:
    """Return the stems of words, without articles."""
    stemmed = set()
    for word in re.findall(r"\w+(?:'\w+)?", " ".join(texts).lower()):
        if word == "children":
            stemmed.add("child")
        else:
            stemmed.add(_STEM(word.removesuffix("'s")))
    return stemmed - _SMALL


def judge(row: Framed, wanted: Sequence[str], unwanted: Sequence[str]) -> tuple[bool, bool]:
    """Return whether a sentence is split right, and whether it is turned around: a word is on the wrong side."""
    wanted_words = stems(wanted)
    unwanted_words = stems(unwanted)
    must_be_wanted = stems(row.wanted)
    must_be_unwanted = stems(row.unwanted)

    excludes_wanted = (must_be_wanted - must_be_unwanted) & unwanted_words
    wants_unwanted = (must_be_unwanted - must_be_wanted) & wanted_words
    is_turned = bool(excludes_wanted or wants_unwanted)

    has_all = must_be_wanted <= wanted_words and must_be_unwanted <= unwanted_words
    excludes_needlessly = bool(unwanted) and not must_be_unwanted
    has_banned = bool(stems(row.banned) & wanted_words)
    is_right = has_all and not (is_turned or excludes_needlessly or has_banned)
    return is_right, is_turned
