"""Forms of negation in English, with an example of each.

`nt2vr.language.scope` finds the cues and what they deny. The tests check every example. A form without cues of its own
is another form's cue with certain words after it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from nt2vr.language.wordlists import Runs

CueKind = Literal["not", "no", "without", "nobody", "minus", "order", "absent", "free", "less", "double", "edit"]
"""What a cue denies:

not: the verb, noun, place or quality after it; the thing before it, if the words after it only mean "in the picture".
no, without: the thing after it; for "without" also what somebody does.
order: the thing after it, at the start of a clause only.
nobody: people, or what nobody does.
minus: the next word, to which it is attached.
absent: the thing before it, or after it if the order is inverted.
free: the noun to which it is attached.
less: the thing that its word names, in LESS.
double: nothing, since two negations affirm.
edit: what is replaced or removed, or nothing: see `nt2vr.language.editing`.
"""


class Form(NamedTuple):
    """One form of negation: its cues, and an example with its wanted and unwanted parts."""

    name: str
    kind: CueKind
    cues: str  # separated by commas
    example: str
    wanted: str
    unwanted: tuple[str, ...]


FORMS = (
    # the cue comes first
    Form("not X", "not", "not, n't, never, no longer, but not", "a man is not dancing", "a man", ("dancing",)),
    Form("not even X", "not", "not even, n't even, but not even", "a man but not even a dog", "a man", ("a dog",)),
    Form("neither X nor Y", "not", "neither, nor", "a bike with neither bell nor lock", "a bike", ("bell", "lock")),
    Form("Y rather than X", "not", "rather than, as opposed to, instead of", "tea instead of beer", "tea", ("beer",)),
    Form(
        "all except X",
        "not",
        "except, except for, except from, other than, apart from, aside from, anything but, everything but, "
        "everyone but, all but",
        "all animals except dogs",
        "all animals",
        ("dogs",),
    ),
    Form("no X", "no", "no, zero", "a beach with no people", "a beach", ("people",)),
    Form(
        "not a single X",
        "no",
        "not a single, not one single, not even a single, not even one single, not even one, but not a single, "
        "but not even a single",
        "a street with not a single car",
        "a street",
        ("car",),
    ),
    Form("no compound noun", "no", "", "a street with no bus stop", "a street", ("bus stop",)),
    Form("no name", "no", "", "an airport, no Boeing 737", "an airport", ("Boeing 737",)),
    Form("no sign of X", "no", "", "a church without any sign of a priest", "a church", ("a priest",)),
    Form("no X is present", "no", "", "No car is visible in the image; a dog runs.", "a dog runs", ("car",)),
    Form("without X", "without", "without, with out, w/o, w/out, sans, minus", "tea w/o milk", "tea", ("milk",)),
    Form(
        "without a single X",
        "without",
        "without a single, without even, without even a single",
        "a desk without a single book",
        "a desk",
        ("book",),
    ),
    Form("without, misspelt", "without", "", "a man wihtout a hat", "a man", ("a hat",)),
    Form("lacks X", "without", "lack, lacks, lacking, lacked", "a room that lacks chairs", "a room", ("chairs",)),
    Form(
        "excludes X",
        "without",
        "exclude, excludes, excluding, omit, omits, omitting, leave out, leaves out, leaving out",
        "This image shows a car but leaves out people.",
        "This image shows a car",
        ("people",),
    ),
    Form(
        "free of X",
        "without",
        "free of, free from, devoid of, void of, empty of, vacant of, bare of, barren of, bereft of, absence of",
        "a street devoid of cars",
        "a street",
        ("cars",),
    ),
    Form(
        "un-…-ed by X",
        "without",
        "unoccupied by, unaccompanied by, unattended by, undisturbed by, uninhabited by, unpopulated by, "
        "unencumbered by, unobstructed by, untouched by, unadorned by",
        "a bench unoccupied by anyone",
        "a bench",
        ("anyone",),
    ),
    Form("in the absence of X", "without", "", "the absence of people on a beach", "a beach", ("people",)),
    Form("do not show X", "not", "", "A dog runs, but the image does not include a cat.", "A dog runs", ("a cat",)),
    Form(
        "not without X",
        "double",
        "not without, n't without, never without",
        "a man not without a hat",
        "a man with a hat",
        (),
    ),
    Form("nobody", "nobody", "nobody, no one, noone, none, nothing", "a bus with nobody in it", "a bus", ("people",)),
    Form("-X, !X", "minus", "-, !", 'pasta -"tomato sauce" !cheese', "pasta", ("tomato sauce", "cheese")),
    Form("avoid X", "order", "avoid, skip, ignore, remove, hide", "a beach, avoid people", "a beach", ("people",)),
    # the cue comes last
    Form("X is not present", "not", "", "a dog runs but a cat is not visible", "a dog runs", ("a cat",)),
    Form("while X is not", "not", "", "A car is present, while a chair is not.", "A car is present", ("a chair",)),
    Form("X does not appear", "not", "", "A cup does not appear in this image.", "", ("A cup",)),
    Form(
        "X is absent",
        "absent",
        "absent, missing, nowhere, excluded, omitted, left out, notable by its absence, conspicuous by its absence",
        "a dog on a lawn, but a cat is nowhere to be seen",
        "a dog on a lawn",
        ("a cat",),
    ),
    Form("absent is X", "absent", "", "a dog runs, but noticeably absent is a cat", "a dog runs", ("a cat",)),
    Form("Y is missing X", "absent", "", "This image is missing a bird.", "", ("a bird",)),
    # the cue is part of a word
    Form("X-free", "free", "-free", "a car-free street", "a street", ("car",)),
    Form("X-less", "less", "", "a hatless man", "a man", ("hat",)),
)

# Words that name what is not there. Not here: those whose ending denies nothing to be seen (stainless, wireless), and
# looks that captions name as such (shirtless, sleeveless, leafless, an unoccupied bench).
LESS: Mapping[str, str] = {
    "beardless": "beard",
    "childless": "children",
    "driverless": "driver",
    "hatless": "hat",
    "helmetless": "helmet",
    "peopleless": "people",
    "riderless": "rider",
    "shoeless": "shoes",
    "sockless": "socks",
}
MISSPELT: Mapping[str, str] = dict.fromkeys(
    "wihtout witout withot whitout withouth withou wihout withut witohut withour wthout whithout".split(), "without"
)

CUES: dict[str, CueKind] = {
    **{cue: form.kind for form in FORMS for cue in form.cues.split(", ") if cue},
    **dict.fromkeys(LESS, "less"),
}
CUE_RUNS = Runs(CUES)
# Idioms and titles; "can't" is tokenized as "ca n't".
NO_NEGATION = Runs(
    {
        "not only",
        "not just",
        "not merely",
        "not far",
        "why not",
        "whether or not",
        "no doubt",
        "without doubt",
        "without a doubt",
        "no wonder",
        "no matter",
        "nothing but",
        "none other than",
        "no other than",
        "with or without",
        "ca n't stop",
        "ca n't help",
        "ca n't wait",
        "can not stop",
        "can not help",
        "can not wait",
        "a no",
        "the no",
        "no tomorrow",
        "nothing beats",
        "nothing like",
        "nothing better than",
        "nothing more than",
        "no more than",
        "no less than",
        "no fewer than",
        "no big deal",
        "no problem",
        "in no time",
        "no strings attached",
        "not to mention",
        "more often than not",
        "believe it or not",
        "like nobody",
        "like no one",
        "if not",
        "never mind",
        "no pain no gain",
        "no question",
        "not missing",
        "not lacking",
        "not absent",
        "n't missing",
        "n't lacking",
        "n't absent",
        "never absent",
        "never lacking",
        "duty -free",
        "royalty -free",
        "hands -free",
        "toll -free",
        "care -free",
        "no country for old men",
        "dr no",
        "dr. no",
        "no time to die",
        "no way home",
        "no man 's sky",
        "no man 's land",
        "never have i ever",
        "say no",
        "says no",
        "missing link",
    }
)
NOBODY = {"nobody": "people", "no one": "people", "noone": "people", "none": "people", "nothing": "anything"}
