"""Choices between two things, rewritten as denials: preferences, verdicts, corrections, exchanges."""

import re

from nt2vr.language.rewriting import Step, pattern

_JOINT_OF_CHOICE = pattern(r"(?<=\w )(?:to|over|before|(?<!rather )than|then|instead of)(?= [^\W\d_])")
_CHOICE = pattern(
    r"(?:^|[.;,!?] )(?:(?:i|we|s?he|they|my [a-z]{2,20})(?:'?d| would| really| much| usually)* )?"
    r"(?:prefers?|favou?rs?|choose|pick|ra[the]{3}r|sooner|better|(?:(?<=i'd )|(?<=i would )|(?<=we'd ))(?:take|"
    r"go for))"
    r"(?: to)?(?: (?:see|watch|have|find|be|get))? "
)


def _rather(match: re.Match[str]) -> str | None:
    """Return "rather than" for the joint of "I prefer tea to coffee"."""
    chosen = list(_CHOICE.finditer(match.string, max(0, match.start() - 80), match.start()))
    between = match.string[chosen[-1].end() : match.start()] if chosen else ""
    return "rather than" if between and not re.search(r"[.;?!]|\b(?:to|over|than|instead|not)\b", between) else None


def _chosen(match: re.Match[str]) -> str | None:
    """Return nothing but punctuation for "I'd rather see" where "rather than" follows."""
    follows = "rather than " in match.string[match.end() : match.end() + 80]
    return match[0][: 2 * (match[0][0] in ".;,!?")] if follows else None


def _named(match: re.Match[str]) -> str | None:
    """Return the noun of a contrast's "one": "not a young woman, an old one"."""
    found = _CONTRAST.search(match.string, max(0, match.start() - 80), match.end())
    return found[1] or found[2] if found else None


_CONTRAST = pattern(
    r"\bnot (?:an?|the) [a-z]+ ([a-z]+),? (?:but )?(?:an?|the) [a-z]+ one$"
    r"|\b(?:an?|the) [a-z]+ ([a-z]+),? (?:but |and )?not (?:an?|the) [a-z]+ one$"
)
_VERDICT = pattern(r"(?<![\w'])([a-z]+(?: [a-z]+)?)(?:\?,?| ?[:=]) ?(no|nope|nah|yes|yep|yeah)\b(?:[.,!;]|$)")
_APPROVES = pattern(r"[?:=],? ?(?:yes|yep|yeah)\b")
_YES_NO = pattern(r"^(.{2,40}?),? yes(?: please)?,? (?:and |but )?(.{2,40}?),? no[.!]?$")
_NO_YES = pattern(r"^(.{2,40}?),? no,? (?:and |but )?(.{2,40}?),? yes(?: please)?[.!]?$")


def _judged(match: re.Match[str]) -> str | None:
    """Return "no running" for "running? no", if something else gets a yes, and for "cat: no"."""
    if not _APPROVES.search(match.string) and not re.search("[:=]", match[0]):
        return None
    return f"{match[1]}," if match[2][0] in "yY" else f"no {match[1]},"


_DENIES = pattern(r"\b(?:no|not|never|without|except|exclude|avoid|skip)\b|n['\u2019]t\b")


def _corrected(match: re.Match[str]) -> str | None:
    """Return "no cat," for the start of "a cat, no wait, a dog"; a denial corrected stays as it is."""
    return None if _DENIES.search(match[1]) or match[1].lower() in {"sorry", "wait", "oops"} else f"no {match[1]}, "


