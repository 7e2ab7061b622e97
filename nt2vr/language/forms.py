"""Forms of negation in English, with an example of each.

`nt2vr.language.scope` finds the cues and what they deny. The tests check every example. A form without cues of its own
is another form's cue with certain words after it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from nt2vr.language.wordlists import Runs

CueKind = Literal[
    "not", "no", "without", "nobody", "except", "minus", "order", "absent", "free", "less", "out", "double", "edit"
]
"""What a cue denies:

not: the verb, noun, place or quality after it; the thing before it, if the words after it only mean "in the picture".
no, without: the thing after it; for "without" also what somebody does.
order: the thing after it, at the start of a clause only.
nobody: people, or what nobody does.
except: the thing after it, unless it is an exception from a denial: then nothing is denied, and the thing is wanted.
minus: the next word, to which it is attached.
absent: the thing before it, or after it if the order is inverted.
free: the noun to which it is attached.
less: the thing that its word names, in LESS.
out: the thing between it and "out".
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


_NO_PERSON = (
    "nobody, no one, noone, none, hardly anyone, hardly anybody, barely anyone, barely anybody, scarcely anyone, "
    "almost no one, almost nobody, nobody else, no one else, noone else, none else"
)
_NO_THING = "nothing, nothing else, next to nothing, almost nothing, hardly anything, barely anything"
NOBODY = {  # cue -> what is unwanted
    cue: thing for cues, thing in ((_NO_PERSON, "people"), (_NO_THING, "anything")) for cue in cues.split(", ")
}
_FAILING = (
    "fails to, fail to, failed to, failing to, refuses to, refuse to, refused to, refusing to, declines to, forgets "
    "to, forgot to, neglects to, unable to, incapable of, refrains from, refrain from, refraining from, abstains "
    "from, abstain from, abstaining from"
)
_GIVING_UP = "gave up, gives up, giving up, given up, quit, quits, ceased, ceases, avoids, avoided, avoiding"
_TASTES = (
    "not a fan of, n't a fan of, n't care for, not care for, n't care about, not care about, not interested in, n't "
    "interested in, not into, n't "
    "into, not keen on, n't keen on, not fond of, n't fond of, not crazy about, n't crazy about, not big on, not "
    "in the mood for, n't in the mood for, not looking for, n't looking for"
)
_EXCEPTIONS = (
    "except, except for, except from, excepting, excluding, other than, apart from, aside from, besides, barring, "
    "but for, bar, save for, with the exception of, with exception of, exclusive of, not counting, not including, "
    "not even counting, leaving aside, else than, different from, anything but, anywhere but, everything but, "
    "everyone but, all but"
)
_HARDLY = (
    "hardly any, barely any, scarcely any, next to no, little to no, little or no, almost no, virtually no, "
    "practically no, close to no, hardly a, hardly an, barely a, scarcely a, scarcely an, nary a, nary an, nary, few "
    "if any"
)
_ORDERS = (
    "avoid, skip, ignore, remove, hide, get rid of, filter out, weed out, rule out, block, delete, hold the, stop "
    "showing me, stop showing, stop recommending, stop recommending me, stop suggesting, stop giving me, spare me, "
    "enough of, no more of, keep out, cut out, take out, enough with, forget, forget the, forget about, ditch, "
    "discard, scrap, lose the, "
    "stay away from, keep away from, steer clear of, try to avoid, do without, pass on"
)
_DISLIKES = (
    "i hate, we hate, i really hate, i dislike, we dislike, i detest, i loathe, i ca n't stand, i can not stand, i "
    "'m sick of, i m sick of, sick of, i 'm tired of, tired of, fed up with, bored of, bored with, hate, "
    "hates, dislike, dislikes, detests, loathes"
)
_NOT = "not, n't, never, no longer, but not, not yet, n't yet, hardly, hardly ever, rarely, seldom, scarcely"
_YET = "yet to, has yet to, have yet to, is yet to"
_NOT_EVEN = "without a single, without even, without even a single, without so much as"
_LACKING = "lack, lacks, lacking, lacked, lack of, shortage of, absent any"
_FAR = "far from any, far away from any, away from any, nowhere near, nowhere near any"

