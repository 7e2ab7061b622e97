"""Modification texts by CoVR's nine templates, the rule-based row of its paper's Table 6.

Their released code fills both words with the first, so that its "replace A with B" reads "replace A with A". Here
the words are what the templates mean.
"""

import random

from nt2vr.querygen.triplets.mining import NearCaptions

TEMPLATES = (
    "Remove {old}",
    "Take out {old} and add {new}",
    "Change {old} for {new}",
    "Replace {old} with {new}",
    "Replace {old} with {new}",  # twice in the paper's list
    "Replace {old} by {new}",
    "Make the {old} into {new}",
    "Add {new}",
    "Change it to {new}",
)


def write_by_template(pair: NearCaptions, rng: random.Random) -> str:
    """Write the words that differ into a template; a word that only one caption has into one that needs no other."""
    old, new = pair.words
    absent = [field for field, word in (("{old}", old), ("{new}", new)) if not word]
    usable = [template for template in TEMPLATES if not any(field in template for field in absent)]
    return rng.choice(usable).format(old=old, new=new)