_CORRECTION = Step(
    pattern(
        r"((?:\b(?:an?|the|some|my) (?:(?!(?:with|in|on|at|of|to)\b)[\w'-]{1,20} ){0,3}?)?"
        r"\b[\w'-]{2,20})"
        r"(?:\s?[,.;?!\u2026\u2014-]{1,4}\s?(?:(?:oh|uh|um|actually|or)[, ] ?)?(?:no|nope|nah)[,.!?-]{1,3}"
        r"|\s?[,.;?!\u2026\u2014-]{0,4} (?:(?:oh|uh|um|actually|or),? )?(?:no,? (?:wait|sorry|actually|i mean)|"
        r"wait,? (?:no|nope|sorry)|scratch that|make that|i mean|i meant)[,.!\u2026-]{0,3}"
        r"|\s?[,;\u2026-]{1,4} (?:wait|oops|sorry|or rather|correction)[,:!\u2026-]{1,3})"
        r"\s+(?:(?:no|sorry|i mean|not (?:an? |the )?\w{2,20})[, ] ?)?"
        r"(?=[a-z])(?!(?:no|not|without|with|like|just|but|only|if|i|it|thanks|thank|please|yes)\b)"
    ),
    _corrected,
)
_TASTE = Step(
    pattern(
        r"(?:^|(?<=[,.;!?] )|(?<=\bbut )|(?<=\bsince )|(?<=\bbecause ))"
        r"(?!(?:s?he|they)(?:['\u2019]\w+| is| are)? (?:over|done))"
        r"(?:(?:(?:i|we|s?he|they)(?:['\u2019]?(?:m|re|ve|s|d)| am| is| are| have)?|my \w{2,20}(?:['\u2019]s| is)?) "
        r"(?:(?:so|really|just|all|totally) )?"
        r"(?:over|done with|sick of|tired of|fed up with|(?:had|seen) enough(?: of)?|"
        r"bored (?:of|with)|allergic to|(?:scared|afraid|terrified|frightened) of|(?:hates?|dislikes?|detests?|"
        r"loathes?)|"
        r"(?:can|could|would rather) (?:do|live) without|"
        r"(?:can['\u2019]?t|cannot) (?:bear|take|handle|be bothered (?:with|by|about)))|could (?:do|live) without|"
        r"so over|done with|"
        r"had enough of)"
        r"(?: (?:any|these|those|all))?(?= \w)"
    ),
    "avoid",
)
_EXCHANGES = (
    Step(pattern(r"\b(\w{2,20}),? no,? not \1,? (?=\w)"), "no \\1, "),
    Step(
        pattern(
            r"^(?:my )?[a-z]{2,20} (?:hates?|dislikes?|detests?|loathes?) (?=[^,.;]{2,40}[,.;] ?(?:so |please )?"
            r"(?:find|show|give|get|play) )"
        ),
        "avoid ",
    ),
    Step(
        pattern(
            r"^(?:please )?(?:swap|switch|trade)(?: out)? "
            r"((?:the|that|this|those|all the|my) .{2,40}?) (?:for|with) (?=\w)"
        ),
        r"omit \1, ",
    ),
    Step(pattern(r"^(?:please )?(?:swap|switch) out (?=\w)"), "omit "),
    Step(
        pattern(
            r"(?<=\w) (?:is |are )?(?:(?:much|far|strongly) )?(?:preferr?ed|favou?red|preferable) (?:to|over) (?=\w)"
        ),
        " rather than ",
    ),
)

