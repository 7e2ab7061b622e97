"""Words that ask for videos rather than describe them: requests and fillers."""

import re

from nt2vr.language.rewriting import Step, pattern

_FILLERS = pattern(
    r"\b(?:u+h+m*|u+m+|e+rm+|h+m+|uhm+|lo+l|lmao|haha+|pl[sz]|plea?se?|tho|rly|^kindly|kinda|sorta|thx|tysm|imo|tbh)\b(?!\s?:),?"
    r"|\b(?:(?:you|ya) know|and stuff|or something|or whatever|i guess)(?= but\b)"
    r"|(?<=\bnot )like (?=(?:in|on|at|with)\b)"
    r"|,? (?:and|or) (?:stuff|things|such|so on|the like|anything|something|whatever)(?: like that)?(?=[,.;!?]|$)"
    r"|, (?:you know|ya know|like|i mean|i guess|well|er|ok|okay|right|let's say)(?=,),?|\blike,"
    r"|(?:(?<=without )|(?<=with )|(?<=but )|(?<=see )|(?<=want ))(?:(?:you|ya) know|like),? (?=(?:an?|the|any|no)\b)"
    r"|\b(?:really|actually) (?=(?:care|mind|matter|know)\b)"
    r"|\bnot though(?=[.!?]*$)|(?<=\w )already(?=,)"
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
    r"basically|btw|well|so|yeah|yep|nah|i (?:dunno|mean|said|was thinking)|you know what"
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
    r"who has|(?:can|could) (?:you|u) put on|"
    rf"(?:{_SOUGHT}) (?:me|us|him|her|them)|gimme|(?:lemme|let me|let's) (?:see|watch|have)|locate|retrieve|"
    r"search(?:ing)?(?: for)?|(?:i'?m |i am |we'?re |we are )?look(?:ing)? for|find|want|"
    r"(?:i|we)(?: really| just| only| kinda)? (?:want|need|wanna|wish|would (?:like|love)|like|am after|was after)"
    r"(?: to)?(?: (?:see|watch|find|look at|view|have|get))?|"
    r"(?:i'?|we')d (?:like|love)(?: to)?(?: (?:see|watch|find))?|"
    r"(?:i'?m|i am|we'?re|we are) (?:after|searching for)|i (?:was|am) (?:wondering if|hoping|trying) "
    r"(?:there (?:is|are)|you have|to (?:find|see))|"
    r"(?:is|are) there|do (?:you|u|we) have|(?:please )?(?:make sure|ensure)(?: that)?|"
    r"(?:i|we) hope(?: that)?|(?:i|we)(?:'d| would) prefer (?:it )?if|(?:what|how) about|"
    r"(?:have )?(?:you )?got|"
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
    r"|^\s*(?:the|that) (?:one|video|clip|scene) (?:with|where|in which) "
    r"|^\s*(?:any|some) (?:films|videos?) (?:of|with|where|showing) |^\s*some(?:thing|thin) (?:with|about|like) "
)


def _new_clause(match: re.Match[str]) -> str:
    """Return what separates the rest from the words before the request."""
    return "; " if match.start() else ""


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
    r"(?:(?<!no )(?<!all but )one|ones|those|videos?|clips?|recordings?|results?|films?|movies?|"
    r"(?<=the )parts?|(?<=the )bits?|(?<=the )scenes?) "
    r"(?:with|of|featuring|showing|containing|(?:that|who|which) (?:have|has|are|is|show|contain)s?|"
    r"where there(?:['\u2019]s| is| are)) "
    r"(?=[a-z])"
)
_WHOEVER = pattern(
    r"\b(except(?:ing)?(?: for)?|excluding|apart from|aside from|other than|barring|minus)"
    r"(?: when| where| while| if)?"
    r"(?: (?:(?:the |any )?(?:ones?|those)|any(?:one|body)|some(?:one|body)|people|they|he|she))?"
    r"(?: who)?(?: is| are|'s|'re)? (?=[a-z]{2,30}(?:ing|ed)\b)"
)
_PREVENTED = pattern(
    r"\b((?:(?:prevent|keep|discourage|block|bann?)(?:s|ed|ing)?|stop(?:s|ped|ping)?|kept) (?:[\w']+ ){1,4})"
    r"from (?=[a-z]{2,20}ing\b)"
)
_UNLESS = pattern(
    r"\bunless (?:they|he|she|it|there|you|someone|somebody|anyone)(?: (?:is|are|has|have|had|wears?|shows?)|'s|'re) "
)
_ONLY_THING = pattern(
    r"^(?:the (?:only|one|last) )?(?:thing|what) (?:that )?(?:i|we) (?:do not|don'?t) (?:want|like|need)"
    r"(?: to (?:see|watch|have))? (?:is|are) "
)
FILLERS = (
    Step(pattern(r"(?<=\w) (?:pl[sz]|please),(?= )"), ","),
    Step(_FILLERS, " "),
    Step(re.compile(r"^\s+|(?<=\s)\s+"), ""),
    Step(_FREE, r"\1-free "),
    Step(_NONE_OF, "none"),
    Step(pattern(r"(?<=\bnone of )(?:whom|which)\b|(?<=\bneither of )(?:whom|which)\b"), "them"),
    Step(
        pattern(
            r"\b(?:(?:and|but) )?(?:under no circumstances|(?:on no account|at no (?:point|time)|in no (?:way|"
            r"case)|by no means))\b"
        ),
        "not",
    ),
    Step(pattern(r"\bnone of (?=th(?:at|is) )|\bno thank(?:s| you) to (?=(?:\w+ ){0,2}\w+(?:[,.;!]|$))"), "no "),
    Step(
        pattern(
            r"(?:^|(?<=[,.;!?] )|(?<=\bbut )|(?<=\band ))(?:drop|lose|ditch|discard|scrap|cut|bin) "
            r"(?=(?:the ones?|those|anything|any|all|everything)\b)"
        ),
        "no ",
    ),
    Step(_THOSE, r"\1"),
    Step(_WHOEVER, r"\1 "),
    Step(_UNLESS, "without "),
    Step(pattern(r"(?<=\bno one) left(?= [io]n\b|[,.;]|$)|(?<=\bnobody) left(?= [io]n\b|[,.;]|$)"), ""),
    Step(_PREVENTED, r"\1not "),
    Step(_ONLY_THING, "no "),
    Step(_CLOSING, ""),
)
REQUEST = Step(_REQUEST, _new_clause)
