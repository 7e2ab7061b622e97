"""Words that ask for videos rather than describe them: requests, fillers, preferences."""

import re

from nt2vr.language.rewriting import Step, pattern
from nt2vr.language.wordlists import words

_FILLERS = pattern(
    r"\b(?:u+h+m*|u+m+|e+rm+|h+m+|uhm+|lo+l|lmao|haha+|pl[sz]|plea?se?|tho|kinda|sorta|thx|tysm|imo|tbh)\b(?!\s?:),?"
    r"|\b(?:(?:you|ya) know|and stuff|or something|or whatever|i guess)(?= but\b)"
    r"|(?<=\bnot )like (?=(?:in|on|at|with)\b)"
    r"|, (?:you know|ya know|like|i mean|i guess|well|er|ok|okay|right|let's say)(?=,),?|\blike,"
    r"|(?:(?<=without )|(?<=with )|(?<=but )|(?<=see )|(?<=want ))(?:(?:you|ya) know|like),? (?=(?:an?|the|any|no)\b)"
    r"|\bnot though(?=[.!?]*$)"
    r"|(?<=\bis )like (?=[a-z]+ing\b)|(?<=\bare )like (?=[a-z]+ing\b)|(?<=\bjust )like (?=[a-z]+ing\b)"
)
_CLOSING = pattern(
    r"(?:[,.!?]{1,4}\s{0,4}|\s)(?:(?:many )?thanks(?: a lot| so much)?|thank (?:you|u)(?: so much)?|"
    r"(?<=[,.!?] )(?:ok(?:ay)?|right|cheers|"
    r"if (?:possible|you can|you could|that'?s (?:ok|possible)))|ty|though|i guess|i think|"
    r"or something|or whatever|you know|asap)\s?[.!?]{0,4}\s*$"
)
_CALLS = (
    r"hey+|hi+|hello|yo|ok(?:ay)?|(?:(?:hey|ok(?:ay)?),? )?(?:siri|google|alexa)|dude|bro|oh|honestly|actually|"
    r"basically|btw|well|so|yeah|yep|nah|i (?:dunno|mean|said)|you know what"
)
_POLITE = (
    rf"(?:(?:{_CALLS}|guys|just|maybe|alright|right|and|but|please|"
    r"if (?:you|u)(?:'re| are| do| can| could| would)?[^,.;?!]{0,30},|if it'?s [^,.;?!]{0,30},)[,.!]* +)"
)
_SOUGHT = r"show|find|get|give|play|fetch|bring(?: up)?|send|display|list|pull up|locate|retrieve"
_NOUNS = (
    r"(?:videos?|vids?|clips?|footage|films?|movies?|recordings?|b-?roll|pictures?|photos?|images?|scenes?|something|"
    r"anything|everything|stuff|ones?)"
)
_ASK = (
    rf"(?:(?:can|could|would|will) (?:you|u|i|we)(?: (?:please|kindly|just|maybe|also))?"
    rf" (?:{_SOUGHT}|search(?: for)?|look for|see|have|watch)(?: me| us)?|"
    r"(?:would|is) it (?:be )?possible to (?:see|find|get|watch)|"
    rf"(?:{_SOUGHT}) (?:me|us)|gimme|(?:lemme|let me|let's) (?:see|watch)|locate|retrieve|"
    r"search(?:ing)?(?: for)?|(?:i'?m |i am |we'?re |we are )?look(?:ing)? for|find|want|"
    r"(?:i|we)(?: really| just| only| kinda)? (?:want|need|wanna|wish|would (?:like|love)|like|am after|was after)"
    r"(?: to)?(?: (?:see|watch|find|look at|view|have|get))?|"
    r"(?:i|we)'d (?:like|love)(?: to)?(?: (?:see|watch|find))?|"
    r"i'?m (?:after|searching for)|i (?:was|am) (?:wondering if|hoping|trying) "
    r"(?:there (?:is|are)|you have|to (?:find|see))|"
    r"(?:is|are) there|do (?:you|u|we) have|(?:have )?(?:you )?got|"
    r"where (?:can|could|do) (?:i|we) (?:see|find|watch|get)|what are|"
    rf"(?<=[,.;] )show|(?:{_SOUGHT})(?= (?:(?:a|an|the|some|any|only|just|all|every)\b"
    rf"|{_NOUNS} (?:of|with|where|from) ))|"
    r"i can(?:'?t|not) (?:find|remember))"
)
_MEDIUM = (
    r"(?:(?:any|some|a|an|the|all|every|only|just|more|that|this|one)? ?(?:good|nice|short|random|funny|cool|stock)? ?"
    rf"(?:{_NOUNS} ?){{1,2}}"
    r"(?:of|with|where|in which|showing|featuring|about|containing|(?:that|which)(?: only)? "
    r"(?:shows?|ha(?:s|ve)|features?|contains?|includes?|(?:is|are) (?:of|about)))(?! (?:not|that|which)) )"
)
_REQUEST = pattern(
    rf"(?:^\s*|(?<=\w)[.;:,!?]{{1,4}}\s{{1,4}}|(?<=\w) (?:and|then) (?=(?:show|find|give|get) me ))"
    rf"{_POLITE}{{0,4}}{_ASK}(?![\w'-])(?! (?:rid|not|no longer)\b),? *(?:{_MEDIUM}"
    r"|(?:any|some)(?: of (?:that|th[eo]se|the))?(?: (?=\w)|(?=$)))?"
    rf"|^\s*(?:(?:{_CALLS}|i'?m thinking|it'?s gotta have|it has to have|there'?s gotta be|there'?s this|must have)"
    r"(?: there| guys| so| basically| like)?"
    r"(?:[,.!]+ +| (?=(?:anything|any|some|no|not|nothing|all|everything|i|without|an?|the|something|like)\b)))+"
    r"|^\s*(?:can|could|would|will) (?:you|u|we) (?:please |just )?(?=(?:filter|leave|skip|avoid|remove|hide|exclude"
    r"|get rid|cut|omit|ignore|block|weed|rule|take|stop) )"
    r"|^\s*(?:any |some |all |only )?(?:(?:videos|vids|footage|clips) (?:of|with|where|showing|about|featuring)"
    r"|(?:which|what) (?:videos?|clips?) (?:shows?|ha(?:s|ve)|features?|contains?)) "
    r"|^\s*(?:any|some) (?:films|videos?) (?:of|with|where|showing) |^\s*some(?:thing|thin) (?:with|about|like) "
)