FORMS = (
    # the cue comes first
    Form("not X", "not", _NOT, "a man is not dancing", "a man", ("dancing",)),
    Form("not even X", "not", "not even, n't even, but not even", "a man but not even a dog", "a man", ("a dog",)),
    Form("neither X nor Y", "not", "neither, nor", "a bike with neither bell nor lock", "a bike", ("bell", "lock")),
    Form("neither X does", "not", "", "neither dog is on a leash", "dog", ("on a leash",)),
    Form("none of them does", "not", "", "none of the players wear hats", "the players", ("wear hats",)),
    Form(
        "Y rather than X",
        "not",
        "rather than, as opposed to, instead of, in place of, in the place of, in lieu of, as distinct from, as "
        "against, in "
        "preference to",
        "tea in place of beer",
        "tea",
        ("beer",),
    ),
    Form("prefer Y to X", "not", "", "I prefer dogs to cats", "dogs", ("cats",)),
    Form("fails to X", "not", _FAILING, "a horse that refuses to jump", "a horse", ("jump",)),
    Form("has yet to X", "not", _YET, "a bus has yet to stop", "a bus", ("stop",)),
    Form("gave up X-ing", "not", _GIVING_UP, "a man gave up smoking and sings", "a man sings", ("smoking",)),
    Form("not a fan of X", "not", _TASTES, "i'm not a fan of golf", "", ("golf",)),
    Form("never stops X-ing", "not", "", "a dog that never stops barking", "a dog that never stops barking", ()),
    Form("not every X", "not", "", "not every kid is smiling", "not every kid is smiling", ()),
    Form("a not X thing", "not", "", "a not crowded beach", "a beach", ("crowded",)),
    Form("far from X", "not", "far from", "a room that is far from tidy", "a room", ("tidy",)),
    Form("any X except Y", "except", _EXCEPTIONS, "all animals except dogs", "all animals", ("dogs",)),
    Form("every X but Y", "except", "but, bar, save", "any sport but football", "any sport", ("football",)),
    Form("any X except who does Y", "except", "", "all kids apart from the ones running", "all kids", ("running",)),
    Form("no X except Y", "except", "", "a field with no animals other than a horse", "a field with a horse", ()),
    Form("nothing but X", "except", "", "a plate with nothing but rice", "a plate with rice", ()),
    Form("empty except for X", "except", "", "an empty room except for a chair", "an empty room, a chair", ()),
    Form("no other X", "no", "", "a black dog and no other animals", "a black dog", ()),
    Form("no X", "no", "no, no more, zero, 0", "a beach with no people", "a beach", ("people",)),
    Form("hardly any X", "no", _HARDLY, "a beach with hardly any people", "a beach", ("people",)),
    Form(
        "not a single X",
        "no",
        "not a single, not one single, not even a single, not even one single, not even one, but not a single, but "
        "not even a single",
        "a street with not a single car",
        "a street",
        ("car",),
    ),
    Form("no compound noun", "no", "", "a street with no bus stop", "a street", ("bus stop",)),
    Form("no name", "no", "", "an airport, no Boeing 737", "an airport", ("Boeing 737",)),
    Form("no sign of X", "no", "", "a church without any sign of a priest", "a church", ("a priest",)),
    Form("Y, no X doing Z", "no", "", "a river, no boats passing a mill", "a river", ("boats passing a mill",)),
    Form("no X is present", "no", "", "No car is visible in the image; a dog runs.", "a dog runs", ("car",)),
    Form("without X", "without", "without, with out, w/o, w/out, sans, minus", "tea w/o milk", "tea", ("milk",)),
    Form("without a single X", "without", _NOT_EVEN, "a desk without a single book", "a desk", ("book",)),
    Form("cues, misspelt", "without", "", "a man wothout a hat", "a man", ("a hat",)),
    Form("lacks X", "without", _LACKING, "a room that lacks chairs", "a room", ("chairs",)),
    Form(
        "excludes X",
        "without",
        "exclude, excludes, omit, omits, omitting, leave out, leaves out, leaving out",
        "This image shows a car but leaves out people.",
        "This image shows a car",
        ("people",),
    ),
    Form(
        "free of X",
        "without",
        "free of, free from, devoid of, void of, empty of, vacant of, bare of, barren of, bereft of, absence of, "
        "deprived of, stripped of, drained of, cleared of, emptied of, clear of, robbed of, starved of, denuded of, "
        "run out of, runs out of, ran out of, running out of, is out of, are out of, was out of",
        "a street devoid of cars",
        "a street",
        ("cars",),
    ),
    Form(
        "un-…-ed by X",
        "without",
        "unoccupied by, unaccompanied by, unattended by, undisturbed by, uninhabited by, unpopulated by, "
        "unencumbered by, unobstructed by, untouched by, unadorned by, deserted by, abandoned by, vacated by",
        "a bench unoccupied by anyone",
        "a bench",
        ("anyone",),
    ),
    Form(
        "lost its X",
        "without",
        "lost its, lost their, lost his, lost her, lost all its, lost all their, lost all of its, lost all of "
        "their, lost most of its, loses its, losing its, forgot its, "
        "forgot their, forgot his, forgot her",
        "a tree that has lost its leaves",
        "a tree",
        ("leaves",),
    ),
    Form("far from any X", "without", _FAR, "a house far from any road", "a house", ("road",)),
    Form("in the absence of X", "without", "", "the absence of people on a beach", "a beach", ("people",)),
    Form("do not show X", "not", "", "A dog runs, but the image does not include a cat.", "A dog runs", ("a cat",)),
    Form(
        "not without X",
        "double",
        "no lack of, no shortage of, no absence of, not without, n't without, never without, not not, n't not, "
        "never not",
        "a man not without a hat",
        "a man with a hat",
        (),
    ),
    Form("nobody", "nobody", ", ".join(NOBODY), "a bus with nobody in it", "a bus", ("people",)),
    Form("-X, !X", "minus", "-, !", 'pasta -"tomato sauce" !cheese', "pasta", ("tomato sauce", "cheese")),
    Form("non-X", "minus", "non, non-", "a non-smoking room", "a room", ("smoking",)),
    Form("operators", "minus", "", "tag:dog AND NOT(cat)", "dog", ("cat",)),
    Form("X? no", "no", "", "piano yes, violin no", "piano", ("violin",)),
    Form("do not show X doing", "not", "", "a dog, don't show me anyone running", "a dog", ("anyone running",)),
    Form("avoid X", "order", _ORDERS, "a beach, avoid people", "a beach", ("people",)),
    Form("I hate X", "order", _DISLIKES, "i hate clowns", "", ("clowns",)),
    Form("I am over X", "order", "", "i'm so over cats, give me dogs", "dogs", ("cats",)),
    Form("no A, no B, C", "no", "", "a park, no dogs, no bikes, trees", "a park, trees", ("dogs", "bikes")),
    Form("no X does", "no", "", "a choir sings and no fans are clapping", "a choir sings", ("fans are clapping",)),
    Form("every X does save Y", "except", "", "everyone dances save the groom", "everyone dances", ("the groom",)),
    Form("except when it does X", "not", "", "a full square except when it rains", "a full square", ("rains",)),
    Form("none X-ed", "not", "", "a box of eggs, none broken", "a box of eggs", ("broken",)),
    Form("not yet X-ed thing", "not", "", "not yet painted wall", "wall", ("painted",)),
    Form("leave out anything X", "without", "", "cities, leave out anything indoors", "cities", ("anything indoors",)),
    Form("stay away from X", "order", "", "stay away from horror, show me cats", "cats", ("horror",)),
    Form("next to nothing", "nobody", "", "a shop with next to nothing on sale", "a shop", ("anything on sale",)),
    Form("not so much X as Y", "not", "", "not so much a dance as a fight", "a fight", ("a dance",)),
    Form("drop the ones with X", "without", "", "bikes, but drop the ones with riders", "bikes", ("riders",)),
    Form("used to X but not anymore", "not", "", "a man used to smoke but not anymore", "a man", ("smoke",)),
    Form("Y but not X thing", "not", "", "an old but not rusty tractor", "an old tractor", ("rusty",)),
    Form("no better X than Y", "no", "", "no better view than the sea", "no better view than the sea", ()),
    Form("impossible not to X", "not", "", "it's impossible not to laugh", "it's impossible not to laugh", ()),
    Form("has X missing", "absent", "", "the chair has a leg missing", "the chair", ("a leg",)),
    Form("X off", "absent", "", "skaters, helmets off", "skaters", ("helmets",)),
    Form(
        "has stopped X-ing",
        "not",
        "has stopped, have stopped, had stopped",
        "a drummer who has stopped drumming",
        "a drummer",
        ("drumming",),
    ),
    Form("can't be without X", "double", "", "a girl who can't be without her phone", "a girl with her phone", ()),
    Form("nobody in this clip X-es", "nobody", "", "nobody in this clip is smoking", "", ("smoking",)),
    Form("X is not wanted", "not", "", "dogs run; cats are not wanted", "dogs run", ("cats",)),
    Form("X, no, not X, Y", "no", "", "tennis, no, not tennis, golf", "golf", ("tennis",)),
    Form("X does not show up", "not", "", "a party where the clown does not show up", "a party", ("the clown",)),
    Form("hardly X-es", "not", "", "a cat that hardly moves", "a cat", ("moves",)),
    Form("avoids X-ing", "not", "", "a car avoids hitting a dog", "a car", ("hitting a dog",)),
    Form("keeps Y from X-ing", "not", "", "a fence keeps dogs from leaving", "a fence keeps dogs", ("leaving",)),
    Form("under no circumstances X", "not", "", "a dance, by no means a waltz", "a dance", ("a waltz",)),
    Form("X is not my thing", "no", "", "golf is not my thing, tennis please", "tennis", ("golf",)),
    Form("X dislikes Y", "order", "", "my son hates trains, planes please", "planes", ("trains",)),
    Form("Y allowed, X not", "no", "", "dogs welcome, cats not", "dogs welcome", ("cats",)),
    Form("deserted by X", "without", "", "a beach deserted by tourists", "a beach", ("tourists",)),
    Form("X missing from Y", "absent", "", "a swan missing from the lake", "the lake", ("a swan",)),
    Form("no shortage of X", "double", "", "a party with no shortage of food", "a party with food", ()),
    Form("Y and no X in a place", "no", "", "two dogs and no people in a field", "two dogs in a field", ("people",)),
    Form("more Y, fewer X", "no", "", "more cats fewer dogs", "cats", ("dogs",)),
    Form("X, no wait, Y", "no", "", "a cat, no wait, a dog", "a dog", ("a cat",)),
    Form("swap X for Y", "no", "", "swap the cat for a dog", "a dog", ("the cat",)),
    Form("Y preferred to X", "not", "", "tea preferred to coffee", "tea", ("coffee",)),
    Form("does not hate X", "not", "", "a boy who doesn't hate peas", "a boy who doesn't hate peas", ()),
    Form(
        "leaves X out",
        "out",
        "leave, leaves, leaving, left, keep",
        "a recipe that leaves the eggs out",
        "a recipe",
        ("the eggs",),
    ),
    # the cue comes last
    Form("X is not present", "not", "", "a dog runs but a cat is not visible", "a dog runs", ("a cat",)),
    Form("while X is not", "not", "", "A car is present, while a chair is not.", "A car is present", ("a chair",)),
    Form("X does not appear", "not", "", "A cup does not appear in this image.", "", ("A cup",)),
    Form(
        "X is absent",
        "absent",
        "absent, missing, nowhere, gone, removed, aside, excluded, excepted, omitted, left out, being the exception, "
        "off, out of frame, out of shot, out of sight, out of view, out of the frame, out of the picture, off camera, "
        "off screen, off stage, notable by its absence, conspicuous by its absence",
        "a dog on a lawn, but a cat is nowhere to be seen",
        "a dog on a lawn",
        ("a cat",),
    ),
    Form("whose X is absent", "absent", "", "a bus whose driver is absent", "a bus", ("driver",)),
    Form("X is not on", "not", "", "a room where the lamp is not on", "a room", ("the lamp",)),
    Form("X excluded", "absent", "", "drums excluded, all instruments", "all instruments", ("drums",)),
    Form("with X missing", "absent", "", "a stage with the drummer missing", "a stage", ("the drummer",)),
    Form("absent is X", "absent", "", "a dog runs, but noticeably absent is a cat", "a dog runs", ("a cat",)),
    Form("Y is missing X", "absent", "", "This image is missing a bird.", "", ("a bird",)),
    Form("Y missing its X", "absent", "", "a car missing its wheels", "a car", ("its wheels",)),
    # the cue is part of a word
    Form("X-free", "free", "-free", "a car-free street", "a street", ("car",)),
    Form("X-less", "less", "", "a hatless man", "a man", ("hat",)),
)

# Words that name what is not there. Not here: those whose ending denies nothing to be seen (stainless, wireless), and
# looks that captions name as such (shirtless, sleeveless, leafless, an unoccupied bench).
LESS: Mapping[str, str] = dict(
    pair.split("=")
    for pair in (
        "beardless=beard branchless=branches carless=car childless=children cloudless=clouds coatless=coat "
        "collarless=collar doorless=door driverless=driver hatless=hat helmetless=helmet jacketless=jacket "
        "maskless=mask moonless=moon peopleless=people riderless=rider shoeless=shoes roofless=roof snowless=snow "
        "sockless=socks treeless=trees wheelless=wheels windowless=windows"
    ).split()
)
CUES: dict[str, CueKind] = {
    **{cue: form.kind for form in FORMS for cue in form.cues.split(", ") if cue},
    **dict.fromkeys(LESS, "less"),
}
CUE_RUNS = Runs(CUES)
