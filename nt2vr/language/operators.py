"""Operators of search engines, and words that typing split or swapped, rewritten as words the rules know."""

import re

from nt2vr.language.rewriting import Step, pattern
from nt2vr.language.spelling import cue_of

_DENIES = r"no|not|none|without|w/o|exclude[sd]?|excluding|except|minus|avoid|omit|skip|hide|ignore|remove"
_MARKED = r"[-!~](?=[^\W\d_]|[\"\u201c(])"
_CUE_BEFORE = pattern(rf"\b(?:{_DENIES}|never|neither|nor)\b[^,.;]*$")
IS_OPERATOR = re.compile(
    r"(?<!\w)[-!~]|[,;]!|[|&+/(\[{:=<>\"\u00ac\u2010-\u2014\u2212\u2260\u274c\U0001f6ab\u26d4\u2716-\u2718]|[,;]-"
)


def _listed(match: re.Match[str]) -> str | None:
    """Return the conjunction for a mark in a denied list: "no cars/trucks", "no dogs & cats"."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    if not _CUE_BEFORE.search(before) or before.endswith((" and", " but", " as well")):
        return None
    return " or " if match[0] == "/" else " and "


OPERATORS = (
    Step(re.compile(r"[\u2212\u2013](?=\w)|(?<=\bnon)[\u2010-\u2013]"), "-"),
    Step(
        pattern(
            rf"[(\[{{]\s?(?={_MARKED})|(?<=[,;|])(?={_MARKED})|/(?={_MARKED}|(?:no|not|without)\b)|\s?&+\s?(?={_MARKED}|not?\b)"
        ),
        " ",
    ),
    Step(re.compile(r"\s?(?:\u2014|(?<=\s)\u2013(?=\s))\s?"), ", "),
    Step(pattern(r"\"((?:no|not|without|never)\b[^\"]{1,40})\"(?=\s+\w)"), r"\1, "),
    Step(pattern(r"(?<![\w-])[-!~]\s?\(|\s?(?:\u2260|!=|<>|\u00ac)\s?"), " not "),
    Step(pattern(r"[\u274c\U0001f6ab\u26d4\u2716-\u2718]\ufe0f?"), " no "),
    Step(re.compile(r"(?<!\S)\+(?=\w)"), ""),
    Step(pattern(r"(?<!\S)(?:~|--)(?=[^\W\d_])|(?<=[a-z] )! (?=[a-z])"), "-"),
    Step(pattern(r"(?<=\w) ?\|\|? ?(?=[\w\"(])"), " or "),
    Step(pattern(rf"(?<![\w'-])(?:{_DENIES})[:=](?=[\w\"])"), "-"),
    Step(pattern(rf"(?<![\w'-])({_DENIES})(?:\s?[:=]\s?|\s?[(\[]\s?)(?=\w)"), r"\1 "),
    Step(pattern(r"(?<![\w'])(?:negative prompt|unwanted|negative|don'?t want|do not want)\s?:\s?"), "no "),
    Step(pattern(r"(?<![\w'])(?:yes|with|show|include|want|wanted|positive prompt|must have)\s?:\s?"), ""),
    Step(
        pattern(
            r"(?<![\w:])(?:tags?|title|label|keywords?|category|topic|type|caption|object|scene|subject|text|is|has)"
            r"[:=]\s?(?=[^\W\d_]|\")"
        ),
        "",
    ),
    Step(re.compile(r"^- (?=[a-z]+$)"), "-"),
    Step(re.compile(r"(?<=[a-z]) - (?=[a-z]+(?<!ing)(?: - [a-z]+){0,20}\s*$)"), " -"),
    Step(pattern(r"(?<=[^\W_]{2})(?:/| ?[&+] ?)(?=[^\W\d_]{2})"), _listed),
)

_QUANTIFIED = pattern(r"\b(?:all|every|any|no|nothing|everything|anything|everyone|everybody|nobody)(?: \w+){0,2} $")


def _expected(match: re.Match[str]) -> str | None:
    """Return "except" for an "expect" after "all animals"."""
    return "except" if _QUANTIFIED.search(match.string[max(0, match.start() - 60) : match.start()]) else None


def _mended(match: re.Match[str]) -> str | None:
    """Return the cue that a word is a misspelling of, if any."""
    word = match[0].lower()
    return cue if (cue := cue_of(word)) != word else None


SPELLING = (
    Step(pattern(r"\b(?:excl\b\.?|exc\.|ex\.)(?= \w)"), "excluding"),
    Step(pattern(r"\bex[a-z]{3,8}\b"), _mended),
    Step(pattern(r"(?<=rather )then\b|(?<=other )then\b|(?<=different )then\b|(?<=else )then\b"), "than"),
    Step(pattern(r"(?<=instead )off\b|(?<=insted )off\b"), "of"),
    Step(pattern(r"(?<=[a-z]{2})\.(?=(?:no|not|without)\b)"), ". "),
    Step(pattern(r"\bw\.o\.?(?=\s)|\bwo(?= (?!n['\u2019]?t\b)[a-z])"), "w/o"),
    Step(pattern(r"\bw/\s?(?!o\b|out\b)(?=\w)"), "with "),
    Step(pattern(r"\bno body(?= (?:is|was|are|in|on|at|else)\b)|\bno-(?:one|body)\b"), "nobody"),
    Step(pattern(r"\b(instead|rather|apart|aside|except|other)(of|than|from|for)\b"), r"\1 \2"),
    Step(pattern(r"\b(?:appart|a part) (?=from\b)"), "apart "),
    Step(pattern(r"\bexpect(?= for\b)"), "except"),
    Step(pattern(r"\bexpect\b(?! to\b)"), _expected),
    Step(pattern(r"(?<=\bno )make up\b|(?<=without )make up\b|(?<=\bany )make up\b"), "makeup"),
    Step(pattern(r"\bits(?= (?:not|no|never)\b)"), "it's"),
    Step(pattern(r"\bno body(?= [a-z]{3,12}s (?:in|on|at|to|the|an?|his|her|their)\b)"), "nobody"),
    Step(pattern(r"\bmerry go round"), "merry-go-round"),
    Step(pattern(r"\bdose(?= not\b|n['\u2019]?t\b)"), "does"),
)