def _new_clause(match: re.Match[str]) -> str:
    """Return what separates the rest from the words before the request."""
    return "; " if match.start() else ""


_JOINT_OF_CHOICE = pattern(r"(?<=\w )(?:to|over|before|(?<!rather )than|then|instead of)(?= [^\W\d_])")
_CHOICE = pattern(
    r"(?:^|[.;,!?] )(?:(?:i|we)(?:'?d| would| really| much| usually)* )?"
    r"(?:prefer|favou?r|choose|pick|ra[the]{3}r|sooner|better|(?:(?<=i'd )|(?<=i would )|(?<=we'd ))(?:take|go for))"
    r"(?: to)?(?: (?:see|watch|have|find|be|get))? "
)


def _rather(match: re.Match[str]) -> str | None:
    """Return "rather than" for the joint of "I prefer tea to coffee"."""
    chosen = list(_CHOICE.finditer(match.string, max(0, match.start() - 80), match.start()))
    between = match.string[chosen[-1].end() : match.start()] if chosen else ""
    return "rather than" if between and not re.search(r"[.;?!]|\b(?:to|over|than|instead)\b", between) else None


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
_COMPARING = words("prefer favor favour choose pick rath raht rate sooner better less than take go")
_VERDICT = pattern(r"(?<![\w'])([a-z]+(?: [a-z]+)?)(?:\?,?| ?[:=]) ?(no|nope|nah|yes|yep|yeah)\b(?:[.,!;]|$)")
_APPROVES = pattern(r"[?:=],? ?(?:yes|yep|yeah)\b")
_YES_NO = pattern(r"^(.{2,40}?),? yes(?: please)?,? (?:and |but )?(.{2,40}?),? no[.!]?$")
_NO_YES = pattern(r"^(.{2,40}?),? no,? (?:and |but )?(.{2,40}?),? yes(?: please)?[.!]?$")


def _judged(match: re.Match[str]) -> str | None:
    """Return "no running" for "running? no", if something else gets a yes."""
    if not _APPROVES.search(match.string):
        return None
    return f"{match[1]}," if match[2][0] in "yY" else f"no {match[1]},"


