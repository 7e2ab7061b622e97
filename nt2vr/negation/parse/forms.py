"""Forms of negation in English, with an example of each: the table `assets/language/forms.tsv`.

`scope` finds the cues and what they deny. The tests check every example. A form without cues of its own
is another form's cue with certain words after it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from nt2vr.negation.parse.wordlists import Runs, lines_of, renamed

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
edit: what is replaced or removed, or nothing: see `nt2vr.negation.parse.editing`.
"""


class Form(NamedTuple):
    """One form of negation: an example with its wanted and unwanted parts, and the form's cues.

    Parts and cues of the table are separated by commas. In its first rows the cue precedes what it denies, then it
    follows that, and in the last ones it is part of a word.
    """

    name: str
    kind: CueKind
    example: str
    wanted: str
    unwanted: tuple[str, ...]
    cues: tuple[str, ...]


# Words that name what is not there. Not here: those whose ending denies nothing to be seen (stainless, wireless), and
# looks that captions name as such (shirtless, sleeveless, leafless, an unoccupied bench).
LESS: Mapping[str, str] = renamed(
    "beard=beardless branches=branchless car=carless children=childless clouds=cloudless coat=coatless "
    "collar=collarless door=doorless driver=driverless hat=hatless helmet=helmetless jacket=jacketless mask=maskless "
    "moon=moonless people=peopleless rider=riderless shoes=shoeless roof=roofless snow=snowless socks=sockless "
    "trees=treeless wheels=wheelless windows=windowless"
)


@cache
def forms() -> tuple[Form, ...]:
    """Read the table."""
    head, *rows = (line.split("\t") for line in lines_of("language/forms.tsv"))
    return tuple(_form(dict(zip(head, row, strict=True))) for row in rows)


def _form(row: dict[str, Any]) -> Form:
    lists = {name: tuple(filter(None, row[name].split(", "))) for name in ("unwanted", "cues")}
    return Form(**row | lists)


@cache
def cues() -> Mapping[str, CueKind]:
    return {**{cue: form.kind for form in forms() for cue in form.cues}, **dict.fromkeys(LESS, "less")}


@cache
def cue_runs() -> Runs:
    return Runs(cues())


@cache
def denied_by_nobody() -> Mapping[str, str]:
    """Return what is unwanted by each cue of the kind "nobody": "people" or, for "nothing", "anything"."""
    of_nobody = (cue for cue, kind in cues().items() if kind == "nobody")
    return {cue: "anything" if "thing" in cue else "people" for cue in of_nobody}