CHOICES = (
    _CORRECTION,
    _TASTE,
    *_EXCHANGES,
    Step(_VERDICT, _judged),
    Step(_YES_NO, r"\1, no \2"),
    Step(_NO_YES, r"no \1, \2"),
    Step(pattern(r"(?<!\w)yes to (.{2,40}?),? (?:and |but )?no to "), r"\1, no "),
    Step(pattern(r"(?<!\w)no to (.{2,40}?),? (?:and |but )?yes to "), r"no \1, "),
    Step(
        pattern(
            r"\b(?:(?:i|we)(?:'?d| would)? )?(?:prefer|rather) not(?: to)?(?: (?:see|have|watch|get|hear))? "
            r"|\b(?:there(?:'s| is) )?no need (?:to (?:show|see|include|have|feature))(?: me| us)? (?:the )?"
        ),
        "no ",
    ),
    Step(pattern(r"(?<=\bdon't )you (?:ever )?dare "), ""),
    Step(
        pattern(
            r"[,:;]? with (?:only |just |the )?(?:one|a single|sole|single|notable) exception(?: of| being|\s?[:,-]?) "
        ),
        " except ",
    ),
    Step(pattern(r"[,;.]? (?:and )?the (?:only|one|sole) exceptions? (?:is|are|being) "), " except "),
    Step(
        pattern(
            r"^((?:other than|except(?: for)?|apart from|aside from|besides) (?:\w+ ){0,3}?\w+) "
            r"(?=(?:what|which|who|where|how|show|give|find|do you|are there|is there)\b)"
        ),
        r"\1, ",
    ),
    Step(_JOINT_OF_CHOICE, _rather),
    Step(_CHOICE, _chosen),
    Step(
        pattern(
            r"^(?:i|we) (?:really )?(?:like|love) (.{2,60}?) (?:(?:way|much|far|a lot) )?(?:more|better) than (?=\w)"
        ),
        r"\1 rather than ",
    ),
    Step(pattern(r"^(.{2,40}?) over (.{2,40}?) any (?:day|time)\b"), r"\1 rather than \2"),
    Step(
        pattern(r"^(.{2,40}?) (?:is|are|would be) (?:much |way |so much |far )?better than (?=\w)"), r"\1 rather than "
    ),
    Step(pattern(r"\bmore (?:like|of) (.{2,40}?) than (?=\w)"), r"\1 rather than "),
    Step(pattern(r"^(?:keep|show|include) ([^,;]{2,40}?)(?:[,;]| and|[,;] and) (?:drop|lose|cut) "), r"\1, omit "),
    Step(pattern(r"(?<=\w )one(?=$|[,.;])"), _named),
    Step(pattern(r"^(?:less|fewer) (?!(?:is|than) )(\w+),? (?:(?:and|but) )?more (?=\w)"), r"no \1, "),
    Step(pattern(r"^more (?!or )(\w+(?: \w+)?),? (?:(?:and|but) )?(?:less|fewer) (?=\w+$)"), r"\1, no "),
    Step(
        pattern(
            r"(?<=\w )used to (.{2,40}?),? (?:but|and) (?:(?:(?:is|does|do|are) ?)?n[o'\u2019]?t any ?more|no longer)$"
        ),
        r"no longer \1",
    ),
    Step(
        pattern(
            r"(?<=\w )(isn['\u2019]?t|is not|aren['\u2019]?t|are not|not) the ones? "
            r"(?:(?:who|that)(?:['\u2019]s| is| are)? |(?=[a-z]{2,20}ing\b))"
        ),
        r"\1 ",
    ),
    Step(
        pattern(
            r"(?:^|(?<=[,.;!?] ))((?:[a-z]+ ){0,2}?[a-z]+)(?: is| are|['\u2019]s)? ?n[o'\u2019]?t (?:really )?"
            r"(?:my (?:thing|cup of tea|style|jam)|for me|what (?:i|we)(?: am| are|['\u2019]\w+)? "
            r"(?:want|need|like|after|mean|meant|asked for))\b"
        ),
        r"no \1",
    ),
    Step(
        pattern(
            r"(?<=\w)[,;] (?:(?:and|but) )?(?!one|other)([a-z]{3,20}) not(?: so much| ok(?:ay)?| allowed)?(?=[.!]?$)"
        ),
        r", no \1",
    ),
    Step(pattern(r"\bnot so much (.{2,40}?) as (?=\w)"), r"not \1 but "),
    Step(
        pattern(
            r",? \b(?:except(?:ing)? (?:for )?(?:when|while|if|where)|unless) "
            r"(?:it|he|she|they|you|we|there|someone|somebody|anyone)(?:['\u2019]s| is| are)? (?=[a-z])"
        ),
        " but not ",
    ),
    Step(pattern(r"\b(?:nobody|no one|none|not one) out of (?=the |them |us |these )"), "none of "),
    Step(
        pattern(
            r"(?:^|,? )\b(?:(?:as|so) long as|provided(?: that)?|on condition that) "
            r"(?=(?:it|there|they|he|she)(?:['\u2019]|\b))"
        ),
        ", ",
    ),
    Step(
        pattern(
            r"^(?:i |it )?(?:do(?:es)?n['\u2019]?t|do not|does not) (?:care|mind|matter)"
            r"(?: (?:what|which)(?: kind of)?,?|,) "
        ),
        "",
    ),
)
