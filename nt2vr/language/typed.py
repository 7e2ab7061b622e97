"""Typed text as the rules read it: operators spelt out, misspelt contractions mended, requests and fillers left out.

What is denied is decided by `nt2vr.language.scope`, not here.
"""

import re

from nt2vr.language.asking import FILLERS, REQUEST
from nt2vr.language.choices import CHOICES
from nt2vr.language.operators import IS_OPERATOR, OPERATORS, SPELLING
from nt2vr.language.rewriting import Step, Typed, pattern
from nt2vr.language.spelling import contraction


def read_typed(text: str) -> Typed:
    """Return the text to take apart: `text` itself in most cases, and wherever nothing else would be left."""
    typed = Typed.of(text)
    if IS_OPERATOR.search(text):
        typed = typed.rewritten(OPERATORS)
    typed = typed.rewritten((_CONTRACTED, *SPELLING))
    said = typed.rewritten((*FILLERS, *CHOICES, REQUEST))
    return said if said.text.strip(" .,;:!?") else typed


def _mended(match: re.Match[str]) -> str | None:
    return contraction(match[0].lower().replace("\u2019", "'"))


_CONTRACTED = Step(
    pattern(r"\b[a-z]{1,8}?(?:['\u2019\u00b4`;]{1,2}[a-z]{0,2}|tn|t(?!['\u2019\u00b4`;]))(?!\w)"), _mended
)