CHOICES = (
    Step(_VERDICT, _judged, words("?no ?ye ?na :no :ye =no =ye") | {"? no", "? ye", "? na", ": no", ": ye"}),
    Step(_YES_NO, r"\1, no \2", words("yes")),
    Step(_NO_YES, r"no \1, \2", words("yes")),
    Step(pattern(r"(?<!\w)yes to (.{2,40}?),? (?:and |but )?no to "), r"\1, no ", words("yes")),
    Step(pattern(r"(?<!\w)no to (.{2,40}?),? (?:and |but )?yes to "), r"no \1, ", words("yes")),
    Step(
        pattern(
            r"\b(?:(?:i|we)(?:'?d| would)? )?(?:prefer|rather) not(?: to)?(?: (?:see|have|watch|get|hear))? "
            r"|\b(?:there(?:'s| is) )?no need (?:to (?:show|see|include|have|feature))(?: me| us)? (?:the )?"
        ),
        "no ",
        words("prefer rather need"),
    ),
    Step(pattern(r"(?<=\bdon't )you (?:ever )?dare "), "", words("dare")),
    Step(pattern(r"[,:;]? with (?:only |just )?(?:one|a single) exception\s?[:,-]? "), " except ", words("exception")),
    Step(
        pattern(r"[,;.]? (?:and )?the (?:only|one|sole) exceptions? (?:is|are|being) "), " except ", words("exception")
    ),
    Step(_JOINT_OF_CHOICE, _rather, _COMPARING),
    Step(_CHOICE, _chosen, words("than")),
    Step(
        pattern(r"^(?:i|we) (?:really )?(?:like|love) (.{2,60}?) (?:more|better) than (?=\w)"),
        r"\1 rather than ",
        words("than"),
    ),
    Step(pattern(r"^(.{2,40}?) over (.{2,40}?) any (?:day|time)\b"), r"\1 rather than \2", words("any")),
    Step(
        pattern(r"^(.{2,40}?) (?:is|are|would be) (?:much |way |so much |far )?better than (?=\w)"),
        r"\1 rather than ",
        words("better"),
    ),
    Step(pattern(r"\bmore (?:like|of) (.{2,40}?) than (?=\w)"), r"\1 rather than ", words("than")),
    Step(
        pattern(r"^(?:keep|show|include) ([^,;]{2,40}?)(?:[,;]| and|[,;] and) (?:drop|lose|cut) "),
        r"\1, omit ",
        words("drop lose cut"),
    ),
    Step(pattern(r"(?<=\w )one(?=$|[,.;])"), _named, words("not")),
    Step(pattern(r"^less (\w+),? (?:(?:and|but) )?more (?=\w)"), r"no \1, ", words("less")),
    Step(pattern(r"^more (\w+(?: \w+)?),? (?:(?:and|but) )?less (?=\w+$)"), r"\1, no ", words("less")),
)
_FREE = pattern(
    r"\b(car|fat|nut|dog|cat|kid|child|pet|oil|egg|smoke|sugar|dairy|crowd|plastic|gluten|lactose|alcohol|meat|traffic|"
    r"ad|people|phone|screen|drug|sulfate|cruelty|stress|noise|wheat|caffeine) free (?=[a-z])"
)
_NONE_OF = pattern(
    r"\b(?:not (?:even |a single )?one"
    r"|(?:hardly|barely|scarcely|not) any|almost none|few if any)(?= of (?:the|them|us)\b)"
)
_THOSE = pattern(
    r"\b((?:no|not|without|avoid|skip|hide|ignore|remove|exclude|omit|except(?: for)?|excluding|but|"
    r"apart from|aside from|other than|besides|barring|excepting|minus) )(?:the |any )?"
    r"(?:(?<!no )one|ones|those|videos?|clips?) "
    r"(?:with|of|featuring|showing|containing|that (?:have|has|show|contain)s?) (?=[a-z])"
)
_WHOEVER = pattern(
    r"\b(except(?:ing)?(?: for)?|excluding|apart from|aside from|other than|barring|minus)"
    r"(?: when| where| while| if)?"
    r"(?: (?:(?:the |any )?(?:ones?|those)|any(?:one|body)|some(?:one|body)|people|they|he|she))?"
    r"(?: who)?(?: is| are|'s|'re)? (?=[a-z]{2,30}ing\b)"
)
_UNLESS = pattern(
    r"\bunless (?:they|he|she|it|there|you|someone|somebody|anyone)(?: (?:is|are|has|have|had|wears?|shows?)|'s|'re) "
)
_ONLY_THING = pattern(
    r"^(?:the (?:only|one|last) )?(?:thing|what) (?:that )?(?:i|we) (?:do not|don'?t) (?:want|like|need)"
    r"(?: to (?:see|watch|have))? (?:is|are) "
)


_SAID = words(
    "stuff whatever something uh um er hm lol lmao haha pls plz pleas plese plse kinda sorta thx tysm imo tho like "
    "know mean guess well ok right let's"
)
_SAID_LAST = words("thank ty though guess think or know asap ok right cheers if")
FILLERS = (
    Step(_FILLERS, " ", _SAID),
    Step(re.compile(r"^\s+|(?<=\s)\s+"), ""),
    Step(_FREE, r"\1-free ", words("free")),
    Step(_NONE_OF, "none", words("any one")),
    Step(pattern(r"\bnone of (?=th(?:at|is) )"), "no ", words("none")),
    Step(_THOSE, r"\1", words("ones those one clip video")),
    Step(_WHOEVER, r"\1 ", words("ing")),
    Step(_UNLESS, "without ", words("unless")),
    Step(_ONLY_THING, "no ", words("want like need")),
    Step(_CLOSING, "", _SAID_LAST),
)
REQUEST = Step(_REQUEST, _new_clause)
