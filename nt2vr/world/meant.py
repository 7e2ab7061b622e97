"""Parts of queries read as people mean them: who reads on a chair is sitting, too."""

import re
from dataclasses import replace

from nt2vr.world.abilities import may_do
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.meaning import runs_of, tokens_of
from nt2vr.world.reader import read_asked
from nt2vr.world.things import Names, actions, meanings
from nt2vr.world.word_tables import unsure_words

# rolling a ball away
_WHERE_TO = re.compile(r" (?:away|around|up and down|along the ground|a kick)$")
# A word that names only one picture, such as "lady", means all women, and so on.
_PEOPLE_BY_NAMES = {frozenset((name,)): name for name in ("man", "woman", "boy", "girl")}
# Actions that the word for one covers, too: who reads on a chair is sitting, and a car that drives
# past drives.
_ALSO_MEANT = {
    "sit": "read,write,use,fish,sit on,game,ride,sled,drive,row,bathe,yoga",
    "walk": "carry,push,pull,follow,walk pet",
    "lie": "sleep",
    "run": "chase",
    "eat": "feed self",
    "talk": "talk to,phone",
    "fly": "fly past,take off",
    "drive": "drive past",
}
# Motions of subjects who stay in place, and so stand while they do something else.
_IN_PLACE = frozenset(
    {"none", "shake", "sway", "throw", "dribble", "kick", "catch", "float", "wave", "face"}
)
# standing still
_STILL = re.compile(r"\b(?:still|in place)\b")


def read_as_meant(part: str) -> Claim | None:
    """Read a part as people mean it; None if that cannot be told, or nobody could do it."""
    claim = read_asked(part)
    if claim is None or claim.vague:
        claim = read_asked(_WHERE_TO.sub("", part)) or claim
    if claim is None or _has_unsure_words(part):
        return None

    is_still = bool(_STILL.search(part))
    subjects = tuple(_as_meant(subject, is_still) for subject in claim.subjects)
    if not all(_is_able(subject) for subject in subjects):
        return None
    return replace(claim, subjects=subjects)


def _has_unsure_words(part: str) -> bool:
    """Return whether a part has words by which people usually mean something else."""
    return not unsure_words().isdisjoint(runs_of(tokens_of(part), most=4))


def _as_meant(subject: SubjectClaim, is_still: bool) -> SubjectClaim:
    acts = tuple(_act_as_meant(act, is_still) for act in subject.acts)
    name = _PEOPLE_BY_NAMES.get(subject.names, "")
    names = meanings().get(name, subject.names)
    return replace(subject, names=names, acts=acts)


def _act_as_meant(act: Act, is_still: bool) -> Act:
    """Return an act with the verbs that people mean as well."""
    # Who plays a guitar holds it.
    if act.verbs == {"hold"} and act.objects:
        return replace(act, verbs=_verbs_of_use(act.objects))

    verbs = set(act.verbs)
    for verb in act.verbs:
        verbs.update(_ALSO_MEANT.get(verb, verb).split(","))
    if "stand" in act.verbs and not is_still:
        verbs |= _standing_verbs()
    return replace(act, verbs=frozenset(verbs))


def _verbs_of_use(objects: Names) -> Names:
    verbs = set()
    for verb, action in actions().items():
        if objects & action.objects and action.layer == "main":
            verbs.add(verb)
    return frozenset(verbs)


def _standing_verbs() -> Names:
    verbs = set()
    for verb, action in actions().items():
        if action.posture == "stand" and action.motion in _IN_PLACE:
            verbs.add(verb)
    return frozenset(verbs)


def _is_able(subject: SubjectClaim) -> bool:
    if not subject.names:
        return True
    return all(may_do(subject.names, act) for act in subject.acts)
